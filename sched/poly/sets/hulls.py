"""Approximations of sets from outside: convex hulls and boxes, and how much larger these are."""

from __future__ import annotations

from collections.abc import Sequence

from .isl import Aff, BasicSet, Map, PwAff, Set, Val, coalesced, dim_count, is_bounded, isl
from .products import end_alike
from .projections import along


def simple_hull(where: Set) -> Set:
    """A convex set around another one, without existentials: isl's simple hull, which takes only
    constraints that the pieces have."""
    return Set.from_basic_set(where.remove_divs().simple_hull())


def near_hull(where: Set) -> Set:
    """The hull of few pieces: unbounded along an axis where nothing but the range of an index type
    would bound it."""
    hull = simple_hull(where)
    return _within_bounds(where, hull, _far_axes(hull, where))


#: Beyond this many pieces a set is replaced by its hull: exactness would cost too much.
PIECES_LIMIT = 8


#: Beyond this many a set whose hull is unbounded is replaced by a few bounded pieces. These may
#: hold more points at sizes where little is needed, so that preconditions become stronger. Where
#: pieces are more than `PIECES_LIMIT`, each of their existentials counts as one more.
FAR_TOO_MANY = 64


def filled(where: Set, context: Set, exact: bool) -> Set:
    """The set, or a convex one around it that has only a few more points.

    Not `exact`: if every piece reaches along every axis within a constant of what the hull does.
    Then the pieces are shifted copies of one shape, as what a stencil reads, and the hull adds
    corners and phases of a stride, never an interior that nobody needs. In any case, if the set
    has too many pieces to work with; few are too many where they have strides, which are left out
    first where the hull is far larger. Quotients that the loops around determine, as those of two
    splits of one axis, are no strides.
    """
    if where.n_basic_set() <= 1:
        return where
    if _is_strided(where):
        where = coalesced(where.detect_equalities())
    count, strided = where.n_basic_set(), _is_strided(where)
    pieces = where.get_basic_sets()
    hull = simple_hull(where)
    # Where nothing is needed nothing is computed: there it could only be out of bounds.
    inhabited = coalesced(coalesced(where.params().intersect(context)).gist(context))
    if inhabited.n_basic_set() > 1:
        inhabited = simple_hull(inhabited)
    hull = hull.intersect_params(inhabited).gist_params(context)
    if hull.n_basic_set() == 0:
        return hull  # at no size of the context
    endless = [axis for axis in range(dim_count(hull)) if not is_bounded(hull, axis)]
    if endless:
        many = count > PIECES_LIMIT and _weight(where) > FAR_TOO_MANY
        made = _within_bounds(where, hull, endless, count) if many else where
        return made if all(is_bounded(made, axis) for axis in endless) else where
    if count > PIECES_LIMIT:
        return _within_bounds(where, hull, _far_axes(hull, where))
    many = strided and count > 2
    if _far_axes(hull, where):
        return where.remove_divs().intersect_params(inhabited) if many else where
    if many:
        return hull
    if exact:
        return where
    return hull if _all_reach(pieces, hull, context) else where


def _is_strided(where: Set) -> bool:
    """Whether a set has existentials."""
    return any(int(p.dim(isl.dim_type.div)) for p in where.get_basic_sets())


def _weight(where: Set) -> int:
    """The number of pieces and of all their existentials."""
    return sum(1 + int(p.dim(isl.dim_type.div)) for p in where.get_basic_sets())


def _all_reach(pieces: Sequence[BasicSet], hull: Set, context: Set) -> bool:
    """Whether the extents of each piece are within a constant of the hull's, at the sizes at which
    it has elements.

    Existentials are left out, which changes ends by a constant at most: the largest integer of a
    system of inequalities is near the largest rational, however far the inequalities are moved
    (Cook, Gerards, Schrijver and Tardos 1986), and these are systems that sizes move.
    """
    sets = [Set.from_basic_set(p) for p in pieces]
    plain = [s.remove_divs() for s in sets]
    (around,) = hull.get_basic_sets()
    if end_alike(around, [p for s in plain for p in s.get_basic_sets()]):
        return not any(s.intersect_params(context).is_empty() for s in sets)
    return _reach(plain, hull, [s.params().intersect(context) for s in sets])


def _within_bounds(where: Set, hull: Set, axes: Sequence[int], most: int = PIECES_LIMIT) -> Set:
    """The part of a convex set around another one that is within the bounds of that along some
    axes, as far as each of them depends on sizes. What is convex but for corners, and what would
    have more than `most` pieces, is replaced by the convex set around it.

    { x in hull : for each of the axes, k, there are v, w in where with v_k <= x_k <= w_k }
    """
    made = hull
    for k in axes:
        line = along(where.remove_divs(), k)
        at_most = Map.universe(line.get_space().map_from_set())
        at_most = at_most.order_le(isl.dim_type.in_, 0, isl.dim_type.out, 0)
        for beyond in (at_most, at_most.reverse()):
            side = line.apply(beyond).remove_divs()
            around = simple_hull(side)
            side = coalesced(side.drop_constraints_not_involving_dims(isl.dim_type.set, 0, 1))
            if side.n_basic_set() > 1 and _has_end(around) and not _far_axes(around, side):
                side = around
            side, around = (_at_axis(end, k, dim_count(where)) for end in (side, around))
            within = coalesced(made.intersect(side))
            made = within if within.n_basic_set() <= most else coalesced(made.intersect(around))
    return made


def _has_end(side: Set) -> bool:
    """Whether anything bounds a set of one axis."""
    return bool(side.involves_dims(isl.dim_type.set, 0, 1))


def _at_axis(line: Set, k: int, count: int) -> Set:
    """{ x of so many axes : x_k in a set of one axis }"""
    line = line.insert_dims(isl.dim_type.set, 0, k)
    return line.add_dims(isl.dim_type.set, count - k - 1)


MANY = 1 << 12
"""A larger constant than this may be one that comes from the range of an index type, or from the
largest size that is allowed, and says nothing about how many elements there are."""


def small_sizes(context: Set, most: int = MANY) -> Set:
    """The sizes of a context that are at most so large."""
    for k in range(int(context.dim(isl.dim_type.param))):
        context = context.upper_bound_val(isl.dim_type.param, k, Val(most))
    return context


_FEW = 64
"""Sizes of which no few together make as much as `MANY`."""


def _far_axes(hull: Set, where: Set) -> list[int]:
    """The axes along which the bounds of a hull are, at small sizes, far beyond those of the set:
    at the range of an index type, say, where a piece lacks the size that bounds another one."""
    if not _has_large_constants(hull):
        return []
    outer, inner = (s.intersect_params(small_sizes(s.params(), _FEW)) for s in (hull, where))
    return [
        k
        for k in range(dim_count(where))
        if any(
            _is_far(end(outer, k).sub(end(inner, k)).abs())
            for end in (Set.dim_max_val, Set.dim_min_val)
        )
    ]


def _has_large_constants(hull: Set) -> bool:
    """Whether a convex set has a bound that comes from the range of a type, or from the largest
    size. Most have none, so this is tested before anything that costs more."""
    constants = (c.get_constant_val() for p in hull.get_basic_sets() for c in p.get_constraints())
    return any(c.abs().ge(Val(MANY)) for c in constants)


def _is_far(distance: Val) -> bool:
    return bool(distance.is_int() and distance.gt(Val(MANY)))


def _end(where: Set, axis: int, is_last: bool) -> PwAff:
    """The last index along an axis, or the first one."""
    return where.dim_max(axis) if is_last else where.dim_min(axis)


def _reach(pieces: Sequence[Set], hull: Set, given: Sequence[Set]) -> bool:
    """Whether the extents of each piece are within a constant of the hull's, at the sizes given for
    the piece. Both ends by themselves: a difference of extents has the product of their cases."""
    for k in range(dim_count(hull)):
        for is_last in (False, True):
            limit = _end(hull, k, is_last)
            for piece, sizes in zip(pieces, given, strict=True):
                short = limit.sub(_end(piece, k, is_last)).intersect_domain(sizes)
                short = short if is_last else short.neg()
                if not short.floor().max_val().is_int():
                    return False
    return True


#: By so much a set may fall short of its box along any line to be filled up to it.
_MARGIN = 16


def range_of(value: PwAff) -> tuple[int | None, int | None]:
    """The smallest and the largest value, rounded down, if those are constants."""
    # Of sets, not of expressions: isl finds no bounds of those that round.
    values = Map.from_pw_aff(value.floor()).range()
    bounds = values.dim_min_val(0), values.dim_max_val(0)
    least, most = (int(x.to_python()) if x.is_int() else None for x in bounds)
    return least, most


def boxed(where: Set) -> Set:
    """The box around a set, if that has only a few more points: along each line that the set
    meets, and no more lines along any axis."""
    if where.is_empty():
        return where
    box = Set.universe(where.get_space())
    count = dim_count(where)
    frame = isl.LocalSpace.from_space(where.get_space())
    for k in range(count):
        x = PwAff(Aff.var_on_domain(frame, isl.dim_type.set, k))
        alone = coalesced(along(where, k))
        lo, hi = where.dim_min(k), where.dim_max(k)
        bounds = [v.insert_domain(where.get_space()) for v in (lo, hi)]
        inside = x.ge_set(bounds[0]).intersect(x.le_set(bounds[1]))
        if not along(inside, k).is_subset(alone):
            return where
        lines = Map.from_range(where)
        lines = lines.move_dims(isl.dim_type.in_, 0, isl.dim_type.out, k + 1, count - k - 1)
        lines = lines.move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, k)
        for line, end in ((lines.lexmin(), lo), (lines.lexmax(), hi)):
            value = line.as_pw_multi_aff().get_pw_aff(0)
            least, most = range_of(value.sub(end.insert_domain(value.get_domain_space())))
            if least is None or most is None or max(abs(least), abs(most)) > _MARGIN:
                return where
        box = box.intersect(inside)
    return box
