"""Plans of what runs step by step, each step waiting for the one before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...targets.target import Target
from ..facts.facts import StatementFacts
from .effort import Effort
from .places import Spot
from .plan import NONE, NestPlan
from .statements import free_loops, waits_for_floats
from .steps import as_number, runs_in_steps, skew_of
from .strides import suits_vectors
from .suited import plan_of

if TYPE_CHECKING:
    from .templates import Templates

STEPS, SIDES = (4, 8, 16), (16, 32, 64)
"""Steps of a skewed tile, and iterations of its other loops."""

PIVOTS, ROWS = (16, 32), (4, 8)
"""Steps of a block, and rows of a tile in it."""

BEHIND = (2, 4, 8)
"""Rows that are behind each other."""


def plans(
    s: StatementFacts,
    spot: Spot,
    statements: Mapping[str, Sequence[StatementFacts]],
    templates: Templates,
    target: Target,
    effort: Effort,
) -> Iterator[NestPlan]:
    """What suits a statement whose outermost loop carries dependences: iterations of it side by
    side, each behind the one before, or tiles of several of them.

    Args:
        statements: by Func.
    """
    if spot.at is not None:
        return
    yield from _waves(s, statements[s.func], effort)
    if effort.strips and runs_in_steps(s) and s is statements[s.func][-1]:
        loops = [k for k in free_loops(s) if suits_vectors(s, k) > 0]
        if loops:
            vector = max(loops, key=lambda k: suits_vectors(s, k))
            yield from _tiles(s, statements, templates.extents, vector, target)


def _waves(s: StatementFacts, own: Sequence[StatementFacts], effort: Effort) -> Iterator[NestPlan]:
    """Rows of loops that wait for each other, where nothing innermost runs side by side."""
    if s.kind != "recurrence" or len(s.loops) < 2 or s.loops[-1].parallel:
        return
    size = sum(s.operations.values()) + len(s.accesses)
    counts = BEHIND[1:] if waits_for_floats(s) else BEHIND[:2]
    for jam, loop in enumerate(s.loops[:-1]):
        # What shares the loop with others must be taken apart from them, and come last.
        is_free = not loop.is_shared or (jam == 0 and len(own) > 1 and s is own[-1])
        if loop.parallel:
            continue  # rows that do not wait need not be behind each other
        if is_free and not any(x.is_shared for x in s.loops[jam + 1 :]):
            for rows in (x for x in counts if x * size <= effort.code):
                yield plan_of(s, "wave", (NONE, 1, 1, jam, rows), parallel=NONE)


def _tiles(
    s: StatementFacts,
    statements: Mapping[str, Sequence[StatementFacts]],
    extents: Sequence[int],
    vector: int,
    target: Target,
) -> Iterator[NestPlan]:
    lanes = max(1, target.vector_bytes // s.widest)
    for axes in _tiled(s, statements[s.func], vector):
        for count in (x for x in STEPS if 2 * x <= extents[0]):
            for side in (x for x in SIDES if all(2 * x <= extents[k] for k in axes)):
                more = {"parallel": axes[0], "steps": count, "axes": as_number(axes)}
                yield plan_of(s, "steps", (vector, lanes, 1, NONE, side), **more)
    axes = _pivots(s, statements)
    jam = max(k for k in range(1, len(s.loops)) if k != vector)
    if not axes:
        return
    shared = {"parallel": jam, "axes": as_number(axes)}
    for count in (x for x in PIVOTS if all(4 * x <= e for e in (extents[0], extents[vector]))):
        # Tiles end where blocks do.
        for columns in (x for x in (1, 2) if count % (x * lanes) == 0):
            for rows in (x for x in ROWS if x <= target.rows_beside(columns)):
                tile = vector, lanes, columns, jam, rows
                yield plan_of(s, "blocks", tile, steps=count, **shared)


def _tiled(
    s: StatementFacts, own: Sequence[StatementFacts], vector: int
) -> Iterator[tuple[int, ...]]:
    """The loops that may be tiled with steps, one or two, where all that a step needs of the one
    before is near, and no other Func takes part."""
    names = {x.name for x in own}
    if s.is_update or any({d.source, d.sink} - names for d in s.distances):
        return
    loops = [k for k in range(1, len(s.loops)) if k != vector and skew_of(s, k) is not None]
    for count in (1, 2):
        if len(loops) >= count:
            yield tuple(loops[:count])


def _pivots(
    s: StatementFacts, statements: Mapping[str, Sequence[StatementFacts]]
) -> tuple[int, ...]:
    """The loops of an update along whose axes steps read, by their own number, what all steps
    change: nothing where steps do not change the same elements, or others come behind it."""
    written = next(a for a in s.accesses if a.is_write)
    sharing = [
        x
        for own in statements.values()
        for x in own
        if x.loops and x.loops[0].is_shared and x.loops[0].name == s.loops[0].name
    ]
    if not s.is_update or written.strides[0] != 0 or not s.loops[0].is_shared:
        return ()
    read = [a for x in (s, *sharing) for a in x.accesses if a.tensor == s.func and not a.is_write]
    moves = {a.strides[0] for a in read} - {0, None}
    return tuple(k for k in range(1, len(s.loops)) if written.strides[k] in moves)
