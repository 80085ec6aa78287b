"""Suggestions for attributes that do not exist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar, NoReturn

from . import codes
from .close import close
from .frames import cut
from .kind import NO_ATTRIBUTE


def public(owner: object) -> list[str]:
    """The public attributes of an object, or of the instances of a class."""
    return [x for x in dir(owner) if x[0] != "_"]


def missing(
    owner: str, name: str, names: Iterable[str], others: Mapping[str, str] | None = None
) -> AttributeError:
    """The error for an attribute that does not exist.

    Args:
        owner: the object without the attribute, as a user calls it.
        name: the attribute that was asked for.
        names: the attributes of the object.
        others: what to write in place of attributes of similar objects in other libraries.
    """
    others = others or {}
    own = close(name, names)
    if name in others or own is None:
        hint = others.get(close(name, others) or "")
    else:
        hint = f"did you mean {own}?"
    said = f"{owner} has no attribute {name!r}" + (f"\n  hint: {hint}" if hint else "")
    return codes.coded(AttributeError(said), NO_ATTRIBUTE)


def no_member(
    module: str, name: str, names: Iterable[str], others: Mapping[str, str] | None = None
) -> NoReturn:
    """Refuses a name that is not in a module, as `missing` does."""
    if name[0] == "_":  # Python and IPython probe for such names
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    try:
        raise missing(f"module {module!r}", name, names, others)
    except AttributeError as error:
        cut(error)
        raise


class Listing(type):
    """A metaclass whose `dir` lists public attributes only: IPython completes an object's
    attributes by those of its class, too."""

    _public: frozenset[str]

    def __dir__(cls) -> list[str]:
        return [x for x in super().__dir__() if x[0] == "_" or x in (cls._public or (x,))]


class Suggesting(metaclass=Listing):
    """A base class whose errors about missing attributes suggest what may have been meant."""

    __slots__ = ()

    #: The public attributes, which tab completion shows; empty if all are public.
    _public: ClassVar[frozenset[str]] = frozenset()

    def __dir__(self) -> list[str]:
        shown = self._public
        return [x for x in object.__dir__(self) if x[0] == "_" or not shown or x in shown]

    def _called(self) -> str:
        """What a user calls the object. Python may ask for attributes before `__init__` has run,
        so it may have no name yet."""
        kind, name = type(self).__name__, getattr(self, "__dict__", {}).get("name")
        return f"{kind} {name}" if name else f"a {kind}"

    def _others(self) -> dict[str, str]:
        """What to write in place of attributes of similar objects in other libraries."""
        return {}

    if not TYPE_CHECKING:  # mypy would take every attribute to be there

        def __getattr__(self, name: str) -> NoReturn:
            if name[:1] == "_":  # Python, NumPy and Jupyter probe for such names
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            # A debugger may show an object of which nothing is set yet, as what `_others` needs.
            others = self._others() if getattr(self, "__dict__", True) else {}
            try:
                raise missing(self._called(), name, public(self), others)
            except AttributeError as error:
                cut(error)
                raise
