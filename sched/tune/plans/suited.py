"""Which templates and loops suit a statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..facts.facts import StatementFacts
from .places import Spot
from .plan import NONE, NestPlan, Template
from .statements import can_be_alone, free_loops, is_reduction, waits
from .strides import interleaves, shares
from .templates import KNOBS, Templates

ROWS = (2, 4, 8)
"""Rows of a tile, beside as many as registers hold."""

SHORTEST = 32
"""Rows up to which a loop is unrolled as a whole."""

NARROWEST, FEW = 8, 8
"""Lanes of vectors of which halves are tried, and how many vectors a short loop has at most."""

TERMS = (4, 8)
"""Terms of a sum that are added to a result at a time."""


def arrangements(s: StatementFacts, templates: Templates) -> list[tuple[Template, int]]:
    """The templates that suit a statement, and whether its reductions are unrolled."""
    if not is_reduction(s):
        return [("rows", 0)]
    window: list[tuple[Template, int]] = [("tile", 1)] if templates.is_window() else []
    return [*window, ("tile", 0), ("rows", 0)]


def reduced_in_lanes(
    s: StatementFacts, own: Sequence[StatementFacts], reassociates: bool
) -> list[int]:
    """The innermost reduction of a statement, where lanes of vectors may have partial results.

    Args:
        own: the statements of its Func.
        reassociates: whether sums of floats may be added in any order.
    """
    sums = [k for k, x in enumerate(s.loops) if x.is_reduction]
    if s.kind != "reduction" and not (reassociates and s.kind == "float reduction"):
        return []
    if not sums or len(own) != 2 or any(x.is_shared for x in s.loops):
        return []
    return sums[-1:] if all(a.strides[sums[-1]] in (0, 1) for a in s.accesses) else []


def has_others(s: StatementFacts, extents: Sequence[int]) -> bool:
    """Whether there are loops for threads but for the one along which results lie side by side."""
    (written,) = (a for a in s.accesses if a.is_write)
    found = zip(s.loops, extents, written.strides, strict=True)
    return any(x.parallel and e > 1 and stride != 1 for x, e, stride in found)


def jams_of(
    s: StatementFacts,
    statements: Mapping[str, Sequence[StatementFacts]],
    spot: Spot,
    templates: Templates,
    vector: int,
) -> list[int]:
    """The loops whose iterations gain from running side by side: they share what they read, or do
    not wait for each other, or are so few that results are in registers for who reads them.

    Args:
        statements: of the program, by Func.
        spot: where it is computed.
    """
    extents = templates.extents
    loops = [k for k in free_loops(s) if k != vector and extents[k] > 1]
    if not waits(s):
        short = [k for k in loops if interleaves(s, k, vector, extents)]
        in_common = [k for k in loops if shares(s, k) or overlaps(s, spot, templates, k)]
        in_common += [k for k in loops if k not in in_common and holds_sums(s, k, statements)]
        is_inside = spot.at is not None and not spot.slides
        few = [k for k in loops if is_inside and is_whole(templates, k)]
        few = [k for k in few if k not in (*in_common, *short)]
        if few and is_looked_up(s.func, statements):
            few = []
        loops = few + [k for k in in_common if vector != NONE] + short
    elif vector == NONE and extents[0] > 1 and can_be_alone(s, statements[s.func]):
        loops = [0, *loops]
    return loops[-2:]


def holds_sums(
    s: StatementFacts, k: int, statements: Mapping[str, Sequence[StatementFacts]]
) -> bool:
    """Whether sums over windows, of which those along a loop share what they read, are read along
    this loop: in its iterations side by side they stay in registers."""
    for a in s.accesses:
        stride, others = a.strides[k], statements.get(a.tensor, ())
        for p in others if stride and a.tensor != s.func else ():
            (written,) = (x.strides for x in p.accesses if x.is_write)
            is_short = all(x.is_short for x in p.loops if x.is_reduction)
            if is_reduction(p) and is_short:
                return any(written[q] == stride and shares(p, q) for q in free_loops(p))
    return False


def overlaps(s: StatementFacts, spot: Spot, templates: Templates, k: int) -> bool:
    """Whether iterations of a loop touch what others of it do, and there are always as many: where
    a window slides, the first ones fill it."""
    fills = spot.slides and spot.moves(s, spot.outer[-1])[k]
    return k in templates.overlapping and not fills


def is_looked_up(func: str, statements: Mapping[str, Sequence[StatementFacts]]) -> bool:
    """Whether data say which elements of a Func another one reads: these are in no registers, and
    soon after they are stored, a load of some of several vectors waits for all of them."""
    others = (s for own in statements.values() for s in own if s.func != func)
    return any(a.tensor == func and None in a.strides for s in others for a in s.accesses)


def is_whole(templates: Templates, k: int) -> bool:
    """Whether a loop has so few iterations at any sizes that all may run side by side."""
    return templates.short[k] and templates.extents[k] <= SHORTEST


def terms_of(s: StatementFacts, templates: Templates, vector: int) -> list[int]:
    """The loops of which several terms can be added to vectors of results at a time."""
    loops = [k for k, x in enumerate(s.loops) if x.is_reduction and not x.is_shared]
    if vector == NONE or s.axes[vector] is None or len(loops) != 1:
        return []
    return [k for k in loops if not templates.short[k] and templates.extents[k] > TERMS[-1]]


def widths_of(lanes: int, vector: int, extents: Sequence[int]) -> list[int]:
    """Lanes that vectors along a loop may have: all of a register, and half of them where the last
    vector of a short loop would be no more than half full.

    Args:
        lanes: of a register.
    """
    if vector == NONE or lanes < NARROWEST or not lanes // 2 <= extents[vector] <= FEW * lanes:
        return [lanes]
    is_half_empty = 0 < extents[vector] % lanes <= lanes // 2
    return [lanes, lanes // 2] if is_half_empty else [lanes]


def different(
    columns: Sequence[int], lanes: int, vector: int, templates: Templates
) -> Sequence[int]:
    """Of numbers of vectors side by side those that make loops of their own: where fewer of them
    are all of a short loop, more are the same.

    Args:
        columns: from the least to the most.
        lanes: of a register.
    """
    if vector == NONE or not templates.short[vector]:
        return columns
    narrowest = widths_of(lanes, vector, templates.extents)[-1]
    is_all = [x * narrowest >= templates.extents[vector] for x in columns]
    return columns[: is_all.index(True) + 1] if True in is_all else columns


def plan_of(
    s: StatementFacts, template: Template, tile: tuple[int, int, int, int, int], **more: int
) -> NestPlan:
    """A plan with a tile: the loop of vectors, lanes, columns, the loop of rows, and how many."""
    knobs = dict(zip(KNOBS, tile, strict=False)) | more
    return NestPlan(s.name, template, tuple([(x, knobs.get(x, 0)) for x in KNOBS]))
