"""Dependences between executed instances, for a LoopTree.

Flow dependences are exact: each read is traced to the last write of its element before it, in the
order of the tree. Where a write is a may-access (a scatter), it kills nothing, and every earlier
write of the element is a possible source; and so it is where the last one takes too long to find.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import reduce
from operator import attrgetter
from typing import Literal

from ...cached import cached_property
from ...lang.nodes.shown import Shown
from ...lang.nodes.tensor import Tensor
from ...records import dataclass
from ..model.model import Model
from ..model.statements import Access, Statement, iteration_and_element
from ..sets.budget import BudgetExceeded, attempt
from ..sets.isl import Map, Set, UnionMap, coalesced, isl
from ..sets.memo import Either, Same
from ..tree.looptree import Tree, leaves
from ..tree.time_maps import time_maps
from ..tree.times import ScheduledStage, runs_before

Kind = Literal["flow", "anti", "output"]


@dataclass(frozen=True, eq=False)
class Dependence(Shown):
    """{ source instance -> sink instance }: the sink must run after the source.

    flow: the sink reads what the source wrote. anti: the sink overwrites what the source read.
    output: both write. `exact` is False where a may-access takes part.
    """

    kind: Kind
    tensor: Tensor
    source: Statement
    sink: Statement
    map: Map
    exact: bool

    def __repr__(self) -> str:
        arrow = f"{self.source.name} -> {self.sink.name}"
        return f"{self.kind} on {self.tensor.name}: {arrow}: {self.map}"


class Dependences(Shown, tuple[Dependence, ...]):
    """A tuple of dependences, which notebooks show as a table."""

    __slots__ = ()


def dependences(model: Model, tree: Tree) -> tuple[Dependence, ...]:
    """All dependences between the statements of a tree, flow first."""
    tensors = dict.fromkeys(t for s in model.statements for t in s.tensors)
    return flow_first(d for tensor in tensors for d in dependences_on(tensor, model, tree))


def flow_first(found: Iterable[Dependence]) -> tuple[Dependence, ...]:
    """Dependences, those of one kind in the order given."""
    order = {"flow": 0, "anti": 1, "output": 2}
    return tuple(sorted(found, key=lambda d: order[d.kind]))


def dependences_on(tensor: Tensor, model: Model, tree: Tree) -> list[Dependence]:
    """The dependences between the accesses of one tensor."""
    accesses = [a for s in model.touching.get(tensor, ()) for a in s.accesses_of(tensor)]
    writes = [a for a in accesses if a.is_write]
    reads = [a for a in accesses if not a.is_write]
    if not writes:
        return []
    order = _InOrder(tree, {a.statement for a in accesses})
    if are_written_once(writes):
        return _ordered("flow", model, tensor, writes, reads, order)
    return [
        *(_flow_or_more(model, tensor, reads, writes, order) if reads else []),
        *_ordered("anti", model, tensor, reads, writes, order),
        *_ordered("output", model, tensor, writes, writes, order),
    ]


class _InOrder:
    """The order in which a tree runs some statements."""

    def __init__(self, tree: Tree, statements: Collection[Statement]) -> None:
        self._tree, self._statements = tree, statements

    @cached_property
    def times(self) -> Mapping[Statement, Map]:
        """{ instance -> time } of each."""
        return time_maps(self._tree, self._statements)

    @cached_property
    def _formulas(self) -> Mapping[Statement, Map]:
        # The domains are in what is touched already: their pieces need not be multiplied again.
        several = [s for s, time in self.times.items() if time.n_basic_map() > 1]
        return {**self.times, **{s: _formula(self.times[s]) or self.times[s] for s in several}}

    @cached_property
    def _stages(self) -> Mapping[Statement, Sequence[ScheduledStage]]:
        found: dict[Statement, list[ScheduledStage]] = {s: [] for s in self._statements}
        for path, stage in leaves(self._tree):
            if stage.statement in found:
                found[stage.statement].append(ScheduledStage(path, stage))
        return found

    def only(self, source: Statement, sink: Statement, pairs: Map) -> Map:
        """The pairs of instances of two statements of which the first one runs first."""
        sources, sinks = self._stages[source], self._stages[sink]
        if all(runs_before(a, b) for a in sources for b in sinks):
            return pairs
        first, second = self._formulas[source], self._formulas[sink]
        before = Map.lex_lt(first.get_space().range())
        return pairs.intersect(first.apply_range(before).apply_range(second.reverse()))


def are_written_once(writes: Iterable[Access]) -> bool:
    """Whether each element is written once: by one pure definition, whose pieces partition its
    region, and in no loop that computes it anew. Then a read is of that value, and there are no
    anti or output dependences."""
    return all(
        not w.statement.definition.is_update and not w.statement.definition.loops for w in writes
    )


class _Names:
    """Tuple names, by which isl tells statements (and the accesses of one) apart."""

    def __init__(self, accesses: Iterable[Access]) -> None:
        self.statements = list(dict.fromkeys(a.statement for a in accesses))

    def name(self, statement: Statement) -> str:
        return f"S{self.statements.index(statement)}"

    def statement(self, name: str) -> Statement:
        return self.statements[int(name[1:])]

    def union(self, maps: Iterable[tuple[Statement, Map]], model: Model, out: str) -> UnionMap:
        result = UnionMap.empty(model.parameters.space.params())
        for statement, m in maps:
            named = m.set_tuple_name(isl.dim_type.in_, self.name(statement))
            result = result.union(UnionMap.from_map(named.set_tuple_name(isl.dim_type.out, out)))
        return result


def _flow_or_more(
    model: Model,
    tensor: Tensor,
    reads: list[Access],
    writes: list[Access],
    order: _InOrder,
) -> list[Dependence]:
    """The flow dependences; from every earlier write, where it takes long to find the last one."""
    with suppress(BudgetExceeded), attempt(OPERATIONS):
        times = order.times
        if not _is_fatal(reads, writes, times):
            return _flow(model, tensor, reads, writes, times)
        must = [w for w in writes if w.must]
        using = {a.statement: times[a.statement] for a in (*reads, *must)}
        last = _flow(model, tensor, reads, must, using) if must else []
        may = [w for w in writes if not w.must]
        return _inexact([*last, *_ordered("flow", model, tensor, may, reads, order)])
    return _inexact(_ordered("flow", model, tensor, writes, reads, order))


def _inexact(found: Iterable[Dependence]) -> list[Dependence]:
    return [replace(d, exact=False) for d in found]


def _is_fatal(
    reads: Iterable[Access], writes: Iterable[Access], times: Mapping[Statement, Map]
) -> bool:
    """Whether isl's dataflow analysis might abort the process. Behind a may-access it counts an
    integer division twice if a domain holds it twice (a fault of `align_context_divs` in isl)."""
    if all(w.must for w in writes):
        return False
    maps = [*(a.map for a in (*reads, *writes)), *times.values()]
    return any(int(piece.dim(isl.dim_type.div)) for m in maps for piece in m.get_basic_maps())


OPERATIONS = 1_000_000
"""So much work may isl put into the last writes before the reads of a tensor."""


def _flow(
    model: Model,
    tensor: Tensor,
    reads: list[Access],
    writes: list[Access],
    times: Mapping[Statement, Map],
) -> list[Dependence]:
    names = _Names([*reads, *writes])
    key = ("flow", Same(model.context), *_alike(model, names, [*reads, *writes], times))
    found = model.memo.of(key, lambda: _found_flow(model, names, reads, writes, times))
    exact = all(a.must for a in (*reads, *writes))
    return [
        Dependence("flow", tensor, names.statement(source), names.statement(sink), relation, exact)
        for source, sink, relation in found
    ]


def _alike(
    model: Model, names: _Names, accesses: Sequence[Access], times: Mapping[Statement, Map]
) -> Iterator[object]:
    """All that the last writes before some reads depend on, but for which statements these are: the
    layers of a network have it in common."""

    def interned(what: str, s: Statement, where: Either) -> Same:
        return Same(model.memo.alike((what, s.frame.params, s.frame.dims), where))

    for s in names.statements:
        yield s.frame.params, s.frame.dims, interned("time", s, times[s])
    for a in accesses:
        s = a.statement
        yield names.name(s), a.is_write, a.must, interned("domain", s, a.domain)
        yield from (interned("map", s, x) for x in (a.map, a.relation.map))


def _found_flow(
    model: Model,
    names: _Names,
    reads: list[Access],
    writes: list[Access],
    times: Mapping[Statement, Map],
) -> list[tuple[str, str, Map]]:
    """The instances of statements, by their tuple names, that write what others read."""
    maps = {a: a.map for a in (*reads, *writes)}
    wide = _widened(reads, writes, times)
    maps |= wide.maps

    def accesses(chosen: Iterable[Access]) -> UnionMap:
        return names.union(((a.statement, maps[a]) for a in chosen), model, "x")

    info = isl.UnionAccessInfo.from_sink(accesses(reads))
    info = info.set_must_source(accesses(w for w in writes if w.must))
    info = info.set_may_source(accesses(w for w in writes if not w.must))
    schedule = names.union(({**times, **wide.times}).items(), model, "t")
    flow = info.set_schedule_map(schedule).compute_flow()
    return _split(flow.get_may_dependence(), names, model, wide.sinks)


@dataclass(frozen=True, eq=False)
class _Wide:
    """Accesses and times over supersets of the domains, and the instances that sinks are cut to."""

    maps: dict[Access, Map] = field(default_factory=dict)
    times: dict[Statement, Map] = field(default_factory=dict)
    sinks: dict[Statement, Set] = field(default_factory=dict)


def _widened(reads: list[Access], writes: list[Access], times: Mapping[Statement, Map]) -> _Wide:
    """Convex domains instead of unions, where that changes no source of an instance that is.

    isl's analysis multiplies the pieces of domains, those of Funcs that are computed where they
    are needed above all. More writes are harmless if no read that takes place reads what they
    write; more reads are, if they are dropped from the result.
    """
    wide = _Wide()
    read = reduce(Set.union, (a.map.range() for a in reads))
    accesses = [*reads, *writes]
    for s in dict.fromkeys(a.statement for a in accesses):
        of = [a for a in accesses if a.statement is s]
        domain = of[0].domain
        if domain.n_basic_set() < 2 or not all(a.domain.is_equal(domain) for a in of):
            continue
        hull = Set.from_basic_set(domain.simple_hull())
        extra = hull.subtract(domain)
        written = (extra.apply(a.relation.map) for a in of if a.is_write)
        time = _formula(times[s])
        if time is not None and all(elements.is_disjoint(read) for elements in written):
            wide.times[s] = time.intersect_domain(hull)
            wide.sinks[s] = domain
            wide.maps.update((a, a.relation.map.intersect_domain(hull)) for a in of)
    return wide


def _formula(times: Map) -> Map | None:
    """The time of a statement as one function of its instances, without their domain, if it is one
    function everywhere."""
    pieces: list[Map] = []
    times.as_pw_multi_aff().foreach_piece(lambda _, f: pieces.append(Map.from_multi_aff(f)))
    return pieces[0] if len(pieces) == 1 else None


def _split(
    dependence: UnionMap, names: _Names, model: Model, sinks: Mapping[Statement, Set]
) -> list[tuple[str, str, Map]]:
    found: list[tuple[str, str, Map]] = []
    maps: list[Map] = []
    dependence.foreach_map(maps.append)
    for m in maps:
        source, sink = (m.get_tuple_name(x) for x in (isl.dim_type.in_, isl.dim_type.out))
        by = sinks.get(names.statement(sink))
        plain = m.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
        if by is not None:
            plain = plain.intersect_range(by)
        plain = coalesced(plain.intersect_params(model.context).gist_params(model.context))
        if not plain.is_empty():
            found.append((source, sink, plain))
    return found


def _ordered(
    kind: Kind,
    model: Model,
    tensor: Tensor,
    first: list[Access],
    second: list[Access],
    order: _InOrder,
) -> list[Dependence]:
    """{ x -> y : x touches an element, y writes it later }; flow: x writes it, y reads it. What is
    fresh in each iteration of loops around is read in the iteration that writes it."""
    element = iteration_and_element if kind == "flow" else attrgetter("map")
    by_pair: dict[tuple[Statement, Statement], tuple[Map, bool]] = {}
    for a in first:
        for b in second:
            touched = element(a).apply_range(element(b).reverse())
            found = order.only(a.statement, b.statement, touched).intersect_params(model.context)
            if not found.is_empty():
                key = (a.statement, b.statement)
                old, exact = by_pair.get(key, (found, True))
                by_pair[key] = (old.union(found), exact and a.must and b.must)
    return [
        Dependence(kind, tensor, source, sink, _plain(relation, source, sink, model), exact)
        for (source, sink), (relation, exact) in by_pair.items()
    ]


def _plain(relation: Map, source: Statement, sink: Statement, model: Model) -> Map:
    frames = [(s.frame.params, s.frame.dims) for s in (source, sink)]
    known = model.memo.alike(("pairs", *frames), relation)
    key = ("pairs", Same(known), Same(model.context))
    return model.memo.of(key, lambda: coalesced(known).gist_params(model.context))


def flow_of_all_writes(model: Model, d: Dependence, tree: Tree) -> Map:
    """{ x -> y : x writes an element that y reads later }, whoever writes it in between."""
    writes, reads = d.source.writes_of(d.tensor), d.sink.reads_of(d.tensor)
    using = model.touching[d.tensor]  # hundreds of sums into a Func have the order in common
    order = model.memo.of(("order", Same(tree), *using), lambda: _InOrder(tree, {*using}))
    (found,) = _ordered("flow", model, d.tensor, writes, reads, order)
    return found.map
