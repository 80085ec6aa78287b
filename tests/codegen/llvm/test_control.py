"""The floating-point environment: ours inside, the caller's back afterwards."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from codegen.llvm.harness import buffer, compiled, i, load, loop, module, op, size, slots_of, store

from polysched.codegen.llvm.functions.functions import emit_module
from polysched.codegen.llvm.machine import binding
from polysched.codegen.llvm.machine.jit import compile_module
from polysched.lang.nodes.dtypes import float32, float64
from polysched.targets.host import default_target
from polysched.targets.known import named

n = size("n")

needs_x86 = pytest.mark.skipif(default_target().arch != "x86_64", reason="writes MXCSR")

# Calls a kernel with the control word set to something else, and tells what it was afterwards.
CALLER = """
define i32 @"polysched.caller"(i32 %word, ptr %kernel, ptr %slots) nounwind {
  %saved = alloca i32
  %ours = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %saved)
  store i32 %word, ptr %ours
  call void @llvm.x86.sse.ldmxcsr(ptr %ours)
  call void %kernel(ptr %slots)
  call void @llvm.x86.sse.stmxcsr(ptr %ours)
  %after = load i32, ptr %ours
  call void @llvm.x86.sse.ldmxcsr(ptr %saved)
  ret i32 %after
}
"""
FLUSH, UP, DOWN, ZERO = 0x8040, 0x4000, 0x2000, 0x6000
DEFAULT = 0x1F80


@needs_x86
@pytest.mark.parametrize("bits", [0, FLUSH, UP, DOWN, ZERO, FLUSH | ZERO, 0x3F])
def test_results_do_not_depend_on_the_callers_control_word(bits: int) -> None:
    x, y = buffer("x", float64, n), buffer("y", float64, n)
    total, narrow = (buffer(s, t, n, kind="output") for s, t in (("t", float64), ("f", float32)))
    bodies = [
        loop(i, 0, n, store(total, i, op("add", load(x, i), load(y, i), dtype=float64))),
        loop(i, 0, n, store(narrow, i, op("cast", load(x, i), dtype=float32))),
    ]
    kernel = module([x, y, total, narrow], [n], *bodies)
    a = np.array([1.0, 5e-324, 2.5e-310, 0.1, 1e-40, -1.0])
    b = np.array([2.0**-60, 0.0, 1e-310, 0.2, 0.0, 2.0**-60])
    got, cast = np.zeros(6), np.zeros(6, np.float32)
    slots = slots_of(kernel, {"x": a, "y": b, "t": got, "f": cast, "n": 6})
    code, caller = compiled(kernel), compile_module(CALLER, default_target())
    pointers = (ctypes.c_void_p, ctypes.c_void_p)
    call = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32, *pointers)(caller.address("caller"))
    after = call(DEFAULT ^ bits, code.address("kernel"), slots.ctypes.data)
    assert got.tolist() == (a + b).tolist()
    assert cast.tolist() == a.astype(np.float32).tolist()
    assert after == DEFAULT ^ bits


def test_aarch64_sets_its_own_control_register() -> None:
    """As text: this machine may be another."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = named("neoverse-n1")
    x, out = buffer("x", float32, n), buffer("out", float32, n, kind="output")
    body = store(out, i, op("fma", load(x, i), load(x, i), load(x, i)))
    text = emit_module(module([x, out], [n], loop(i, 0, n, body)), target)
    assembly = binding.assembly(text, target)
    assert assembly.count("msr\tFPCR") == 2
    assert "fmadd" in assembly
