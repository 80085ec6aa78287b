"""A kernel of the loop IR to LLVM text.

Every loop nest becomes an internal function of its own. It takes just the buffers and scalars it
uses, as parameters, so that `noalias` can be said of them, and is never inlined: one function at
a time keeps LLVM's work linear, and floating-point work stays between the two writes of the
control word.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...lang.nodes import Const, Node, postorder
from .. import ir
from . import control
from .builder import Builder
from .entry import Call, entry_text
from .expressions import Evaluator
from .names import quoted, symbol
from .statements import CALLBACK, WORDS, Emitter
from .target import Target
from .values import Value, memory_type_name

Constants = dict[ir.Buffer, str]
COUNTERS = "%counters"


def emit_module(module: ir.Module, target: Target) -> str:
    """The text of a module with one external function, the kernel's entry."""
    constants = _constants(module)
    nests = [_nest(module, number) for number in range(len(module.functions))]
    call_back = quoted(symbol(module.name, "callback"))
    machine = f'"target-cpu"="{target.cpu}" "target-features"="{target.features}"'
    # Else LLVM takes 256 bits for some CPUs, whatever was asked for.
    machine += ' "prefer-vector-width"="512" "min-legal-vector-width"="512"'
    inside = [s for f in module.functions for s in ir.walk(f.body)]
    prefetches = any(isinstance(s, ir.Prefetch) for s in inside)
    return "\n\n".join(
        [
            f'target triple = "{target.triple}"',
            *(_constant_text(name, buffer) for buffer, name in constants.items()),
            *(_function_text(nest, constants, call_back) for nest in nests),
            *([_call_back_text(call_back, target)] if module.callbacks else []),
            entry_text(module, [nest.call for nest in nests], target),
            *(["declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"] if prefetches else []),
            "!0 = !{i32 1}",
            f"attributes #0 = {{ nounwind {machine} }}",
            f"attributes #1 = {{ nounwind noinline {machine} }}\n",
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
    call: Call
    #: How many words its callbacks take at most.
    words: int
    #: Whether a callback may touch the buffers.
    is_shared: bool


def _nest(module: ir.Module, number: int) -> _Nest:
    """A loop nest with what it needs from outside, in the order of the module."""
    function = module.functions[number]
    buffers: set[ir.Buffer] = set()
    roots: list[Node] = []
    counters = False
    calls = [s for s in ir.walk(function.body) if isinstance(s, ir.Call)]
    for stmt in ir.walk(function.body):
        roots += ir.expressions(stmt)
        counters = counters or isinstance(stmt, ir.Count)
        if isinstance(stmt, ir.Stores):
            buffers.update(s.buffer for s in stmt.stores)
    nodes = set(postorder(*roots))
    buffers.update(n.buffer for n in nodes if isinstance(n, ir.Load))
    call = Call(
        quoted(symbol(module.name, number, function.name)),
        tuple(b for b in module.buffers if b in buffers and b.kind not in ("const", "stack")),
        tuple(s for s in module.scalars if s in nodes),
        counters,
        bool(calls),
    )
    words = max((len(c.words) for c in calls), default=0)
    return _Nest(function, call, words, any(c.buffers for c in calls))


def _call_back_text(name: str, target: Target) -> str:
    """Calls back. Whoever is called may leave another floating-point environment behind: loading
    a library that was built with fast-math does. In a function of its own, so that no arithmetic
    gets between the call and the reset."""
    b = Builder()
    b.emit(f"call void {CALLBACK}(ptr {WORDS})")
    control.set_environment(b, target.arch)
    b.emit("ret void")
    return b.definition(
        f"internal void {name}(ptr {CALLBACK}, ptr {WORDS}) #1", "calls back into Python"
    )


def _function_text(nest: _Nest, constants: Constants, call_back: str) -> str:
    b, call = Builder(), nest.call
    passed = {buffer: b.name(buffer.name) for buffer in call.buffers}
    pointers = {**constants, **passed, **_stack(b, nest.function)}
    scalars: dict[Node, Value] = {
        s: Value(b.name(s.name), ir.scalar_dtype(s)) for s in call.scalars
    }
    parameters = [_pointer(buffer, nest.is_shared) + pointers[buffer] for buffer in call.buffers]
    parameters += [value.typed for value in scalars.values()]
    if call.counters:
        parameters.append(f"ptr noalias align 8 {COUNTERS}")
    if call.callbacks:
        parameters.append(f"ptr {CALLBACK}")
        b.emit(f"{WORDS} = alloca [{nest.words + 1} x i64], align 8")
    Emitter(b, Evaluator(b, scalars, pointers), COUNTERS, call_back).emit(nest.function.body)
    b.emit("ret void")
    head = f"internal void {call.name}({', '.join(parameters)}) #1"
    return b.definition(head, nest.function.title)


def _stack(b: Builder, function: ir.Function) -> Constants:
    """Room on the stack for the buffers that live inside of a function."""
    found: Constants = {}
    for stmt in ir.walk(function.body):
        for buffer in stmt.buffers if isinstance(stmt, ir.Alloc) else ():
            if buffer.kind == "stack" and buffer not in found:
                count = math.prod(int(n.value) for n in buffer.pitches if isinstance(n, Const))
                found[buffer] = b.name(buffer.name)
                memory = memory_type_name(buffer.dtype)
                b.emit(f"{found[buffer]} = alloca [{max(count, 1)} x {memory}], align 64")
    return found


def _pointer(buffer: ir.Buffer, is_shared: bool) -> str:
    """What is promised of a buffer; that buffers do not overlap is checked by the call."""
    noalias = "" if is_shared else "noalias "
    readonly = "readonly " if buffer.kind == "input" else ""
    return f"ptr {noalias}{readonly}align {buffer.dtype.itemsize} "
