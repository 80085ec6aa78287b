"""How the accesses of a statement suit vectors along its loops, and rows around them."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts.facts import StatementFacts
from .plan import NONE

NEAR = 4
"""The largest stride along which vectors are loaded as such."""


def is_dense(s: StatementFacts, vector: int, jam: int, extents: Sequence[int]) -> bool:
    """Whether vectors of results lie side by side."""
    if vector == NONE:
        return False
    if jam != NONE and interleaves(s, jam, vector, extents):
        return True
    return any(a.is_write and a.strides[vector] == 1 for a in s.accesses)


def interleaves(s: StatementFacts, k: int, vector: int, extents: Sequence[int]) -> bool:
    """Whether results of a short loop lie between those of a vector, as the channels of pixels."""
    if vector in (NONE, k) or not s.loops[k].is_short or extents[k] > NEAR:
        return False
    return any(
        a.is_write and a.strides[k] == 1 and a.strides[vector] == extents[k] for a in s.accesses
    )


def shares(s: StatementFacts, k: int) -> bool:
    """Whether iterations of a loop read what others of it read, too."""
    return any(a.strides[k] == 0 and any(a.strides) for a in s.accesses)


def gathers(s: StatementFacts, vector: int, jam: int = NONE) -> int:
    """How many accesses vectors along a loop take one by one, and anew in each row."""
    if vector == NONE:
        return 0
    found = [a for a in s.accesses if (x := a.strides[vector]) is None or abs(x) > NEAR]
    return sum(1 for a in found if jam == NONE or a.strides[jam] != 0)


def looks_up(s: StatementFacts, k: int) -> bool:
    """Whether all that does not lie in vectors along a loop is loaded from where data say."""
    strides = [(a.strides[k], a.is_write) for a in s.accesses]
    far = [(x, is_write) for x, is_write in strides if x is None or abs(x) > NEAR]
    is_dense = any(x is not None and abs(x) == 1 for x, is_write in strides if is_write)
    return is_dense and all(x is None and not is_write for x, is_write in far)


def suits_vectors(s: StatementFacts, k: int) -> float:
    """How well the accesses of a statement suit vectors along a loop."""
    found = 0.0
    for a in s.accesses:
        stride = a.strides[k]
        if stride is None and a.is_write:
            return -1.0
        if stride is None or abs(stride) > NEAR:
            found -= 0.5
        elif stride:
            found += 1.0 if abs(stride) == 1 else 0.3
    return found
