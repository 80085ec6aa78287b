"""The proof of a schedule: no dependence of the program may run backwards, or at once.

With D the dependences of the program as written and `unordered` the pairs of instances that a
tree does not order, D intersected with them must be empty. D is taken once. Behind each directive
all of D is asked, whatever the directive says that it did: what has not changed since its proof is
known by its obligation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from ..cached import cached_property
from ..lang.definitions import Definition
from ..lang.nodes import Node, Op, Read, postorder
from ..lang.tensors import Tensor
from .dependences import Dependence, Kind, dependences_on, flow_first, flow_of_all_writes
from .edits import stages
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


Standing = tuple[object, ...]
"""Of each stage that touches a tensor, in order: its statement, the outermost loop around it (or it
itself), and which storage of the tensor that loop is in."""

Free = frozenset[Statement]
"""The statements whose accumulation may run in any order."""


class Prover:
    """Judges trees of one model."""

    def __init__(self, model: Model, written: Seq) -> None:
        self.model = model
        self.written = written
        self._whole: dict[Dependence, Map] = {}
        self._on: dict[Tensor, list[Dependence]] = {}
        self._proofs: dict[Obligation, list[Set]] = {}
        self._settled: dict[Tensor, tuple[Standing, Free, Set]] = {}

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

    def _dependences_among(self, tensors: Collection[Tensor]) -> Iterator[Dependence]:
        """Those on some tensors."""
        chosen = (tensor for tensor in self._tensors if tensor in tensors)
        yield from flow_first(d for tensor in chosen for d in self._dependences_on(tensor))

    def violations(
        self,
        tree: Tree,
        relaxed: Relaxed,
        context: Set,
        only: Collection[Statement] | None = None,
    ) -> Iterator[Violation]:
        """What a tree breaks among the dependences of the program.

        Args:
            relaxed: whether a statement's accumulation may run in any order.
            context: the sizes that a call accepts.
            only: the statements of which something is asked; all of them if None.
        """
        free = frozenset(s for s in self._sums if relaxed(s))
        every = self._standing(tree).items()
        asked = {t: now for t, now in every if not self._is_settled(t, now, free, context)}
        if not asked:
            return
        parts: dict[Statement, list[Placed]] = {}
        for p in placed(tree):
            parts.setdefault(p.stage.statement.base, []).append(p)
        kept = dict(asked)
        for d in self._dependences_among(asked):
            if only is not None and d.source not in only and d.sink not in only:
                kept.pop(d.tensor, None)
                continue
            for v in self._broken(d, parts, relaxed, context):
                kept.pop(d.tensor, None)
                yield v
        self._settled.update((t, (now, free, context)) for t, now in kept.items())

    def _standing(self, tree: Tree) -> dict[Tensor, Standing]:
        """For each tensor the stages that touch it, in order."""
        found: dict[Tensor, list[object]] = {t: [] for t in self._tensors}
        inside: dict[Tensor, int] = {}
        numbers = count(1)

        def visit(node: Tree) -> None:
            if isinstance(node, Alloc):
                outside, inside[node.func] = inside.get(node.func, 0), next(numbers)
                for child in node.body:
                    visit(child)
                inside[node.func] = outside
            elif isinstance(node, Seq):
                for child in node.body:
                    visit(child)
            else:
                for stage in stages(node):
                    base = stage.statement.base
                    for t in self._touched[base]:
                        found[t] += (base, node, inside.get(t, 0))

        visit(tree)
        return {t: tuple(standing) for t, standing in found.items()}

    @cached_property
    def _touched(self) -> dict[Statement, list[Tensor]]:
        every = self.model.statements
        return {s: list(dict.fromkeys(a.tensor for a in s.accesses)) for s in every}

    @cached_property
    def _as_written(self) -> dict[Tensor, Standing]:
        return self._standing(self.written)

    @cached_property
    def _sums(self) -> list[Statement]:
        """The statements that may be told to accumulate in any order."""
        return [s for s in self.model.statements if accumulates(s.definition)]

    def _is_settled(self, tensor: Tensor, now: Standing, free: Free, context: Set) -> bool:
        """Whether nothing has changed for a tensor since all dependences on it were kept. In the
        tree as it is written they are, since they are taken from it."""
        if now == self._as_written[tensor]:
            return True
        known = self._settled.get(tensor)
        if known is None or known[:2] != (now, free):
            return False
        return context is known[2] or context.is_subset(known[2])

    def _broken(
        self,
        d: Dependence,
        parts: Mapping[Statement, Sequence[Placed]],
        relaxed: Relaxed,
        context: Set,
    ) -> Iterator[Violation]:
        """What the parts of statements break of a dependence."""
        sources, sinks = parts.get(d.source, ()), parts.get(d.sink, ())
        own = d.tensor is d.source.func and relaxed(d.source)
        free = own and d.source is d.sink
        must = Same(self._whole_flow(d) if own and not free and d.kind == "flow" else d.map)
        for a in sources:
            for b in sinks:
                order = Order(must, d.kind, a.run, b.run, common(a, b, d.tensor), free)
                pairs = self._judged(order, context)
                if pairs is not None:
                    yield Violation(d, pairs, a.stage.statement, b.stage.statement)
        for delivery in _deliveries(d, sources, sinks) if d.kind == "flow" else ():
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
