"""What the functions of a class of `records` do in its first calls, before they are compiled.

Of most classes a process that finds its kernels on disk makes few instances. Compiling functions
for a class takes as long as some dozens of calls without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, fields
from operator import attrgetter
from typing import Any

FEW = 256
"""So many calls take at most as long without functions compiled for a class as to compile these."""

_UNKNOWN = object()


class Uncompiled:
    """Does what the functions of a class do before they are compiled."""

    def __init__(self, cls: type, frozen: bool) -> None:
        self._cls = cls
        self._set = object.__setattr__ if frozen else setattr
        self._left = FEW
        self._known: _Given | None = None
        self._keys: dict[bool, Callable[[Any], Any]] = {}

    def is_asked(self) -> bool:
        """Whether there were few calls so far. This is one more."""
        self._left -= 1
        return self._left >= 0

    def init(self, instance: Any, args: tuple[Any, ...], options: dict[str, Any]) -> bool:
        """Initialises an instance; False where that is left to the function that is compiled: for
        fields that are not given by position, and for all mistakes."""
        self._left -= 1
        if self._left < 0:
            return False
        known = self._known
        if known is None:
            known = self._known = _Given(self._cls)
        given = known.values(args, options)
        if given is None:
            return False
        if known.is_plain:
            instance.__dict__.update(given)
        else:
            put = self._set
            for name, value in given.items():
                put(instance, name, value)
        if known.is_checked:
            instance.__post_init__()
        return True

    def key(self, instance: Any, hashed: bool = False) -> Any:
        """The fields that are compared, or hashed."""
        get = self._keys.get(hashed)
        if get is None:
            names = [f.name for f in fields(self._cls) if counts(f, hashed)]
            # One name alone would give its value, and not a tuple.
            get = attrgetter(*names) if len(names) > 1 else _each(names)
            self._keys[hashed] = get
        return get(instance)


def _each(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    return lambda instance: tuple([getattr(instance, name) for name in names])


class _Given:
    """What the arguments of a class mean.

    Attributes:
        is_plain: whether an instance has its fields in its `__dict__`, where nothing guards them.
        is_checked: whether it looks at them when they are there.
    """

    def __init__(self, cls: type) -> None:
        self._is_simple, self.is_plain = True, hasattr(cls, "__dict__")
        #: In the order of the fields, in which an instance has them.
        self._first: dict[str, Any] = {}
        self._made: list[tuple[str, Any]] = []
        names, needed = [], []
        for f in fields(cls):  # once for all that there is to know of them
            name, default, make = f.name, f.default, f.default_factory
            self._first[name] = default
            if not f.init:
                self._is_simple = False
            if not f.kw_only:
                names.append(name)
            if make is not MISSING:
                self._made.append((name, make))
            elif default is MISSING:
                needed.append(name)
            if hasattr(getattr(cls, name, None), "__set__"):
                self.is_plain = False
        self._names, self._needed = tuple(names), tuple(needed)
        #: What `_missing` has found, by how many arguments are given by position and which by name.
        self._ways: dict[tuple[Any, ...], Any] = {}
        self.is_checked = hasattr(cls, "__post_init__")

    def values(self, args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any] | None:
        """The fields by name; None where an argument is missing, or too much."""
        ways = (len(args), *options)
        made = self._ways.get(ways, _UNKNOWN)
        if made is _UNKNOWN:
            made = self._ways[ways] = self._missing(len(args), options)
        if made is None:
            return None
        found = self._first.copy()
        found.update(zip(self._names, args, strict=False))
        if options:
            found.update(options)
        for name, make in made:
            found[name] = make()
        return found

    def _missing(self, count: int, options: Iterable[str]) -> list[tuple[str, Any]] | None:
        """The fields that functions make where so many arguments are given by position, and some by
        name; None where one is missing, or too much."""
        given = {*self._names[:count], *options}
        if not self._is_simple or not given <= self._first.keys():
            return None
        if len(given) < count + len(tuple(options)) or not given.issuperset(self._needed):
            return None
        return [x for x in self._made if x[0] not in given]


def counts(f: Field[Any], hashed: bool) -> bool:
    """Whether a field is compared, or hashed."""
    return f.compare if f.hash is None or not hashed else f.hash
