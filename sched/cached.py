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
