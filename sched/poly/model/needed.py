"""Which instances of an update must run, by the elements that are needed of its Func."""

from __future__ import annotations

from contextlib import suppress

from ..sets.budget import BudgetExceeded, attempt
from ..sets.isl import Frame, Map, PwAff, Set, coalesced, existentials, isl
from ..sets.projections import along, by_outer, outer_part

FEW = 4
"""Existentials that a domain may have before it is simplified: each intersection with it adds all
of them again."""

DIVS = 500_000
"""So much work may isl put into expressing existentials by floor divisions."""


MOST_PIECES = 400
"""Beyond so many pieces a set is not made simpler: isl would compare each with every other one, for
longer than any budget lasts."""


def with_few_existentials(domain: Set) -> Set:
    """A domain or a region, simpler where its existentials are many."""
    return domain if existentials(domain) <= FEW else simpler(domain)


def simpler(domain: Set) -> Set:
    """The domain with its existentials expressed as floor divisions, so that what is derived from
    it is simpler."""
    with suppress(BudgetExceeded), attempt(DIVS):
        return coalesced(domain.compute_divs())
    return domain


MANY_EXISTENTIALS = 24
"""So many existentials all pieces of the range of a Var may have together: to express them by floor
divisions multiplies the pieces."""


def needed_instances(touched: Map, region: Set, limit: Set | None) -> Set:
    """The instances of an update that may touch the elements of a region, where each instance
    touches one element alone.

    Which element an instance touches may depend on data. So the region is widened by all elements
    that an instance which may touch the region may touch, up to a fixed point. Then the instances
    that may touch the region touch nothing outside of it, and all others may be left out.
    """
    for _ in range(_WIDER):
        found = touched.intersect_range(region).domain()
        reached = touched.intersect_domain(found).range()
        reached = reached if limit is None else reached.intersect(limit)
        if reached.is_subset(region):
            return found
        region = coalesced(region.union(reached))
    return touched.domain()


#: So often is a region widened by what depends on data.
_WIDER = 3


def within_bounds(region: Set, around: int, axis: int, value: PwAff, frame: Frame) -> Set:
    """Where a value is within the bounds of an intricate region along an axis: not below some
    element, nor above some other one. To compute the bounds is avoided: isl would compare every
    piece with every other one, and bounds over existentials have many pieces themselves.

    { x : (l, v) and (l, w) in region, v_axis <= value(x) <= w_axis }, with l the loops around

    Where that has many existentials, those of the region are left out first, which moves bounds
    outwards by a constant.

    Raises:
        BudgetExceeded: there are so many pieces that no budget would be enough.
    """
    line = along(region, axis, around)
    within = _between(line, around)
    if _all_existentials(within) > MANY_EXISTENTIALS:
        within = _between(coalesced(line.remove_divs()), around)
    if within.n_basic_set() > MOST_PIECES:
        raise BudgetExceeded(f"bounds of {within.n_basic_set()} pieces")
    at = Map.from_pw_aff(value)
    if around:
        at = outer_part(frame.space, around).flat_range_product(at)
    return coalesced(at.intersect_range(coalesced(within)).domain())


def _between(line: Set, around: int) -> Set:
    """{ (l, x) : (l, v) and (l, w) in line, v <= x <= w }"""
    same = Map.universe(line.get_space().map_from_set())
    for k in range(around):
        same = same.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    above = same.order_le(isl.dim_type.in_, around, isl.dim_type.out, around)
    below = same.order_ge(isl.dim_type.in_, around, isl.dim_type.out, around)
    return coalesced(line.apply(above)).intersect(coalesced(line.apply(below)))


def _all_existentials(where: Set) -> int:
    return sum(int(p.dim(isl.dim_type.div)) for p in where.get_basic_sets())


def bounds_along(region: Set, around: int, axis: int, frame: Frame) -> tuple[PwAff, PwAff]:
    """The smallest and the largest coordinate along an axis, over a frame that begins with the
    loops around."""
    if not around:
        lo, hi = region.dim_min(axis), region.dim_max(axis)
        return lo.insert_domain(frame.space), hi.insert_domain(frame.space)
    by_loops = by_outer(along(region, axis, around), around)
    more = len(frame.dims) - around
    lo, hi = (
        bounds.get_pw_aff(0).add_dims(isl.dim_type.in_, more)
        for bounds in (by_loops.lexmin_pw_multi_aff(), by_loops.lexmax_pw_multi_aff())
    )
    return lo, hi
