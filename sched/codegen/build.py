"""From the scanned loops of a schedule to the loop IR: stores of expressions that load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..lang import index as ix
from ..lang.definitions import Definition
from ..lang.dtypes import bool_
from ..lang.guards import conjunction
from ..lang.inout import InOut
from ..lang.nodes import (
    Const,
    Node,
    Op,
    Read,
    Var,
    integer,
    postorder,
    replaced_all,
    transform_all,
)
from ..lang.opaque import Opaque, Trace
from ..lang.tensors import Func, Tensor
from ..poly.conditions import Conditions
from ..poly.decided import decided
from ..poly.folding import Window
from ..poly.isl import Set
from ..poly.looptree import Keep, Stage
from ..poly.memory import Memory
from ..poly.model import Model
from ..poly.scantree import (
    DataBounds,
    Scan,
    ScanAlloc,
    ScanIf,
    ScanKeep,
    ScanLoop,
    ScanSeq,
    ScanStage,
    walk,
)
from ..poly.state import Hints
from ..poly.statements import Statement
from .callbacks import PrintTrace, RunExtern, as_word
from .ir import (
    Alloc,
    Buffer,
    Call,
    Callback,
    Count,
    For,
    Function,
    If,
    Load,
    LoopKind,
    Module,
    Origin,
    Prefetch,
    Seq,
    Stmt,
    Store,
    Stores,
    dtype_of,
)
from .lanes import Vector, backwards, guarded, lanes_of, substituted
from .loads import Converter
from .storage import KeptStorage, Storage, kept_storage, place, scalars, strides

#: A switch for tests: run the iterations of parallel loops from the last to the first.
SHUFFLED = False


def build(
    name: str,
    model: Model,
    conditions: Conditions,
    nests: Sequence[Scan],
    *,
    strided: bool,
    checks: bool,
    folds: Mapping[Func, Window],
    copied: Sequence[InOut] = (),
    memory: Mapping[Func, Memory] | None = None,
    hints: Hints | None = None,
    atomic: frozenset[str] = frozenset(),
    constants: Mapping[str, Node] | None = None,
    context: Set | None = None,
) -> Module:
    """The kernel that runs the nests one after the other, each a function.

    Args:
        strided: whether arguments may have any strides (given as scalars), or are contiguous.
        checks: whether to count integer divisions by zero, in counter 0.
        folds: what is kept of Funcs that are not stored whole.
        copied: InOuts whose initial values are kept apart: copies come first.
        memory: how Funcs lie in memory.
        hints: what is streamed and prefetched.
        atomic: the stages whose accumulation may happen at once.
        constants: the sizes that are known, by name.
        context: what is known of all sizes; what the model says if None.
    """
    storage = place(model, nests, strided, folds, copied, memory or {})
    # What is in bounds of all that is computed of a Func may be outside of what is kept here.
    local = frozenset(x.func for x in walk(*nests) if isinstance(x, ScanAlloc))
    safe = frozenset((s, node) for s, node in conditions.safe if node.tensor not in local)
    builder = Builder(storage, safe, checks)
    builder.local = frozenset(b for (f, _), b in storage.items() if f in local)
    builder.context = model.context if context is None else context
    builder.kept = kept_storage(model, nests, memory or {})
    builder.hints, builder.names = hints or Hints(), model.program.names
    builder.atomic = atomic
    bodies = [(f"copy of {a.name}", _copy(storage[a, 0], storage[a.initial, 0])) for a in copied]
    bodies += [(", ".join(_titles(nest)), builder.stmt(nest)) for nest in nests]
    functions = tuple(Function(f"nest{k}", title, body) for k, (title, body) in enumerate(bodies))
    buffers = tuple(dict.fromkeys([*storage.values(), *builder.kept.values()]))
    symbols = (*scalars(model), *strides(buffers))
    callbacks = tuple(builder.callbacks)
    known: dict[Node, Node] = {
        s: constants[s.name] for s in symbols if constants and s.name in constants
    }
    return Module(name, buffers, symbols, functions, int(checks), callbacks, known)


def _copy(source: Buffer, target: Buffer) -> Stmt:
    """target = source"""
    index = tuple(Var(f"c{k}") for k in range(source.ndim))
    body: Stmt = Stores((Store(target, index, Load(source, index, None, source.dtype)),))
    for var, extent in reversed(list(zip(index, source.extents, strict=True))):
        body = For(var, ix.ZERO, extent, 1, "serial", body, var.name)
    return body


def _titles(nest: Scan) -> list[str]:
    match nest:
        case ScanLoop(body=body) | ScanIf(body=body) | ScanAlloc(body=body):
            return _titles(body)
        case ScanSeq(parts=parts):
            return [t for p in parts for t in _titles(p)]
        case ScanKeep(body=body):
            return _titles(body)
        case ScanStage(stage=stage):
            return [stage.statement.name]


class Builder:
    def __init__(
        self, storage: Storage, safe: frozenset[tuple[Statement, Read]], checks: bool
    ) -> None:
        #: Where tensors are written; and where they are read, which differs in copies.
        self.storage = self.sources = storage
        self.kept: KeptStorage = {}
        #: What is accumulated in storage of its own here, from the outside in.
        self.keeps: tuple[tuple[Keep, Storage], ...] = ()
        self.hints = Hints()
        self.atomic: frozenset[str] = frozenset()
        self.names: Mapping[Tensor, str] = {}
        #: What lives inside of loops, and what of it inside of those around.
        self.local: frozenset[Buffer] = frozenset()
        self.alive: frozenset[Buffer] = frozenset()
        self.safe = safe
        self.checks = checks
        #: What is known of the sizes.
        self.context: Set
        self.callbacks: list[Callback] = []
        self.copies = 0

    def stmt(self, scan: Scan, covered: frozenset[Node] = frozenset()) -> Stmt:
        """`covered` are the RVars whose loops run within the bounds that they read from data."""
        match scan:
            case ScanLoop(loop=loop, var=var, lo=lo, hi=hi, step=step, body=body, data=data):
                if loop.kind == "unrolled":
                    return self._unrolled(scan, covered)
                if loop.kind == "vector":
                    return self._vector(scan, covered)
                if data is not None:
                    first, last = self.ends_read(data)
                    lo, hi = ix.maximum((lo, first)), ix.minimum((hi, last))
                    covered = data.covering(covered)
                kind: LoopKind = "parallel" if loop.kind == "parallel" else "serial"
                inside = self.stmt(body, covered)
                ahead = tuple(self._prefetches(scan))
                inside = Seq((*ahead, inside)) if ahead else inside
                made = For(var, lo, hi, step, kind, inside, loop.name)
                return backwards(made) if kind == "parallel" and SHUFFLED else made
            case ScanIf(condition=condition, body=body):
                return If(condition, self.stmt(body, covered))
            case ScanSeq(parts=parts):
                return Seq(tuple(self.stmt(p, covered) for p in parts))
            case ScanAlloc(func=func, origin=origin, body=body):
                outside = self.alive
                self.alive |= {self.storage[func, c] for c in range(len(func.dtypes))}
                inside = self.stmt(body, covered)
                self.alive = outside
                return self.alloc(func, origin, inside)
            case ScanKeep():
                return self._keep(scan, covered)
            case ScanStage():
                return self.instance(scan, covered)

    def _keep(self, scan: ScanKeep, covered: frozenset[Node]) -> Stmt:
        """The body on storage of its own, between copies."""
        keys: list[tuple[Tensor, int]] = [(scan.func, c) for c in range(len(scan.func.dtypes))]
        outer, around = self.storage, self.keeps
        own: Storage = {key: self.kept[scan.name, key[1]] for key in keys}
        inner: Storage = {**outer, **own}
        parts = []
        for part, source, target in (
            (scan.load, outer, inner), (scan.body, outer, outer), (scan.store, inner, outer),
        ):  # fmt: skip
            self.sources, self.storage = source, target
            self.keeps = (*around, (scan.keep, own)) if part is scan.body else ()
            parts.append(self.stmt(part, covered))
        self.sources, self.storage, self.keeps = outer, outer, around
        buffers = tuple(own.values())
        given = zip(buffers[0].origin, scan.origin, strict=True)
        named = tuple((x, value) for x, value in given if isinstance(x, Var))
        return Alloc(buffers, named, Seq(tuple(parts)))

    def _prefetches(self, scan: ScanLoop) -> Iterator[Prefetch]:
        """What a loop fetches for its later iterations: where a stage inside of it begins then."""
        for hint in self.hints.prefetches:
            if hint.loop == scan.loop.name:
                at = ix.add(scan.var, integer(hint.distance * scan.step))
                for stage, point in _beginnings(scan.body, {scan.var: at}):
                    if hint.stage in (stage.name, stage.statement.name):
                        yield from self._fetches(stage, hint.tensor, point)

    def _fetches(self, stage: Stage, tensor: str, point: Mapping[Node, Node]) -> Iterator[Prefetch]:
        """What a stage reads of a tensor at a point, where data do not say which element that is
        and it is there already."""
        indices = dict.fromkeys(
            (self.sources[a.tensor, a.node.component], a.index)
            for a in stage.statement.reads
            if isinstance(a.node, Read) and self.names[a.tensor] == tensor
        )
        for buffer, index in indices:
            plain = not any(isinstance(n, Read) for n in postorder(*index))
            moves = any(isinstance(x, Var) for x in buffer.origin)
            if plain and (buffer in self.alive or not moves):
                yield Prefetch(buffer, replaced_all(index, point))

    def alloc(self, func: Func, origin: Sequence[Node], body: Stmt) -> Stmt:
        """The storage of a Func around the body."""
        buffers = tuple(self.storage[func, c] for c in range(len(func.dtypes)))
        given = dict(zip(buffers[0].origin, origin, strict=True))
        named = tuple((x, value) for x, value in given.items() if isinstance(x, Var))
        return Alloc(buffers, named, body)

    def _unrolled(self, scan: ScanLoop, covered: frozenset[Node]) -> Stmt:
        """The body once for each iteration that there can be."""
        copies = []
        for lane in lanes_of(scan):
            body = self.stmt(substituted(scan.body, lane.at, self.rename), covered)
            copies.append(guarded(lane.active, body))
        return Seq(tuple(copies))

    def _vector(self, scan: ScanLoop, covered: frozenset[Node]) -> Stmt:
        """The lanes together, inside of all other loops."""
        return Vector(self, covered, scan).result

    def rename(self, var: Var) -> Var:
        """A loop variable for a copy of a loop."""
        self.copies += 1
        return Var(f"{var.name}#{self.copies}")

    def ends_read(self, data: DataBounds) -> tuple[Node, Node]:
        """The bounds that a loop reads, in terms of the loops around it."""
        statement, point = data.stage.stage.statement, data.stage.point
        read = (data.lo, data.hi)
        absent = self.local - self.alive
        convert = Converter(self.sources, self.safe, statement, read, absent=absent)
        first, last = transform_all(tuple(map(convert, read)), lambda n: point.get(n, n))
        return first, last

    def instance(self, scan: ScanStage, covered: frozenset[Node]) -> Stmt:
        """The stores of one instance, at the point that the loops are at."""
        statement = scan.stage.statement
        d = statement.definition
        if d.opaque is not None:
            return self._extern(d, d.opaque, scan.point)
        tested = [
            test
            for r in d.rvars
            if r not in covered
            for test in (ix.compare("ge", r, r.lo), ix.compare("lt", r, r.hi))
            if test.operands[1] in statement.data_bounds
        ]
        guard = conjunction(ix.conjunction(tested), statement.guard)
        test = () if guard is None else (guard,)
        roots = decided(scan.stage, self.context, (*d.lhs, *d.values, *test))
        own = self._own(scan.stage)
        given = roots[: len(d.lhs)], own
        absent = self.local - self.alive
        convert = Converter(self.sources, self.safe, statement, roots, given, absent)
        counts = _zero_divisors(convert, roots) if self.checks else []
        traces = list(self._traces(d, convert, roots))
        made = replaced_all((*map(convert, roots), *map(convert, counts)), scan.point)
        index, values = made[: len(d.lhs)], made[len(d.lhs) : len(d.lhs) + len(d.values)]
        origin = _origin(d, scan.point)
        streams = not self.hints.streams.isdisjoint((scan.stage.name, statement.name))
        atomic = not self.atomic.isdisjoint((scan.stage.name, statement.name))
        stores = tuple(
            Store({**self.storage, **own}[d.func, c], index, v, None, origin, streams, atomic)
            for c, v in enumerate(values)
        )
        parts: list[Stmt] = [self._at(t, scan.point) for t in traces]
        parts += [Count(0, c) for c in made[len(roots) :]]
        if parts and scan.real is not None:
            parts = [If(scan.real, Seq(tuple(parts)))]
        parts.append(Stores(stores))
        body: Stmt = Seq(tuple(parts)) if len(parts) > 1 else parts[0]
        return If(made[len(roots) - 1], body) if test else body

    def _own(self, stage: Stage) -> Storage:
        """Where a stage accumulates, if not where its Func is stored."""
        for keep, own in reversed(self.keeps):
            if keep.holds(stage, stage.statement.write):
                return own
        return {}

    def _traces(self, d: Definition, convert: Converter, roots: Sequence[Node]) -> Iterator[Call]:
        """A call for each value that is printed, over the statement's dimensions."""
        for node in postorder(*roots):
            if isinstance(node, Trace):
                names = tuple(x.name for x in d.dims)
                value, dtype = convert(node.value), dtype_of(node.value)
                self.callbacks.append(PrintTrace(node.label, dtype, d.name, names))
                guard = convert.needed[node]
                condition = None if guard is None else convert(guard)
                yield Call(len(self.callbacks) - 1, (as_word(value), *d.dims), condition)

    def _at(self, call: Call, point: Mapping[Node, Node]) -> Call:
        """A call in terms of the loops."""
        roots = (*call.words, *(() if call.condition is None else (call.condition,)))
        made = transform_all(roots, lambda n: point.get(n, n))
        condition = None if call.condition is None else made[-1]
        return replace(call, words=made[: len(call.words)], condition=condition)

    def _extern(self, d: Definition, stage: Opaque, point: Mapping[Node, Node]) -> Call:
        """The call of an extern stage, which is told the bounds of what it reads and writes."""
        sources: list[Buffer] = []
        words: list[Node] = []
        for first, ends in stage.regions:
            for c in range(len(first.tensor.dtypes)):
                sources.append(self.storage[first.tensor, c])
                words += [as_word(x) for x in (*first.index, *ends)]
        targets = [self.storage[d.func, c] for c in range(len(d.func.dtypes))]
        words += map(as_word, d.func.extents or ())
        self.callbacks.append(RunExtern(stage.stage, tuple(sources), tuple(targets)))
        call = Call(len(self.callbacks) - 1, tuple(words), None, (*sources, *targets))
        return self._at(call, point)


def _origin(d: Definition, point: Mapping[Node, Node]) -> Origin | None:
    """Which instance of the algorithm a store belongs to; None for what a schedule has added."""
    return None if d.is_added else Origin(d.origin, tuple(point[x] for x in d.dims))


def _beginnings(scan: Scan, at: Mapping[Node, Node]) -> Iterator[tuple[Stage, Mapping[Node, Node]]]:
    """The stages of a scan, and where each is in the first iterations of the loops inside."""
    match scan:
        case ScanLoop(var=var, lo=lo, body=body):
            yield from _beginnings(body, {**at, var: replaced_all((lo,), at)[0]})
        case ScanIf(body=body) | ScanAlloc(body=body) | ScanKeep(body=body):
            yield from _beginnings(body, at)
        case ScanSeq(parts=parts):
            for part in parts:
                yield from _beginnings(part, at)
        case ScanStage(stage=stage, point=point):
            values = replaced_all(tuple(point.values()), at)
            yield stage, dict(zip(point, values, strict=True))


def _zero_divisors(convert: Converter, roots: tuple[Node, ...]) -> list[Node]:
    """For each integer division that may be by zero: that it happens and is."""
    found = []
    for node in postorder(*roots):
        match node:
            case Op(op="floordiv" | "mod", operands=(_, divisor)) if dtype_of(divisor).is_int:
                if not isinstance(divisor, Const) or not divisor.value:
                    zero = Op("eq", (divisor, Const(0, dtype_of(divisor))), bool_)
                    happens = conjunction(convert.needed[node], zero)
                    assert happens is not None
                    found.append(happens)
    return found
