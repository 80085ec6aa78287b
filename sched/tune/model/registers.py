"""How many registers a block of vectors takes."""

from __future__ import annotations

from collections.abc import Sequence

from ..plans.planned import Kind
from .footprint import Touch

ADDRESSES = 8
"""Rows of an operand whose addresses registers can hold beside all others."""

AT_ONCE = 2
"""Rows of a block that are computed at the same time, where they have nothing in common."""


def loaded(
    t: Touch, count: float, extents: Sequence[float], kinds: Sequence[Kind], begin: int
) -> float:
    """Registers for what a block loads of an operand: for all of it, where iterations side by side
    have some of that in common; otherwise for a few rows, of all vectors side by side.

    Args:
        count: how many loads there are.
        begin: the position of the first loop of the block.
    """
    for at in range(begin, len(extents)):
        if kinds[at] == "unrolled" and (t.strides[at] == 0 or (t.gaps and t.gaps[at])):
            return count
    is_beside = len(extents) - begin > 1 and kinds[-2:] == ("unrolled", "vector")
    columns = extents[-2] if is_beside and _goes_on(t.strides[-2:], extents[-1]) else 1.0
    return min(count, AT_ONCE * t.count * columns)


def _goes_on(strides: Sequence[float | None], lanes: float) -> bool:
    """Whether vectors lie one behind the other."""
    before, inner = strides
    return bool(inner) and before == lanes * (inner or 0)


def needed(sums: float, loads: Sequence[float]) -> float:
    """Registers that a block takes, which loads so much of each operand, and adds to so many sums:
    one operand stays in registers while the elements of another one, each at an address in a
    register, are loaded one after the other."""
    most = max(loads)
    if not sums or most > ADDRESSES:
        return sums + most
    return sums + sorted(loads)[-2] + 1
