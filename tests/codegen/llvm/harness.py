"""Kernels by hand, for tests of the code generator: loop IR in, NumPy arrays through.

n = size("n")
x, out = buffer("x", float32, n), buffer("out", float32, n, kind="output")
run(module([x, out], [n], loop(i, 0, n, store(out, i, load(x, i)))), x=a, out=b, n=len(a))
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from polysched.codegen.ir import ir
from polysched.codegen.llvm import CompiledCode, compile_module
from polysched.codegen.llvm.functions.functions import emit_module
from polysched.codegen.runtime.calls import Call
from polysched.lang.nodes.dtypes import DType, bool_, float32, int64
from polysched.lang.nodes.nodes import Const, Node, Op, Param, ParamInfo, Size, Var, integer
from polysched.targets.host import default_target
from polysched.targets.target import Target

Index = Node | int
ALONE = Call(1)
"""A call on one thread, that nobody stops."""

i, j, k = Var("i"), Var("j"), Var("k")


def size(name: str) -> Size:
    return Size(name, None)


def param(name: str, dtype: DType) -> Param:
    return Param(ParamInfo(name, dtype, None, None, None))


def node(x: Index) -> Node:
    return integer(x) if isinstance(x, int) else x


def const(value: bool | int | float, dtype: DType) -> Const:
    return Const(value, dtype)


def op(name: str, *operands: Node, dtype: DType = float32) -> Op:
    return Op(name, operands, dtype)


def add(a: Index, b: Index) -> Op:
    return op("add", node(a), node(b), dtype=int64)


def mul(a: Index, b: Index) -> Op:
    return op("mul", node(a), node(b), dtype=int64)


def lt(a: Index, b: Index) -> Op:
    return op("lt", node(a), node(b), dtype=bool_)


def buffer(
    name: str,
    dtype: DType,
    *extents: Index,
    kind: ir.BufferKind = "input",
    strided: bool = False,
    data: Any = None,
) -> ir.Buffer:
    shape = tuple(node(e) for e in extents)
    return ir.Buffer(name, dtype, shape, tuple(integer(0) for _ in shape), kind, strided, data)


def load(buffer: ir.Buffer, index: Index, guard: Node | None = None) -> ir.Load:
    return ir.Load(buffer, (node(index),), guard, buffer.dtype)


def store(buffer: ir.Buffer, index: Index, value: Node, guard: Node | None = None) -> ir.Stores:
    return ir.Stores((ir.Store(buffer, (node(index),), value, guard),))


def loop(var: Var, lo: Index, hi: Index, body: ir.Stmt, step: int = 1) -> ir.For:
    return ir.For(var, node(lo), node(hi), step, "serial", body, var.name)


def module(
    buffers: Sequence[ir.Buffer],
    scalars: Sequence[Size | Param],
    *bodies: ir.Stmt,
    counters: int = 0,
    name: str = "kernel",
) -> ir.Module:
    functions = tuple(ir.Function(f"f{i}", f"stage {i}", body) for i, body in enumerate(bodies))
    return ir.Module(name, tuple(buffers), tuple(scalars), functions, counters)


def compiled(kernel: ir.Module, target: Target | None = None) -> CompiledCode:
    target = target or default_target()
    return compile_module(emit_module(kernel, target), target)


def entry(code: CompiledCode, name: str = "kernel") -> Callable[[Any], None]:
    """The kernel as a function of its slots, an int64 array. Keeps the code alive."""
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address(name))

    def call(slots: Any, _code: CompiledCode = code) -> None:
        function(slots.ctypes.data)

    return call


def slots_of(kernel: ir.Module, values: dict[str, Any]) -> Any:
    """The slots array for arguments by name, which must outlive it; counters start at 0."""
    words = [values[b.name].ctypes.data for b in kernel.buffers if b.kind != "const"]
    for scalar in kernel.scalars:
        words.append(_word(values[scalar.name], ir.scalar_dtype(scalar)))
    return np.array([*words, *[0] * kernel.counters, ALONE.address], dtype=np.int64)


def _word(value: Any, dtype: DType) -> int:
    if dtype.is_float:
        bits = np.zeros(8 // dtype.itemsize, dtype.numpy)
        bits[0] = value
        bits[1:] = np.nan  # the rest of the slot is not read
        return int(bits.view(np.int64)[0])
    return int(np.array([value]).astype(np.int64)[0])


def run(kernel: ir.Module, target: Target | None = None, **values: Any) -> list[int]:
    """Compiles and calls a kernel once; the result is its counters."""
    return call(compiled(kernel, target), kernel, **values)


def call(code: CompiledCode, kernel: ir.Module, **values: Any) -> list[int]:
    """Calls a compiled kernel; the result is its counters."""
    slots = slots_of(kernel, values)
    entry(code, kernel.name)(slots)
    return [int(c) for c in slots[len(slots) - kernel.counters - 1 : -1]]
