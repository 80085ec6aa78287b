"""Whole programs against NumPy."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

import polysched as ps
from polysched.interp import interpret
from polysched.lang.arithmetic.fma import fma_function

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")
rng = np.random.default_rng(0)


def matmul(dtype=ps.float32):
    A, B = ps.Input("A", dtype, (n, l)), ps.Input("B", dtype, (l, m))
    k = ps.RVar("k", 0, l)
    C = ps.Func("C", (n, m))
    C[i, j] = 0
    C[i, j] += A[i, k] * B[k, j]
    return C


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matmul_is_a_chain_of_fmas(dtype):
    a, b = (rng.standard_normal(s).astype(dtype) for s in ((5, 9), (9, 4)))
    expected = np.zeros((5, 4), dtype)
    fma = fma_function(ps.float32 if dtype is np.float32 else ps.float64)
    for x, y in np.ndindex(5, 4):
        for k in range(9):
            expected[x, y] = fma(a[x, k], b[k, y], expected[x, y])
    c = interpret(matmul(dtype), A=a, B=b)
    assert c.dtype == dtype
    assert np.array_equal(c, expected)
    assert not np.array_equal(c, a @ b) or np.allclose(c, a @ b)


def test_integer_matmul_wraps():
    a, b = (rng.integers(-128, 128, s).astype(np.int8) for s in ((3, 50), (50, 2)))
    with np.errstate(over="ignore"):
        expected = a @ b
    assert np.array_equal(interpret(matmul(ps.int8), a, b), expected)


@pytest.mark.parametrize("shape", [(0, 4, 5), (4, 0, 5), (4, 5, 0), (1, 1, 1)])
def test_empty_sizes(shape):
    rows, columns, depth = shape
    c = interpret(
        matmul(), np.ones((rows, depth), np.float32), np.ones((depth, columns), np.float32)
    )
    assert c.shape == (rows, columns)
    assert np.all(c == depth)


def test_blur_of_uint16_wraps_as_numpy_does():
    image = ps.Input("image", ps.uint16, (n + 2, m + 2))
    rows, blurred = ps.Func("rows"), ps.Func("blurred", (n, m))
    rows[i, j] = (image[i, j] + image[i, j + 1] + image[i, j + 2]) // 3
    blurred[i, j] = (rows[i, j] + rows[i + 1, j] + rows[i + 2, j]) // 3
    a = rng.integers(0, 2**16, (9, 12)).astype(np.uint16)
    h = (a[:, :-2] + a[:, 1:-1] + a[:, 2:]) // 3
    result = interpret(blurred, a)
    assert result.dtype == np.uint16
    assert np.array_equal(result, (h[:-2] + h[1:-1] + h[2:]) // 3)


def test_histogram():
    image = ps.Input("image", ps.uint8, (n, m))
    y, x = ps.rdom("y x", (0, n), (0, m))
    count = ps.Func("count", (256,), dtype=ps.int32)
    count[i] = 0
    count[ps.cast(ps.int32, image[y, x])] += 1
    a = rng.integers(0, 256, (13, 17)).astype(np.uint8)
    assert np.array_equal(interpret(count, a), np.bincount(a.ravel(), minlength=256))


def test_gather_through_a_computed_table():
    """A table without a shape is computed where uint8 indices may reach: everywhere."""
    image = ps.Input("image", ps.uint8, (n,))
    table, result = ps.Func("table"), ps.Func("result", (n,))
    table[i] = i * i - 7
    result[i] = table[image[i]]
    a = rng.integers(0, 256, 20).astype(np.uint8)
    assert np.array_equal(interpret(result, a), a.astype(np.int64) ** 2 - 7)


def test_embedded_table():
    T = ps.Const("T", np.array([1, 10, 100], np.int32))
    which = ps.Const("which", np.array([2, 0, 1, 2], np.uint8))
    result = ps.Func("result", (4,))
    result[i] = T[which[i]] + T[1]
    assert interpret(result).tolist() == [110, 11, 20, 110]


def test_pyramid_level_with_clamps():
    image = ps.Input("image", ps.float32, (n, m))
    clamped, down, up = ps.Func("clamped"), ps.Func("down"), ps.Func("up", (n, m))
    clamped[i, j] = image[ps.clip(i, 0, n - 1), ps.clip(j, 0, m - 1)]
    down[i, j] = (clamped[2 * i, 2 * j] + clamped[2 * i + 1, 2 * j + 1]) / 2
    up[i, j] = down[i // 2, j // 2] - down[(i - 1) // 2, (j + 1) // 2]
    a = rng.standard_normal((5, 7)).astype(np.float32)

    def d(y, x):
        c = lambda y, x: a[min(max(y, 0), 4), min(max(x, 0), 6)]
        return (c(2 * y, 2 * x) + c(2 * y + 1, 2 * x + 1)) / np.float32(2)

    expected = [[d(y // 2, x // 2) - d((y - 1) // 2, (x + 1) // 2) for x in range(7)]
                for y in range(5)]  # fmt: skip
    assert np.array_equal(interpret(up, a), np.array(expected, np.float32))


def test_triangular_update():
    """The bounds of one RVar depend on another one and on a Var; where= leaves out pairs."""
    A = ps.Input("A", ps.int64, (n, n))
    r = ps.RVar("r", 0, n)
    c = ps.RVar("c", r, n, where=lambda c: (r + c) % 3 != 1)
    total = ps.Func("total", (n,))
    total[i] = 0
    total[i] += (i + 1) * A[r, c]
    below = ps.Func("below", (n,))
    k = ps.RVar("k", 0, i + 1)
    below[i] = 0
    below[i] = below[i] * 10 + A[i, k]
    a = rng.integers(0, 10, (6, 6))
    s = sum(a[y, x] for y in range(6) for x in range(y, 6) if (y + x) % 3 != 1)
    first, second = interpret((total, below), a)
    assert np.array_equal(first, s * np.arange(1, 7))
    assert second.tolist() == [int("".join(map(str, a[y, : y + 1]))) for y in range(6)]


def test_rvars_run_in_lexicographic_order_of_making():
    y, x = ps.rdom("y x", (0, 2), (0, 3))
    f = ps.Func("f", ())
    f[()] = 0
    f[()] = f[()] * 10 + (3 * y + x)
    assert interpret(f) == 12345
    outer = ps.RVar("outer", 0, 2)
    inner = ps.RVar("inner", 0, 2)
    g = ps.Func("g", ())
    g[()] = 0
    g[()] = g[()] * 10 + (10 * inner + outer) % 7  # inner is mentioned first, made last
    assert interpret(g) == int("0" + "".join(str((10 * b + a) % 7) for a in (0, 1) for b in (0, 1)))


def test_argmax_as_a_tuple():
    A = ps.Input("A", ps.float32, (n, m))
    k = ps.RVar("k", 0, m)
    best = ps.Func("best", (n,), dtype=(ps.float32, ps.int64))
    best[i] = (-math.inf, -1)
    value, where = best[i]
    better = A[i, k] > value
    best[i] = ps.select(better, (A[i, k], k), (value, where))
    a = rng.standard_normal((6, 11)).astype(np.float32)
    values, places = interpret(best, a)
    assert np.array_equal(values, a.max(axis=1))
    assert np.array_equal(places, a.argmax(axis=1))
    assert places.dtype == np.int64


def test_tuple_values_are_all_computed_before_any_is_written():
    k = ps.RVar("k", 0, 10)
    f = ps.Func("f", (), dtype=(ps.int64, ps.int64))
    f[()] = (0, 1)
    a, b = f[()]
    k_used = 0 * k
    f[()] = (b + k_used, a + b)
    assert interpret(f)[0] == 55


def test_the_index_on_the_left_is_computed_before_the_write():
    """f[f[0]] = ... reads the old f[0]."""
    k = ps.RVar("k", 0, 3)
    f = ps.Func("f", (4,))
    f[i] = i + 1
    f[ps.clip(f[0], 0, 3)] = f[0] + 10 * k
    assert interpret(f).tolist() == [1, 21, 3, 4]


def test_pieces():
    A = ps.Input("A", ps.int32, (n, m))
    f = ps.Func("f", (n, m))
    f[0, 0] = 1
    f[0, j] = 2
    f[i, 0] = 3
    f[n - 1, m - 1] = 4
    f[i, j] = A[i - 1, j - 1] + 5  # never at a border, so in bounds
    a = rng.integers(0, 9, (3, 4)).astype(np.int32)
    expected = np.empty((3, 4), np.int32)
    expected[1:, 1:] = a[:-1, :-1] + 5
    expected[0], expected[:, 0], expected[0, 0], expected[-1, -1] = 2, 3, 1, 4
    assert np.array_equal(interpret(f, a), expected)


def test_pieces_in_any_order():
    f = ps.Func("f", (2, 2))
    f[0, j] = 1
    f[i, 0] = 2
    f[0, 0] = 3
    f[i, j] = 4
    assert interpret(f).tolist() == [[3, 1], [2, 4]]


def test_an_rvar_within_one_that_depends_on_data():
    A = ps.Input("A", ps.int64, (n,), range=(0, n + 1))
    T = ps.Input("T", ps.int64, (n,))
    k = ps.RVar("k", 0, A[i])
    r = ps.RVar("r", 0, k, where=lambda r: r % 2 == 0)
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i] += T[r] + 100 * k
    a, t = np.array([4, 0, 1, 3]), np.array([1, 2, 3, 4])
    expected = [sum(t[r] + 100 * k for k in range(x) for r in range(0, k, 2)) for x in a]
    assert interpret(f, A=a, T=t).tolist() == expected


@pytest.mark.parametrize(
    "use",
    [
        lambda p: ps.select(p < i, p, 99),
        lambda p: p * 1.0,
        lambda p: ps.minimum(p, 7),
        lambda p: ps.trace(p, "p"),
    ],
)
def test_refuses_a_uint64_param_that_int64_does_not_hold(use):
    """It was -1 where 2**64 - 1 was passed, and an index of -1 where a minimum was."""
    p = ps.Param("p", ps.uint64)
    f = ps.Func("f", (n,))
    f[i] = use(p)
    for call in (f, partial(interpret, f)):
        with pytest.raises(ps.CallError, match="p=18446744073709551615 does not fit in int64"):
            call(n=1, p=2**64 - 1)
    assert f(n=2, p=2**63 - 1).tolist() == interpret(f, n=2, p=2**63 - 1).tolist()


@pytest.mark.parametrize("declared", [None, ps.uint64])
def test_a_uint64_param_is_whole_where_it_is_unsigned(declared):
    p = ps.Param("p", ps.uint64, min=2**63)
    f = ps.Func("f", (n,), declared)
    f[i] = ps.cast(ps.uint64, p) if declared is None else p
    for call in (f, partial(interpret, f)):
        assert call(n=1, p=2**64 - 1).tolist() == [2**64 - 1]


def test_sparse_rows():
    """RVar bounds read from data are executed exactly."""
    nnz = ps.sizes("nnz")
    start = ps.Input("start", ps.int64, (n + 1,), range=(0, nnz + 1))
    column = ps.Input("column", ps.int32, (nnz,))
    value = ps.Input("value", ps.float64, (nnz,))
    x = ps.Input("x", ps.float64, (m,))
    k = ps.RVar("k", start[i], start[i + 1])
    y = ps.Func("y", (n,))
    y[i] = 0.0
    y[i] += ps.strict(value[k] * x[column[k]])
    dense = rng.integers(0, 3, (5, 6)) * rng.integers(0, 2, (5, 6)) * 1.0
    rows, columns = np.nonzero(dense)
    starts = np.searchsorted(rows, np.arange(6)).astype(np.int64)
    v = rng.integers(-4, 5, 6).astype(np.float64)
    result = interpret(y, start=starts, column=columns.astype(np.int32), value=dense[rows, columns],
                       x=v)  # fmt: skip
    assert np.array_equal(result, dense @ v)


@pytest.mark.parametrize(
    ("name", "mode"),
    [("repeat_edge", "edge"), ("reflect", "symmetric"), ("mirror", "reflect"), ("wrap", "wrap")],
)
def test_boundaries_as_numpys_pad(name, mode):
    A = ps.Input("A", ps.int32, (n, m))
    padded = getattr(ps.boundary, name)(A)
    result = ps.Func("result", (n + 22, m + 22))
    result[i, j] = padded[i - 11, j - 11]
    a = rng.integers(0, 99, (4, 3)).astype(np.int32)
    assert np.array_equal(interpret(result, a), np.pad(a, 11, mode=mode))


def test_constant_boundary():
    A = ps.Input("A", ps.int32, (n,))
    padded = ps.boundary.constant(A, 7)
    result = ps.Func("result", (n + 4,))
    result[i] = padded[i - 2]
    assert interpret(result, np.array([1, 2], np.int32)).tolist() == [7, 7, 1, 2, 7, 7]


def test_functions_through_their_expansion():
    A = ps.Input("A", ps.float32, (n,))
    a = np.array([-3, -0.0, 0.5, 2, 80], np.float32)
    for op, exact in ((ps.exp, math.exp), (ps.tanh, math.tanh)):
        f = ps.Func("f", (n,))
        f[i] = op(A[i])
        assert np.allclose(interpret(f, a), [exact(x) for x in a.tolist()], rtol=3e-7, atol=0)
    f = ps.Func("f", (n,))
    f[i] = ps.rsqrt(A[i] + 4)
    wide = 1 / np.sqrt(a.astype(np.float64) + 4)
    assert np.array_equal(interpret(f, a), wide.astype(np.float32))


def test_params_sizes_and_vars_in_values():
    A = ps.Input("A", ps.float32, (n,))
    alpha = ps.Param("alpha", ps.float32)
    shift = ps.Param("shift", ps.int16, default=1)
    f = ps.Func("f", (n,))
    f[i] = ps.select(i < shift, alpha, A[i] * i + n)
    a = np.array([1.5, 2.5, 3.5], np.float32)
    assert interpret(f, a, alpha=0.1).tolist() == [np.float32(0.1), 5.5, 10.0]
    assert interpret(f, a, alpha=0.1, shift=2)[1] == np.float32(0.1)


def test_strided_read_only_and_reversed_arguments():
    a, b = rng.standard_normal((2, 8, 8)).astype(np.float32)
    first, second = a[::-2, ::2], b.T[::2, :3]
    first.flags.writeable = False
    straight = interpret(matmul(), np.ascontiguousarray(first), np.ascontiguousarray(second))
    assert np.array_equal(interpret(matmul(), first, second), straight)


@pytest.mark.slow
def test_deep_expressions():
    """Nothing limits depth: no select, and no sum, of thousands of terms."""
    A = ps.Input("A", ps.int64, (n,))
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    total = chosen = A[i]
    for k in range(3000):
        total = total + k
        chosen = ps.select(A[i] == k, k + 1, chosen)
    f[i], g[i] = total, chosen
    assert interpret((f, g), np.array([5]))[0].tolist() == [5 + 3000 * 2999 // 2]
    assert interpret(g, np.array([-5])).tolist() == [-5]


def test_shared_subexpressions_are_computed_once():
    """Doubling 200 times is 200 additions, not 2**200."""
    A = ps.Input("A", ps.int64, (n,))
    x = ps.select(A[i] > 0, A[i], 3)
    for _ in range(200):
        x = x + x
    f = ps.Func("f", (n,))
    f[i] = x
    assert interpret(f, np.array([1, 0])).tolist() == [0, 0]


def test_out_and_shape():
    f = ps.Func("f")
    f[i, j] = 10 * i + j
    assert interpret(f, shape=(2, 3)).tolist() == [[0, 1, 2], [10, 11, 12]]
    target = np.empty((3, 2), np.int64)[::-1]
    assert interpret(f, out=target) is target
    assert target.tolist() == [[0, 1], [10, 11], [20, 21]]
    g = ps.Func("g", (n,))
    g[i] = i
    a, b = interpret((f, g), shape={"f": (1, 1)}, n=2)
    assert (a.shape, b.tolist()) == ((1, 1), [0, 1])
    outs = {"g": np.empty(3, np.int64)}
    assert interpret((f, g), shape={"f": (1, 1)}, out=outs)[1] is outs["g"]


def test_an_output_may_also_be_read():
    f, g = ps.Func("f", (n,)), ps.Func("g", (n - 1,))
    f[i] = i * i
    g[i] = f[i + 1] - f[i]
    first, second = interpret([g, f], n=4)
    assert (first.tolist(), second.tolist()) == ([1, 3, 5], [0, 1, 4, 9])


def test_zero_divisions_are_counted():
    A = ps.Input("A", ps.int32, (n,))
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = 10 // A[i] + 10 % A[i]
    g[i] = ps.select(A[i] != 0, 10 // A[i], 0)
    a = np.array([3, 0, 0], np.int32)
    assert interpret(f, a).tolist() == [4, 0, 0]
    with pytest.raises(ps.CallValueError, match="f divides an integer by zero, 4 times"):
        interpret(f, a, checks=True)
    assert interpret(g, a, checks=True).tolist() == [3, 0, 0]


def test_a_bound_keeps_what_it_has_read_and_values_read_it_anew():
    f = ps.Func("f", (), ps.int64)
    f[()] = 3
    r = ps.RVar("r", 0, ps.minimum(f[()], 9))
    f[()] = f[()] * 2 + r
    value = 3
    for k in range(3):
        value = value * 2 + k
    assert interpret(f) == value == 28


def test_conditions_on_data_restrict_rvars():
    mask, A = ps.Input("mask", ps.bool_, (n,)), ps.Input("A", ps.int64, (n,))
    k = ps.RVar("k", 0, n, where=lambda k: mask[k] & (A[k] > 0))
    f = ps.Func("f", ())
    f[()] = 0
    f[()] += A[k]
    a = np.array([1, 10, -100, 1000])
    result = interpret(f, A=a, mask=np.array([True, False, True, True]))
    assert result.shape == ()
    assert result == 1001


def test_an_index_computed_from_floats():
    A = ps.Input("A", ps.float32, (n,))
    table, result = ps.Func("table"), ps.Func("result", (n,))
    table[i] = 100 - i
    result[i] = table[ps.clip(ps.cast(ps.int32, ps.floor(A[i] * 10)), 0, 10)]
    a = np.array([-5, 0.25, np.nan, np.inf], np.float32)
    assert interpret(result, a).tolist() == [100, 98, 100, 90]
