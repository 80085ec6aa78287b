"""Instructions are written lane by lane: the same code works on vectors.

One function an element type holds all operators, each on some rows at a time.
"""

from __future__ import annotations

import ctypes
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from codegen.llvm import oracle
from codegen.llvm.test_instructions import assert_same, binary_cases, ternary_cases, unary_cases

from polysched.codegen.llvm import compile_module
from polysched.codegen.llvm.operators import casts, instructions
from polysched.codegen.llvm.text import hidden
from polysched.codegen.llvm.text.function_builder import FunctionBuilder
from polysched.codegen.llvm.text.values import Value, constant
from polysched.lang.nodes.dtypes import ALL, DType, float32, float64, int64
from polysched.targets.host import default_target

WIDTHS = (2, 4, 16)
"""Less than a register holds, about one, and more."""

UNARY = set(unary_cases())


class Case(NamedTuple):
    """An operator and the type of its result; `right` is a constant in place of the second, and
    `more` a third operand."""

    op: str
    to: DType
    right: int | None = None
    more: int | None = None

    def code(self, b: FunctionBuilder, x: Value, y: Value) -> Value:
        if self.more is not None:
            third = constant(self.more, x.dtype, x.lanes)
            return instructions.apply(b, self.op, (x, y, third), self.to)
        if self.right is not None:
            y = constant(self.right, x.dtype, x.lanes)
        one = self.op == "cast" or (self.op, x.dtype) in UNARY
        return instructions.apply(b, self.op, (x,) if one else (x, y), self.to)

    def wanted(self, a: oracle.Number, b: oracle.Number, dtype: DType) -> oracle.Number:
        if self.op == "cast":
            return oracle.cast(a, dtype, self.to)
        if self.more is not None:
            return oracle.ternary(self.op, a, b, self.more, dtype)
        if (self.op, dtype) in UNARY:
            return oracle.unary(self.op, a, dtype)
        return oracle.binary(self.op, a, b if self.right is None else self.right, dtype)


def cases(dtype: DType) -> list[Case]:
    """All that can be computed of values of a type."""
    named = [name for name, t in [*binary_cases(), *unary_cases()] if t == dtype]
    made = [Case(name, oracle.result(name, dtype)) for name in named]
    made += [Case("cast", to) for to in ALL]
    if not dtype.is_int:
        return made
    made += [Case(name, dtype, more=k) for name, t in ternary_cases() if t == dtype
             for k in (3, t.bits - 1, t.bits)]  # fmt: skip
    return [*made, Case("floordiv", dtype, 7), Case("mod", dtype, 7)]


@pytest.mark.parametrize("lanes", WIDTHS)
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_every_operator_in_lanes(dtype: DType, lanes: int) -> None:
    values = oracle.samples(dtype)[:: 3 if dtype.is_float else 1]
    rows = [(a, b) for a in values for b in values]
    rows += rows[:1] * (-len(rows) % lanes)
    assert len(rows) % lanes == 0
    b = FunctionBuilder(target=default_target())
    x, y = (b.load(p, dtype, lanes) for p in ("%x", "%y"))
    for number, case in enumerate(cases(dtype)):
        slot = b.element("%outs", constant(number, int64), int64)
        pointer = b.name()
        b.emit(f"{pointer} = load ptr, ptr {slot}")
        b.store(case.code(b, x, y), pointer)
    b.emit("ret void")
    text = b.definition('void @"polysched.f"(ptr %x, ptr %y, ptr %outs)', f"{lanes} lanes")
    text = "\n".join([text, *hidden.definitions([text], default_target())])
    code = compile_module(text, default_target())
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(code.address("f"))
    left, right = (np.array([row[at] for row in rows], dtype.numpy) for at in (0, 1))
    outs = [np.zeros(len(rows), case.to.numpy) for case in cases(dtype)]
    for at in range(0, len(rows), lanes):
        pointers = np.array([out[at:].ctypes.data for out in outs])
        call(left[at:].ctypes.data, right[at:].ctypes.data, pointers.ctypes.data)
    for out, case in zip(outs, cases(dtype), strict=True):
        wanted = [case.wanted(*row, dtype) for row in rows]
        assert_same(out.tolist(), wanted, [(case.op, *row) for row in rows])


def test_the_largest_float_of_an_integer_type_is_the_last_one_within_it() -> None:
    """Beyond it LLVM's conversion is poison: no lane may be given more."""
    for source, to in product((float32, float64), [t for t in ALL if t.is_int]):
        found = source.numpy.type(casts._largest(source, to))
        assert int(found) <= to.max < float(np.nextafter(found, source.numpy.type(np.inf)))


def test_constants_in_lanes() -> None:
    assert constant(-1, int64, 8).typed == "<8 x i64> splat (i64 -1)"
    assert constant(0.5, float64, 2).typed == "<2 x double> splat (double 0x3FE0000000000000)"
