"""Outlining of parallel loops: their bodies become functions that threads call.

    for i in [lo, hi) (parallel): body

becomes, in the nest's function,

    context = everything that the body uses
    run(call, task, context, (hi - lo) / step, cost)      or, without threads,
    task(context, 0, 0, (hi - lo) / step)

and two functions more: `task(context, thread, first, last)`, which unpacks the context and finds
the thread's own copies of what is stored inside of the loop, and the loop over the iterations from
`first` to `last`, with all of that as parameters, of which `noalias` can be said once more.
"""

from __future__ import annotations

from dataclasses import field

from ....lang.nodes import index as ix
from ....lang.nodes.dtypes import int64
from ....lang.nodes.nodes import Node, Param, Size, Var, integer, postorder
from ....records import dataclass
from ...ir import ir
from ...ir.cost import Costs
from ...ir.mark_words import marks_in
from ...ir.parallel import free_variables, is_threaded, local, pitch_of
from ..operators.short_payloads import ShortPayloads
from ..text.equal_functions import EqualFunctions
from ..text.function_builder import FunctionBuilder
from ..text.layout import CALL, THREADS
from ..text.locations import Locations
from ..text.names import quoted
from ..text.values import Value, constant
from ..vectors.expressions import Evaluator
from ..vectors.full_vectors import sizes_of_parts
from ..vectors.partial_vectors import PartialVectors
from .polls import begin_polling, is_polled
from .stack_memory import stack_room
from .statements import Emitter

#: What tasks find all that they need in.
CONTEXT = "%context"
Constants = dict[ir.Buffer, str]
_FIRST, _LAST = Var("<first>"), Var("<last>")


@dataclass(slots=True)
class Outliner:
    """Writes the functions that bodies of loops become.

    `name` is the nest's symbol.
    """

    name: str
    constants: Constants
    costs: Costs
    partial: PartialVectors
    equal: EqualFunctions
    locations: Locations | None
    payloads: ShortPayloads
    quotients: frozenset[Node]
    texts: list[str] = field(default_factory=list)
    number: int = 0
    words: int = 0

    def takes(self, loop: ir.For) -> bool:
        return is_threaded(loop)

    def emit(self, emitter: Emitter, loop: ir.For) -> None:
        """The loop, at the emitter's place."""
        b, evaluator = emitter.builder, emitter.evaluator
        task = _Task(self, loop, self.number)
        self.number += 1
        extent = ix.add(ix.sub(loop.hi, loop.lo), integer(loop.step - 1))
        count_of = ix.floordiv(extent, loop.step)
        pitches = [pitch_of(x) for x in task.private]
        lo, count, cost, *found = evaluator.compute(
            loop.lo, count_of, self.costs.of_iteration(loop), *pitches
        )
        some, after = b.label(loop.name), b.label("end")
        b.branch(b.compare("sgt", count, constant(0, int64)), some, after)
        b.start(some)
        pointers = [evaluator.pointer(x) for x in task.buffers]
        values = [lo, *found, *(evaluator.value(x) for x in task.symbols)]
        fixed = [THREADS, *([emitter.counters] if task.counts else [])]
        given = [*(f"ptr {p}" for p in (*fixed, *pointers)), *(v.typed for v in values)]
        self.words = max(self.words, len(given))
        for k, text in enumerate(given):
            b.emit(f"store {text}, ptr {_word(b, CONTEXT, k)}, align 8")
        name, texts = task.written()
        self._dispatch(b, name, count, cost, after)
        b.start(after)
        self.texts += texts

    def _dispatch(
        self, b: FunctionBuilder, task: str, count: Value, cost: Value, after: str
    ) -> None:
        alone, shared = b.label("alone"), b.label("shared")
        run, nobody = b.name("run"), b.name()
        b.emit(f"{run} = load ptr, ptr {_word(b, THREADS, CALL['run'] // 8)}, align 8")
        b.emit(f"{nobody} = icmp eq ptr {run}, null")
        b.emit(f"br i1 {nobody}, label %{alone}, label %{shared}")
        b.start(shared)
        arguments = f"ptr {THREADS}, ptr {task}, ptr {CONTEXT}, {count.typed}, {cost.typed}"
        b.emit(f"call void {run}({arguments})")
        b.jump(after)
        b.start(alone)
        b.emit(f"call void {task}(ptr {CONTEXT}, i64 0, i64 0, {count.typed})")
        b.jump(after)


class _Task:
    """A body: what it needs from outside, in this order, and its two functions."""

    def __init__(self, outliner: Outliner, loop: ir.For, number: int) -> None:
        self.loop = loop
        self.constants, self.costs = outliner.constants, outliner.costs
        self.partial, self.locations = outliner.partial, outliner.locations
        self.payloads, self.quotients = outliner.payloads, outliner.quotients
        self.equal, self.base = outliner.equal, f"{outliner.name}.{loop.name}.{number}"
        self.own = local(loop)
        self.stack = [x for x in self.own if x.kind == "stack"]
        used = _used_buffers(loop)
        self.buffers = [x for x in used if x.kind != "const" and x not in self.stack]
        self.private = [x for x in self.buffers if x in self.own]
        stores = [s for x in ir.walk(loop) if isinstance(x, ir.Stores) for s in x.stores]
        inside = list(postorder(*(e for s in ir.walk(loop.body) for e in ir.expressions(s))))
        nodes = postorder(*inside, *sizes_of_parts(self.partial, inside, stores))
        scalars = dict.fromkeys(n for n in nodes if isinstance(n, (Size, Param)))
        self.symbols: list[Node] = [*free_variables(loop), *scalars]
        self.counts = any(isinstance(s, ir.Count) for s in ir.walk(loop.body))
        #: What several threads change at once.
        self.met = {s.buffer for s in stores if s.atomic}

    def written(self) -> tuple[str, list[str]]:
        """The name of the task, and the functions that are there for it alone."""
        body, text = self._body()
        task, unpacking = self._task(body)
        return task, [x for x in (text, unpacking) if x]

    def _task(self, body: str) -> tuple[str, str]:
        """Unpacks the context; each thread has its own copy of what is private."""
        b = FunctionBuilder(self.locations, self.loop)
        at = iter(range(1 << 20))

        def load(type: str) -> str:
            name = b.name()
            b.emit(f"{name} = load {type}, ptr {_word(b, '%context', next(at))}, align 8")
            return name

        fixed = [load("ptr") for _ in self._fixed]
        pointers = {x: load("ptr") for x in self.buffers}
        lo = Value(load("i64"), int64)
        thread = Value("%thread", int64)
        for x in self.private:
            offset = b.binary("mul", thread, Value(load("i64"), int64))
            pointers[x] = b.element(pointers[x], offset, None)
        scalars = [f"{t} {load(t)}" for t in (_symbol(x, "").type for x in self.symbols)]
        step = constant(self.loop.step, int64)
        bounds = [
            b.binary("add", lo, b.binary("mul", Value(k, int64), step)) for k in ("%first", "%last")
        ]
        arguments = ["i64 %thread", *(f"ptr {p}" for p in (*fixed, *pointers.values()))]
        arguments += [*scalars, *(x.typed for x in bounds)]
        b.emit(f"call void {body}({', '.join(arguments)})")
        b.emit("ret void")
        given = "ptr %context, i64 %thread, i64 %first, i64 %last"
        title = f"some iterations of {self.loop.name}, by a thread"
        name = quoted(f"{self.base}.task")
        return self.equal.written(b, lambda n: f"internal void {n}({given}) #0", name, title)

    @property
    def _fixed(self) -> list[str]:
        return [THREADS, *(["%counters"] if self.counts else [])]

    def _body(self) -> tuple[str, str]:
        b = FunctionBuilder(self.locations, self.loop, self.partial.target)
        passed = {x: b.name(x.name) for x in self.buffers}
        symbols = {x: _symbol(x, b.name(getattr(x, "name", ""))) for x in self.symbols}
        bounds: dict[Node, Value] = {x: Value(b.name(x.name), int64) for x in (_FIRST, _LAST)}
        parameters = ["i64 %thread", *(f"ptr {p}" for p in self._fixed)]
        parameters += [self._promises(x) + p for x, p in passed.items()]
        parameters += [v.typed for v in (*symbols.values(), *bounds.values())]
        pointers = {**self.constants, **passed, **stack_room(b, self.loop)}
        loop, step = self.loop, self.loop.step
        part = ir.For(loop.var, _FIRST, _LAST, step, "serial", loop.body, loop.name)
        if is_polled(part, self.costs):
            begin_polling(b)
        given = {**symbols, **bounds}
        evaluator = Evaluator(b, given, pointers, self.partial, self.payloads, self.own)
        emitter = Emitter(b, evaluator, "%counters", "", self.costs, self.quotients)
        parts: tuple[ir.Stmt, ...] = (*loop.begins, part, *loop.ends)
        for stmt in parts:
            emitter.emit(stmt)
        emitter.finish()
        passes, title = ", ".join(parameters), f"iterations of {self.loop.name}"
        name = quoted(self.base)
        return self.equal.written(b, lambda n: f"internal void {n}({passes}) #1", name, title)

    def _promises(self, buffer: ir.Buffer) -> str:
        """That buffers do not overlap holds on each thread by itself, but for single elements
        that several threads change."""
        return pointer(buffer, buffer in self.met)


def pointer(buffer: ir.Buffer, is_shared: bool) -> str:
    """What is promised of a buffer; that buffers do not overlap is checked by the call."""
    noalias = "" if is_shared else "noalias "
    readonly = "readonly " if buffer.kind == "input" else ""
    return f"ptr {noalias}{readonly}align {buffer.dtype.itemsize} "


def _used_buffers(loop: ir.For) -> list[ir.Buffer]:
    found: dict[ir.Buffer, None] = {}
    roots: list[Node] = []
    found.update(dict.fromkeys(mark.buffer for mark in marks_in(loop)))
    for stmt in ir.walk(loop.body):
        roots += ir.expressions(stmt)
        found.update(dict.fromkeys(mark.buffer for mark in marks_in(stmt)))
        if isinstance(stmt, ir.Stores):
            found.update(dict.fromkeys(s.buffer for s in stmt.stores))
        if isinstance(stmt, ir.Prefetch):
            found[stmt.buffer] = None
    loads = (n.buffer for n in postorder(*roots) if isinstance(n, ir.Load))
    return list(dict.fromkeys([*found, *loads]))


def _symbol(node: Node, name: str) -> Value:
    return Value(name, ir.scalar_dtype(node) if isinstance(node, (Size, Param)) else int64)


def _word(b: FunctionBuilder, base: str, number: int) -> str:
    return b.element(base, constant(number, int64), int64)
