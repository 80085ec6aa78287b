"""Two loops of a statement that are one row in memory, as pixels and their channels: vectors of
them lie side by side, whatever the extent of the inner one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...records import replace
from ..facts.facts import StatementFacts
from .plan import NestPlan

if TYPE_CHECKING:
    from .planned import Nest
    from .templates import Templates


def is_row(s: StatementFacts, extents: Sequence[int], short: Sequence[bool]) -> bool:
    """Whether the innermost two loops are one row of all that a statement accesses, and the inner
    one has few iterations at any sizes."""
    if s.kind != "pointwise" or len(s.loops) < 2 or s.distances:
        return False
    inner, extent = s.loops[-1], extents[-1]
    if not inner.is_short or not short[-1] or extent != inner.extent or extent < 2 or short[-2]:
        return False
    if any(x.is_shared or x.is_ragged or not x.parallel for x in s.loops[-2:]):
        return False
    return all(_goes_on(a.strides[-2], a.strides[-1], extent) for a in s.accesses)


def _goes_on(outer: float | None, inner: float | None, extent: int) -> bool:
    """Whether an access moves along two loops as along one."""
    if outer is None or inner is None:
        return False
    return inner == int(inner) and outer == inner * extent


def nest_of_row(of: Templates, plan: NestPlan) -> Nest | None:
    """The loops of a plan of which the innermost two are one, which is that of vectors."""
    s, last = of.statement, len(of.extents) - 1
    if not is_row(s, of.extents, of.short) or plan.number("vector") != last:
        return None
    row = _with_row(of)
    knobs = {**dict(plan.knobs), "vector": last - 1, "row": 0}
    made = row.nest(replace(plan, knobs=tuple(knobs.items())))
    if made is None:
        return None
    loops = tuple(replace(x, loop=last) if x.loop == last - 1 else x for x in made.loops)
    return replace(made, plan=plan, loops=loops, row=row.statement.loops[-1].name)


def _with_row(of: Templates) -> Templates:
    """What makes nests of plans for the statement with the innermost two loops as one."""
    s = of.statement
    outer, inner = s.loops[-2:]
    extent = of.extents[-2] * of.extents[-1]
    name = f"{outer.name}_{inner.name}"
    while name in {x.name for x in s.loops}:
        name += "_"
    row = replace(outer, name=name, extent=extent, middle=extent, is_short=False)
    accesses = tuple(replace(a, strides=(*a.strides[:-2], a.strides[-1])) for a in s.accesses)
    varying = tuple((op, (*by[:-2], any(by[-2:])), count) for op, by, count in s.varying)
    made = replace(
        s,
        loops=(*s.loops[:-2], row),
        axes=(*s.axes[:-2], s.axes[-1]),
        accesses=accesses,
        varying=varying,
    )
    return type(of)(made, (*of.extents[:-2], extent), (*of.short[:-2], False))
