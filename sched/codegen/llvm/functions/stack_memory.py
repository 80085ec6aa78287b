"""Buffers on the stack of the function that they live in."""

from __future__ import annotations

import math

from ....lang.nodes.nodes import Const
from ...ir import ir
from ..text.function_builder import FunctionBuilder
from ..text.values import memory_type_name


def stack_room(b: FunctionBuilder, body: ir.Stmt) -> dict[ir.Buffer, str]:
    """Room on the stack for the buffers that live inside of a function."""
    found: dict[ir.Buffer, str] = {}
    for stmt in ir.walk(body):
        for buffer in stmt.buffers if isinstance(stmt, ir.Alloc) else ():
            if buffer.kind == "stack" and buffer not in found:
                found[buffer] = b.name(buffer.name)
                memory = memory_type_name(buffer.dtype)
                b.emit(f"{found[buffer]} = alloca [{_count(buffer)} x {memory}], align 64")
    return found


def begin_life(b: FunctionBuilder, buffer: ir.Buffer, address: str) -> None:
    """Tells LLVM that what a buffer holds is garbage.

    LLVM puts the elements of a small buffer into registers. Those that are stored to under a
    condition would otherwise pass from each iteration of a loop around the buffer to the next one,
    and take registers from the loops inside.

    The byte is `undef`: where there are registers LLVM makes a zero of it, which nobody reads, and
    elsewhere nothing at all. `poison` would not do, as lanes that take no part may be loaded. The
    intrinsics for lifetimes say the same, but LLVM drops them when it makes registers of a buffer.
    """
    size = _count(buffer) * buffer.dtype.itemsize
    b.emit(f"call void @llvm.memset.p0.i64(ptr {address}, i8 undef, i64 {size}, i1 false)")


def _count(buffer: ir.Buffer) -> int:
    """How many elements there is room for."""
    count = math.prod(int(n.value) for n in buffer.pitches if isinstance(n, Const))
    return max(count, 1)
