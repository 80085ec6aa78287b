"""In which iteration a window that slides computes an element: the first one that needs it."""

from __future__ import annotations

from ...lang.nodes.nodes import Node, Var, postorder
from ..sets.coordinates import coordinate_map
from ..sets.isl import BasicSet, Frame, Map, Set, coalesced, dim_count, isl
from ..sets.projections import along
from ..tree.extents import span_of
from .demand import Demand

_SET, _IN, _OUT = isl.dim_type.set, isl.dim_type.in_, isl.dim_type.out


def first_iterations(elements: Set, frame: Frame, demand: Demand, early: bool) -> Set:
    """{ (around, element) } in the first of the iterations that differ only in loops inside of
    the depth of fresh values.

    Args:
        early: or in one before it, if that is simpler.
    """
    loops = _ordering(demand)  # splits make more of those around
    count = len(loops)
    own = dim_count(elements) - len(frame.dims)
    inside = Frame(frame.params, tuple(f"#{k}" for k in range(own))).universe
    # { (around, instance) -> (loops, instance) }
    same = Map.identity(inside.get_space().map_from_set())
    times = coordinate_map(frame, loops).product(same).flatten()
    running = elements.apply(times)
    which = Map.from_range(running)
    which = which.move_dims(_IN, 0, _OUT, count, own).move_dims(_IN, 0, _OUT, 0, demand.fresh_depth)
    first = _early(which) if early else which.lexmin()
    first = first.move_dims(_OUT, 0, _IN, 0, demand.fresh_depth)
    chosen = first.move_dims(_OUT, count, _IN, 0, own).range()
    return coalesced(chosen.apply(times.reverse()))


def _ordering(demand: Demand) -> list[Node]:
    """The coordinates of the loops around, without those inside of the depth of fresh
    values that others determine: these order nothing."""
    known: set[Node] = set()
    found = []
    for k, x in enumerate(demand.times):
        if k < demand.fresh_depth or not {v for v in postorder(x) if isinstance(v, Var)} <= known:
            found.append(x)
        known.add(x)
    return found


def _early(needed: Map) -> Map:
    """{ instance -> the first iteration that needs it }; or one before that, if that is simpler.

    A window that slides by a row needs one more row in each iteration, and several in the first
    one. It is as good to begin with some iterations before the first, in which nothing else is
    done: so the formula that holds for most is taken for all, where it is never too late.
    """
    exact = coalesced(needed.lexmin())
    if exact.n_basic_map() < 2:
        return exact
    whole = needed.domain()
    most = max(exact.get_basic_maps(), key=lambda piece: _extent(piece.domain()))
    formula = Map.from_basic_map(most.affine_hull()).intersect_domain(whole)
    is_function = whole.is_subset(formula.domain()) and formula.is_single_valued()
    return formula if is_function and _is_shortly_before(formula, exact) else exact


def _extent(where: BasicSet) -> tuple[int, int]:
    """A measure of a set to compare sizes by: along how many axes it is unbounded, and its size
    along the others."""
    alone = Set.from_basic_set(where)
    count, endless, size = dim_count(alone), 0, 1
    for k in range(count):
        line = along(alone, k)
        span = span_of(line, 0)
        endless, size = endless + (span is None), size * (span or 1)
    return endless, size


def _is_shortly_before(a: Map, b: Map) -> bool:
    """Whether the first of two functions is nowhere later than the second, and earlier by a
    constant at most. One that is earlier by a size is a formula that holds at other sizes."""
    later = a.apply_range(Map.lex_gt(a.get_space().range()))
    if not later.intersect(b).is_empty():
        return False
    ahead = a.reverse().apply_range(b).deltas()
    return all(_is_bounded(ahead, k) for k in range(dim_count(ahead)))


def _is_bounded(where: Set, dim: int) -> bool:
    """Whether a dimension has constant bounds, at all sizes."""
    if where.plain_get_val_if_fixed(_SET, dim).is_int():
        return True
    return bool(where.dim_min_val(dim).is_int() and where.dim_max_val(dim).is_int())
