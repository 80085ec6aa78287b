"""The room that storage inside of loops needs: what stages touch of a Func in one iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Var
from ...lang.tensors.tensors import Func
from ..placement.accumulators import touched_by
from ..sets.budget import BudgetExceeded, attempt
from ..sets.expressions import Translator
from ..sets.hulls import MANY, near_hull
from ..sets.isl import Set, is_bounded, isl, union_sets
from ..tree.extents import MUCH, local_extent
from ..tree.stage import Stage

_SET = isl.dim_type.set
OPERATIONS = 500_000
"""So much work may isl put into the exact extents of storage: seconds at most."""


def room_in_loops(
    func: Func,
    using: Sequence[Stage],
    loops: tuple[Var, ...],
    described: Set,
    parameters: Mapping[str, Node],
    context: Set,
) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The origin and the extents of what some stages touch of a Func in an iteration.

    Args:
        loops: those around the storage, which both may depend on.
        described: the iterations of these loops.
        parameters: the sizes that isl knows by name.
        context: what holds of them.
    """
    depth = len(loops)
    mine = [s for s in using if s.statement.func is func]
    if not mine:  # none of its stages ever runs, so they have been left out
        return (ix.ZERO,) * func.ndim, (ix.ZERO,) * func.ndim
    touched = [touched_by(s, s.statement.write, depth) for s in mine]
    whole = union_sets(touched[1:], touched[0]).intersect_params(context)
    names = Translator(parameters, loops)
    known = described.intersect_params(context)

    def room(touched: Set, known: Set, depth: int) -> list[tuple[Node, Node]]:
        def axes(most: int) -> list[tuple[Node, Node]]:
            given = known, context, names, most
            return [local_extent(touched, depth, k, *given) for k in range(func.ndim)]

        found = axes(MANY)
        # Few along each axis may be many together.
        return axes(1) if prod(ix.constant(n) or 1 for _, n in found) > MUCH else found

    try:
        with attempt(OPERATIONS):
            axes = room(whole, known, depth)
    except BudgetExceeded:  # room for what all iterations touch
        known, whole = (x.project_out(_SET, 0, depth) for x in (known, whole))
        hull = near_hull(whole)
        is_bounded_along_all = all(is_bounded(hull, k) for k in range(func.ndim))
        axes = room(hull if is_bounded_along_all else whole, known, 0)
    return tuple(lo for lo, _ in axes), tuple(n for _, n in axes)
