"""Distances of dependences along the loops of a program as it is written, and which of these loops
may run in parallel, change places, or be skewed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, combinations_with_replacement, takewhile
from math import ceil

from ...lang.tensors.tensors import Func
from ...poly.model.statements import Statement
from ...poly.program.accumulation import accumulates
from ...poly.proof.dependences import are_written_once
from ...poly.proof.proof import Prover
from ...poly.sets.budget import BudgetExceeded, separate_budget
from ...poly.sets.isl import Map, Set, isl, val
from ...poly.sets.memo import Same
from ...poly.tree.times import ScheduledStage, meeting, scheduled_stages
from ...records import dataclass, replace

_SET = isl.dim_type.set

Span = tuple[int | None, int | None]
"""The least and the largest distance along a loop; None where that grows with sizes."""


ANY: Span = (None, None)


@dataclass(frozen=True, slots=True)
class Distance:
    """How far apart two instances are, one of which must run before the other one.

    Attributes:
        source: the statement that comes first, by its name.
        sink: the one that comes later.
        tensor: what both access.
        spans: for each loop around both, outermost first.
    """

    source: str
    sink: str
    tensor: str
    spans: tuple[Span, ...]

    def is_carried_by(self, depth: int) -> bool:
        """Whether it may be between iterations of a loop in one iteration of those around it."""
        if depth >= len(self.spans):
            return False
        return all(_holds_zero(s) for s in self.spans[:depth]) and self.spans[depth] != (0, 0)


def _holds_zero(span: Span) -> bool:
    lo, hi = span
    return (lo is None or lo <= 0) and (hi is None or hi >= 0)


def distances(prover: Prover) -> tuple[Distance, ...]:
    """Those of all dependences between statements that share loops, as a program is written."""
    key = ("distances", Same(prover.written), Same(prover.model.context))
    return prover.model.memo.of(key, lambda: tuple(dict.fromkeys(_distances(prover))))


def _distances(prover: Prover) -> Iterator[Distance]:
    model = prover.model
    placed: dict[Statement, list[ScheduledStage]] = {}
    for stage in scheduled_stages(prover.written):
        placed.setdefault(stage.stage.statement, []).append(stage)
    names = model.program.names
    for tensor in dict.fromkeys(s.func for s in model.statements):
        users = model.touching[tensor]
        if not _share_loops(tensor, users, placed):
            continue
        simple = _of_sums(users, tensor, names[tensor], placed)
        if simple is not None:
            yield from simple
            continue
        try:
            with separate_budget(OPERATIONS):  # what is found is kept
                yield from list(_of_dependences(prover, tensor, placed))
        except BudgetExceeded:
            yield from _any_of(users, names[tensor], placed)


def _of_dependences(
    prover: Prover, tensor: Func, placed: Mapping[Statement, Sequence[ScheduledStage]]
) -> Iterator[Distance]:
    name = prover.model.program.names[tensor]
    for d in prover.dependences_on(tensor):
        for a in placed.get(d.source, ()):
            for b in placed.get(d.sink, ()):
                for spans in _spans(d.map, a, b):
                    yield Distance(d.source.name, d.sink.name, name, spans)


def _any_of(
    users: Sequence[Statement], name: str, placed: Mapping[Statement, Sequence[ScheduledStage]]
) -> Iterator[Distance]:
    """What is said where the dependences on a Func are not found in time: they may be any."""
    for a, b in combinations_with_replacement([p for s in users for p in placed.get(s, ())], 2):
        shared = len(meeting(a, b).loops)
        if shared:
            yield Distance(a.stage.statement.name, b.stage.statement.name, name, (ANY,) * shared)


OPERATIONS = 1_000_000
"""So much work may isl put into the distances of the dependences on one Func."""


def _share_loops(
    func: Func, users: Sequence[Statement], placed: Mapping[Statement, Sequence[ScheduledStage]]
) -> bool:
    """Whether dependences on a Func may be between statements that share loops: none are on what is
    written once and read by others in loops of their own."""
    if _meet(users, placed) or not are_written_once(w for s in users for w in s.writes_of(func)):
        return True
    return any(s.func is func and s.reads_from(func) for s in users)


def _meet(users: Sequence[Statement], placed: Mapping[Statement, Sequence[ScheduledStage]]) -> bool:
    """Whether two of some statements share loops."""
    stages = [p for s in users for p in placed.get(s, ())]
    return any(meeting(a, b).loops for a, b in combinations(stages, 2))


def _of_sums(
    users: Sequence[Statement],
    tensor: Func,
    name: str,
    placed: Mapping[Statement, Sequence[ScheduledStage]],
) -> list[Distance] | None:
    """The distances where a Func is only accumulated into, an element at a time, by statements with
    loops of their own: these are carried by the loops of RVars. None where there is more to it."""
    if _meet(users, placed):
        return None
    stages = [p for s in users for p in placed.get(s, ())]
    found: list[Distance] = []
    for stage in stages:
        statement = stage.stage.statement
        d = statement.definition
        if statement.func is not tensor or not d.is_update:
            if statement.reads_from(statement.func) and statement.func is tensor:
                return None
            continue
        if not (accumulates(d) and stage.stage.coordinates == statement.loops == d.dims):
            return None
        # Instances meet at an element only where they have the same Vars that are its indices.
        spans: list[Span] = [(0, 0) if x in d.lhs else ANY for x in d.dims]
        if ANY in spans:
            spans[spans.index(ANY)] = (0, None)
            found.append(Distance(statement.name, statement.name, name, tuple(spans)))
    return found


def _spans(dependence: Map, a: ScheduledStage, b: ScheduledStage) -> Iterator[tuple[Span, ...]]:
    """The distances of a dependence along the loops that two stages share, apart for each loop that
    carries it: { y - x : x -> y }."""
    shared = list(range(len(meeting(a, b).loops)))
    if not shared:
        return
    moved = a.at(shared).reverse().apply_range(dependence).apply_range(b.at(shared)).deltas()
    for k in shared:
        here = moved.lower_bound_val(_SET, k, val(1)) if k < shared[-1] else moved
        if not here.is_empty():
            yield tuple(_span(here, axis) for axis in shared)
        moved = moved.fix_val(_SET, k, val(0))


def _span(where: Set, axis: int) -> Span:
    lo, hi = where.dim_min_val(axis), where.dim_max_val(axis)
    return (
        int(lo.to_python()) if lo.is_int() else None,
        int(hi.to_python()) if hi.is_int() else None,
    )


def nest_of(placed: ScheduledStage) -> int:
    """The number of the nest at the root that a statement is in: its outermost loop, or itself."""
    return id(placed.loops[0] if placed.loops else placed.stage)


Beside = tuple[list[ScheduledStage], list[Distance]]


def by_nest(nests: Mapping[str, ScheduledStage], found: Iterable[Distance]) -> dict[int, Beside]:
    """The statements in each nest at the root, and the distances from these. What is in different
    nests has no loop in common, so nothing of one counts for another."""
    beside: dict[int, Beside] = {}
    for placed in nests.values():
        beside.setdefault(nest_of(placed), ([], []))[0].append(placed)
    for d in found:
        beside[nest_of(nests[d.source])][1].append(d)
    return beside


def within(
    nest: ScheduledStage, nests: Mapping[str, ScheduledStage], found: Iterable[Distance]
) -> tuple[Distance, ...]:
    """The distances along the loops around a statement, also of dependences between others in the
    same loops: each for the loops that it has in common with the statement.

    Args:
        nests: by name, each statement in its loops.
    """
    here: list[Distance] = []
    for d in found:
        count = min(len(d.spans), _in_common(nests[d.source], nest))
        if count:
            here.append(replace(d, spans=d.spans[:count]))
    return tuple(dict.fromkeys(here))


def shared_loops(nest: ScheduledStage, nests: Iterable[ScheduledStage]) -> int:
    """How many of the loops around a statement, from the outermost one, are around others, too."""
    others = (x for x in nests if x.stage is not nest.stage)
    return max((_in_common(nest, x) for x in others), default=0)


def _in_common(a: ScheduledStage, b: ScheduledStage) -> int:
    pairs = zip(a.loops, b.loops, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], pairs))


# what follows from them -------------------------------------------------------------------------
def is_parallel(depth: int, around: Sequence[Distance]) -> bool:
    """Whether no dependence is carried by the loop at a depth."""
    return not any(d.is_carried_by(depth) for d in around)


def bands(loops: Sequence[str], around: Sequence[Distance]) -> tuple[tuple[str, ...], ...]:
    """The loops in groups of neighbours that may come in any order."""
    found: list[list[str]] = []
    begin = 0
    for depth, loop in enumerate(loops):
        if found and _is_forward(depth, begin, around):
            found[-1].append(loop)
        else:
            begin = depth
            found.append([loop])
    return tuple(map(tuple, found))


def _is_forward(depth: int, begin: int, around: Sequence[Distance]) -> bool:
    """Whether no dependence goes backwards along a loop, but for those that are carried outside of
    the loop where its band begins."""
    return not any(
        len(d.spans) > depth and not _is_outside(d, begin) and not _is_at_least(d.spans[depth], 0)
        for d in around
    )


def _is_outside(d: Distance, begin: int) -> bool:
    """Whether a dependence is always carried by a loop around a band."""
    return any(_is_at_least(s, 1) for s in d.spans[:begin])


def _is_at_least(span: Span, number: int) -> bool:
    return span[0] is not None and span[0] >= number


def skews(loops: Sequence[str], around: Sequence[Distance]) -> dict[str, dict[str, int]]:
    """For each loop along which a dependence goes backwards, the least factors by which it must be
    skewed by loops around it so that none does; only where there are such factors."""
    found: dict[str, dict[str, int]] = {}
    for inner, loop in enumerate(loops):
        factors = _factors(inner, around)
        if factors:
            found[loop] = {loops[outer]: factor for outer, factor in sorted(factors.items())}
    return found


def _factors(inner: int, around: Sequence[Distance]) -> dict[int, int] | None:
    """By outer loop, the factors of skews of an inner one: from the inside on, each is what the
    dependences carried by that loop still lack."""
    factors: dict[int, int] = {}
    deep = [d for d in around if len(d.spans) > inner]
    for outer in reversed(range(inner)):
        for d in deep:
            if not _is_at_least(d.spans[outer], 1) or any(s != (0, 0) for s in d.spans[:outer]):
                continue
            least = [d.spans[k][0] for k in (*factors, inner)]
            ahead = d.spans[outer][0]
            if ahead is None or None in least:
                return None
            times = (*factors.values(), 1)
            lack = -sum(f * x for f, x in zip(times, least, strict=True) if x is not None)
            factors[outer] = max(factors.get(outer, 0), ceil(lack / ahead))
        factors = {k: f for k, f in factors.items() if f > 0}
    return factors
