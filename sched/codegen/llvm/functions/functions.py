"""A kernel of the loop IR to LLVM text.

Every loop nest becomes an internal function of its own. It takes just the buffers and scalars it
uses, as parameters, so that `noalias` can be said of them, and is never inlined: one function at
a time keeps LLVM's work linear, and floating-point work stays between the two writes of the
control word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....lang.nodes.nodes import Node, postorder
from ....records import dataclass, replace
from ....targets.target import Target
from ...ir import ir
from ...ir.cost import Costs
from ...ir.mark_words import marks_in
from ...ir.parallel import local, pitch_of, threaded
from ..operators.short_payloads import ShortPayloads
from ..text import control, hidden
from ..text.attributes import PLAIN, SHORT, machine_attributes, stack_alignment
from ..text.equal_functions import EqualFunctions
from ..text.function_builder import FunctionBuilder
from ..text.layout import THREADS
from ..text.locations import Locations
from ..text.names import quoted, symbol
from ..text.values import Value
from ..vectors.expressions import Evaluator
from ..vectors.full_vectors import sizes_of_parts
from ..vectors.partial_vectors import PartialVectors
from ..vectors.vector_loads import ZEROS, zeros_text
from .entry import Call, entry_text
from .marks import clock_text
from .parallel import CONTEXT, Constants, Outliner, pointer
from .polls import begin_polling, is_polled
from .quotients import quotients_of
from .stack_memory import stack_room
from .statements import CALLBACK, WORDS, Emitter

COUNTERS = "%counters"


def emit_module(
    module: ir.Module,
    target: Target,
    locations: Locations | None = None,
    *,
    once: bool = True,
) -> str:
    """The text of a module with one external function, the kernel's entry.

    Args:
        locations: of statements, where each instruction shall say which one it is of. It is the
            same code then, but for functions that are equal: each has its own place.
        once: whether functions that are equal stand once where there are no locations.
    """
    constants = _constants(module)
    partial = PartialVectors(target)
    nests = [_nest(module, number, partial) for number in range(len(module.functions))]
    call_back = quoted(symbol(module.name, "callback"))
    machine = machine_attributes(target)
    # Without this, LLVM prefers vectors of 256 bits for some CPUs that have wider ones.
    machine += ' "prefer-vector-width"="512" "min-legal-vector-width"="512"'
    inside = [s for f in module.functions for s in ir.walk(f.body)]
    prefetches = any(isinstance(s, ir.Prefetch) for s in inside)
    has_marks = any(mark.clock for s in inside for mark in marks_in(s))
    equal = EqualFunctions(once and locations is None)
    given = call_back, partial, equal, locations, ShortPayloads(module)
    written = [_function(nest, constants, *given) for nest in nests]
    functions = [text for _, texts in written for text in texts]
    return "\n\n".join(
        [
            f'target triple = "{target.triple}"',
            *(_constant_text(name, buffer) for buffer, name in constants.items()),
            *functions,
            *partial.texts,
            *hidden.definitions(functions, target),
            *([zeros_text()] if any(ZEROS in text for text in functions) else []),
            *([_call_back_text(call_back, target)] if module.callbacks else []),
            entry_text(module, [call for call, _ in written], target),
            *([clock_text(target)] if has_marks else []),
            *(["declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"] if prefetches else []),
            "!0 = !{i32 1}",
            *([] if locations is None else [locations.metadata()]),
            f"attributes #0 = {{ nounwind {PLAIN} {machine} }}",
            f"attributes #1 = {{ nounwind noinline {stack_alignment(target)}{machine} }}",
            f"attributes #3 = {{ nounwind {PLAIN} {SHORT} {machine} }}\n",
        ]
    )


def _constants(module: ir.Module) -> Constants:
    """The quoted name of each constant buffer."""
    constants = [b for b in module.buffers if b.kind == "const"]
    return {b: quoted(symbol(module.name, f"const{i}", b.name)) for i, b in enumerate(constants)}


def _constant_text(name: str, buffer: ir.Buffer) -> str:
    data: Any = buffer.data
    if not isinstance(data, bytes):
        data = np.ascontiguousarray(data, buffer.dtype.numpy).tobytes()
    text = "\\" + data.hex("\\") if data else ""
    return f'{name} = private unnamed_addr constant [{len(data)} x i8] c"{text}", align 64'


@dataclass(frozen=True, slots=True)
class _Nest:
    function: ir.Function
    symbol: str
    call: Call
    #: How many words its callbacks take at most.
    words: int
    #: Whether a callback may touch the buffers.
    is_shared: bool
    costs: Costs
    quotients: frozenset[Node]


def _nest(module: ir.Module, number: int, partial: PartialVectors) -> _Nest:
    """A loop nest with what it needs from outside, in the order of the module."""
    function = module.functions[number]
    buffers: set[ir.Buffer] = set()
    roots: list[Node] = []
    counters = False
    calls = [s for s in ir.walk(function.body) if isinstance(s, ir.Call)]
    stores: list[ir.Store] = []
    for stmt in ir.walk(function.body):
        roots += ir.expressions(stmt)
        counters = counters or isinstance(stmt, ir.Count)
        if isinstance(stmt, ir.Stores):
            stores += stmt.stores
        if isinstance(stmt, ir.Prefetch):
            buffers.add(stmt.buffer)
        buffers.update(mark.buffer for mark in marks_in(stmt))
    loops = list(threaded(function.body))
    roots += [pitch_of(b) for loop in loops for b in local(loop) if b.kind == "scratch"]
    nodes = set(postorder(*roots))
    nodes.update(postorder(*sizes_of_parts(partial, nodes, stores)))
    buffers.update(s.buffer for s in stores)
    buffers.update(n.buffer for n in nodes if isinstance(n, ir.Load))
    name, costs = symbol(module.name, number, function.name), Costs()
    call = Call(
        quoted(name),
        tuple(b for b in module.buffers if b in buffers and b.kind not in ("const", "stack")),
        tuple(s for s in module.scalars if s in nodes),
        counters,
        bool(calls),
        bool(loops) or is_polled(function.body, costs),
    )
    words = max((len(c.words) for c in calls), default=0)
    shared = any(c.buffers for c in calls)
    return _Nest(function, name, call, words, shared, costs, quotients_of(nodes))


def _call_back_text(name: str, target: Target) -> str:
    """Calls back. Whoever is called may leave another floating-point environment behind: loading
    a library that was built with fast-math does. In a function of its own, so that no arithmetic
    gets between the call and the reset."""
    b = FunctionBuilder()
    b.emit(f"call void {CALLBACK}(ptr {WORDS})")
    control.set_environment(b, target.arch)
    b.emit("ret void")
    return b.definition(
        f"internal void {name}(ptr {CALLBACK}, ptr {WORDS}) #1", "calls back into Python"
    )


def _function(
    nest: _Nest,
    constants: Constants,
    call_back: str,
    partial: PartialVectors,
    equal: EqualFunctions,
    locations: Locations | None,
    payloads: ShortPayloads,
) -> tuple[Call, list[str]]:
    """The call of a nest, and the functions that are there for it alone."""
    b, call = FunctionBuilder(locations, nest.function, partial.target), nest.call
    passed = {buffer: b.name(buffer.name) for buffer in call.buffers}
    pointers = {**constants, **passed, **stack_room(b, nest.function.body)}
    scalars: dict[Node, Value] = {
        s: Value(b.name(s.name), ir.scalar_dtype(s)) for s in call.scalars
    }
    parameters = [pointer(buffer, nest.is_shared) + pointers[buffer] for buffer in call.buffers]
    parameters += [value.typed for value in scalars.values()]
    if call.counters:
        parameters.append(f"ptr noalias align 8 {COUNTERS}")
    if call.callbacks:
        parameters.append(f"ptr {CALLBACK}")
        b.emit(f"{WORDS} = alloca [{nest.words + 1} x i64], align 8")
    costs, slow = nest.costs, nest.quotients
    outliner = Outliner(nest.symbol, constants, costs, partial, equal, locations, payloads, slow)
    if call.threads:
        parameters.append(f"ptr {THREADS}")
    context = len(b.lines)
    b.emit("")  # its size is known at the end
    if is_polled(nest.function.body, nest.costs):
        begin_polling(b)
    # Tasks that share any of them are over when what follows their loop runs.
    own = local(nest.function.body)
    evaluator = Evaluator(b, scalars, pointers, partial, payloads, own)
    emitter = Emitter(b, evaluator, COUNTERS, call_back, costs, slow, outliner)
    emitter.emit(nest.function.body)
    emitter.finish()
    if outliner.words:
        b.lines[context] = f"  {CONTEXT} = alloca [{outliner.words} x i64], align 64"
    given, title = ", ".join(parameters), nest.function.title
    name, text = equal.written(b, lambda n: f"internal void {n}({given}) #1", call.name, title)
    return replace(call, name=name), [*outliner.texts, *([text] if text else [])]
