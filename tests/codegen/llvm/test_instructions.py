"""Every operator at every element type, against the oracle, for this machine and for x86-64-v3."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from codegen.llvm import oracle
from codegen.llvm.harness import (
    buffer,
    compiled,
    const,
    i,
    load,
    loop,
    module,
    node,
    op,
    run,
    size,
    store,
)

from polysched.codegen.ir import ir
from polysched.lang.errors.errors import InternalError
from polysched.lang.nodes.dtypes import ALL, DType, bool_, float32, float64, int8, int64
from polysched.lang.nodes.nodes import Node
from polysched.targets.host import default_target, target_of
from polysched.targets.target import Target

INTS = [t for t in ALL if t.is_int]
FLOATS = [float32, float64]
ARITH = [*INTS, *FLOATS]
COMPARE = ("lt", "le", "gt", "ge", "eq", "ne")

n = size("n")


def targets() -> list[Target]:
    """The host, and where that is x86-64 the oldest one, which converts uint64 differently."""
    target = default_target()
    return [target, target_of("x86-64-v3")] if target.arch == "x86_64" else [target]


def evaluate(target: Target, expr: Node, result: DType, *columns: tuple[ir.Buffer, list]) -> list:
    """The expression over a row of the columns at a time, in a loop."""
    rows = len(columns[0][1])
    out = buffer("out", result, n, kind="output")
    kernel = module([*(b for b, _ in columns), out], [n], loop(i, 0, n, store(out, i, expr)))
    values = {b.name: np.array(v, b.dtype.numpy) for b, v in columns}
    got = np.zeros(rows, result.numpy)
    run(kernel, target, **values, out=got, n=rows)
    return got.tolist()


def assert_same(got: list, wanted: list, rows: list) -> None:
    """Equal bits, but for NaNs, which are all one."""
    assert len(got) == len(wanted)
    for g, w, row in zip(got, wanted, rows, strict=True):
        same = g == w and type(g) is type(w)
        if isinstance(w, float):
            same = (g != g and w != w) or (same and math.copysign(1, g) == math.copysign(1, w))
        assert same, f"{row}: {g!r}, not {w!r}"


OF_INTEGERS = (
    *("saturating_add", "saturating_sub", "saturating_mul", "halving_add", "rounding_halving_add"),
    *("rotate_left", "rotate_right", "rounding_shift_right"),
)
"""Operators on two integers of one type."""


def binary_cases() -> list[tuple[str, DType]]:
    cases = [(o, t) for o in ("add", "sub", "mul", "floordiv", "mod") for t in ARITH]
    cases += [("div", t) for t in FLOATS] + [("absd", t) for t in INTS]
    cases += [(o, t) for o in ("min", "max", *COMPARE) for t in ALL]
    cases += [(o, t) for o in ("and", "or", "xor") for t in [*INTS, bool_]]
    cases += [(o, t) for o in ("shl", "shr", *OF_INTEGERS) for t in INTS]
    return [*cases, ("add", bool_), ("mul", bool_)]


@pytest.mark.parametrize(("name", "dtype"), binary_cases(), ids=str)
def test_binary(name: str, dtype: DType) -> None:
    values = oracle.samples(dtype)
    if name in ("shl", "shr"):
        values += [x for x in range(-dtype.bits - 2, dtype.bits + 2) if x >= dtype.min]
    rows = list(itertools.product(values, values))
    x, y = buffer("x", dtype, n), buffer("y", dtype, n)
    result = oracle.result(name, dtype)
    expr = op(name, load(x, i), load(y, i), dtype=result)
    wanted = [oracle.binary(name, a, b, dtype) for a, b in rows]
    for target in targets():
        columns = [(x, [a for a, _ in rows]), (y, [b for _, b in rows])]
        assert_same(evaluate(target, expr, result, *columns), wanted, rows)


def unary_cases() -> list[tuple[str, DType]]:
    cases = [("neg", t) for t in ARITH] + [("abs", t) for t in ALL]
    cases += [("not", t) for t in [*INTS, bool_]] + [("strict", t) for t in ALL]
    cases += [(o, t) for o in oracle.OF_BITS for t in INTS]
    cases += [(o, t) for o in ("sqrt", "floor", "ceil", "round", "trunc") for t in FLOATS]
    return [*cases, ("floor", int8), ("ceil", int64), ("round", int8)]


@pytest.mark.parametrize(("name", "dtype"), unary_cases(), ids=str)
def test_unary(name: str, dtype: DType) -> None:
    values = oracle.samples(dtype)
    x = buffer("x", dtype, n)
    wanted = [oracle.unary(name, a, dtype) for a in values]
    got = evaluate(default_target(), op(name, load(x, i), dtype=dtype), dtype, (x, values))
    assert_same(got, wanted, values)


def ternary_cases() -> list[tuple[str, DType]]:
    return [(o, t) for o in ("mul_shift_right", "rounding_mul_shift_right") for t in INTS]


@pytest.mark.parametrize(("name", "dtype"), ternary_cases(), ids=str)
def test_shifted_products(name: str, dtype: DType) -> None:
    """By counts that are literals, which have code of their own, and by others."""
    factors = [*oracle.samples(dtype)[::3], dtype.min, dtype.max]
    width = dtype.bits
    counts = [0, 1, 5, width - 1, width, width + 1, 2 * width - 1, 2 * width, 2 * width + 1, -1]
    counts = [k for k in counts if dtype.min <= k <= dtype.max]
    rows = list(itertools.product(factors, factors, counts))
    x, y, by = (buffer(c, dtype, n) for c in "xyk")
    expr = op(name, load(x, i), load(y, i), load(by, i), dtype=dtype)
    columns = [(b, [row[at] for row in rows]) for at, b in enumerate((x, y, by))]
    wanted = [oracle.ternary(name, *row, dtype) for row in rows]
    for target in targets():
        assert_same(evaluate(target, expr, dtype, *columns), wanted, rows)
    outs = [buffer(f"out{at}", dtype, n, kind="output") for at in range(len(counts))]
    stores = tuple(
        ir.Store(o, (i,), op(name, load(x, i), load(y, i), const(k, dtype), dtype=dtype))
        for o, k in zip(outs, counts, strict=True)
    )
    arrays = {o.name: np.zeros(len(rows), dtype.numpy) for o in outs}
    kernel = module([x, y, *outs], [n], loop(i, 0, n, ir.Stores(stores)))
    given = {b.name: np.array(column, dtype.numpy) for b, column in columns[:2]}
    run(kernel, **given, n=len(rows), **arrays)
    for o, k in zip(outs, counts, strict=True):
        wanted = [oracle.ternary(name, a, b, k, dtype) for a, b, _ in rows]
        assert_same(arrays[o.name].tolist(), wanted, [(a, b, k) for a, b, _ in rows])


@pytest.mark.parametrize("source", ALL, ids=str)
def test_cast(source: DType) -> None:
    """To every type at once: one loop with a store for each."""
    values = oracle.samples(source)
    x = buffer("x", source, n)
    outs = [buffer(f"to_{t}", t, n, kind="output") for t in ALL]
    stores = tuple(ir.Store(o, (i,), op("cast", load(x, i), dtype=o.dtype)) for o in outs)
    kernel = module([x, *outs], [n], loop(i, 0, n, ir.Stores(stores)))
    for target in targets():
        arrays = {o.name: np.zeros(len(values), o.dtype.numpy) for o in outs}
        run(kernel, target, x=np.array(values, source.numpy), n=len(values), **arrays)
        for to in ALL:
            wanted = [oracle.cast(a, source, to) for a in values]
            assert_same(arrays[f"to_{to}"].tolist(), wanted, [(a, to) for a in values])


def bitcast_cases() -> list[tuple[DType, DType]]:
    return [(a, b) for a in ARITH for b in ARITH if a.bits == b.bits]


@pytest.mark.parametrize(("source", "to"), bitcast_cases(), ids=str)
def test_bitcast(source: DType, to: DType) -> None:
    x = buffer("x", source, n)
    values = np.array(oracle.samples(source), source.numpy)
    expr = op("bitcast", load(x, i), dtype=to)
    got = evaluate(default_target(), expr, to, (x, values.tolist()))
    assert_same(got, values.view(to.numpy).tolist(), values.tolist())


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_select(dtype: DType) -> None:
    values = oracle.samples(dtype)
    c, x, y = buffer("c", bool_, n), buffer("x", dtype, n), buffer("y", dtype, n)
    chosen = [row % 3 == 0 for row in range(len(values))]
    other = values[::-1]
    expr = op("select", load(c, i), load(x, i), load(y, i), dtype=dtype)
    got = evaluate(default_target(), expr, dtype, (c, chosen), (x, values), (y, other))
    rows = list(zip(chosen, values, other, strict=True))
    assert_same(got, [a if take else b for take, a, b in rows], rows)


def fma_rows(dtype: DType) -> list[tuple[float, float, float]]:
    """Sums that a second rounding gets wrong, beside the usual suspects."""
    few = [0.0, -0.0, 1.0, -1.0, 0.1, math.inf, -math.inf, math.nan]
    info = np.finfo(dtype.numpy)
    few += [float(info.max), float(info.smallest_subnormal), -float(info.smallest_normal)]
    few = [float(dtype.numpy.type(x)) for x in few]
    rows = list(itertools.product(few, few, few))
    rng = np.random.default_rng(1)
    bits = info.nmant + 1
    for _ in range(500):
        # The product lies next to the middle of two floats, on the side that c decides.
        a = float(rng.integers(2 ** (bits - 1), 2**bits))
        b = 1.0 + 2.0 ** -int(rng.integers(1, bits))
        c = float(rng.choice([-1, 1])) * 2.0 ** -int(rng.integers(1, 120))
        rows.append((a, b, c))
    return rows


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_fma_rounds_once(dtype: DType) -> None:
    rows = fma_rows(dtype)
    x, y, z = (buffer(name, dtype, n) for name in "xyz")
    expr = op("fma", load(x, i), load(y, i), load(z, i), dtype=dtype)
    columns = [(b, [row[at] for row in rows]) for at, b in enumerate((x, y, z))]
    wanted = [oracle.fma(*row, dtype) for row in rows]
    for target in targets():
        assert_same(evaluate(target, expr, dtype, *columns), wanted, rows)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_a_product_and_a_sum_are_not_fused(dtype: DType) -> None:
    rows = fma_rows(dtype)
    x, y, z = (buffer(name, dtype, n) for name in "xyz")
    expr = op("add", op("mul", load(x, i), load(y, i), dtype=dtype), load(z, i), dtype=dtype)
    columns = [(b, [row[at] for row in rows]) for at, b in enumerate((x, y, z))]
    wanted = [oracle.binary("add", oracle.binary("mul", a, b, dtype), c, dtype) for a, b, c in rows]
    assert_same(evaluate(default_target(), expr, dtype, *columns), wanted, rows)


DIVISORS = [1, 2, 3, 5, 7, 8, 10, 64, 100, 127, 0, -1, -2, -3, -7, -128]


@pytest.mark.parametrize("dtype", INTS, ids=str)
@pytest.mark.parametrize("name", ["floordiv", "mod", "shl", "shr", "rounding_shift_right"])
def test_constant_right_operand(name: str, dtype: DType) -> None:
    """Division and shifts by literals have code of their own."""
    values = [*oracle.samples(dtype), *range(max(dtype.min, -40), 40)]
    x = buffer("x", dtype, n)
    right = [d for d in [*DIVISORS, dtype.max, dtype.min] if dtype.min <= d <= dtype.max]
    outs = [buffer(f"out{at}", dtype, n, kind="output") for at in range(len(right))]
    stores = tuple(
        ir.Store(o, (i,), op(name, load(x, i), const(d, dtype), dtype=dtype))
        for o, d in zip(outs, right, strict=True)
    )
    arrays = {o.name: np.zeros(len(values), dtype.numpy) for o in outs}
    kernel = module([x, *outs], [n], loop(i, 0, n, ir.Stores(stores)))
    run(kernel, x=np.array(values, dtype.numpy), n=len(values), **arrays)
    for o, d in zip(outs, right, strict=True):
        wanted = [oracle.binary(name, a, d, dtype) for a in values]
        assert_same(arrays[o.name].tolist(), wanted, [(a, d) for a in values])


FOLDED = [("add", "sub", "mul", "min", "max"), ("floordiv", "mod"), ("lt", "ne")]


@pytest.mark.parametrize("dtype", ARITH, ids=str)
@pytest.mark.parametrize("names", FOLDED, ids="-".join)
def test_constants_fold_to_the_same_bits(names: tuple[str, ...], dtype: DType) -> None:
    """What LLVM computes at compile time; literals are written exactly."""
    values = oracle.samples(dtype)[::5]
    rows = [(o, a, b) for o in names for a in values for b in values]
    result = bool_ if names == FOLDED[-1] else dtype
    out = buffer("out", result, len(rows), kind="output")
    stores = tuple(
        ir.Store(out, (node(at),), op(o, const(a, dtype), const(b, dtype), dtype=result))
        for at, (o, a, b) in enumerate(rows)
    )
    got = np.zeros(len(rows), result.numpy)
    run(module([out], [], ir.Stores(stores)), out=got)
    assert_same(got.tolist(), [oracle.binary(o, a, b, dtype) for o, a, b in rows], rows)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_literals(dtype: DType) -> None:
    values = oracle.samples(dtype)
    out = buffer("out", dtype, len(values), kind="output")
    stores = tuple(ir.Store(out, (node(at),), const(v, dtype)) for at, v in enumerate(values))
    got = np.zeros(len(values), dtype.numpy)
    run(module([out], [], ir.Stores(stores)), out=got)
    assert_same(got.tolist(), values, values)


def test_bools_in_memory_are_true_when_any_bit_is() -> None:
    x, out = buffer("x", bool_, 4), buffer("out", bool_, 4, kind="output")
    kernel = module([x, out], [], loop(i, 0, 4, store(out, i, load(x, i))))
    raw = np.array([0, 1, 2, 255], np.uint8)
    got = np.full(4, 77, np.uint8)
    run(kernel, x=raw, out=got)
    assert got.tolist() == [0, 1, 1, 1]


def test_unknown_operator_is_an_internal_error() -> None:
    out = buffer("out", float32, 1, kind="output")
    body = store(out, 0, op("exp", const(1.0, float32)))
    with pytest.raises(InternalError, match="no code for operator 'exp' of 1 operands"):
        compiled(module([out], [], body))
