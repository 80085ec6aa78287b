"""Loop bounds: the loops that visit exactly the iterations of the stages below them.

For each loop, the iterations of its stages are projected onto it and the loops around it. A
convex projection gives the bounds themselves; otherwise the bounds are those of its simple hull
without existentials (or of each piece, where the hull is unbounded), with the stride as the step of
the loop. Where such bounds include more than the domain, a guard at the outermost loop that it
depends on leaves the rest out; bounds and guards together are proven to equal the domain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...lang.errors.errors import InternalError
from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, integer
from ...records import dataclass
from ..sets.axis_bounds import PartBounds, described_by, lower, parts_of, rest_of, upper
from ..sets.budget import attempt
from ..sets.expressions import Translator
from ..sets.hulls import simple_hull
from ..sets.isl import Aff, BasicSet, Constraint, Map, PwAff, Set, coalesced, isl, union_sets, val
from ..sets.projections import by_outer
from ..sets.remainders import with_remainder

_SET = isl.dim_type.set


@dataclass(frozen=True, slots=True)
class Bounds:
    """lo <= loop < hi by step, and the set of iterations that this describes."""

    lo: Node
    hi: Node
    step: int
    described: Set


def loop_bounds(iterations: Set, known: Set, translate: Translator) -> Bounds:
    """The bounds of the innermost dimension of `iterations`.

    Args:
        iterations: what must be visited, over the outer loops and this one.
        known: what holds already of the same dimensions (the outer loops' bounds, the context).
        translate: names for sizes and loops.
    """
    if iterations.is_empty():  # an extent that is 0 for all sizes
        return Bounds(ix.ZERO, ix.ZERO, 1, iterations)
    last = int(iterations.dim(_SET)) - 1
    step, offset = _stride(iterations, last)
    parts = parts_of(iterations, known, last)
    begins = [ix.maximum(lower(c, last, translate) for c in x.lower) for x in parts]
    stops = [ix.minimum(upper(c, last, translate) for c in x.upper) for x in parts]
    lo, hi = (
        merge(_where_needed(values, parts, translate))
        for merge, values in ((ix.minimum, begins), (ix.maximum, stops))
    )
    above = [described_by(x.lower, iterations, last, 1, x.sizes) for x in parts]
    below = [described_by(x.upper, iterations, last, -1, x.sizes) for x in parts]
    described = union_sets(above[1:], above[0]).intersect(union_sets(below[1:], below[0]))
    if step > 1 and offset is not None:
        if not all(_agrees(c, last, step, offset) for x in parts for c in x.lower):
            lo = ix.add(lo, with_remainder(ix.mod(ix.sub(translate.aff(offset), lo), step)))
        described = described.intersect(_strided(iterations, last, step, offset))
    return Bounds(lo, hi, step, described)


def _where_needed(
    values: Sequence[Node], parts: Sequence[PartBounds], translate: Translator
) -> Iterator[Node]:
    """The bounds of parts on one side, each only at the sizes that need it: at other sizes that of
    another part takes its place."""
    usual = next((v for v, x in zip(values, parts, strict=True) if x.sizes is None), None)
    for value, part in zip(values, parts, strict=True):
        where = None if part.sizes is None else translate.condition(part.sizes)
        yield value if where is None or usual is None else ix.select(where, value, usual)


def full_tile_bounds(iterations: Set, extent: int) -> Bounds:
    """[0, extent), whatever of it is needed."""
    last = int(iterations.dim(_SET)) - 1
    frame = isl.LocalSpace.from_space(iterations.get_space())
    x = Aff.var_on_domain(frame, _SET, last)
    described = Set.universe(iterations.get_space())
    for limit in (x, x.neg().add_constant_val(val(extent - 1))):
        constraint = Constraint.inequality_from_aff(limit)
        described = described.intersect(Set.from_basic_set(BasicSet.from_constraint(constraint)))
    return Bounds(ix.ZERO, integer(extent), 1, described)


def bounds_from_first(iterations: Set, bounds: Bounds, translate: Translator) -> Bounds:
    """The bounds, begun at the first iteration needed; `translate` knows the outer loops.

    Where none is needed the loop begins at its end, and runs none: a constant may be before the
    iterations that the bounds describe, or between their steps. What is described there remains,
    more than what runs, so that a guard outside of the loops around spares these.
    """
    depth = int(iterations.dim(_SET)) - 1
    innermost = by_outer(iterations, depth)
    first = innermost.lexmin()
    behind = first.apply_range(Map.lex_le(first.get_space().range()))
    behind = behind.union(Map.universe(behind.get_space()).subtract_domain(innermost.domain()))
    described = behind.move_dims(isl.dim_type.out, 0, isl.dim_type.in_, 0, depth).range()
    start = translate.pw_aff(innermost.lexmin_pw_multi_aff().get_pw_aff(0), bounds.hi)
    return Bounds(start, bounds.hi, bounds.step, described.intersect(bounds.described))


def exact_bounds(iterations: Set, known: Set, translate: Translator) -> Bounds | None:
    """Bounds that describe the iterations exactly, if these have no gaps: the first and the last
    one, piece by piece. None where there are gaps, or many pieces.

    Args:
        translate: names for sizes and the loops around.
    """
    if iterations.n_basic_set() > _MOST_PARTS:
        return None
    depth = int(iterations.dim(_SET)) - 1
    innermost = by_outer(iterations, depth)
    first, last = innermost.lexmin(), innermost.lexmax()
    upwards = first.apply_range(Map.lex_le(first.get_space().range()))
    between = upwards.intersect(last.apply_range(Map.lex_ge(last.get_space().range())))
    if not between.is_subset(innermost):
        return None
    limits = [coalesced(m.as_pw_multi_aff().get_pw_aff(0)) for m in (first, last)]
    outer = _outer(known)
    limits = [e.gist(innermost.domain().intersect(outer)) for e in limits]
    if any(e.n_piece() > _MOST_PIECES for e in limits):
        return None
    limits[1] = limits[1].add_constant_val(isl.Val(1))
    lo, hi = (translate.pw_aff(e, ix.ZERO, outer) for e in limits)
    # Where the loop is not needed its bounds are what is left of their pieces, rounded, else 0.
    space = iterations.get_space()
    x = PwAff(Aff.var_on_domain(isl.LocalSpace.from_space(space), _SET, depth))
    begin, end = (_or_zero(e.floor()).add_dims(isl.dim_type.in_, 1) for e in limits)
    return Bounds(lo, hi, 1, x.ge_set(begin).intersect(x.lt_set(end)))


def rounded_bounds(iterations: Set, known: Set, translate: Translator) -> Bounds | None:
    """Bounds that describe the iterations exactly, if these have no gaps: each of them is that of
    the hull, or the largest or smallest of a few values, which may round, as in
    `min(8, n // 2 * 2 - x)`. None where that is not enough.

    Args:
        known: what holds already of the same dimensions.
        translate: names for sizes and the loops around.
    """
    depth = int(iterations.dim(_SET)) - 1
    parts = parts_of(iterations, known, depth)
    if len(parts) > 1:
        return None
    innermost = by_outer(iterations, depth)
    begins, stops = parts[0].lower, parts[0].upper
    values = [lower(c, depth, translate) for c in begins]
    above = [_Side(described_by(begins, iterations, depth, 1), values)]
    values = [upper(c, depth, translate) for c in stops]
    below = [_Side(described_by(stops, iterations, depth, -1), values)]
    above += _rounded(iterations, innermost.lexmin(), translate, last=False)
    below += _rounded(iterations, innermost.lexmax(), translate, last=True)
    for begin in above:
        for end in below:
            lo, hi = ix.maximum(begin.values), ix.minimum(end.values)
            bounds = Bounds(lo, hi, 1, begin.described.intersect(end.described))
            if not has_gaps(iterations, bounds, known):
                return bounds
    return None


@dataclass(frozen=True, slots=True)
class _Side:
    """Values all of which bound a loop from one side, and the iterations within them."""

    described: Set
    values: list[Node]


def _rounded(iterations: Set, end: Map, translate: Translator, last: bool) -> Iterator[_Side]:
    """The pieces of the first or last iteration that bound all iterations, if there are any."""
    depth = int(iterations.dim(_SET)) - 1
    value = end.as_pw_multi_aff().get_pw_aff(0)
    if value.n_piece() > _MOST_PIECES:
        return
    x = PwAff(Aff.var_on_domain(isl.LocalSpace.from_space(iterations.get_space()), _SET, depth))
    described, values = Set.universe(iterations.get_space()), []
    for _, aff in value.get_pieces():
        limit = PwAff(aff.floor()).add_dims(isl.dim_type.in_, 1)
        within: Set = x.le_set(limit) if last else x.ge_set(limit)
        if iterations.is_subset(within):
            described = described.intersect(within)
            values.append(translate.aff(aff.add_constant_val(val(int(last)))))
    if values:
        yield _Side(described, values)


def _outer(iterations: Set) -> Set:
    return iterations.project_out(_SET, int(iterations.dim(_SET)) - 1, 1)


def _or_zero(value: PwAff) -> PwAff:
    zero = Aff.zero_on_domain(isl.LocalSpace.from_space(value.get_domain_space()))
    return value.union_add(PwAff(zero).subtract_domain(value.domain()))


def has_gaps(visited: Set, bounds: Bounds, outside: Set) -> bool:
    """Whether bounds include more than the iterations that are needed, where any are.

    Args:
        outside: what the loops around describe, at any sizes: what is visited says at which ones.
            To intersect it with these once more would multiply the pieces of both.

    Raises:
        BudgetExceeded: isl does not find soon what the existentials of the iterations are.
    """
    if visited.n_basic_set() == 1 and not int(visited.get_basic_sets()[0].dim(isl.dim_type.div)):
        return False  # the bounds are its constraints
    with attempt(KNOWN_DIVS):
        visited = visited.compute_divs()
    needed = _outer(visited).add_dims(_SET, 1).intersect(outside)
    return not needed.intersect(bounds.described).is_subset(visited)


KNOWN_DIVS = 50_000
"""So much work may isl put into what existentials are. It takes little, or so long that comparing
sets of such takes minutes: with each operation numbers get larger, and operations slower."""


def are_lines(visited: Set) -> bool:
    """Whether each of several pieces has one iteration at most, or some at a distance from each
    other, in each iteration of the loops around."""
    pieces = visited.get_basic_sets()
    last = int(visited.dim(_SET)) - 1
    return len(pieces) > 1 and all(
        any(c.is_equality() and c.involves_dims(_SET, last, 1) for c in piece.get_constraints())
        for piece in pieces
    )


_MOST_PIECES = 3
"""A bound of more pieces takes longer to find than a guard does."""
_MOST_PARTS = 12
"""The bounds of a set of more parts have more pieces, and take minutes to find."""


def _stride(iterations: Set, axis: int) -> tuple[int, Aff | None]:
    """The step between iterations along an axis, and a value that they agree with modulo it."""
    info = iterations.get_stride_info(axis)
    step = int(info.get_stride().to_python())
    return (step, info.get_offset()) if step > 1 else (1, None)


def _agrees(c: Constraint, axis: int, step: int, offset: Aff) -> bool:
    """Whether the bound that a constraint gives is one of the values with a stride."""
    coefficient, rest = rest_of(c, axis)
    if abs(coefficient) != 1:
        return False
    distance = (rest.neg() if coefficient > 0 else rest).sub(offset)
    if int(distance.dim(isl.dim_type.div)) or not distance.get_denominator_val().is_one():
        return False
    kinds = (isl.dim_type.param, isl.dim_type.in_)
    terms = [
        distance.get_coefficient_val(kind, k) for kind in kinds for k in range(distance.dim(kind))
    ]
    values = (distance.get_constant_val(), *terms)
    return all(int(x.to_python()) % step == 0 for x in values)


def _strided(iterations: Set, axis: int, step: int, offset: Aff) -> Set:
    local = isl.LocalSpace.from_space(iterations.get_space())
    x = Aff.var_on_domain(local, _SET, axis)
    # The loop begins at the floor of a quotient, also where nothing is visited since that is none.
    return Set.from_basic_set(x.sub(offset.floor()).mod_val(val(step)).zero_basic_set())


_MOST_KNOWN = 128


def within(outside: Set, visited: Set, bounds: Bounds) -> Set:
    """The constraints that hold inside of a loop: those outside of it, and its bounds.

    Where these have too many pieces, since the pieces of nested bounds multiply, a convex set
    around them takes their place, and guards inside test what it leaves out.
    """
    pieces = int(outside.n_basic_set()) * int(bounds.described.n_basic_set())
    if pieces <= _MOST_KNOWN:
        return outside.intersect(bounds.described)
    if not visited.is_subset(bounds.described):
        raise InternalError(f"a loop visits {bounds.described}, and not all of {visited}")
    return outside.intersect(simple_hull(bounds.described))
