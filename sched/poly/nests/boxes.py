"""The bounding boxes of Funcs in memory: their origins and extents."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node
from ...lang.program.scalars import symbols_of
from ...lang.tensors.tensors import Func
from ..model.model import Model
from ..sets.budget import BudgetExceeded, attempt
from ..sets.expressions import Translator
from ..sets.hulls import PIECES_LIMIT, near_hull, simple_hull
from ..sets.isl import Set, coalesced, is_bounded, isl
from ..sets.projections import along
from ..tree.stage import Stage
from .bounds import loop_bounds
from .guards import OPERATIONS


def box(
    model: Model, func: Func, padded: Sequence[Stage]
) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The origin and the extents of the bounding box of a Func's region, and of what full tiles
    of some stages write beyond it."""
    region = model.regions[func]
    for stage in padded:
        if stage.statement.func is func:
            region = region.union(stage.padded.apply(stage.statement.write.relation.map))
    region = coalesced(region.intersect_params(model.context))
    # Where the region is empty nothing is stored, so the box may be anything there.
    inhabited = region.params()
    if inhabited.is_empty():
        return (ix.ZERO,) * func.ndim, (ix.ZERO,) * func.ndim
    names = Translator(symbols_of(model.program))
    axes: list[tuple[Node, Node]] | None = None
    if region.n_basic_set() <= PIECES_LIMIT:
        with suppress(BudgetExceeded), attempt(OPERATIONS):
            axes = [_axis_bounds(region, axis, inhabited, names) for axis in range(func.ndim)]
    if axes is None:
        axes = [_wider_axis_bounds(region, axis, inhabited, names) for axis in range(func.ndim)]
    return tuple(lo for lo, _ in axes), tuple(extent for _, extent in axes)


def _axis_bounds(region: Set, axis: int, inhabited: Set, names: Translator) -> tuple[Node, Node]:
    """Where an axis of a region begins, and how long it is."""
    lo, hi = region.dim_min(axis), region.dim_max(axis)
    extent = hi.sub(lo).add_constant_val(isl.Val(1))
    return names.pw_aff(lo.gist(inhabited), ix.ZERO), names.pw_aff(extent.gist(inhabited), ix.ZERO)


def _wider_axis_bounds(
    region: Set, axis: int, inhabited: Set, names: Translator
) -> tuple[Node, Node]:
    """The bounds along an axis of a simpler set around a region, or around each of its pieces, if
    it has many: exact bounds of these take seconds, and a little more memory does no harm."""
    hull = near_hull(region)
    if is_bounded(hull, axis):
        return _axis_bounds(hull, axis, simple_hull(inhabited), names)
    line = along(region, axis)
    bounds = loop_bounds(line, Set.universe(line.get_space()), names)
    return bounds.lo, ix.maximum([ix.sub(bounds.hi, bounds.lo), ix.ZERO])
