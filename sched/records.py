"""`dataclass` of the standard library, made in a fraction of the time.

The package has some four hundred of these classes, and `dataclasses.dataclass` compiles up to six
functions one by one for each: a large part of what a process takes from its start to its first
kernel (`make bench CASE=startup`). Here one text is compiled for a class when it is first used,
with what has to be quick: `__init__`, `__eq__` and `__hash__`. The rest is shared by all classes.
An instance with slots is made sooner, too, since its slots are set by their descriptors.

`replace` is compiled for a class, too. Fields, `asdict` and the like are those of `dataclasses`.
There is no `InitVar`, no order, and no docstring where none is written.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass as standard, fields  # noqa: TID251
from reprlib import recursive_repr
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

from .uncompiled import FEW as FEW, Uncompiled, counts


class _Factory:
    """The default of an argument that a function makes anew for each instance."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


class _Making(threading.local):
    """Whether this thread is making a class here."""

    one = False


_making = _Making()


class _Params:
    """What `dataclasses` asks of the bases of a class: whether they are frozen, as it is itself.
    The classes that are made here are none of its frozen ones, while it makes them."""

    def __init__(self, others: Any, frozen: bool) -> None:
        self._others, self._frozen = others, frozen

    @property
    def frozen(self) -> bool:
        return self._frozen and not _making.one

    def __getattr__(self, name: str) -> Any:
        return getattr(self._others, name)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass, replace as replace  # noqa: TID251
else:

    def replace(instance, /, **changes):
        """An instance with other values of some fields, as that of `dataclasses`."""
        return _replacing[type(instance)](instance, **changes)

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True, slots=False, kw_only=False):
        """Makes a class of fields, as `dataclasses.dataclass` does."""

        def made(cls: type) -> type:
            return _made(cls, frozen, eq, repr, slots, kw_only)

        return made if cls is None else made(cls)


def _made(cls: type, frozen: bool, eq: bool, shown: bool, slots: bool, kw_only: bool) -> type:
    doc = cls.__doc__
    cls.__doc__ = doc or ""  # else `dataclasses` would look at the signature to make one
    _making.one = True
    try:
        found: Any = standard(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
    finally:
        _making.one = False
    found.__doc__ = doc
    found.__dataclass_params__ = _Params(found.__dataclass_params__, frozen)
    own = found.__dict__
    explicit = own.get("__hash__", MISSING)
    hashed = eq and (explicit is MISSING or (explicit is None and "__eq__" in own))
    methods = _late(found, eq, hashed and frozen, frozen)
    if hashed and not frozen:
        methods["__hash__"] = None
    if shown:
        methods["__repr__"] = _repr
    if frozen:
        methods["__setattr__"], methods["__delattr__"] = _guards(found)
        if slots:
            methods["__getstate__"], methods["__setstate__"] = _getstate, _setstate
    for name, method in methods.items():
        if name not in own or name == "__hash__":
            setattr(found, name, method)
    result: type = found
    return result


def _late(cls: type, eq: bool, hashed: bool, frozen: bool) -> dict[str, Any]:
    """Functions that give way to those that are compiled for a class when one is called."""
    found: dict[str, Any] = {}

    def compiled() -> dict[str, Any]:
        if not found:
            made = _compiled(cls, eq, hashed, frozen)
            for name, method in made.items():
                if cls.__dict__.get(name) is late[name]:  # and not what a decorator made of it
                    setattr(cls, name, method)
            found.update(made)
        return found

    late: dict[str, Any] = {"__signature__": _Signature(compiled), **_first(cls, frozen, compiled)}
    unneeded = {"__eq__": not eq, "__hash__": not hashed}
    return {name: method for name, method in late.items() if not unneeded.get(name)}


def _first(cls: type, frozen: bool, compiled: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Functions that are compiled after some calls: of most classes a process that finds its
    kernels on disk makes few instances."""
    slowly = Uncompiled(cls, frozen)

    def __init__(self: Any, *args: Any, **options: Any) -> None:
        if not slowly.init(self, args, options):
            compiled()["__init__"](self, *args, **options)

    def __eq__(self: Any, other: object) -> Any:
        if not slowly.is_asked():
            return compiled()["__eq__"](self, other)
        return (
            slowly.key(self) == slowly.key(other) if type(self) is type(other) else NotImplemented
        )

    def __hash__(self: Any) -> int:
        if slowly.is_asked():
            return hash(slowly.key(self, hashed=True))
        known: int = compiled()["__hash__"](self)
        return known

    return {"__init__": __init__, "__eq__": __eq__, "__hash__": __hash__}


class _Signature:
    """The signature of a class, whose `__init__` is compiled for it."""

    def __init__(self, compiled: Callable[[], dict[str, Any]]) -> None:
        self.compiled = compiled

    def __get__(self, instance: object, owner: Any) -> Any:
        from inspect import signature

        if instance is not None or owner.__dict__.get("__signature__") is not self:
            return None  # what inherits from the class has its own
        found = signature(self.compiled()["__init__"])
        return found.replace(parameters=list(found.parameters.values())[1:])


def _compiled(cls: type, eq: bool, hashed: bool, frozen: bool) -> dict[str, Any]:
    """The functions of a class that are compiled for it, by name."""
    all_fields = fields(cls)
    known: dict[str, Any] = {"_FACTORY": _FACTORY, "_set": object.__setattr__}
    text = _init(cls, all_fields, frozen, known)
    if eq:
        compared = [f.name for f in all_fields if counts(f, hashed=False)]
        mine, other = _tuple("self", compared), _tuple("other", compared)
        text += (
            "def __eq__(self, other):\n"
            f" if other.__class__ is self.__class__: return {mine} == {other}\n"
            " return NotImplemented\n"
        )
    if hashed:
        counted = [f.name for f in all_fields if counts(f, hashed=True)]
        text += f"def __hash__(self): return hash({_tuple('self', counted)})\n"
    known["__name__"] = cls.__module__
    exec(text, known)
    made: list[str] = ["__init__", "__eq__", "__hash__"]
    methods = {name: known[name] for name in made if name in known}
    for name, method in methods.items():
        method.__qualname__ = f"{cls.__qualname__}.{name}"
    methods["__init__"].__annotations__ = {f.name: f.type for f in all_fields if f.init}
    methods["__init__"].__annotations__["return"] = None
    return methods


def _init(cls: type, all_fields: Sequence[Field[Any]], frozen: bool, known: dict[str, Any]) -> str:
    """The text of `__init__`; what it refers to is put into `known`."""
    body = [_assigned(cls, f, frozen, known) for f in all_fields]
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    arguments = [_argument(f, known) for f in all_fields if f.init and not f.kw_only]
    named = [_argument(f, known) for f in all_fields if f.init and f.kw_only]
    listed = ", ".join(["self", *arguments, *(["*", *named] if named else [])])
    return f"def __init__({listed}):\n" + "".join(f" {line}\n" for line in body or ["pass"])


def _argument(f: Field[Any], known: dict[str, Any]) -> str:
    if f.default is not MISSING:
        known[f"_default_{f.name}"] = f.default
        return f"{f.name}=_default_{f.name}"
    return f.name if f.default_factory is MISSING else f"{f.name}=_FACTORY"


def _assigned(cls: type, f: Field[Any], frozen: bool, known: dict[str, Any]) -> str:
    """The line of `__init__` that sets a field."""
    value = f.name
    if f.default_factory is not MISSING:
        known[f"_make_{f.name}"] = f.default_factory
        value = f"_make_{f.name}()"
        if f.init:
            value = f"{value} if {f.name} is _FACTORY else {f.name}"
    slot = getattr(cls, f.name, None)
    if not f.init and f.default_factory is MISSING:
        if f.default is MISSING or not isinstance(slot, MemberDescriptorType):
            return "pass"
        known[f"_default_{f.name}"] = f.default
        value = f"_default_{f.name}"  # without slots an instance has what its class has
    if not frozen:
        return f"self.{f.name} = {value}"
    if not isinstance(slot, MemberDescriptorType):
        return f"_set(self, {f.name!r}, {value})"
    known[f"_set_{f.name}"] = slot.__set__
    return f"_set_{f.name}(self, {value})"


OFTEN = 20


class _Replacing(dict[type, Any]):
    """By class, the function that makes an instance with other values of some fields. It is
    compiled where that is done often: it takes as long as doing it some twenty times without."""

    def __init__(self) -> None:
        self._asked: dict[type, int] = {}

    def __missing__(self, cls: type) -> Any:
        asked = self._asked[cls] = self._asked.get(cls, 0) + 1
        return dataclasses.replace if asked < OFTEN else self.setdefault(cls, _replace_of(cls))


def _replace_of(cls: type) -> Any:
    known: dict[str, Any] = {"_KEPT": object(), "_cls": cls}
    kept = sorted((f for f in fields(cls) if f.init), key=lambda f: bool(f.kw_only))
    listed = "".join(f", {f.name}=_KEPT" for f in kept)
    given = ", ".join((f"{f.name}=" if f.kw_only else "") + _or_kept(f.name) for f in kept)
    exec(f"def replace(self, /{', *' * bool(kept)}{listed}): return _cls({given})", known)
    return known["replace"]


def _or_kept(name: str) -> str:
    return f"self.{name} if {name} is _KEPT else {name}"


_replacing = _Replacing()


def _tuple(whose: str, names: Sequence[str]) -> str:
    return "(" + "".join(f"{whose}.{name}, " for name in names) + ")"


def _guards(cls: Any) -> tuple[Callable[..., None], Callable[..., None]]:
    """What keeps the fields of an instance as they are."""
    names = frozenset(f.name for f in fields(cls))

    def __setattr__(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __setattr__, __delattr__


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{self.__class__.__qualname__}({shown})"


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for f, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)
