"""Statements of the loop IR to instructions and blocks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from ....lang.nodes.dtypes import int64
from ....lang.nodes.nodes import Node, leaves_below
from ....records import replace
from ...ir import ir
from ...ir.cost import Costs, most_iterations
from ..text.function_builder import FunctionBuilder
from ..text.values import Value, constant
from ..vectors.expressions import Evaluator
from ..vectors.folds import Fold
from ..vectors.vector_stores import VectorStores
from ..vectors.vectors import Vectors
from .atomics import write_atomic
from .marks import emit_mark
from .polls import polling_loop, strip_of
from .quotients import quotients_in
from .stack_memory import begin_life

if TYPE_CHECKING:
    from .parallel import Outliner

#: The function that calls lead to, and what it is passed.
CALLBACK, WORDS = "%callback", "%words"


class Emitter:
    """Writes statements at the builder's current place.

    `counters` is their address, `call_back` the name of the function that calls back, `quotients`
    those of the statements that take long, `outliner` makes tasks of parallel loops; without one,
    this is such a task, and other threads run the same.
    """

    def __init__(
        self,
        builder: FunctionBuilder,
        evaluator: Evaluator,
        counters: str,
        call_back: str,
        costs: Costs,
        quotients: frozenset[Node],
        outliner: Outliner | None = None,
    ) -> None:
        self.builder = builder
        self.evaluator = evaluator
        self.counters = counters
        self.call_back = call_back
        self.outliner = outliner
        self.shared = outliner is None
        #: Which thread this is: the caller, or a parameter.
        self.thread = "%thread" if self.shared else "0"
        self.depth = 0
        self.costs = costs
        self.quotients = quotients
        self._stopped = ""

    def emit(self, stmt: ir.Stmt) -> None:
        if self.builder.places is None:
            self._emit(stmt)
            return
        with self.builder.places.of(stmt, self.builder.lines):
            self._emit(stmt)

    def _emit(self, stmt: ir.Stmt) -> None:
        match stmt:
            case ir.Seq(parts=parts):
                for part in parts:
                    self.emit(part)
            case ir.For():
                self._loop(stmt)
            case ir.Alloc():
                self._alloc(stmt)
            case ir.If(condition=condition, body=body, otherwise=otherwise):
                self._if(condition, body, otherwise)
            case ir.Stores():
                self._joint(stmt)
                self.evaluator.held.forget(s.buffer for s in stmt.stores)
            case ir.Count():
                self._count(stmt)
            case ir.Prefetch(buffer=buffer, index=index):
                self.evaluator.compute(*index)
                self.builder.prefetch(self.evaluator.address(buffer, index, is_there=False))
            case ir.Call():
                self._call(stmt)
                self.evaluator.held.forget_memory()
            case ir.Mark(buffer=buffer):
                emit_mark(self.builder, stmt, self.evaluator.pointer(buffer), self.thread)

    def _alloc(self, stmt: ir.Alloc) -> None:
        values = self.evaluator.compute(*(value for _, value in stmt.origin))
        for buffer in stmt.buffers:
            if buffer.kind == "stack":
                begin_life(self.builder, buffer, self.evaluator.pointer(buffer))
        with self.evaluator.scope():
            for (var, _), value in zip(stmt.origin, values, strict=True):
                self.evaluator.bind(var, value)
            self.emit(stmt.body)

    def _loop(self, loop: ir.For) -> None:
        """Tested before the first iteration and after each: the shape that LLVM works on."""
        if self.outliner is not None and self.outliner.takes(loop):
            self.outliner.emit(self, loop)
            return
        b = self.builder
        self._divide_before(loop)
        lo, hi = self.evaluator.compute(loop.lo, loop.hi)
        if most_iterations(loop) == 1:
            self._once(loop, lo, hi)
            return
        strip = strip_of(loop, self.costs, self.depth)
        if strip is not None:
            polling_loop(self, loop, lo, hi, strip)
            return
        before, body, after = b.block, b.label(loop.name), b.label("end")
        b.branch(b.compare("slt", lo, hi), body, after)
        self.iterations(loop, lo, hi, (before, body, after))

    def _divide_before(self, loop: ir.For) -> None:
        """Computes the quotients of a loop that are the same in all iterations."""
        knows = self.evaluator.knows
        unknown = {n for n in self.quotients if not knows(n) and all(map(knows, leaves_below(n)))}
        if unknown:
            self.evaluator.compute(*dict.fromkeys(quotients_in(loop, unknown)))

    def _once(self, loop: ir.For, lo: Value, hi: Value) -> None:
        """A loop that has an iteration or none, as what a vector loop leaves over, is a branch."""
        b = self.builder
        body, after = b.label(loop.name), b.label("end")
        b.branch(b.compare("slt", lo, hi), body, after)
        b.start(body)
        with self.evaluator.scope():
            self.evaluator.bind(loop.var, lo)
            self.inside(loop.body)
        b.jump(after)
        b.start(after)

    def iterations(self, loop: ir.For, lo: Value, hi: Value, blocks: tuple[str, str, str]) -> None:
        """Some iterations, at least one. `blocks`: where control comes from, the body, what comes
        afterwards, which is begun."""
        b, (before, body, after) = self.builder, blocks
        b.start(body)
        var, stepped = b.name(loop.var.name), b.name("next")
        # The last block of the body is not known yet: the line is completed below.
        phi = len(b.lines)
        b.emit("")
        with self.evaluator.scope():
            self.evaluator.bind(loop.var, Value(var, int64))
            self.inside(loop.body)
        b.lines[phi] = f"  {var} = phi i64 [ {lo.text}, %{before} ], [ {stepped}, %{b.block} ]"
        b.emit(f"{stepped} = add nsw i64 {var}, {loop.step}")
        b.branch(b.compare("slt", Value(stepped, int64), hi), body, after)
        b.start(after)

    def inside(self, body: ir.Stmt) -> None:
        """The body of a loop."""
        self.depth += 1
        self.emit(body)
        self.depth -= 1

    def stopped(self) -> str:
        """The block to go to in order to leave the function."""
        self._stopped = self._stopped or self.builder.label("stopped")
        return self._stopped

    def finish(self) -> None:
        """Returns from the function."""
        self.builder.emit("ret void")
        if self._stopped:
            self.builder.start(self._stopped)
            self.builder.emit("ret void")

    def _if(self, condition: Node, body: ir.Stmt, otherwise: ir.Stmt | None) -> None:
        b = self.builder
        (holds,) = self.evaluator.compute(condition)
        inside, after = b.label("then"), b.label("end")
        outside = after if otherwise is None else b.label("else")
        b.branch(holds, inside, outside)
        for label, part in ((inside, body), (outside, otherwise)):
            if part is not None:
                b.start(label)
                with self.evaluator.scope():
                    self.emit(part)
                b.jump(after)
        b.start(after)

    def _joint(self, stmt: ir.Stores) -> None:
        if stmt.lanes is not None:
            self._lanes(stmt, stmt.lanes)
        elif not self.shared or not write_atomic(self, stmt):
            self._stores(stmt.stores)

    def _lanes(self, stmt: ir.Stores, lanes: ir.Lanes) -> None:
        """The stores of all lanes; of what folds, those that lanes cannot do at once one after the
        other."""
        vectors = Vectors(self.evaluator, lanes)
        alone = lanes.count == 1 or (self.shared and any(s.atomic for s in stmt.stores))
        first = stmt.stores[0]
        strided = len(stmt.stores) == 1 and vectors.stride(first.buffer, first.index[0])
        if not alone and (not lanes.folds or strided):
            VectorStores(self.evaluator, stmt).emit()
        elif not (alone or lanes.in_order) and (fold := Fold(self.evaluator, stmt)).is_one:
            fold.emit()
        else:
            for lane in range(lanes.count):
                at = partial(vectors.at_lane, lane=lane)
                self.emit(ir.Stores(tuple(_moved(s, at) for s in stmt.stores)))

    def _stores(self, stores: tuple[ir.Store, ...]) -> None:
        values = iter(self.evaluator.compute(*ir.expressions(ir.Stores(stores))))
        ready: list[tuple[ir.Store, Value, Value | None]] = []
        for store in stores:
            for _ in store.index:
                next(values)
            ready.append((store, next(values), None if store.guard is None else next(values)))
        for guard, group in groupby(ready, key=lambda r: r[2]):
            self._guarded(guard, [(store, value) for store, value, _ in group])

    def _guarded(self, guard: Value | None, stores: list[tuple[ir.Store, Value]]) -> None:
        b = self.builder
        after = None
        if guard is not None:
            inside, after = b.label("store"), b.label("stored")
            b.branch(guard, inside, after)
            b.start(inside)
        with self.evaluator.scope():
            for store, value in stores:
                where = self.evaluator.address(store.buffer, store.index)
                if store.stream:
                    b.stream([(value, where)])
                else:
                    b.store(value, where)
        if after is not None:
            b.jump(after)
            b.start(after)

    def _count(self, count: ir.Count) -> None:
        b = self.builder
        (holds,) = self.evaluator.compute(count.condition)
        address = b.element(self.counters, constant(count.counter, int64), int64)
        if self.shared:
            counted, after = b.label("count"), b.label("counted")
            b.branch(holds, counted, after)
            b.start(counted)
            b.emit(f"{b.name()} = atomicrmw add ptr {address}, i64 1 monotonic")
            b.jump(after)
            b.start(after)
            return
        one = b.convert("zext", holds, int64)
        b.store(b.binary("add", b.load(address, int64), one), address)

    def _call(self, call: ir.Call) -> None:
        b = self.builder
        values = self.evaluator.compute(*ir.expressions(call))
        after = None
        if call.condition is not None:
            inside, after = b.label("call"), b.label("called")
            b.branch(values[-1], inside, after)
            b.start(inside)
        words = (constant(call.callback, int64), *values[: len(call.words)])
        for k, word in enumerate(words):
            b.store(word, b.element(WORDS, constant(k, int64), int64))
        b.emit(f"call void {self.call_back}(ptr {CALLBACK}, ptr {WORDS})")
        if after is not None:
            b.jump(after)
            b.start(after)


def _moved(s: ir.Store, at: Callable[[Node], Node]) -> ir.Store:
    """A store with other expressions."""
    guard = None if s.guard is None else at(s.guard)
    return replace(s, index=tuple(map(at, s.index)), value=at(s.value), guard=guard)
