"""`cached_property` without a lock.

Before Python 3.12, that of functools holds one lock for all instances of a class while it computes:
threads would wait for each other, and a process forked meanwhile would wait for ever. Here two
threads may both compute a value; both get the one that is stored first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):
    """A property that is computed once for each instance, and stored in its `__dict__`."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function = function
        self._name = function.__name__
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object, owner: type) -> Self | T:
        if instance is None:
            return self
        value = self._function(instance)
        kept: T = instance.__dict__.setdefault(self._name, value)
        return kept


class of_instances(cached_property[T]):
    """The same for what a class itself does not have, as `__signature__`: of a class it would be
    taken for that of its constructor."""

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            raise AttributeError(self._name)
        return super().__get__(instance, owner)
