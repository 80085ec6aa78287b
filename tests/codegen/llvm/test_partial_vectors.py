"""Vectors of narrow elements of which a part is loaded or stored."""

from __future__ import annotations

import re

import numpy as np
import pytest
from codegen.llvm.harness import add, buffer, load, lt, module, mul, node, op, run, size

import polysched as ps
from polysched.codegen.ir import ir
from polysched.codegen.llvm.functions.functions import emit_module
from polysched.lang.nodes.dtypes import DType, bool_, float32, int8, int16, uint8, uint16
from polysched.lang.nodes.nodes import Node, Var
from polysched.targets.host import default_target, target_of

LANE, n = Var("v"), size("n")
X86 = default_target().arch == "x86_64"
TARGET = target_of("x86-64-v3") if X86 else default_target()


def copied(dtype: DType, lanes: int, guard: Node, backwards: bool = False) -> ir.Module:
    """out[n - 1 - lane] or out[lane] = x[lane] in the lanes where a condition holds."""
    x, out = buffer("x", dtype, n), buffer("out", dtype, n, kind="output")
    last = add(add(n, -1), mul(LANE, -1))
    value, at = load(x, last if backwards else LANE, guard), last if backwards else LANE
    stores = ir.Stores((ir.Store(out, (at,), value, guard),), ir.Lanes(LANE, node(0), lanes))
    return module([x, out], [n], stores)


def product_of_bytes() -> ps.Kernel:
    """In tiles of registers: sums stand in them while parts of rows are loaded."""
    rows, columns, terms = ps.sizes("n m l")
    i, j, k = *ps.vars("i j"), ps.RVar("k", 0, terms)
    a, b = ps.Input("a", ps.uint8, (rows, terms)), ps.Input("b", ps.uint8, (terms, columns))
    f = ps.Func("f", (rows, columns), ps.int32)
    f[i, j] = 0
    f[i, j] += ps.cast(ps.int32, a[i, k]) * ps.cast(ps.int32, b[k, j])
    s = ps.Schedule(f).for_target(TARGET)
    u = s[f].update(0)
    u.tile("i", "j", 3, 16)
    u.reorder("jo", "io", "k", "ii", "ji").accumulate_at("io")
    u.vectorize("ji", 16).unroll("ii")
    return s.compile()


@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
@pytest.mark.parametrize(
    ("dtype", "lanes"), [(uint8, 32), (int8, 8), (uint16, 16), (bool_, 16), (uint8, 64), (int8, 12)]
)
def test_each_number_of_lanes(dtype: DType, lanes: int, first: bool, backwards: bool) -> None:
    condition = lt if first else (lambda a, b: op("ge", a, b, dtype=bool_))
    for end in (*range(-1, lanes + 2),):
        kernel = copied(dtype, lanes, condition(LANE, node(end)), backwards)
        given = (np.arange(lanes) % 2 + (0 if dtype.is_bool else 3)).astype(dtype.numpy)
        out = np.zeros(lanes, dtype.numpy)
        run(kernel, TARGET, x=given, out=out, n=lanes)
        holds = (np.arange(lanes) < end) == first
        holds = holds[::-1] if backwards else holds
        assert out.tolist() == np.where(holds, given, 0).astype(dtype.numpy).tolist(), end


def test_sums_stay_in_registers_where_parts_are_loaded() -> None:
    """What loads a part clears no half of a register, and nobody saves all of them around it."""
    kernel = product_of_bytes()
    a, b = (np.arange(n * m).reshape(n, m).astype("uint8") for n, m in ((7, 21), (21, 29)))
    wanted = a.astype(int) @ b.astype(int)
    assert np.array_equal(kernel(a, b), wanted)
    inside = kernel.asm.partition("\nload.bytes:")[2].partition("\npolysched.")[0]
    assert "vzeroupper" not in inside or not X86


def test_no_lane_is_taken_by_itself() -> None:
    text = emit_module(copied(uint8, 32, lt(LANE, n)), TARGET)
    assert not re.search(r"llvm\.masked", text)


@pytest.mark.skipif(not X86, reason="about instructions of x86")
@pytest.mark.parametrize(
    ("target", "dtype", "lanes"),
    [("x86-64-v3", float32, 8), ("x86-64-v4", uint8, 32), ("x86-64-v3", int16, 4)],
)
def test_what_machines_mask_is_masked(target: str, dtype: DType, lanes: int) -> None:
    text = emit_module(copied(dtype, lanes, lt(LANE, n)), target_of(target))
    assert "llvm.masked.load" in text
    assert "@load.part" not in text


def test_lanes_apart_are_masked() -> None:
    guard = op("eq", op("mod", LANE, node(2), dtype=LANE.type), node(0), dtype=bool_)
    text = emit_module(copied(uint8, 16, guard), TARGET)
    assert "llvm.masked.load" in text
