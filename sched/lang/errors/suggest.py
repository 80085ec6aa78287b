"""What may have been meant by a name that is not there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar, NoReturn

from .close import close
from .frames import cut


def public(owner: object) -> list[str]:
    """The attributes of something, or of what a class makes, that are meant for users."""
    return [x for x in dir(owner) if x[0] != "_"]


def missing(
    owner: str, name: str, names: Iterable[str], others: Mapping[str, str] | None = None
) -> AttributeError:
    """The error for an attribute that something does not have.

    Args:
        owner: what does not have it, as a user calls it.
        names: what it has instead.
        others: what to write for names that something else has.
    """
    others = others or {}
    own = close(name, names)
    if name in others or own is None:
        hint = others.get(close(name, others) or "")
    else:
        hint = f"did you mean {own}?"
    return AttributeError(
        f"{owner} has no attribute {name!r}" + (f"\n  hint: {hint}" if hint else "")
    )


class Listing(type):
    """Shows of a class what is meant for users: IPython completes an object's attributes by those
    of its class, too."""

    _public: frozenset[str]

    def __dir__(cls) -> list[str]:
        return [x for x in super().__dir__() if x[0] == "_" or x in (cls._public or (x,))]


class Suggesting(metaclass=Listing):
    """Says of an attribute that is not there what may have been meant."""

    __slots__ = ()

    #: The attributes that are meant for users: what tab completion shows. All, if none is named.
    _public: ClassVar[frozenset[str]] = frozenset()

    def __dir__(self) -> list[str]:
        shown = self._public
        return [x for x in object.__dir__(self) if x[0] == "_" or not shown or x in shown]

    def _called(self) -> str:
        """What a user calls this. It may not be made yet, when Python asks for its attributes."""
        kind, name = type(self).__name__, getattr(self, "__dict__", {}).get("name")
        return f"{kind} {name}" if name else f"a {kind}"

    def _others(self) -> dict[str, str]:
        """What to write instead of attributes that something else has."""
        return {}

    if not TYPE_CHECKING:  # mypy would take every attribute to be there

        def __getattr__(self, name: str) -> NoReturn:
            if name[:1] == "_":  # Python, NumPy and Jupyter ask for such
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            try:
                raise missing(self._called(), name, public(self), self._others())
            except AttributeError as error:
                cut(error)
                raise
