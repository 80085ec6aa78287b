"""How a coordinate moves with others: { x -> y } along single axes, for all sizes."""

from __future__ import annotations

from collections.abc import Mapping

from .isl import Map, Set, coalesced, isl, val

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set


def coordinate(elements: Map, axis: int) -> Map:
    """{ x -> y along an axis }"""
    rest = int(elements.dim(_OUT)) - axis - 1
    return coalesced(elements.project_out(_OUT, axis + 1, rest).project_out(_OUT, 0, axis))


def pairs_of(coordinates: Map) -> Set:
    """{ (x, y) }"""
    return coordinates.wrap().flatten()


def near(coordinates: Map, p: int) -> tuple[int, int] | None:
    """The least and the largest y - x_p, where constants bound it for all sizes."""
    pairs, y = pairs_of(coordinates), int(coordinates.dim(_IN))
    found = span(pairs, {p: -1, y: 1})
    if found is None or span(pairs, {p: 1}) is None:
        return found
    # With a constant extent, everything is near. What moves has a step of one somewhere.
    return found if _has_step_of_one(coordinates, p) else None


def span(where: Set, factors: Mapping[int, int]) -> tuple[int, int] | None:
    """The least and the largest value of a sum of multiples of coordinates, over all sizes; None
    where there is none."""
    image = where.apply(_sum(where, factors))
    lo, hi = image.dim_min_val(0), image.dim_max_val(0)
    if not (lo.is_int() and hi.is_int()):
        return None
    return int(lo.to_python()), int(hi.to_python())


def width(where: Set, factors: Mapping[int, int]) -> int | None:
    """How far the values of a sum of multiples of coordinates differ at most, at the same sizes;
    None where that grows with sizes."""
    values = where.apply(_sum(where, factors))
    most = Map.from_domain_and_range(values, values).deltas().dim_max_val(0)
    return int(most.to_python()) if most.is_int() else None


def _sum(where: Set, factors: Mapping[int, int]) -> Map:
    """{ point -> a sum of multiples of its coordinates }"""
    value = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(where.get_space()))
    for at, factor in factors.items():
        value = value.set_coefficient_val(_IN, at, val(factor))
    return Map.from_aff(value)


def depends(coordinates: Map, p: int) -> bool:
    """Whether other points along an axis may read others."""
    domain = coordinates.domain()
    moved = Map.from_domain_and_range(domain, domain)
    for k in range(int(coordinates.dim(_IN))):
        if k != p:
            moved = moved.equate(_IN, k, _OUT, k)
    return not moved.apply_range(coordinates).is_subset(coordinates)


def _has_step_of_one(coordinates: Map, p: int) -> bool:
    """Whether from some point to the next one along an axis, both the first and the last element
    that is read are the next ones."""
    domain = coordinates.domain()
    one = isl.MultiAff.identity_on_domain_space(domain.get_space())
    one = one.set_aff(p, one.get_aff(p).add_constant_val(val(1)))
    step = Map.from_multi_aff(one).intersect_domain(domain).intersect_range(domain)
    ends = coordinates.lexmin().flat_range_product(coordinates.lexmax())
    both = ends.flat_range_product(step.apply_range(ends)).range()  # (lo, hi, lo', hi')
    ahead = both
    for k in (0, 1):
        space = isl.LocalSpace.from_space(both.get_space())
        equal = isl.Constraint.alloc_equality(space)
        equal = equal.set_coefficient_val(_SET, k, val(1)).set_constant_val(val(1))
        ahead = ahead.add_constraint(equal.set_coefficient_val(_SET, k + 2, val(-1)))
    return not ahead.is_empty()
