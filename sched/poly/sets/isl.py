"""The door to isl: the only importer of islpy.

isl identifies set dimensions by position; a `Frame` gives them names and builds expressions and
sets over them. All objects live in islpy's one default context (mixing two is silently wrong).
Never use isl objects as dict keys: equal sets may hash differently.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import groupby
from typing import TypeVar

import islpy as isl
from islpy import Aff, BasicSet, Constraint, Map, PwAff, Set, Space, UnionMap, UnionSet, Val

from ...cached import cached_property
from ...records import dataclass

__all__ = [
    "CONTEXT", "Aff", "BasicSet", "Constraint", "Frame", "Map", "PwAff", "Set", "Space", "UnionMap",
    "UnionSet", "Val", "coalesced", "complement", "compute_schedule", "conditions_of", "dim_count",
    "equal_dims", "existentials", "has_bounds", "is_bounded", "isl", "relation",
    "transitive_closure", "union_maps", "union_sets", "val",
]  # fmt: skip

CONTEXT = isl.DEFAULT_CONTEXT


def val(number: int) -> Val:
    """An integer of any size: the constructor itself takes no more than C's `long`."""
    return Val(number if -(1 << 63) <= number < 1 << 63 else str(number))


Pieces = TypeVar("Pieces", Map, Set, PwAff)


@dataclass(frozen=True)
class Frame:
    """Named coordinates: parameters (sizes, integer Params) and set dimensions."""

    params: tuple[str, ...]
    dims: tuple[str, ...]

    @cached_property
    def space(self) -> Space:
        space = Space.set_alloc(CONTEXT, len(self.params), len(self.dims))
        for k, name in enumerate(self.params):
            space = space.set_dim_name(isl.dim_type.param, k, name)
        for k, name in enumerate(self.dims):
            space = space.set_dim_name(isl.dim_type.set, k, name)
        return space

    @cached_property
    def universe(self) -> Set:
        return Set.universe(self.space)

    @cached_property
    def empty(self) -> Set:
        return Set.empty(self.space)

    def extended(self, extra: Sequence[str]) -> Frame:
        """The same coordinates and more set dimensions behind them."""
        return Frame(self.params, (*self.dims, *extra))

    def constant(self, value: int) -> PwAff:
        return PwAff(Aff.val_on_domain_space(self.space, val(value)))

    def param(self, name: str) -> PwAff:
        at = self.params.index(name)
        return PwAff(Aff.var_on_domain(self._local, isl.dim_type.param, at))

    def dim(self, name: str) -> PwAff:
        at = self.dims.index(name)
        return PwAff(Aff.var_on_domain(self._local, isl.dim_type.set, at))

    @cached_property
    def _local(self) -> isl.LocalSpace:
        return isl.LocalSpace.from_space(self.space)

    def within(self, dim: str, lo: PwAff, hi: PwAff) -> Set:
        """{ lo <= dim < hi }"""
        x = self.dim(dim)
        return x.ge_set(lo).intersect(x.lt_set(hi))


def relation(values: Sequence[PwAff], frame: Frame) -> Map:
    """The map from a point of the frame to its values, one range dimension each."""
    if not values:
        source = frame.universe
        return Map.from_domain_and_range(
            source, Set.universe(Space.set_alloc(CONTEXT, 0, 0).align_params(frame.space))
        )
    # Functions that round become dimensions one by one, so that isl finds the division in a result.
    maps: list[Map] = []
    for linear, run in groupby(values, _is_linear):
        same = list(run)
        maps += [_linear(same, frame)] if linear else [value.as_map() for value in same]
    return reduce(Map.flat_range_product, maps)


def _is_linear(value: PwAff) -> bool:
    return bool(value.isa_aff()) and not value.as_aff().dim(isl.dim_type.div)


def _linear(values: Sequence[PwAff], frame: Frame) -> Map:
    """The map to values that are affine functions without pieces and divisions: much quicker than
    the general one where there are many."""
    target = Space.set_alloc(CONTEXT, 0, len(values)).align_params(frame.space)
    listed = isl.AffList.alloc(CONTEXT, len(values))
    for value in values:
        listed = listed.add(value.as_aff())
    space = frame.space.map_from_domain_and_range(target)
    return Map.from_multi_aff(isl.MultiAff.from_aff_list(space, listed))


def involved(c: Constraint, kind: isl.dim_type) -> list[int]:
    """The dimensions of a kind that a constraint is about."""
    found: list[int] = []
    waiting = [(0, int(c.dim(kind)))]
    while waiting:
        first, count = waiting.pop()
        if count and c.involves_dims(kind, first, count):
            half = count // 2
            if count == 1:
                found.append(first)
            else:
                waiting += [(first + half, count - half), (first, half)]
    return found


def some_dims(frame: Frame, chosen: Sequence[int]) -> Map:
    """The map from a point of the frame to some of its dimensions, in their order."""
    result = Map.identity(frame.space.map_from_set())
    for k in reversed(range(len(frame.dims))):
        if k not in chosen:
            result = result.project_out(isl.dim_type.out, k, 1)
    return result


def equal_dims(pairs: Map, dims: Iterable[int]) -> Map:
    """The pairs that agree in some dimensions."""
    for k in dims:
        pairs = pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return pairs


def coalesced(pieces: Pieces) -> Pieces:
    """The same in fewer pieces; as it is where isl fails at that, as it does in rare cases. A
    budget that is spent shows at the next question.

    All of polysched asks this and never isl itself, which can end the process at three pieces:
    when it makes one piece of two that have no integer points, it may notice then that there are
    none, and it compares this piece with others as if it had some.
    """
    try:
        _find_empty(pieces)
        return pieces.coalesce()
    except isl.Error:
        return pieces


def _find_empty(pieces: Map | Set | PwAff) -> None:
    """Asks of each of several pieces whether it is empty. isl notes the answer with the piece, and
    leaves out first what it knows to be empty when it coalesces. Of hundreds most are there twice,
    or empty beyond doubt: isl drops these in place when it compares the whole with something."""
    if isinstance(pieces, PwAff):
        for where, _ in () if pieces.isa_aff() else pieces.get_pieces():
            _find_empty(where)
    elif isinstance(pieces, Map):
        if pieces.n_basic_map() > _MANY:
            pieces.plain_is_equal(Map.empty(pieces.get_space()))
        if pieces.n_basic_map() > 1:
            for piece in pieces.get_basic_maps():
                piece.is_empty()
    elif pieces.n_basic_set() > 1:
        for part in pieces.get_basic_sets():
            part.is_empty()


_MANY = 64


def union_sets(sets: Sequence[Set], empty: Set) -> Set:
    """The coalesced union."""
    return coalesced(reduce(Set.union, sets, empty))


def union_maps(maps: Sequence[Map]) -> Map:
    """The coalesced union of some maps, of which there is one at least."""
    return coalesced(reduce(Map.union, maps)) if len(maps) > 1 else maps[0]


def complement(where: Set) -> Set:
    """Everything else, as overlapping half-spaces where that is possible.

    isl's own complement has disjoint pieces, `a < 0 or (a >= 0 and b < 0)`, which nobody wants
    to read or to evaluate. Coalescing after each piece keeps the product of all of them small.
    """
    result = Set.universe(where.get_space())
    for piece in coalesced(where).get_basic_sets():
        if int(piece.dim(isl.dim_type.div)):
            result = coalesced(result.subtract(Set.from_basic_set(piece)))
            continue
        outside = Set.empty(where.get_space())
        for c in piece.get_constraints():
            one = Set.from_basic_set(BasicSet.from_constraint(c))
            outside = outside.union(one.complement())
        result = coalesced(result.intersect(outside))
    return result


def conditions_of(piece: BasicSet) -> list[Set]:
    """Sets of which a convex set is the intersection: one for each constraint, and one for all
    constraints on existentials."""
    plain, found = Set.universe(piece.get_space()), []
    for c in piece.get_constraints():
        if not c.involves_dims(isl.dim_type.div, 0, int(c.dim(isl.dim_type.div))):
            found.append(Set.from_basic_set(BasicSet.from_constraint(c).remove_divs()))
            plain = plain.intersect(found[-1])
    rest = Set.from_basic_set(piece).gist(plain)
    return found if rest.is_equal(Set.universe(rest.get_space())) else [*found, rest]


def transitive_closure(relation: UnionMap) -> tuple[UnionMap, bool]:
    """{ x -> y : y is one or more steps from x }, or a superset of it; and whether it is exact."""
    found, exact = relation.transitive_closure()
    return found, bool(exact)


def compute_schedule(constraints: isl.ScheduleConstraints) -> UnionMap | None:
    """{ instance -> time } of isl's scheduler, without loops shared for their own sake.

    None where it finds none ("unable to carry dependences"); a budget that is spent shows at the
    next question.
    """
    CONTEXT.set_schedule_serialize_sccs(1)
    try:
        return constraints.compute_schedule().get_map()
    except isl.Error:
        return None
    finally:
        CONTEXT.set_schedule_serialize_sccs(0)


def plain(where: Set) -> Set:
    """The set without existentials that have no known value, where dropping them changes nothing:
    isl takes minutes for operations on sets that have many."""
    made = coalesced(where.remove_unknown_divs())
    return made if made.is_subset(where) else where


def existentials(where: Set) -> int:
    """The most that any of its convex parts has."""
    return max((int(p.dim(isl.dim_type.div)) for p in where.get_basic_sets()), default=0)


def is_bounded(where: Set, axis: int) -> bool:
    """Whether sizes alone bound a coordinate from both sides, whatever the other ones are."""
    # Mostly they bound it without existentials, too, which costs less to find.
    return all(has_bounds(where.remove_divs(), axis)) or all(has_bounds(where, axis))


def has_bounds(where: Set, axis: int) -> tuple[bool, bool]:
    """Whether sizes alone bound a coordinate from below, and from above."""
    count = dim_count(where)
    alone = where.project_out(isl.dim_type.set, axis + 1, count - axis - 1)
    alone = alone.project_out(isl.dim_type.set, 0, axis).remove_divs()
    return (
        bool(alone.dim_has_lower_bound(isl.dim_type.set, 0)),
        bool(alone.dim_has_upper_bound(isl.dim_type.set, 0)),
    )


def dim_count(thing: Set | BasicSet | isl.Point) -> int:
    return int(thing.get_space().dim(isl.dim_type.set))
