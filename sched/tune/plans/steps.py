"""Tiles of several steps: a loop that carries dependences, as one over time or over pivots, is
split, and what other loops compute in these steps stays in the caches or in registers.

There are two kinds. Where a step needs what is near in the step before, as in a stencil, tiles are
skewed: the template `steps`. Where a step needs the elements whose index is the step itself, its
pivots, of all others, as in eliminations, those that are pivots in a block of steps are computed
step by step first, and the rest then by tiles: the template `blocks`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING

from ...records import replace
from ..facts.facts import StatementFacts, main_of
from ..facts.windows import Window
from .plan import NONE, NestPlan
from .planned import Block, Nest, PlannedLoop

if TYPE_CHECKING:
    from .alike import Alike
    from .templates import Templates

PLANES = 2
"""So many elements along an axis of steps are few."""

FARTHEST = 4
"""The most iterations that a step is behind the one before."""


def as_number(loops: Sequence[int]) -> int:
    """Some loops as a knob: a bit for each."""
    return sum(1 << k for k in loops)


def _loops_of(number: int) -> list[int]:
    return [k for k in range(number.bit_length()) if number >> k & 1]


def runs_in_steps(s: StatementFacts) -> bool:
    """Whether only the outermost loop carries dependences, and no others run in those inside."""
    if s.kind != "recurrence" or len(s.loops) < 3 or s.loops[0].parallel:
        return False
    return all(x.parallel and not (x.is_shared or x.is_ragged) for x in s.loops[1:])


def few_planes(
    statements: Mapping[str, Sequence[StatementFacts]],
    windows: Mapping[str, Sequence[Window]],
    outputs: Collection[str],
) -> dict[str, int]:
    """Recurrences of which only few elements along the axis of their steps are read by others, so
    that a schedule keeps no more; with that axis.

    Args:
        statements: by Func.
        windows: by Func, what others need of it.
        outputs: the names of Funcs that nothing is known about the readers of.
    """
    found: dict[str, int] = {}
    for func, own in statements.items():
        s, readers = main_of(own), windows.get(func, ())
        if func in outputs or not readers or s.is_update or s.kind != "recurrence":
            continue
        axis = s.axes[0] if s.loops and not s.loops[0].parallel else None
        if axis is not None and all(w.widths[axis] <= PLANES for w in readers):
            found[func] = axis
    return found


def skew_of(s: StatementFacts, loop: int) -> int | None:
    """By how many iterations a loop must be further behind in each step; None where no small number
    is enough."""
    first = s.loops[0].name
    within = [d.spans for d in s.distances if d.source == d.sink == s.name]
    if any(len(x) <= loop or x[loop][0] is None or (x[0][0] or 0) < 1 for x in within):
        return None
    factors = s.skewable.get(s.loops[loop].name, {})
    by = factors.get(first, 0)
    return by if set(factors) <= {first} and by <= FARTHEST else None


# loops --------------------------------------------------------------------------------------------
def nest_of_steps(of: Templates, plan: NestPlan) -> Nest | None:
    """The loops of skewed tiles; None where dependences do not allow them."""
    s, count, side = of.statement, plan.number("steps"), plan.number("rows")
    axes = _loops_of(plan.number("axes"))
    vector, lanes, shared = (plan.number(x) for x in ("vector", "lanes", "parallel"))
    behind = {k: skew_of(s, k) for k in axes}
    if not runs_in_steps(s) or vector in axes or None in behind.values():
        return None
    skews = tuple((k, by or 0) for k, by in behind.items())
    outer, inner = [_outer(of, 0, of.extents[0], count)], [_inner(of, 0, count)]
    for k, by in skews:
        tile = _outer(of, k, of.extents[k] + by * (count - 1), side)
        outer.append(replace(tile, kind="parallel" if k == shared else "serial"))
    for k in range(1, len(of.extents)):
        if k == vector:
            inner.append(_outer(of, k, of.extents[k], lanes))
        elif k in axes:
            inner.append(_inner(of, k, side))
        else:
            inner.append(PlannedLoop(s.loops[k].name, k, of.extents[k], 1))
    inner.append(replace(_inner(of, vector, lanes), kind="vector"))
    return Nest(plan, (*outer, *inner), block=Block(count, skews))


def nest_of_blocks(of: Templates, plan: NestPlan) -> Nest | None:
    """The loops of tiles in blocks of steps, which are accumulated in registers; none where what
    is near pivots cannot run side by side."""
    s, knobs = of.statement, dict(plan.knobs)
    vector, jam, count = knobs["vector"], knobs["jam"], knobs["steps"]
    width = knobs["lanes"] * knobs["columns"]
    axes = _loops_of(knobs["axes"])
    tile = {"vector": vector, "lanes": knobs["lanes"], "columns": 1, "jam": NONE, "rows": 1}
    beside = {**dict.fromkeys(knobs, 0), **tile, "parallel": NONE}
    near = of.nest(NestPlan(s.name, "rows", tuple(beside.items())))
    if near is None or not runs_in_steps(s) or not axes:
        return None
    outer = [_outer(of, 0, of.extents[0], count)]
    for k in range(1, len(of.extents)):
        step = width if k == vector else knobs["rows"] if k == jam else 0
        loop = _outer(of, k, of.extents[k], step) if step else of.whole(k)
        outer.append(replace(loop, kind="parallel" if k == knobs["parallel"] else "serial"))
    inner = [
        PlannedLoop(s.loops[0].name, 0, count, 1),
        replace(_inner(of, jam, knobs["rows"]), kind="unrolled"),
    ]
    if knobs["columns"] > 1:
        name = of.part_name(vector, 1, 3)
        inner.append(PlannedLoop(name, vector, knobs["columns"], knobs["lanes"], "unrolled"))
    last = of.part_name(vector, 1 + (knobs["columns"] > 1), 3)
    inner.append(PlannedLoop(last, vector, knobs["lanes"], 1, "vector"))
    share = sum(min(1.0, count / of.extents[k]) for k in axes)
    block = Block(count, pivots=tuple(axes), near=near, share=share)
    return Nest(plan, (*outer, *inner), outer[-1].name, holds=True, block=block)


def _outer(of: Templates, k: int, extent: int, step: int) -> PlannedLoop:
    return PlannedLoop(of.part_name(k, 0, 2), k, ceil(extent / step), step)


def _inner(of: Templates, k: int, extent: int) -> PlannedLoop:
    return PlannedLoop(of.part_name(k, 1, 2), k, extent, 1)


def skewed(accesses: Alike, block: Block) -> Alike:
    """Accesses where each step is behind the one before."""

    def moved(strides: Sequence[float | None]) -> tuple[float | None, ...]:
        (first, *others), behind = strides, [by * (strides[k] or 0) for k, by in block.skews]
        return (None if first is None else first + max(behind, key=abs), *others)

    return [replace(x, one=replace(x.one, strides=moved(x.one.strides))) for x in accesses]
