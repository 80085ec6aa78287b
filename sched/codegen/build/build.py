"""From the loop nests of a schedule to the loop IR: stores of expressions that load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import (
    Node,
    Var,
    has_below,
    postorder,
    replaced_all,
    transform_all,
)
from ...lang.nodes.tensor import Tensor
from ...lang.program.scalars import scalars
from ...lang.tensors.definitions import Definition
from ...lang.tensors.opaque import Opaque
from ...lang.tensors.tensors import Func
from ...lang.tensors.trace import Trace
from ...poly.nests import loop_program as lp
from ...records import replace
from ..ir.ir import (
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
    Seq,
    Stmt,
    Store,
    Stores,
    dtype_of,
)
from .callbacks import PrintTrace, RunExtern, as_word
from .divisions import refuse_uncounted
from .generals import NOWHERE, Generals
from .lanes import Vector, guarded, lanes_of, substituted
from .loads import Converter
from .prefetches import prefetches
from .storage import AccumulatorStorage, Storage, accumulator_storage, place, strides


def build(
    program: lp.LoopProgram, *, strided: bool = False, checks: bool = False, points: bool = True
) -> Module:
    """The kernel that runs the nests one after the other, each a function.

    Args:
        strided: whether arguments may have any strides (given as scalars), or are contiguous.
        checks: whether to count integer divisions by zero and negative powers, in counter 0.
        points: whether stores say at which point they are, beside of which definition. That is for
            `check`, and as much for passes to rewrite as what is stored.
    """
    if checks:
        refuse_uncounted(program)
    storage, accumulators = place(program, strided), accumulator_storage(program)
    builder = ModuleBuilder(program, storage, accumulators, checks, points)
    bodies = [
        (f"copy of {a.name}", _copy(storage[a, 0], storage[a.initial, 0])) for a in program.copied
    ]
    bodies += [(", ".join(_titles(nest)), builder.stmt(nest)) for nest in program.nests]
    functions = tuple(Function(f"nest{k}", title, body) for k, (title, body) in enumerate(bodies))
    buffers = tuple(dict.fromkeys([*storage.values(), *accumulators.values()]))
    symbols = (*scalars(program.program), *strides(buffers))
    callbacks = tuple(builder.callbacks)
    constants = program.constants
    known: dict[Node, Node] = {s: constants[s.name] for s in symbols if s.name in constants}
    name = program.program.outputs[0].name
    return Module(name, buffers, symbols, functions, int(checks), callbacks, known)


def _copy(source: Buffer, target: Buffer) -> Stmt:
    """target = source"""
    index = tuple(Var(f"c{k}") for k in range(source.ndim))
    body: Stmt = Stores((Store(target, index, Load(source, index, None, source.dtype)),))
    for var, extent in reversed(list(zip(index, source.extents, strict=True))):
        body = For(var, ix.ZERO, extent, 1, "serial", body, var.name)
    return body


def _titles(nest: lp.Nest) -> list[str]:
    return [x.instance.statement for x in lp.walk(nest) if isinstance(x, lp.Run)]


class ModuleBuilder:
    """Builds the statements of the loop IR from loop nests.

    Attributes:
        storage: where tensors are written.
        sources: where they are read, which differs in copies.
        accumulators: the storage of private accumulators.
        privates: the private accumulators around this place, from the outside in, with their users.
        local: the buffers that live inside of loops.
        alive: those of them that live inside of the loops around this place.
    """

    def __init__(
        self,
        program: lp.LoopProgram,
        storage: Storage,
        accumulators: AccumulatorStorage,
        checks: bool,
        points: bool,
    ) -> None:
        self.storage = self.sources = storage
        self.accumulators = accumulators
        self.inside_of: tuple[tuple[lp.Accumulator, Storage], ...] = ()
        self.hints, self.atomic = program.hints, program.atomic
        self.reassociated = program.reassociated
        self.names: Mapping[Tensor, str] = program.program.names
        inside = program.local
        self.local = frozenset(b for (f, _), b in storage.items() if f in inside)
        self.alive: frozenset[Buffer] = frozenset()
        self.points = points
        self._lane_variables: dict[tuple[Var, Node], Var] = {}
        self.callbacks: list[Callback] = []
        self.copies = 0
        self._generals = Generals(checks)

    def stmt(self, nest: lp.Nest, covered: frozenset[Node] = frozenset()) -> Stmt:
        """`covered` are the RVars whose loops run within the bounds that they read from data."""
        match nest:
            case lp.Loop(kind="unrolled"):
                return self._unrolled(nest, covered)
            case lp.Loop(kind="vector"):
                return self._vector(nest, covered)
            case lp.Loop(var=var, lo=lo, hi=hi, step=step, body=body, data=data):
                if data is not None:
                    first, last = self.bounds_read(data)
                    lo, hi = ix.maximum((lo, first)), ix.minimum((hi, last))
                    covered = data.covering(covered)
                kind: LoopKind = "parallel" if nest.kind == "parallel" else "serial"
                inside = self.stmt(body, covered)
                ahead = tuple(prefetches(self, nest))
                inside = Seq((*ahead, inside)) if ahead else inside
                return For(var, lo, hi, step, kind, inside, nest.name)
            case lp.If(condition=condition, body=body):
                return If(condition, self.stmt(body, covered))
            case lp.Seq(parts=parts):
                return Seq(tuple(self.stmt(p, covered) for p in parts))
            case lp.Alloc(func=func, origin=origin, body=body):
                outside = self.alive
                self.alive |= {self.storage[func, c] for c in range(len(func.dtypes))}
                inside = self.stmt(body, covered)
                self.alive = outside
                return self.alloc(func, origin, inside)
            case lp.Accumulator():
                return self._accumulator(nest, covered)
            case lp.Run():
                return self.instance(nest, covered)

    def _accumulator(self, nest: lp.Accumulator, covered: frozenset[Node]) -> Stmt:
        """The body on a private accumulator, between copy-in and copy-out."""
        keys: list[tuple[Tensor, int]] = [(nest.func, c) for c in range(len(nest.func.dtypes))]
        outer, around = self.storage, self.inside_of
        own: Storage = {key: self.accumulators[nest.stage, key[1]] for key in keys}
        inner: Storage = {**outer, **own}
        parts = []
        for part, source, target in (
            (nest.copy_in, outer, inner), (nest.body, outer, outer), (nest.copy_out, inner, outer),
        ):  # fmt: skip
            self.sources, self.storage = source, target
            self.inside_of = (*around, (nest, own)) if part is nest.body else ()
            parts.append(self.stmt(part, covered))
        self.sources, self.storage, self.inside_of = outer, outer, around
        buffers = tuple(own.values())
        given = zip(buffers[0].origin, nest.origin, strict=True)
        named = tuple((x, value) for x, value in given if isinstance(x, Var))
        return Alloc(buffers, named, Seq(tuple(parts)))

    def alloc(self, func: Func, origin: Sequence[Node], body: Stmt) -> Stmt:
        """The storage of a Func around the body."""
        buffers = tuple(self.storage[func, c] for c in range(len(func.dtypes)))
        given = dict(zip(buffers[0].origin, origin, strict=True))
        named = tuple((x, value) for x, value in given.items() if isinstance(x, Var))
        return Alloc(buffers, named, body)

    def _unrolled(self, loop: lp.Loop, covered: frozenset[Node]) -> Stmt:
        """The body once for each iteration that there can be."""
        copies = []
        for lane in lanes_of(loop):
            body = self.stmt(substituted(loop.body, lane.at, self.rename), covered)
            copies.append(guarded(lane.active, body))
        return Seq(tuple(copies))

    def _vector(self, loop: lp.Loop, covered: frozenset[Node]) -> Stmt:
        """The lanes together, inside of all other loops."""
        return Vector(self, covered, loop).result

    def rename(self, var: Var) -> Var:
        """A loop variable for a copy of a loop."""
        self.copies += 1
        return Var(f"{var.name}#{self.copies}")

    def lane_variable(self, var: Var, lo: Node) -> Var:
        """The variable of the lanes of a statement. Copies of a vector loop whose lanes are the
        same numbers share it, so that what is equal in them is one expression."""
        taken = any(known is var for known, _ in self._lane_variables)
        return self._lane_variables.setdefault((var, lo), self.rename(var) if taken else var)

    def bounds_read(self, data: lp.DataRange) -> tuple[Node, Node]:
        """The bounds that a loop reads, in terms of the loops around it."""
        instance, point = data.run.instance, data.run.point
        read = (data.lo, data.hi)
        absent = self.local - self.alive
        convert = Converter(self.sources, instance.safe, read, absent=absent)
        first, last = transform_all(tuple(map(convert, read)), lambda n: point.get(n, n))
        return first, last

    def instance(self, run: lp.Run, covered: frozenset[Node]) -> Stmt:
        """The stores of one instance, at the point that the loops are at."""
        instance, d = run.instance, run.instance.definition
        if d.opaque is not None:
            return self._extern(d, d.opaque, run.point)
        own = self._own(instance)
        absent = self.local - self.alive
        general = self._generals.of(instance, covered, self.sources, own, absent)
        roots = general.roots
        traces = list(self._traces(d, general.convert, roots))
        made = replaced_all(general.nodes, run.point)
        index, values = made[: len(d.lhs)], made[len(d.lhs) : len(d.lhs) + len(d.values)]
        origin = _origin(d, run.point if self.points else None)
        streams = not self.hints.streams.isdisjoint(instance.names)
        atomic = not self.atomic.isdisjoint(instance.names)
        stores = tuple(
            Store({**self.storage, **own}[d.func, c], index, v, None, origin, streams, atomic)
            for c, v in enumerate(values)
        )
        parts: list[Stmt] = [self._at(t, run.point) for t in traces]
        parts += [Count(0, c) for c in made[len(roots) :]]
        if parts and run.real is not None:
            parts = [If(run.real, Seq(tuple(parts)))]
        parts.append(Stores(stores))
        body: Stmt = Seq(tuple(parts)) if len(parts) > 1 else parts[0]
        return If(made[len(roots) - 1], body) if general.is_tested else body

    def _own(self, instance: lp.Instance) -> Storage:
        """Where an instance accumulates, if not where its Func is stored."""
        for private, own in reversed(self.inside_of):
            if instance in private.users:
                return own
        return NOWHERE

    def _traces(self, d: Definition, convert: Converter, roots: Sequence[Node]) -> Iterator[Call]:
        """A call for each value that is printed, over the statement's dimensions."""
        for node in postorder(*roots) if has_below(Trace, *roots) else ():
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
        for first, highs in stage.regions:
            for c in range(len(first.tensor.dtypes)):
                sources.append(self.storage[first.tensor, c])
                words += [as_word(x) for x in (*first.index, *highs)]
        targets = [self.storage[d.func, c] for c in range(len(d.func.dtypes))]
        words += map(as_word, d.func.extents or ())
        self.callbacks.append(RunExtern(stage.stage, tuple(sources), tuple(targets)))
        call = Call(len(self.callbacks) - 1, tuple(words), None, (*sources, *targets))
        return self._at(call, point)


def _origin(d: Definition, point: Mapping[Node, Node] | None) -> Origin | None:
    """Which instance of the algorithm a store belongs to; None for what a schedule has added."""
    at = () if point is None or d.is_added else tuple(point[x] for x in d.dims)
    return None if d.is_added else Origin(d.origin, at)
