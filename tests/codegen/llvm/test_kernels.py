"""Whole kernels: slots, several functions, counters, constants, strides, names."""

from __future__ import annotations

import numpy as np
import pytest
from codegen.llvm.harness import (
    add,
    buffer,
    compiled,
    const,
    entry,
    i,
    j,
    k,
    load,
    loop,
    lt,
    module,
    mul,
    node,
    op,
    param,
    run,
    size,
    slots_of,
    store,
)

from polysched.codegen.ir import ir
from polysched.codegen.llvm.functions.functions import emit_module
from polysched.lang.nodes.dtypes import ALL, DType, bool_, float32, float64, int8, int64
from polysched.lang.nodes.nodes import integer
from polysched.targets.host import default_target

n, m, l = size("n"), size("m"), size("l")


def matmul() -> ir.Module:
    """C = 0, then C += A @ B: two functions."""
    a, b = buffer("A", float32, n, l), buffer("B", float32, l, m)
    c = buffer("C", float32, n, m, kind="output")
    at = add(mul(i, m), j)
    zero = store(c, at, const(0.0, float32))
    product = (load(a, add(mul(i, l), k)), load(b, add(mul(k, m), j)))
    update = store(c, at, op("fma", *product, load(c, at)))
    rows = [loop(i, 0, n, loop(j, 0, m, body)) for body in (zero, loop(k, 0, l, update))]
    return module([a, b, c], [n, m, l], *rows)


@pytest.mark.parametrize(("rows", "columns", "depth"), [(7, 9, 5), (1, 1, 1), (3, 4, 0), (0, 4, 2)])
def test_matrix_product(rows: int, columns: int, depth: int) -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(-9, 9, (rows, depth)).astype(np.float32)
    b = rng.integers(-9, 9, (depth, columns)).astype(np.float32)
    c = np.full((rows, columns), np.nan, np.float32)
    run(matmul(), A=a, B=b, C=c, n=rows, m=columns, l=depth)
    assert c.tolist() == (a @ b).tolist()


def test_a_function_takes_only_what_it_uses() -> None:
    text = emit_module(matmul(), default_target())
    zero, update = (line for line in text.splitlines() if line.startswith("define internal void"))
    own = "(ptr noalias align 4 %C.2, i64 %n.3, i64 %m.4, ptr %threads)"
    assert f'"polysched.kernel.0.f0"{own}' in zero
    assert "ptr noalias readonly align 4 %A.2, ptr noalias readonly align 4 %B.3, ptr" in update


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_scalars_of_every_type(dtype: DType) -> None:
    """Params come in 64-bit slots; floats in the low end, with anything above."""
    values = [0, 1] if dtype.is_bool else [3, dtype.max if dtype.is_int else -2.5]
    values += [dtype.min] if dtype.kind == "i" else []
    before, p, after = param("before", int64), param("p", dtype), param("after", float64)
    out = buffer("out", dtype, 1, kind="output")
    sides = buffer("sides", float64, 2, kind="output")
    both = (
        ir.Store(sides, (node(0),), op("cast", before, dtype=float64)),
        ir.Store(sides, (node(1),), after),
    )
    kernel = module([out, sides], [before, p, after], ir.Seq((store(out, 0, p), ir.Stores(both))))
    call = entry(compiled(kernel))
    for value in values:
        got, around = np.zeros(1, dtype.numpy), np.zeros(2)
        arguments = {"out": got, "sides": around, "before": -7, "p": value, "after": 0.25}
        call(slots_of(kernel, arguments))
        assert got.tolist() == [value]
        assert around.tolist() == [-7, 0.25]


def test_counters_add_up_over_functions_and_calls() -> None:
    """They are the slots after the scalars, and count on from what is there."""
    x = buffer("x", int64, n)
    zero = op("eq", load(x, i), integer(0), dtype=bool_)
    first = loop(i, 0, n, ir.Seq((ir.Count(1, zero), ir.Count(0, lt(load(x, i), 0)))))
    kernel = module([x], [n], first, loop(i, 0, n, ir.Count(1, zero)), counters=3)
    array = np.array([0, -1, 5, 0, -2, -3])
    slots = slots_of(kernel, {"x": array, "n": len(array)})
    call = entry(compiled(kernel))
    call(slots)
    assert slots[2:5].tolist() == [3, 4, 0]
    call(slots)
    assert slots[2:5].tolist() == [6, 8, 0]


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_constant_buffers(dtype: DType) -> None:
    """Arrays or bytes; any offset; aligned to a cache line; not in the slots."""
    data = np.array([0, 1, 1, 0, 1, 0, 0]).astype(dtype.numpy) * dtype.numpy.type(1)
    other = np.array([3, -4, 5], np.int8)
    table = buffer("table", dtype, 7, kind="const", data=data)
    small = buffer("small", int8, 3, kind="const", data=other.tobytes())
    empty = buffer("empty", int8, 0, kind="const", data=b"")
    out, tail = buffer("out", dtype, n, kind="output"), buffer("tail", int8, 3, kind="output")
    bodies = (
        loop(i, 0, n, store(out, i, load(table, i))),
        loop(i, 0, 3, store(tail, i, load(small, i))),
    )
    kernel = module([table, small, out, empty, tail], [n], *bodies)
    got, rest = np.zeros(7, dtype.numpy), np.zeros(3, np.int8)
    run(kernel, out=got, tail=rest, n=7)
    assert got.tolist() == data.tolist()
    assert rest.tolist() == other.tolist()
    assert emit_module(kernel, default_target()).count("align 64") == 3


def test_strided_buffers_are_addressed_in_bytes() -> None:
    """Any strides, negative ones included: the pointer is that of the first element."""
    x = buffer("x", float64, n, strided=True)
    out = buffer("out", float64, n, kind="output", strided=True)
    sx, so = size("sx"), size("so")
    body = store(out, mul(i, so), load(x, mul(i, sx)))
    kernel = module([x, out], [n, sx, so], loop(i, 0, n, body))
    source, target = np.arange(20.0)[::-3], np.zeros((7, 3))
    run(kernel, x=source, out=target[:, 1], n=7, sx=source.strides[0], so=24)
    assert target[:, 1].tolist() == source.tolist()
    assert not target[:, ::2].any()


def test_scratch_is_read_back() -> None:
    x, t = buffer("x", int64, n), buffer("t", int64, n, kind="scratch")
    out = buffer("out", int64, n, kind="output")
    first = loop(i, 0, n, store(t, i, mul(load(x, i), 2)))
    second = loop(i, 0, n, store(out, i, add(load(t, i), load(t, add(add(n, -1), mul(i, -1))))))
    got = np.zeros(5, np.int64)
    run(
        module([x, t, out], [n], first, second),
        x=np.arange(5),
        t=np.zeros(5, np.int64),
        out=got,
        n=5,
    )
    assert got.tolist() == [8] * 5


@pytest.mark.parametrize("name", ["fmod", "memset", "main", "größe", "日本", "with space", 'a"b\\'])
def test_names_of_kernels(name: str) -> None:
    """None is taken for a function that LLVM knows, or breaks the text."""
    x, y = buffer(name, float64, n), buffer("y", float64, n)
    out = buffer("out", float64, n, kind="output")
    body = store(out, i, op("mod", load(x, i), load(y, i), dtype=float64))
    kernel = module([x, y, out], [n], loop(i, 0, n, body), name=name)
    got = np.zeros(1)
    run(kernel, **{name: np.array([7.5]), "y": np.array([2.0]), "out": got, "n": 1})
    assert got.tolist() == [1.5]


def test_a_kernel_without_functions() -> None:
    run(module([], []))
