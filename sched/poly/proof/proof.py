"""The proof of a schedule: no dependence of the program may run backwards, or concurrently.

With D the dependences of the program as written and `unordered` the pairs of instances that a
tree does not order, D intersected with them must be empty. D is computed once. After each directive
all of D is checked, whatever the directive has changed: where nothing has changed, the obligation
is one that has been proven before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial

from ...cached import cached_property
from ...lang.nodes.tensor import Tensor
from ...records import dataclass
from ..model.model import Model
from ..model.statements import Statement
from ..program.accumulation import accumulates
from ..sets.isl import Map, Set
from ..sets.memo import Same
from ..sets.smallest import smallest_point
from ..tree.edits import stages
from ..tree.looptree import Alloc, Seq, Tree
from ..tree.times import ScheduledStage, common, runs_before, same_copy, scheduled_stages
from .dependences import (
    Dependence,
    are_written_once,
    dependences_on,
    flow_first,
    flow_of_all_writes,
)
from .instance_pairs import InstancePair, instance
from .obligations import Coverage, Delivery, Order, Proofs

Relaxed = Callable[[Statement], bool]


@dataclass(frozen=True, eq=False)
class Violation:
    """Pairs of instances of a dependence that a tree runs in the wrong order, or in none.

    `source` and `sink` are the statements that run: those of the dependence, or what executes
    them at a loop. `kind` is that of the dependence, "race" where concurrent iterations share
    storage, "uninitialised" where the sink reads what the source does not compute there.
    """

    dependence: Dependence
    pairs: Map
    source: Statement
    sink: Statement
    kind: str = ""
    #: Whether each accumulation is atomic, but not its copies into and out of private storage.
    has_non_atomic_copies: bool = False

    @property
    def is_lost(self) -> bool:
        return self.kind == "uninitialised"

    @property
    def subject(self) -> object:
        """Violations of one subject are about the same instances."""
        return self.dependence, self.source, self.sink, self.kind

    @property
    def statements(self) -> tuple[Statement, Statement]:
        """The statements whose instances they are."""
        return self.source, self.sink


Standing = tuple[object, ...]
"""Of each stage that touches a tensor, in order: its statement, the outermost loop around it (or it
itself), and which storage of the tensor that loop is in."""

Free = frozenset[Statement]
"""The statements whose accumulation may run in any order."""


class Settled:
    """For each tensor the state in which all dependences on it were last proven to be kept, in
    whichever rewritten program."""

    def __init__(self) -> None:
        self._known: dict[Tensor, tuple[Standing, Standing, Free, Set]] = {}

    def holds(
        self, tensor: Tensor, written: Standing, now: Standing, free: Free, context: Set
    ) -> bool:
        known = self._known.get(tensor)
        if known is None or known[:3] != (written, now, free):
            return False
        return context is known[3] or context.is_subset(known[3])

    def note(
        self, tensor: Tensor, written: Standing, now: Standing, free: Free, context: Set
    ) -> None:
        self._known[tensor] = (written, now, free, context)


class Prover:
    """Proves or refutes that trees of one model keep the dependences of its program.

    Args:
        proofs, settled: what is known from other rewritten programs.
    """

    def __init__(
        self,
        model: Model,
        written: Seq,
        proofs: Proofs | None = None,
        settled: Settled | None = None,
    ) -> None:
        self.model = model
        self.written = written
        self.proofs = proofs or Proofs()
        self.settled = settled or Settled()

    @property
    def dependences(self) -> tuple[Dependence, ...]:
        """The dependences of the program as written."""
        return flow_first(d for tensor in self._tensors for d in self.dependences_on(tensor))

    @cached_property
    def _tensors(self) -> list[Tensor]:
        return list(self.model.touching)

    def dependences_on(self, tensor: Tensor) -> list[Dependence]:
        """The dependences on one tensor, found on demand."""
        key = ("dependences", tensor, self._as_written[tensor], Same(self.model.context))
        find = partial(dependences_on, tensor, self.model, self.written)
        return self.model.memo.of(key, find)

    def _dependences_among(self, tensors: Collection[Tensor]) -> Iterator[Dependence]:
        """The dependences on some tensors."""
        chosen = (tensor for tensor in self._tensors if tensor in tensors)
        yield from flow_first(d for tensor in chosen for d in self.dependences_on(tensor))

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
            only: the statements whose dependences are checked; all of them if None.
        """
        every = self._standing(tree).items()
        asked = {t: now for t, now in every if not self._is_settled(t, now, relaxed, context)}
        if not asked:
            return
        parts: dict[Statement, list[ScheduledStage]] = {}
        for p in scheduled_stages(tree):
            parts.setdefault(p.stage.statement.base, []).append(p)
        kept = dict(asked)
        asked = {t: now for t, now in asked.items() if not self._runs_before_reads(t, parts)}
        for d in self._dependences_among(asked):
            if only is not None and d.source not in only and d.sink not in only:
                kept.pop(d.tensor, None)
                continue
            for v in self._broken(d, parts, relaxed, context):
                kept.pop(d.tensor, None)
                yield v
        for t, now in kept.items():
            self.settled.note(t, self._as_written[t], now, self._free_on(t, relaxed), context)

    def _runs_before_reads(
        self, tensor: Tensor, parts: Mapping[Statement, Sequence[ScheduledStage]]
    ) -> bool:
        """Whether whatever writes a tensor is over before anything reads it, and each element is
        written once: then no dependence can be broken, and none has to be found."""
        using = [(s, a) for s in self.model.touching[tensor] for a in s.accesses_of(tensor)]
        if not are_written_once(a for _, a in using if a.is_write):
            return False
        sources = [p for s, a in using if a.is_write for p in parts.get(s, ())]
        sinks = [p for s, a in using if not a.is_write for p in parts.get(s, ())]
        return all(_fresh_depth(a, tensor) is None for a in sources) and all(
            runs_before(a, b) and b.producer(tensor) is None for a in sources for b in sinks
        )

    def _standing(self, tree: Tree) -> dict[Tensor, Standing]:
        """For each tensor the stages that touch it, in order."""
        found: dict[Tensor, list[object]] = {t: [] for t in self._tensors}
        inside: dict[Tensor, int] = {}
        numbers: Counter[Tensor] = Counter()
        # A function within this one that calls itself would be a cycle, which holds the model.
        waiting: list[Tree | tuple[Tensor, int]] = [tree]
        while waiting:
            node = waiting.pop()
            if isinstance(node, tuple):  # behind an allocation
                inside[node[0]] = node[1]
            elif isinstance(node, Alloc):
                numbers.update(node.funcs)
                waiting += [(f, inside.get(f, 0)) for f in node.funcs]
                waiting += reversed(node.body)
                inside.update((f, numbers[f]) for f in node.funcs)
            elif isinstance(node, Seq):
                waiting += reversed(node.body)
            else:
                for stage in stages(node):
                    base = stage.statement.base
                    for t in self._touched[base]:
                        found[t] += (base, node, inside.get(t, 0))
        return {t: tuple(standing) for t, standing in found.items()}

    @cached_property
    def _touched(self) -> dict[Statement, tuple[Tensor, ...]]:
        return {s: s.tensors for s in self.model.statements}

    @cached_property
    def _as_written(self) -> dict[Tensor, Standing]:
        return self._standing(self.written)

    @cached_property
    def _sums_on(self) -> dict[Tensor, list[Statement]]:
        """By tensor, the statements that touch it and may accumulate in any order."""
        known = self.model.memo.of
        every = {s: known(("sum", s.definition), partial(accumulates, s.definition))
                 for s in self._touched}  # fmt: skip
        return {t: [s for s in using if every[s]] for t, using in self.model.touching.items()}

    def _free_on(self, tensor: Tensor, relaxed: Relaxed) -> Free:
        """The statements on a tensor whose accumulation may run in any order."""
        return frozenset(s for s in self._sums_on[tensor] if relaxed(s))

    def _is_settled(self, tensor: Tensor, now: Standing, relaxed: Relaxed, context: Set) -> bool:
        """Whether nothing has changed for a tensor since all dependences on it were kept. In the
        tree as it is written they are, since they are taken from it."""
        written = self._as_written[tensor]
        if now == written:
            return True
        return self.settled.holds(tensor, written, now, self._free_on(tensor, relaxed), context)

    def _broken(
        self,
        d: Dependence,
        parts: Mapping[Statement, Sequence[ScheduledStage]],
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
                pairs = self.proofs.broken(order, context)
                if pairs is not None:
                    yield Violation(d, pairs, a.stage.statement, b.stage.statement)
        for delivery in _deliveries(d, sources, sinks) if d.kind == "flow" else ():
            pairs = self.proofs.broken(delivery, context)
            if pairs is not None:
                sink = delivery.sink.statement
                yield Violation(d, pairs, d.source, sink, "uninitialised")

    def uncovered(self, tree: Tree, context: Set) -> Statement | None:
        """A statement some of whose instances no stage of a tree runs. A Func that is computed at a
        loop is not covered here: `violations` finds whether all that is read there is computed."""
        parts: dict[Statement, list[Same]] = {s: [] for s in self.model.statements}
        for p in scheduled_stages(tree):
            s, run = p.stage.statement, p.stage.where
            if s.part_of is not None:
                parts.pop(s.part_of, None)
            else:
                parts[s].append(Same(run))
        every = (Coverage(s, tuple(found)) for s, found in parts.items())
        return next((c.statement for c in every if self.proofs.broken(c, context)), None)

    def _whole_flow(self, d: Dependence) -> Map:
        """A flow dependence from a sum whose order is free: any of its terms may come last."""
        return self.model.memo.of(("whole flow", d), partial(self._flow_of_all_writes, d))

    def _flow_of_all_writes(self, d: Dependence) -> Map:
        return flow_of_all_writes(self.model, d, self.written)


def witness_text(v: Violation, pair: InstancePair) -> str:
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


def _deliveries(
    d: Dependence, sources: Sequence[ScheduledStage], sinks: Sequence[ScheduledStage]
) -> Iterator[Delivery]:
    """The delivery of a flow dependence on a Func that is computed at a loop, or stored anew in
    each iteration of one: its source must run in the iteration of each sink."""
    counts = [_fresh_depth(a, d.tensor) for a in sources]
    if all(count is None for count in counts):
        return
    for b in sinks:
        found = [
            (a.run, count or 0)
            for a, count in zip(sources, counts, strict=True)
            if same_copy(a, b, d.tensor, count or 0)
        ]
        yield Delivery(Same(d.map), b.run, tuple(found))


def _fresh_depth(a: ScheduledStage, tensor: object) -> int | None:
    """Around how many loops of a stage a value does not outlive an iteration; None if all do."""
    node = a.producer(tensor)
    if node is not None:
        return node.fresh_depth
    return next((depth or None for _, depth, _ in a.stored(tensor)), None)


def _element(d: Dependence, pair: InstancePair) -> str:
    """The element that both instances touch."""
    images = []
    sides = ((pair.first, d.kind != "anti"), (pair.second, d.kind != "flow"))
    for (statement, is_write), at in zip(sides, pair.points, strict=True):
        here = instance(statement, pair.sizes, at)
        own = statement.writes_of(d.tensor) if is_write else statement.reads_of(d.tensor)
        touched = [a.map.intersect_domain(here).range() for a in own]
        image = touched[0]
        for other in touched[1:]:
            image = image.union(other)
        images.append(image)
    found = smallest_point(images[0].intersect(images[1]))
    return ", ".join(map(str, found[1])) or "()" if found is not None else "?"
