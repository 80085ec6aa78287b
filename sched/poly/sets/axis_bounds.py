"""The bounds of sets along an axis: those of a hull, or of each part, as constraints and as
expressions."""

from __future__ import annotations

from collections.abc import Sequence

from ...lang.errors.errors import InternalError
from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, integer
from ...records import dataclass
from .expressions import Translator
from .hulls import MANY
from .isl import Aff, BasicSet, Constraint, Set, coalesced, isl
from .remainders import negative

_SET = isl.dim_type.set

AxisBounds = tuple[list[Constraint], list[Constraint]]
"""The constraints that bound an axis from below, and those from above."""


@dataclass(frozen=True, slots=True)
class PartBounds:
    """The bounds of a convex part of a set, or of all of it.

    Attributes:
        sizes: the sizes at which they apply; None: all. Bounds that are far off, as the range of an
            index type is, apply only where the part has points, so that loops do not run so far at
            other sizes.
    """

    lower: list[Constraint]
    upper: list[Constraint]
    sizes: Set | None = None


def parts_of(iterations: Set, known: Set, axis: int) -> list[PartBounds]:
    """The bounds of the hull; those of each piece where the hull is unbounded, as that of
    `i < n or i < m`, or its bounds are far from all pieces."""
    hull = hull_of(iterations)
    of_hull = [bounds_of(candidate, axis) for candidate in (_simplified(hull, known), hull)]
    found = next((bounds for bounds in of_hull if all(bounds)), None)
    if found is not None:
        found = _nearest(found, iterations, axis)
        if not _may_be_far(found, axis):
            return [PartBounds(*found)]
    pieces = coalesced(iterations.remove_divs()).get_basic_sets()
    parts = [bounds_of(piece, axis) for piece in pieces]
    if found is not None and (not all(map(all, parts)) or _are_among(found, parts, axis)):
        return [PartBounds(*found)]
    if not all(map(all, parts)):
        raise InternalError(f"a loop without bounds over {iterations}")
    far = [_may_be_far(bounds, axis) for bounds in parts]
    sizes = known.params()
    return [
        PartBounds(*bounds, _where(piece, sizes) if is_far and not all(far) else None)
        for piece, bounds, is_far in zip(pieces, parts, far, strict=True)
    ]


def _nearest(bounds: AxisBounds, iterations: Set, axis: int) -> AxisBounds:
    """The bounds, with the least or the largest value of the set in the place of far ones. A set
    may be bounded by constraints on remainders, which its hull does not have."""
    sides = []
    for side, sign in zip(bounds, (1, -1), strict=True):
        if _is_far(side, axis):
            end = iterations.dim_min_val(axis) if sign > 0 else iterations.dim_max_val(axis)
            if end.is_int() and abs(int(end.to_python())) < MANY:
                side = [_from(int(end.to_python()), sign, iterations, axis)]
        sides.append(side)
    return sides[0], sides[1]


def _from(end: int, sign: int, like: Set, axis: int) -> Constraint:
    """The constraint that an axis begins (1) or stops (-1) there."""
    x = Aff.var_on_domain(isl.LocalSpace.from_space(like.get_space()), _SET, axis)
    limit = (x if sign > 0 else x.neg()).add_constant_val(isl.Val(-sign * end))
    return Constraint.inequality_from_aff(limit)


def _where(piece: BasicSet, known: Set) -> Set | None:
    """The sizes at which a piece has points, by its constraints on sizes alone; None if these are
    known."""
    count = int(piece.dim(_SET))
    where = Set.from_basic_set(piece).drop_constraints_involving_dims(_SET, 0, count).params()
    new = where.gist(known)
    return None if new.is_equal(Set.universe(new.get_space())) else new


_FAR = 64
"""A bound so far from a piece is that of an index type rather than of a size."""


def _may_be_far(bounds: AxisBounds, axis: int) -> bool:
    """Whether all bounds on one side have large constants, as those that come from the largest size
    that is allowed."""
    return any(_is_far(side, axis) for side in bounds)


def _is_far(side: list[Constraint], axis: int) -> bool:
    """Whether all bounds of a side have large constants."""

    def large(c: Constraint) -> bool:
        coefficient, rest = rest_of(c, axis)
        far = MANY if rest.is_cst() else _FAR
        return abs(_constant(rest)) >= far * abs(coefficient)

    return all(map(large, side))


def _constant(aff: Aff) -> int:
    return int(aff.get_constant_val().to_python())


def _are_among(bounds: AxisBounds, parts: Sequence[AxisBounds], axis: int) -> bool:
    """Whether the bounds of a hull are attained: on each side one of them is a bound of a piece, or
    there is one piece only. A far bound counts only if it is among those of a piece that has no
    nearer ones, since only then do points of that piece reach so far."""
    if len(parts) == 1:
        return True
    own = [c for sides in parts for side in sides for c in side]
    return all(
        any(_all_among(part[k], side) for part in parts)
        if _is_far(side, axis)
        else any(c.is_equal(x) for c in side for x in own)
        for k, side in enumerate(bounds)
    )


def _all_among(some: Sequence[Constraint], others: Sequence[Constraint]) -> bool:
    return all(any(c.is_equal(x) for x in others) for c in some)


def described_by(
    constraints: list[Constraint], like: Set, axis: int, sign: int, sizes: Set | None = None
) -> Set:
    """Where all of them hold, as bounds from below (1) or from above (-1); at some sizes."""
    result = Set.universe(like.get_space())
    for c in constraints:
        bound = c
        if c.is_equality():  # the other half of it is the other bound, of this piece or another
            coefficient, _ = rest_of(c, axis)
            aff = c.get_aff()
            bound = Constraint.inequality_from_aff(aff if coefficient * sign > 0 else aff.neg())
        result = result.intersect(Set.from_basic_set(BasicSet.from_constraint(bound)))
    return result if sizes is None else result.intersect_params(sizes)


def hull_of(iterations: Set) -> BasicSet:
    """One convex set without existentials around the iterations."""
    whole = coalesced(iterations)
    if whole.n_basic_set() == 1:
        only = whole.get_basic_sets()[0]
        if int(only.dim(isl.dim_type.div)) == 0:
            return only
    return whole.remove_divs().simple_hull()


def _simplified(hull: BasicSet, known: Set) -> BasicSet:
    """Without the constraints that are known to hold."""
    reduced = Set.from_basic_set(hull).gist(known)
    if reduced.n_basic_set() != 1:
        return hull
    only = reduced.get_basic_sets()[0]
    return hull if int(only.dim(isl.dim_type.div)) else only


def bounds_of(hull: BasicSet, axis: int) -> AxisBounds:
    lower, upper = [], []
    for c in hull.get_constraints():
        coefficient = int(c.get_coefficient_val(_SET, axis).to_python())
        if coefficient > 0 or (coefficient and c.is_equality()):
            lower.append(c)
        if coefficient < 0 or (coefficient and c.is_equality()):
            upper.append(c)
    return lower, upper


def rest_of(c: Constraint, axis: int) -> tuple[int, Aff]:
    """The coefficient of the axis, and everything else of the constraint."""
    coefficient = int(c.get_coefficient_val(_SET, axis).to_python())
    return coefficient, c.get_aff().set_coefficient_val(isl.dim_type.in_, axis, isl.Val(0))


def lower(c: Constraint, axis: int, translate: Translator) -> Node:
    """c*x + rest >= 0 with c > 0: x >= -floor(rest / c)."""
    coefficient, rest = rest_of(c, axis)
    if coefficient < 0:  # an equality written the other way round
        coefficient, rest = -coefficient, rest.neg()
    if coefficient == 1:
        return translate.aff(rest.neg())
    return negative(translate.quotient(rest, coefficient))


def upper(c: Constraint, axis: int, translate: Translator) -> Node:
    """-c*x + rest >= 0 with c > 0: x < floor(rest / c) + 1."""
    coefficient, rest = rest_of(c, axis)
    if coefficient > 0:
        coefficient, rest = -coefficient, rest.neg()
    if coefficient == -1:
        return translate.aff(rest.add_constant_val(isl.Val(1)))
    return ix.add(translate.quotient(rest, -coefficient), integer(1))
