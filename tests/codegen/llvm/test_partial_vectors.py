"""Vectors of narrow elements of which a part is loaded or stored."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from codegen.llvm.harness import (
    add,
    buffer,
    call,
    compiled,
    i,
    j,
    load,
    loop,
    lt,
    module,
    mul,
    node,
    op,
    run,
    size,
    store,
)

import polysched as ps
from polysched.codegen.ir import ir
from polysched.codegen.llvm.functions.functions import emit_module
from polysched.lang.nodes.dtypes import DType, bool_, float16, float32, int8, int16, uint8, uint16
from polysched.lang.nodes.nodes import Const, Node, Var
from polysched.records import replace
from polysched.targets.host import default_target, target_of

LANE, n, m, END = Var("v"), size("n"), size("m"), size("end")
X86 = default_target().arch == "x86_64"
TARGET = target_of("x86-64-v3") if X86 else default_target()


def copied(dtype: DType, lanes: int, guard: Node, backwards: bool = False) -> ir.Module:
    """out[n - 1 - lane] or out[lane] = x[lane] in the lanes where a condition holds; arrays have m
    elements."""
    x, out = buffer("x", dtype, m), buffer("out", dtype, m, kind="output")
    last = add(add(n, -1), mul(LANE, -1))
    value, at = load(x, last if backwards else LANE, guard), last if backwards else LANE
    stores = ir.Stores((ir.Store(out, (at,), value, guard),), ir.Lanes(LANE, node(0), lanes))
    return module([x, out], [n, m], stores)


def kept(dtype: DType, lanes: int, guard: Node, step: int = 1) -> ir.Module:
    """The lanes of x in which a condition holds are stored to storage of the kernel, in which the
    others are zeros; out is what it holds then, and what lies behind it."""
    x, out = buffer("x", dtype, n), buffer("out", dtype, n, kind="output")
    own = buffer("own", dtype, m, kind="scratch")
    zero, v = Const(dtype.numpy.type(0).item(), dtype), ir.Lanes(LANE, node(0), lanes)
    at = LANE if step == 1 else add(lanes - 1, mul(LANE, -1))
    body = ir.Seq((
        loop(i, 0, n, store(own, i, zero)),
        ir.Stores((ir.Store(own, (at,), load(x, LANE), guard),), v),
        loop(j, 0, n, store(out, j, load(own, j))),
    ))  # fmt: skip
    return module([x, out, own], [n, m], ir.Alloc((own,), (), body))


def shared(dtype: DType, lanes: int, is_inside: bool) -> ir.Module:
    """Parts of vectors are stored to storage inside or outside of a parallel loop."""
    x, own = buffer("x", dtype, n), buffer("own", dtype, n, kind="scratch")
    guard = lt(LANE, n)
    stores = ir.Stores((ir.Store(own, (LANE,), load(x, LANE), guard),), ir.Lanes(LANE, i, lanes))
    body: ir.Stmt = ir.Alloc((own,), (), stores) if is_inside else stores
    whole: ir.Stmt = replace(loop(i, 0, n, body), kind="parallel")
    return module([x, own], [n], whole if is_inside else ir.Alloc((own,), (), whole))


def product_of_bytes() -> ps.Kernel:
    """In tiles of registers: sums stand in them while parts of rows are loaded."""
    rows, columns, terms = ps.sizes("n m l")
    y, x, k = *ps.vars("i j"), ps.RVar("k", 0, terms)
    a, b = ps.Input("a", ps.uint8, (rows, terms)), ps.Input("b", ps.uint8, (terms, columns))
    f = ps.Func("f", (rows, columns), ps.int32)
    f[y, x] = 0
    f[y, x] += ps.cast(ps.int32, a[y, k]) * ps.cast(ps.int32, b[k, x])
    s = ps.Schedule(f).for_target(TARGET)
    u = s[f].update(0)
    u.tile("i", "j", 3, 16)
    u.reorder("jo", "io", "k", "ii", "ji").accumulate_at("io")
    u.vectorize("ji", 16).unroll("ii")
    return s.compile()


KINDS = [(uint8, 32), (int8, 8), (uint16, 16), (bool_, 16), (uint8, 64), (int8, 12), (float16, 8)]


def numbers(dtype: DType, lanes: int) -> Any:
    """Elements that are told apart, but for bools."""
    return (np.arange(lanes) % 2 if dtype.is_bool else np.arange(3, lanes + 3)).astype(dtype.numpy)


def below(lane: Node, end: Node) -> Node:
    return lt(lane, end)


def from_on(lane: Node, end: Node) -> Node:
    return op("ge", lane, end, dtype=bool_)


@pytest.mark.parametrize("there", [True, False], ids=["full", "parts"])
@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
@pytest.mark.parametrize(("dtype", "lanes"), KINDS)
def test_each_number_of_lanes(
    dtype: DType, lanes: int, first: bool, backwards: bool, there: bool
) -> None:
    """Also where it is not known that a full vector lies in memory."""
    condition = below if first else from_on
    kernel = copied(dtype, lanes, condition(LANE, END), backwards)
    kernel = replace(kernel, scalars=(n, m, END))
    code, given = compiled(kernel, TARGET), numbers(dtype, lanes)
    for end in range(-1, lanes + 2):
        out = np.zeros(lanes, dtype.numpy)
        extent = lanes if there else lanes - 1
        call(code, kernel, x=given, out=out, n=lanes, m=extent, end=end)
        holds = (np.arange(lanes) < end) == first
        holds = holds[::-1] if backwards else holds
        assert out.tolist() == np.where(holds, given, 0).astype(dtype.numpy).tolist(), end


@pytest.mark.parametrize("condition", [below, from_on], ids=["first", "last"])
@pytest.mark.parametrize(("dtype", "lanes"), KINDS)
def test_lanes_that_are_not_loaded_are_zero(
    dtype: DType, lanes: int, condition: Callable[[Node, Node], Node]
) -> None:
    x, out = buffer("x", dtype, m), buffer("out", dtype, n, kind="output")
    value = load(x, LANE, condition(LANE, END))
    stores = ir.Stores((ir.Store(out, (LANE,), value),), ir.Lanes(LANE, node(0), lanes))
    kernel = module([x, out], [n, m, END], stores)
    code, given = compiled(kernel, TARGET), numbers(dtype, lanes)
    for end, extent in product((-1, 0, 1, lanes - 1, lanes, lanes + 1), (0, lanes)):
        found = np.ones(lanes, dtype.numpy)
        call(code, kernel, x=given, out=found, n=lanes, m=extent, end=end)
        holds = (np.arange(lanes) < end) == (condition is below)
        assert found.tolist() == np.where(holds, given, 0).astype(dtype.numpy).tolist()


@pytest.mark.parametrize("step", [1, -1], ids=["forwards", "backwards"])
@pytest.mark.parametrize("condition", [below, from_on], ids=["first", "last"])
@pytest.mark.parametrize(("dtype", "lanes"), KINDS)
def test_other_lanes_keep_what_they_hold(
    dtype: DType, lanes: int, condition: Callable[[Node, Node], Node], step: int
) -> None:
    kernel = kept(dtype, lanes, condition(LANE, END), step)
    kernel = replace(kernel, scalars=(n, m, END))
    code, x = compiled(kernel, TARGET), numbers(dtype, lanes)
    for end, extent in product((-1, 0, 1, lanes // 2, lanes - 1, lanes, lanes + 1), (0, lanes)):
        own, out = np.ones(lanes + 1, dtype.numpy), np.ones(lanes, dtype.numpy)
        call(code, kernel, x=x, out=out, own=own, n=lanes, m=extent, end=end)
        holds = (np.arange(lanes) < end) == (condition is below)
        wanted = np.where(holds, x, 0).astype(dtype.numpy)[::step]
        assert out.tolist() == wanted.tolist(), (end, extent)
        assert own[lanes] == 1


def test_conditions_of_all_lanes_choose_none_or_some() -> None:
    guard = op("and", lt(LANE, n), lt(m, 99), dtype=bool_)
    kernel = copied(uint8, 32, guard)
    text = emit_module(kernel, TARGET)
    assert "llvm.masked" not in text
    for extent, count in ((98, 7), (99, 0)):
        x, out = numbers(uint8, extent), np.zeros(extent, np.uint8)
        run(kernel, TARGET, x=x, out=out, n=7, m=extent)
        assert out.tolist() == [*x[:count].tolist(), *[0] * (extent - count)]


def stores_full_vectors(kernel: ir.Module) -> bool:
    """Whether a function of the kernel stores 32 bytes, but for those that store some of them."""
    parts = emit_module(kernel, TARGET).split("\n\n")
    return any("store <32 x i8>" in f for f in parts if "@store.part.v32i8(" not in f.split("{")[0])


def test_nobody_stores_what_others_may_have_stored_meanwhile() -> None:
    """Neither to arrays of users nor to storage that threads share."""
    guard = lt(LANE, n)
    assert not stores_full_vectors(copied(uint8, 32, guard))
    assert not stores_full_vectors(shared(uint8, 32, is_inside=False))
    assert stores_full_vectors(kept(uint8, 32, guard))
    assert stores_full_vectors(shared(uint8, 32, is_inside=True))


def test_sums_stay_in_registers_where_parts_are_loaded() -> None:
    """What loads a part clears no half of a register, and nobody saves all of them around it."""
    kernel = product_of_bytes()
    a, b = (np.arange(n * m).reshape(n, m).astype("uint8") for n, m in ((7, 21), (21, 29)))
    wanted = a.astype(int) @ b.astype(int)
    assert np.array_equal(kernel(a, b), wanted)
    inside = kernel.asm.partition("\nload.bytes:")[2].partition("\npolysched.")[0]
    assert "vzeroupper" not in inside or not X86


@pytest.mark.parametrize("known", [{}, {"m": 9}, {"n": 5, "m": 9}], ids=["none", "one", "all"])
def test_threads_know_where_arrays_end(known: dict[str, int]) -> None:
    """Though nothing else in the loop asks for the number of rows."""
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    x, f = ps.Input("x", ps.float16, (n, m)), ps.Func("f", (n, m))
    f[i, j] = ps.cast(ps.float32, x[i, j])
    s = ps.Schedule(f, target=TARGET)
    s["f"].split(j, 8, tail="mask", names=("jo", "ji"))
    s["f"].vectorize("ji").parallel(i)
    values = np.arange(45).reshape(5, 9).astype(np.float16)
    assert np.array_equal(s.compile(**known)(values), values.astype(np.float32))


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
