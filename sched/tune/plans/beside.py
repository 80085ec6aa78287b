"""Nests beside those that a search begins with: one number is a little more or less."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...records import replace
from ...targets.target import Target
from ..facts.facts import StatementFacts
from .effort import Effort
from .plan import NONE, NestPlan
from .planned import Nest
from .strides import gathers
from .templates import Templates

MOST = {"columns": 4, "panels": 8}
"""The most vectors side by side, and tiles side by side with a common copy."""


def beside(
    s: StatementFacts, templates: Templates, plan: NestPlan, target: Target, effort: Effort
) -> Iterator[Nest]:
    """The nests that are a step away from a plan.

    Args:
        templates: of the statement, at its place.
        effort: how much code they may be.
    """
    if plan.template not in ("tile", "rows"):
        return
    for knobs in _steps(s, templates, dict(plan.knobs)):
        if _fits(s, templates, knobs, target, effort):
            nest = templates.nest(replace(plan, knobs=tuple(knobs.items())))
            if nest is not None:
                yield nest


def _steps(
    s: StatementFacts, templates: Templates, knobs: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    """Numbers of which one is another one."""
    jam = knobs["jam"]
    if jam != NONE and not templates.short[jam] and not s.loops[jam].is_reduction:
        yield from ({**knobs, "rows": x} for x in (knobs["rows"] - 1, knobs["rows"] + 1) if x > 1)
    steps = {
        "columns": (knobs["columns"] - 1, knobs["columns"] + 1) if knobs["vector"] != NONE else (),
        "panels": (knobs["panels"] - 1, knobs["panels"] + 1) if knobs["panels"] else (),
    }
    for name, values in steps.items():
        yield from ({**knobs, name: x} for x in values if 1 <= x <= MOST[name])


def _fits(
    s: StatementFacts,
    templates: Templates,
    knobs: Mapping[str, int],
    target: Target,
    effort: Effort,
) -> bool:
    """Whether a tile stays in registers, and is not too much code."""
    rows, columns, vector, jam = (knobs[x] for x in ("rows", "columns", "vector", "jam"))
    if jam != NONE and knobs["parallel"] == jam and knobs["chunk"] % rows:
        return False
    if vector != NONE and jam != NONE and rows > target.rows_beside(columns):
        return False
    size = sum(s.operations.values()) + len(s.accesses)
    size *= templates.window_size if knobs["taps"] else 1
    copied = rows * columns * knobs["lanes"] * gathers(s, vector, jam)
    return rows * columns * size <= effort.code and copied <= effort.gathers
