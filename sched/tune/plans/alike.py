"""Accesses that move alike, and what iterations side by side have of them in common."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...records import dataclass, replace
from ..facts.accesses import MemoryAccess
from ..facts.facts import StatementFacts

FAR = 32
"""Iterations that never run side by side."""


@dataclass(frozen=True, slots=True)
class Several:
    """Accesses of a tensor that move alike.

    Attributes:
        one: one of them.
        count: how many these are.
        gaps: by loop of the statement, after how many iterations one of them touches what the next
            one does: one number for each that has such a next one.
    """

    one: MemoryAccess
    count: int
    gaps: tuple[tuple[int, ...], ...]


Alike = Sequence[Several]


def alike(s: StatementFacts) -> Alike:
    """The accesses of a statement, those together that move alike."""
    together: dict[MemoryAccess, list[MemoryAccess]] = {}
    for a in s.accesses:
        together.setdefault(replace(a, elements=0, behind=None), []).append(a)
    return [Several(own[-1], len(own), _gaps(own)) for own in together.values()]


def _gaps(own: Sequence[MemoryAccess]) -> tuple[tuple[int, ...], ...]:
    """By loop, the iterations from each access to the next one."""
    places = sorted(a.behind for a in own if a.behind is not None)
    if len(places) < 2:
        return tuple(() for _ in own[0].strides)
    return tuple(_between(places, stride) for stride in own[0].strides)


def _between(places: Sequence[int], stride: float | None) -> tuple[int, ...]:
    """The iterations from each place to the next one that a loop comes to, if these are few."""
    step = abs(stride or 0)
    if not step or step != int(step):
        return ()
    # Those that a loop comes to from one place follow one another.
    reached = sorted(divmod(x, int(step))[::-1] for x in places)
    found = (b - a for (rest, a), (other, b) in pairwise(reached) if rest == other)
    return tuple(gap for gap in found if gap < FAR)


def kept(accesses: Alike, s: StatementFacts, loop: int) -> Alike:
    """Accesses of a recurrence of which as much is kept as the next iteration of a loop reads: each
    uses the same storage."""

    def folded(a: MemoryAccess) -> MemoryAccess:
        strides = (0 if k == loop else x for k, x in enumerate(a.strides))
        return replace(a, strides=tuple(strides)) if a.tensor == s.func else a

    return [replace(x, one=folded(x.one)) for x in accesses]
