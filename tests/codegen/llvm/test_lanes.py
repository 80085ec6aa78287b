"""Instructions are written lane by lane: the same code works on vectors.

No kernel has vectors yet; this keeps the door open. One function an element type holds all
operators, each on four rows at a time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
import pytest
from codegen.llvm import oracle
from codegen.llvm.test_instructions import assert_same, binary_cases, unary_cases

from polysched.codegen.llvm import compile_module, host, instructions
from polysched.codegen.llvm.builder import Builder
from polysched.codegen.llvm.values import Value, constant
from polysched.lang.dtypes import ALL, DType, bool_, float64, int64

LANES = 4

Case = tuple[str, Callable[[Builder, Value, Value], Value], DType]


def cases(dtype: DType) -> list[Case]:
    """What to compute of two operands: its name, its code, its type."""
    made: list[Case] = []
    for name, t in binary_cases():
        if t == dtype:
            result = bool_ if name in instructions.COMPARISONS else dtype
            made.append(
                (name, lambda b, x, y, o=name: instructions.apply(b, o, (x, y), dtype), result)
            )
    for name, t in unary_cases():
        if t == dtype:
            made.append(
                (name, lambda b, x, y, o=name: instructions.apply(b, o, (x,), dtype), dtype)
            )
    for to in ALL:
        made.append(("cast", lambda b, x, y, t=to: instructions.apply(b, "cast", (x,), t), to))
    if dtype.is_int:
        seven = constant(7, dtype, LANES)
        made.append(
            ("by7", lambda b, x, y: instructions.apply(b, "floordiv", (x, seven), dtype), dtype)
        )
    return made


def wanted(name: str, a: oracle.Number, b: oracle.Number, dtype: DType, to: DType) -> oracle.Number:
    if name == "cast":
        return oracle.cast(a, dtype, to)
    if name == "by7":
        return oracle.binary("floordiv", a, 7, dtype)
    unary = (name, dtype) in unary_cases()
    return oracle.unary(name, a, dtype) if unary else oracle.binary(name, a, b, dtype)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_every_operator_in_four_lanes(dtype: DType) -> None:
    values = oracle.samples(dtype)[:: 1 if dtype.is_int else 3]
    rows = [(a, b) for a in values for b in values]
    rows += rows[: -len(rows) % LANES]
    b = Builder()
    x, y = (b.load(p, dtype, LANES) for p in ("%x", "%y"))
    for number, (_, code, _) in enumerate(cases(dtype)):
        slot = b.element("%outs", constant(number, int64), int64)
        pointer = b.name()
        b.emit(f"{pointer} = load ptr, ptr {slot}")
        b.store(code(b, x, y), pointer)
    b.emit("ret void")
    text = b.definition('void @"polysched.f"(ptr %x, ptr %y, ptr %outs)', "four lanes")
    code = compile_module(text, host())
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(code.address("f"))
    left, right = (np.array([row[at] for row in rows], dtype.numpy) for at in (0, 1))
    outs = [np.zeros(len(rows), to.numpy) for _, _, to in cases(dtype)]
    for at in range(0, len(rows), LANES):
        pointers = np.array([out[at:].ctypes.data for out in outs])
        call(left[at:].ctypes.data, right[at:].ctypes.data, pointers.ctypes.data)
    for out, (name, _, to) in zip(outs, cases(dtype), strict=True):
        assert_same(out.tolist(), [wanted(name, p, q, dtype, to) for p, q in rows], rows)


def test_constants_in_lanes() -> None:
    assert constant(-1, int64, 8).typed == "<8 x i64> splat (i64 -1)"
    assert constant(0.5, float64, 2).typed == "<2 x double> splat (double 0x3FE0000000000000)"
