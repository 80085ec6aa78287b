"""The door to isl: the only importer of islpy.

isl identifies set dimensions by position; a `Frame` gives them names and builds expressions and
sets over them. All objects live in islpy's one default context (mixing two is silently wrong).
Never use isl objects as dict keys: equal sets may hash differently.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from itertools import groupby

import islpy as isl
from islpy import Aff, BasicSet, Constraint, Map, PwAff, Set, Space, UnionMap, UnionSet, Val

from ... import forks
from ...cached import cached_property
from ...lang.errors import InternalError, PolyschedError

__all__ = [
    "Aff", "BasicSet", "BudgetExceeded", "Constraint", "Frame", "Map", "PwAff", "Set",
    "Space", "UnionMap", "UnionSet", "Val", "allowance", "attempt", "budget",
    "budget_apart", "complement", "compute_schedule", "conditions_of", "counted", "dim_count",
    "equal_dims", "existentials", "has_ends", "is_bounded", "is_spent", "isl", "relation",
    "transitive_closure", "union_sets", "val",
]  # fmt: skip

CONTEXT = isl.DEFAULT_CONTEXT
_lock = forks.reentrant()


def val(number: int) -> Val:
    """An integer of any size: the constructor itself takes no more than C's `long`."""
    return Val(number if -(1 << 63) <= number < 1 << 63 else str(number))


BUDGET = 4_500_000
"""isl operations for whatever a user asks: some ten times what that takes of most programs, and
a few seconds."""

MORE = 50_000
"""So many more for each statement of a program: long programs may take longer."""


def allowance(statements: int) -> int:
    """How much work isl may do for one thing that a user asks of a program."""
    return BUDGET + MORE * statements


class BudgetExceeded(Exception):
    """isl was given up on: the question counts as not answered."""


@dataclass(frozen=True, slots=True)
class _Span:
    """A budget in force: from which count of operations to which one."""

    start: int
    end: int

    @property
    def middle(self) -> int:
        return (self.start + self.end) // 2

    def moved(self, by: int) -> _Span:
        return _Span(self.start + by, self.end + by)


_spans: list[_Span] = []


@contextmanager
def budget(operations: int) -> Iterator[None]:
    """Bounds the work isl may do inside; it raises `BudgetExceeded` beyond.

    What is done inside counts for the budget around it too, and ends where that one ends.
    """
    with _lock:
        start = spent()
        end = start + operations
        with _within(_Span(start, min(end, _spans[-1].end) if _spans else end)):
            yield


@contextmanager
def attempt(operations: int = BUDGET) -> Iterator[None]:
    """The same for a question that need not be answered.

    All of them together have at most one half of the budget around them: the other one is left
    to what takes their place, and to what must be answered.
    """
    with _lock:
        start = spent()
        end = start + operations
        span = _Span(start, min(end, _spans[-1].middle) if _spans else end)
        if span.end <= start:
            raise BudgetExceeded("nothing is left of a budget for what need not be answered")
        with _within(span):
            yield


@contextmanager
def budget_apart(operations: int) -> Iterator[None]:
    """A budget that counts for none around it, for what is found once and kept: it would be
    less where somebody has little left who happens to ask for it first."""
    with _lock:
        start = spent()
        try:
            with _within(_Span(start, start + operations)):
                yield
        finally:
            if _spans:
                used = spent(start + operations) - start
                _spans[:] = [span.moved(used) for span in _spans]
                _set_limit(_spans[-1].end)


@contextmanager
def _within(span: _Span) -> Iterator[None]:
    """isl reports an exceeded limit as a plain error with any text, and refuses every later call
    until the limit is moved: so a call that cannot fail tells whether the limit was the cause,
    and the limit is moved back on every way out."""
    if not _spans:
        _restart()
    _spans.append(span)
    _set_limit(span.end)
    try:
        yield
    except (isl.Error, TypeError) as error:  # islpy makes an integer of nothing
        if is_spent() and not isinstance(error, PolyschedError):
            allowed = span.end - span.start
            raise BudgetExceeded(f"more than {allowed} isl operations") from error
        if isinstance(error, isl.Error):
            raise InternalError(f"isl refused a question: {error}") from error
        raise
    finally:
        _spans.pop()
        if _spans:
            _set_limit(_spans[-1].end)
        else:
            _restart()
            CONTEXT.set_max_operations(OUTSIDE)


def _set_limit(operations: int) -> None:
    CONTEXT.set_max_operations(max(operations, 1))  # 0 would be none


OUTSIDE = 0
"""The limit where no budget is in force: none. Tests set one, and find who asks without."""


def _in_child() -> None:
    """Ends the budgets of a thread that is not in a forked process."""
    if not forks.is_mine(_lock):
        _spans.clear()
        CONTEXT.set_max_operations(OUTSIDE)
        CONTEXT.reset_operations()


forks.at_fork(after_in_child=_in_child)


def is_spent() -> bool:
    """Whether isl refuses to work at all."""
    try:
        Val(0)
    except isl.Error:
        return True
    return False


def spent(most: int = 0) -> int:
    """How many operations isl has done in the outermost budget in force, or a few more.

    isl does not tell its count, only whether that has reached a limit: so limits are tried.

    Args:
        most: that it is no more, if it may be more than the limit in force.
    """
    if not _spans:
        return 0
    least, most = _spans[-1].start, max(_spans[-1].end, most)
    while most - least > max(most >> 6, 64):
        middle = (least + most) // 2
        _set_limit(middle)
        if is_spent():
            least = middle
        else:
            most = middle
    _set_limit(_spans[-1].end)
    return most


class Tally:
    """How many operations isl needed; and how many in one budget, at most."""

    operations = 0
    most = 0


_tallies: list[Tally] = []


@contextmanager
def counted() -> Iterator[Tally]:
    """Counts what isl does inside, in all budgets together: the same on every machine."""
    with _lock:
        tally = Tally()
        tally.operations = -_operations()
        _tallies.append(tally)
        try:
            yield tally
        finally:
            tally.operations += _operations()
            _tallies.remove(tally)


def _restart() -> None:
    """Lets isl count from 0 again; whoever counts is told where it was."""
    count = _operations() if _tallies else 0
    for tally in _tallies:
        tally.operations += count
        tally.most = max(tally.most, count)
    CONTEXT.reset_operations()


def _operations() -> int:
    """Where isl's counter is, or a little beyond. It cannot be read: so this looks for a limit
    that it has not reached."""
    before = CONTEXT.get_max_operations()

    def is_beyond(limit: int) -> bool:
        CONTEXT.set_max_operations(limit)
        return is_spent()

    try:
        limit = 1
        while is_beyond(limit):
            limit *= 2
        return bisect_left(range(limit), True, key=lambda k: not is_beyond(k + 1))
    finally:
        CONTEXT.set_max_operations(before)


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
    # What rounds stays apart: so isl sees which of the results its divisions are.
    maps: list[Map] = []
    for linear, run in groupby(values, _is_linear):
        same = list(run)
        maps += [_linear(same, frame)] if linear else [value.as_map() for value in same]
    return reduce(Map.flat_range_product, maps)


def _is_linear(value: PwAff) -> bool:
    return bool(value.isa_aff()) and not value.as_aff().dim(isl.dim_type.div)


def _linear(values: Sequence[PwAff], frame: Frame) -> Map:
    """The same of functions without pieces and divisions; much quicker where there are many."""
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


def union_sets(sets: Sequence[Set], empty: Set) -> Set:
    """The coalesced union."""
    return reduce(Set.union, sets, empty).coalesce()


def complement(where: Set) -> Set:
    """Everything else, as overlapping half-spaces where that is possible.

    isl's own complement has disjoint pieces, `a < 0 or (a >= 0 and b < 0)`, which nobody wants
    to read or to evaluate. Coalescing after each piece keeps the product of all of them small.
    """
    result = Set.universe(where.get_space())
    for piece in where.coalesce().get_basic_sets():
        if int(piece.dim(isl.dim_type.div)):
            result = result.subtract(Set.from_basic_set(piece)).coalesce()
            continue
        outside = Set.empty(where.get_space())
        for c in piece.get_constraints():
            one = Set.from_basic_set(BasicSet.from_constraint(c))
            outside = outside.union(one.complement())
        result = result.intersect(outside).coalesce()
    return result


def conditions_of(piece: BasicSet) -> list[Set]:
    """Sets whose intersection a convex set is: one a constraint, one for all existentials."""
    plain, found = Set.universe(piece.get_space()), []
    for c in piece.get_constraints():
        if not c.involves_dims(isl.dim_type.div, 0, int(c.dim(isl.dim_type.div))):
            found.append(Set.from_basic_set(BasicSet.from_constraint(c).remove_divs()))
            plain = plain.intersect(found[-1])
    rest = Set.from_basic_set(piece).gist(plain)
    return found if rest.is_equal(Set.universe(rest.get_space())) else [*found, rest]


def transitive_closure(relation: UnionMap) -> tuple[UnionMap, bool]:
    """{ x -> y : y is one or more steps from x }, or more than that; and whether it is exact."""
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
    """The set without existentials of no known value, where these say nothing: what is made of
    sets that have many takes isl minutes."""
    made = where.remove_unknown_divs().coalesce()
    return made if made.is_subset(where) else where


def existentials(where: Set) -> int:
    """The most that any of its convex parts has."""
    return max((int(p.dim(isl.dim_type.div)) for p in where.get_basic_sets()), default=0)


def is_bounded(where: Set, axis: int) -> bool:
    """Whether sizes alone bound a coordinate from both sides, whatever the other ones are."""
    # Mostly they do without existentials, too, which is soon seen.
    return all(has_ends(where.remove_divs(), axis)) or all(has_ends(where, axis))


def has_ends(where: Set, axis: int) -> tuple[bool, bool]:
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
