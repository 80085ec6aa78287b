"""Which templates and loops suit a statement."""

from __future__ import annotations

from collections.abc import Sequence

from .facts.facts import StatementFacts
from .plan import NONE, NestPlan, Template
from .statements import is_reduction
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


def has_others(s: StatementFacts, extents: Sequence[int]) -> bool:
    """Whether there are loops for threads but for the one along which results lie side by side."""
    (written,) = (a for a in s.accesses if a.is_write)
    found = zip(s.loops, extents, written.strides, strict=True)
    return any(x.parallel and e > 1 and stride != 1 for x, e, stride in found)


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


def plan_of(
    s: StatementFacts, template: Template, tile: tuple[int, int, int, int, int], **more: int
) -> NestPlan:
    """A plan with a tile: the loop of vectors, lanes, columns, the loop of rows, and how many."""
    knobs = dict(zip(KNOBS, tile, strict=False)) | more
    return NestPlan(s.name, template, tuple((x, knobs.get(x, 0)) for x in KNOBS))
