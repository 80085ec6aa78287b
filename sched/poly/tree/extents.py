"""How many iterations a loop has at most, and how many elements it touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, integer
from ..sets.affine import affine_value
from ..sets.axis_bounds import bounds_of, hull_of, rest_of
from ..sets.budget import BudgetExceeded, attempt
from ..sets.expressions import Translator
from ..sets.hulls import MANY, range_of, small_sizes
from ..sets.isl import Aff, Frame, PwAff, Set, coalesced, isl, union_sets
from ..sets.projections import along, by_outer, outermost
from .stage import Stage, iterations

_SET = isl.dim_type.set

SEVERAL = 8
"""Of more pieces than this isl compares any two only where it must."""

OPERATIONS = 500_000
"""So much work may isl put into the extent of storage."""


def fixed_start(stages: Sequence[Stage], depth: int, symbols: Mapping[str, Node]) -> Node:
    """Where the loop at a depth begins, if that is the same for all iterations of the loops
    around it; else 0."""
    visited = _visited(stages, depth)
    if visited.is_empty():
        return ix.ZERO
    lower, _ = bounds_of(hull_of(visited), depth)
    if len(lower) != 1 or lower[0].is_equality() or any(
        lower[0].involves_dims(_SET, k, 1) for k in range(depth)
    ):  # fmt: skip
        return ix.ZERO
    coefficient, rest = rest_of(lower[0], depth)
    return Translator(symbols).aff(rest.neg()) if coefficient == 1 else ix.ZERO


def constant_extent(stages: Sequence[Stage], depth: int, context: Set) -> int | None:
    """How many values the loop at a depth spans at most, if that does not depend on sizes."""
    return span_of(_visited(stages, depth).intersect_params(context), depth)


def span_of(visited: Set, depth: int) -> int | None:
    """How many values the dimension at a depth spans at most, for given values of those before
    it, if that does not depend on sizes."""
    if visited.is_empty():
        return 0
    whole = _whole_span(visited, depth) if visited.n_basic_set() > SEVERAL else None
    if whole is not None:
        return whole
    if _is_endless(visited, depth):
        return None
    values = by_outer(visited, depth)
    # Of any two, not of the last and the first one: to find these takes isl minutes where many
    # pieces have constraints on remainders.
    most = values.reverse().apply_range(values).deltas().dim_max_val(0)
    return int(most.to_python()) + 1 if most.is_int() else None


def _is_endless(visited: Set, depth: int) -> bool:
    """Whether one of the pieces spans more values the larger the sizes are.

    Remainders are left out, as they decide where values lie in a range without an end, and not
    whether it has one. With many of them isl searches for the largest value without counting.
    """
    are_many = visited.n_basic_set() > SEVERAL  # that one by one take less than pairs of them
    for piece in visited.get_basic_sets():
        if are_many or int(piece.dim(isl.dim_type.div)):
            values = by_outer(Set.from_basic_set(piece).remove_divs(), depth)
            most = values.reverse().apply_range(values).deltas().dim_max_val(0)
            if not most.is_int() and not piece.is_empty():
                return True
    return False


def _whole_span(visited: Set, depth: int) -> int | None:
    """How many values the dimension at a depth spans for all values of those before it together,
    if one of these has both the first and the last: it compares no two pieces but for that."""
    first, last = visited.dim_min_val(depth), visited.dim_max_val(depth)
    if not (first.is_int() and last.is_int()):
        return None
    ends = [outermost(visited.fix_val(_SET, depth, end), depth) for end in (first, last)]
    if ends[0].is_disjoint(ends[1]):
        return None
    return int(last.sub(first).to_python()) + 1


def extent_from(stages: Sequence[Stage], depth: int, start: Node, context: Set) -> int | None:
    """How many values from `start` on contain all that the loop at a depth takes, if that does
    not depend on sizes."""
    visited = _visited(stages, depth).intersect_params(context)
    names = [str(visited.get_dim_name(isl.dim_type.param, k)) for k in range(visited.n_param())]
    frame = Frame(tuple(names), tuple(f"#{k}" for k in range(depth + 1)))
    begin = affine_value(frame, start)
    if begin is None:
        return None
    least, most = range_of(frame.dim(f"#{depth}").sub(begin).intersect_domain(visited))
    return None if least is None or most is None or least < 0 else most + 1


MUCH = 1 << 20
"""As `MANY`, for the product of constant extents along several axes."""

HUGE = 1 << 24
"""No constant extent is larger than this."""


def local_extent(
    touched: Set,
    depth: int,
    axis: int,
    known: Set,
    context: Set,
    translate: Translator,
    most: int = MANY,
) -> tuple[Node, Node]:
    """Where an axis of what is touched begins, over the loops around, and an extent over sizes
    that is enough in every iteration; a constant one where there is one that is not huge.

    Args:
        touched: { (loops, element) }
        known: the iterations of the loops around.
        context: the sizes that a call accepts, also those at which no loop runs.
        most: the largest constant extent. One beyond that would be the range of an index type, or
            what only the largest sizes need.
    """
    line = coalesced(along(touched, axis, depth))
    if line.is_empty():
        return ix.ZERO, ix.ZERO
    by_loops = by_outer(line, depth)
    lowest = coalesced(by_loops.lexmin_pw_multi_aff().get_pw_aff(0).gist(by_loops.domain()))
    best: tuple[PwAff, int] | None = None
    for _, aff in lowest.get_pieces():
        start = PwAff(aff)
        span = _span_from(line, start, depth)
        if span is not None and span <= HUGE and (best is None or span < best[1]):
            best = start, span
    exact = span_of(line, depth)
    exact = exact if exact is not None and exact <= HUGE else None
    if exact is not None and most < exact and _is_less(line, depth, exact, most):
        best = exact = None
    if best is not None and (exact is None or best[1] <= exact + _SLACK):
        return translate.pw_aff(best[0].gist(known), ix.ZERO), integer(best[1])
    origin = translate.pw_aff(lowest, ix.ZERO)
    if exact is not None:
        return origin, integer(exact)
    last = by_loops.lexmin().reverse().apply_range(by_loops.lexmax()).deltas().dim_max(0)
    last = last.add_constant_val(isl.Val(1))
    return origin, _smallest(last, context, Translator(translate.params))


def _smallest(value: PwAff, context: Set, translate: Translator) -> Node:
    """A value over sizes: the minimum of its pieces, if it is that and isl proves it in its budget;
    0 where it has none."""
    with suppress(BudgetExceeded), attempt(OPERATIONS):
        found = _smallest_piece(value, context, translate)
        if found is not None:
            return found
    return translate.pw_aff(value.gist(value.domain()), ix.ZERO)


def _smallest_piece(value: PwAff, context: Set, translate: Translator) -> Node | None:
    everywhere = value.domain().compute_divs()  # isl may fail an assertion without
    pieces = [aff for _, aff in value.get_pieces()]
    pieces = [aff for aff in pieces if everywhere.is_subset(PwAff(aff).ge_set(value))]
    least = PwAff(pieces[0]) if pieces else value
    for aff in pieces[1:]:
        least = least.min(PwAff(aff))
    if not pieces or not everywhere.is_subset(least.eq_set(value)):
        return None
    found = ix.minimum(dict.fromkeys(map(translate.aff, pieces)))
    zero = PwAff(Aff.zero_on_domain(isl.LocalSpace.from_space(value.get_domain_space())))
    negative = least.lt_set(zero).intersect(context)
    return found if negative.is_empty() else ix.maximum([found, ix.ZERO])


def _is_less(along: Set, depth: int, span: int, most: int) -> bool:
    """Whether sizes of at most `most` make do with less than a constant span."""
    less = span_of(along.intersect_params(small_sizes(along.params(), most)), depth)
    return less is not None and less < span


_SLACK = 8
"""A few more elements are stored for an origin that is one affine expression."""


def _span_from(along: Set, start: PwAff, depth: int) -> int | None:
    """How many elements from `start` on hold all that is touched, if that is a constant and
    nothing is below."""
    frame = isl.LocalSpace.from_space(along.get_space())
    x = PwAff(Aff.var_on_domain(frame, _SET, depth))
    begin = start.floor().add_dims(isl.dim_type.in_, 1)
    least, most = range_of(x.sub(begin).intersect_domain(along))
    return None if least is None or most is None or least < 0 else most + 1


def _visited(stages: Sequence[Stage], depth: int) -> Set:
    """The iterations of some stages, up to a loop."""
    found = [outermost(iterations(stage), depth + 1) for stage in stages]
    return union_sets(found[1:], found[0])
