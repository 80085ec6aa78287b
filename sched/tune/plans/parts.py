"""Parts of a reduction that have results of their own, so that threads share them: what nothing
else can be shared of, as a histogram, or the sum of an array."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from ..facts.facts import StatementFacts

PARTS = 16
"""Parts of a loop, and four for each thread where that is more."""

WHOLE = 64
"""Iterations of which parts have a multiple where these are many, so that vectors in them are
full."""

OWN = 16
"""How many instances there must be for each result of a part."""

COPIES = 4
"""Results that each part has of what data choose, so that neighbours that choose the same do not
wait for each other."""

SMALL = 4
"""The part of the nearest cache that results may take of which there are such copies."""

LEAST = 1 << 15
"""Instances that are worth being shared."""


def has_copies(s: StatementFacts, nearest: int) -> bool:
    """Whether each part shall have several copies of its results, of which neighbours take turns.

    Args:
        nearest: bytes of the nearest cache.
    """
    size = sum(a.elements * a.bytes for a in s.accesses if a.is_write)
    return s.kind == "scatter" and size * COPIES * SMALL <= nearest


def part_of(
    s: StatementFacts, extents: Sequence[int], short: Sequence[bool], threads: int
) -> tuple[int, int] | None:
    """The loop of a reduction whose parts threads can share, and how many iterations a part has;
    None where there is none."""
    loops = [k for k, x in enumerate(s.loops) if x.is_reduction]
    if threads == 1 or not loops or any(x.is_shared or x.is_ragged for x in s.loops):
        return None
    loop, instances = loops[0], s.instances
    wanted = max(PARTS, 4 * threads)
    by = ceil(extents[loop] / wanted)
    by = ceil(by / WHOLE) * WHOLE if by > WHOLE else 1 << (by - 1).bit_length()
    if short[loop] or by < 2 or extents[loop] <= by or instances < LEAST:
        return None
    results = sum(a.elements for a in s.accesses if a.is_write)
    parts = ceil(extents[loop] / by)
    return (loop, by) if results * parts * OWN <= instances else None
