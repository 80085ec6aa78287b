"""The proof of a schedule: no dependence of the program may run backwards, or at once.

With D the dependences of the program as written and `unordered` the pairs of instances that a
tree does not order, D intersected with them must be empty. D is taken once; after a directive only
the dependences of the stages below the edited loops are asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from ..cached import cached_property
from ..lang.definitions import Definition
from ..lang.nodes import Node, Op, Read, postorder
from ..lang.tensors import Tensor
from .dependences import Dependence, Kind, dependences_on, flow_first, flow_of_all_writes
from .isl import Map, Set, isl
from .looptree import Alloc, Run, Same, Seq, Tree, loops_of, producer, time_maps
from .model import Model
from .pairs import Pair, instance
from .smallest import smallest_point
from .statements import Statement
from .times import Common, Placed, common, deciding, placed, same_copy, unordered_runs

Relaxed = Callable[[Statement], bool]


@dataclass(frozen=True, eq=False)
class Violation:
    """Pairs of instances of a dependence that a tree runs in the wrong order, or in none.

    `source` and `sink` are the statements that run: those of the dependence, or what executes
    them at a loop. `kind` is that of the dependence, "race" where iterations at once share
    storage, "uninitialised" where the sink reads what the source does not compute there.
    """

    dependence: Dependence
    pairs: Map
    source: Statement
    sink: Statement
    kind: str = ""
    #: Whether each instance is indivisible, but for copies to and from storage of its own.
    is_divided: bool = False

    @property
    def is_lost(self) -> bool:
        return self.kind == "uninitialised"

    @property
    def subject(self) -> object:
        """Violations of one subject are about the same instances."""
        return self.dependence, self.source, self.sink, self.kind

    @property
    def ends(self) -> tuple[Statement, Statement]:
        """The statements whose instances they are."""
        return self.source, self.sink


@dataclass(frozen=True)
class Order:
    """A dependence is kept between two stages: no pair of it runs the wrong way round, or at once.

    An obligation is a value, of which alone it is judged: two that are equal hold alike.

    Attributes:
        relation: the pairs of instances of the algorithm.
        is_free: they may run in any order, but not at once.
    """

    relation: Same
    kind: Kind
    source: Run
    sink: Run
    common: Common
    is_free: bool

    def broken(self, context: Set) -> Map:
        """{ x -> y : the dependence is not kept, at sizes of a context }"""
        assert isinstance(self.relation.of, Map)
        met, a, b = self.common, self.source, self.sink
        wrong = unordered_runs(a, b, met, self.kind, relaxed=self.is_free)
        pairs = _between(self.relation.of, a, b).intersect(wrong)
        return pairs.intersect_params(context)


@dataclass(frozen=True)
class Delivery:
    """A value has been computed where it is read: the source of each instance of the sink runs in
    the same iteration of the loops that keep copies of the Func apart.

    With tau these loops, of a sink y with the source x,

        { y -> x } less those with (tau(y), x) in { (tau(x'), x) : x' executes x }, for each copy

    Attributes:
        relation: { source -> sink } of the algorithm.
        sources: each with the number of these loops.
    """

    relation: Same
    sink: Run
    sources: tuple[tuple[Run, int], ...]

    def broken(self, context: Set) -> Map:
        """{ x -> y : x has not run for y, at sizes of a context }"""
        assert isinstance(self.relation.of, Map)
        b = self.sink
        around = len(b.statement.around)
        missing = self.relation.of.reverse().insert_dims(isl.dim_type.in_, 0, around)
        missing = missing.intersect_domain(b.instances).intersect_params(context)
        for a, apart in self.sources:
            loops = deciding(a, b, range(apart))
            at = b.at(loops).flat_range_product(missing).subtract_range(_executed(a, loops))
            missing = at.project_out(isl.dim_type.out, 0, len(loops))
        return missing.reverse()


Obligation = Order | Delivery


class Prover:
    """Judges trees of one model."""

    def __init__(self, model: Model, written: Seq) -> None:
        self.model = model
        self.written = written
        self._whole: dict[Dependence, Map] = {}
        self._on: dict[Tensor, list[Dependence]] = {}
        self._proofs: dict[Obligation, list[Set]] = {}

    @property
    def dependences(self) -> tuple[Dependence, ...]:
        """Those of the program as written."""
        return flow_first(d for tensor in self._tensors for d in self._dependences_on(tensor))

    @cached_property
    def _tensors(self) -> list[Tensor]:
        return list(dict.fromkeys(a.tensor for s in self.model.statements for a in s.accesses))

    def _dependences_on(self, tensor: Tensor) -> list[Dependence]:
        """Those of one tensor, found when somebody asks for them."""
        if tensor not in self._on:
            self._on[tensor] = dependences_on(tensor, self.model, self.written)
        return self._on[tensor]

    def _dependences_of(self, statement: Statement) -> Iterator[Dependence]:
        """Those from or to the instances of one statement."""
        touched = {a.tensor for a in statement.accesses}
        tensors = (tensor for tensor in self._tensors if tensor in touched)
        for d in flow_first(d for tensor in tensors for d in self._dependences_on(tensor)):
            if statement in (d.source, d.sink):
                yield d

    def violations(
        self, tree: Tree, edited: Collection[Statement], relaxed: Relaxed, context: Set
    ) -> Iterator[Violation]:
        """What a tree breaks among the dependences of the edited statements.

        Args:
            relaxed: whether a statement's accumulation may run in any order.
            context: the sizes that a call accepts.
        """
        stages: dict[Statement, list[Placed]] = {}
        for p in placed(tree):
            stages.setdefault(p.stage.statement.base, []).append(p)
        asked = dict.fromkeys(d for s in edited for d in self._dependences_of(s))
        for d in asked:
            sources, sinks = stages.get(d.source, []), stages.get(d.sink, [])
            own = d.tensor is d.source.func and relaxed(d.source)
            free = own and d.source is d.sink
            must = self._whole_flow(d) if own and not free and d.kind == "flow" else d.map
            for a in sources:
                for b in sinks:
                    met = common(a, b, d.tensor)
                    pairs = self._judged(
                        Order(Same(must), d.kind, a.run, b.run, met, free), context
                    )
                    if pairs is not None:
                        yield Violation(d, pairs, a.stage.statement, b.stage.statement)
            if d.kind == "flow":
                for delivery in _deliveries(d, sources, sinks):
                    pairs = self._judged(delivery, context)
                    if pairs is not None:
                        sink = delivery.sink.statement
                        yield Violation(d, pairs, d.source, sink, "uninitialised")

    def _judged(self, obligation: Obligation, context: Set) -> Map | None:
        """The pairs that break an obligation at some sizes; None if there are none. One that is
        proven holds at all sizes among those of its proof."""
        if any(context.is_subset(proof) for proof in self._proofs.get(obligation, ())):
            return None
        pairs = obligation.broken(context)
        if not pairs.is_empty():
            return pairs
        self._proofs.setdefault(obligation, []).append(context)
        return None

    def uncovered(self, tree: Tree, context: Set) -> Statement | None:
        """A statement some of whose instances no stage of a tree runs. What is computed at a loop
        is another question: whether that is all that is read there (`violations`)."""
        parts: dict[Statement, Set] = {s: s.frame.empty for s in self.model.statements}
        for p in placed(tree):
            s, run = p.stage.statement, p.stage.where
            if s.placed is not None:
                parts.pop(s.placed, None)
            else:
                parts[s] = parts[s].union(s.frame.universe if run is None else run)
        for s, run in parts.items():
            if not s.domain.intersect_params(context).subtract(run).is_empty():
                return s
        return None

    def _whole_flow(self, d: Dependence) -> Map:
        """A flow dependence from a sum whose order is free: any of its terms may come last."""
        if d not in self._whole:
            self._whole[d] = flow_of_all_writes(self.model, d, self._times)
        return self._whole[d]

    @cached_property
    def _times(self) -> dict[Statement, Map]:
        return time_maps(self.written)


def witness_text(v: Violation, pair: Pair) -> str:
    """`S[t=0, i=8] writes A[8], S[t=1, i=7] reads it, at n=9, T=2`"""
    d = v.dependence
    first, second = ("reads" if d.kind == k else "writes" for k in ("anti", "flow"))
    if not d.exact:
        first, second = f"may {first[:-1]}", f"may {second[:-1]}"
    at = ", ".join(f"{k}={x}" for k, x in pair.sizes.items())
    element = f"{d.tensor.name}[{_element(d, pair)}]"
    if v.is_lost:
        text = f"{pair.sink} {second} {element}, which {pair.source} has not computed there"
    else:
        text = f"{pair.source} {first} {element}, {pair.sink} {second} it"
    return text + (f", at {at}" if at else "")


def _between(pairs: Map, a: Run, b: Run) -> Map:
    """{ x -> y } of the algorithm as pairs of what executes x and y, in whichever iteration."""
    pairs = pairs.insert_dims(isl.dim_type.in_, 0, len(a.statement.around))
    return pairs.insert_dims(isl.dim_type.out, 0, len(b.statement.around))


def _deliveries(
    d: Dependence, sources: Sequence[Placed], sinks: Sequence[Placed]
) -> Iterator[Delivery]:
    """What must reach each sink of a flow dependence, as a Func is computed at a loop, or stored
    anew in each iteration of one."""
    counts = [_loops_apart(a, d.tensor) for a in sources]
    if all(count is None for count in counts):
        return
    for b in sinks:
        found = [
            (a.run, count or 0)
            for a, count in zip(sources, counts, strict=True)
            if same_copy(a, b, d.tensor, count or 0)
        ]
        yield Delivery(Same(d.map), b.run, tuple(found))


def _loops_apart(a: Placed, tensor: object) -> int | None:
    """Around how many loops of a stage a value does not outlive an iteration; None if all do."""
    node = producer(a.path, tensor)
    if node is not None:
        return node.apart
    for position, (_, x) in enumerate(a.path):
        if isinstance(x, Alloc) and x.func is tensor:
            return len(loops_of(a.path[:position])) or None
    return None


def _executed(a: Run, loops: list[int]) -> Set:
    """{ (loops, instance of the algorithm) }"""
    whole = Map.identity(a.instances.get_space().map_from_set())
    own = whole.project_out(isl.dim_type.out, 0, len(a.statement.around))
    return a.at(loops).flat_range_product(own).range()


def _element(d: Dependence, pair: Pair) -> str:
    """The element that both instances touch."""
    images = []
    ends = ((pair.first, d.kind != "anti"), (pair.second, d.kind != "flow"))
    for (statement, is_write), at in zip(ends, pair.points, strict=True):
        here = instance(statement, pair.sizes, at)
        own = [a for a in statement.accesses if a.tensor is d.tensor and a.is_write == is_write]
        touched = [a.map.intersect_domain(here).range() for a in own]
        image = touched[0]
        for other in touched[1:]:
            image = image.union(other)
        images.append(image)
    found = smallest_point(images[0].intersect(images[1]))
    return ", ".join(map(str, found[1])) or "()" if found is not None else "?"


# accumulation -----------------------------------------------------------------------------------
_EXACT = frozenset({"add", "sub", "mul", "min", "max", "and", "or", "xor"})


def accumulates(d: Definition) -> bool:
    """Whether an update combines the old value of an element with others, which could come in
    any order if the operator allows it."""
    if d.op == "=" or len(d.values) > 1:
        return False
    own = [n for n in postorder(*d.lhs, *d.where, *d.values) if _is_own(n, d)]
    if len(own) != 1 or not isinstance(own[0], Read) or own[0].index != d.lhs:
        return False
    match d.values[0]:
        case Op(op="fma", operands=(a, b, c)):
            return c is own[0] and own[0] not in set(postorder(a, b))
        case Op(op=op, operands=(a, b)) if op in _EXACT:
            last = b if a is own[0] else a
            beside = a is own[0] or (b is own[0] and op != "sub")
            return beside and own[0] not in set(postorder(last))
    return False


def is_exact(d: Definition) -> bool:
    """Whether the order of accumulation does not change a bit: integers, minima, maxima."""
    return accumulates(d) and (d.op in ("min", "max") or not d.func.dtypes[0].is_float)


def _is_own(n: Node, d: Definition) -> bool:
    return isinstance(n, Read) and n.tensor is d.func
