"""Memoisation of what is derived from a program, by keys that hold all inputs of an answer.

The rewritten programs of one program, and the states of one schedule, have most of their parts in
common. A key is made of interned nodes, definitions, statements and names as they are, and of isl's
sets and maps as `Same`. Since it holds every input, an answer never gets out of date, and a
directive does not have to declare what it leaves unchanged: whatever follows from unchanged inputs
has an equal key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ...records import dataclass

if TYPE_CHECKING:
    from .isl import Map, Set


T = TypeVar("T")
Either = TypeVar("Either", "Set", "Map")


@dataclass(frozen=True, eq=False)
class Same:
    """A set or a map as a part of a key: the same one, for isl's own hashes and equality cost."""

    of: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.of is other.of

    def __hash__(self) -> int:
        return id(self.of)


def same(objects: Iterable[object]) -> tuple[Same, ...]:
    """Several sets or maps as parts of a key."""
    return tuple(map(Same, objects))


class Memo:
    """Answers by their keys. What a question raises is not kept."""

    def __init__(self) -> None:
        self._found: dict[tuple[object, ...], object] = {}
        self._sets: dict[object, list[Any]] = {}

    def of(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        """The answer to a question.

        Args:
            key: what is asked, and everything that the answer depends on.
            make: finds the answer.
        """
        try:
            return cast(T, self._found[key])
        except KeyError:
            # Where several threads look for one answer, all get that of the first: keys that are
            # made of it compare by identity.
            return cast(T, self._found.setdefault(key, make()))

    def alike(self, about: object, found: Either) -> Either:
        """A set or a map, or an earlier one with the same text, so that answers whose keys hold the
        earlier one are found.

        Args:
            about: what it is a set of, so that few are compared.
        """
        known = self._sets.setdefault(about, [])
        for other in known:
            if found is other or found.plain_is_equal(other):
                return cast(Either, other)
        known.append(found)
        return found
