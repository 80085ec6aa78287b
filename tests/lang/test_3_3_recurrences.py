"""3.3: recurrences, against NumPy, the interpreter and what the contract says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps

n, m, T, U, D = ps.sizes("n m T U D")
i, j, t, u = ps.vars("i j t u")
RNG = np.random.default_rng(5)
Array = np.ndarray


def both(funcs: ps.Func | tuple[ps.Func, ...], **args: object) -> tuple[Array, ...]:
    """What a compiled program gives, which equals the interpreter's result bit for bit."""
    found = ps.Schedule(funcs).compile()(**args)
    wanted = ps.interpret(funcs, **args)
    found, wanted = (x if isinstance(x, tuple) else (x,) for x in (found, wanted))
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)
    return found


@pytest.mark.parametrize("count", [0, 1, 2, 7, 33])
def test_3_3_prefix_sum_forwards_and_backwards(count: int) -> None:
    x = ps.Input("x", ps.int32, (n,))
    up, down = ps.Func("up", (n,)), ps.Func("down", (n,))
    up[i] = x[i] + ps.select(i > 0, up[i - 1], 0)
    down[i] = x[i] + ps.select(i < n - 1, down[i + 1], 0)
    data = RNG.integers(-9, 9, count).astype(np.int32)
    np.testing.assert_array_equal(both(up, x=data)[0], np.cumsum(data))
    np.testing.assert_array_equal(both(down, x=data)[0], np.cumsum(data[::-1])[::-1])


def test_3_3_a_piece_is_where_it_starts() -> None:
    f = ps.Func("f", (n,), dtype=ps.int64)
    ps.require(n >= 2, "two values to start from", f)
    f[0] = 0
    f[1] = 1
    f[i] = f[i - 1] + f[i - 2]
    assert list(both(f, n=10)[0]) == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (4, 5), (7, 2)])
def test_3_3_integral_image(shape: tuple[int, int]) -> None:
    x = ps.Input("x", ps.int32, (n, m))
    f = ps.Func("f", (n, m))
    above, left = ps.select(i > 0, f[i - 1, j], 0), ps.select(j > 0, f[i, j - 1], 0)
    f[i, j] = x[i, j] + above + left - ps.select((i > 0) & (j > 0), f[i - 1, j - 1], 0)
    data = RNG.integers(0, 9, shape).astype(np.int32)
    np.testing.assert_array_equal(both(f, x=data)[0], data.cumsum(0).cumsum(1))


def test_3_3_longest_common_subsequence() -> None:
    a, b = ps.Input("a", ps.uint8, (n,)), ps.Input("b", ps.uint8, (m,))
    f = ps.Func("f", (n + 1, m + 1), dtype=ps.int32)
    f[0, 0] = 0
    f[0, j] = 0
    f[i, 0] = 0
    longest = ps.maximum(f[i - 1, j], f[i, j - 1])
    f[i, j] = ps.select(a[i - 1] == b[j - 1], f[i - 1, j - 1] + 1, longest)
    x, y = (np.frombuffer(s, np.uint8) for s in (b"polyhedral", b"polynomial"))
    assert both(f, a=x, b=y)[0][-1, -1] == 6


def test_3_3_even_from_odd() -> None:
    """Well-founded, though each reads the other."""
    x = ps.Input("x", ps.float32, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.select(i % 2 == 0, x[i], f[i - 1] * 2)
    data = RNG.standard_normal(7).astype(np.float32)
    wanted = data.copy()
    wanted[1::2] = data[:-1:2] * 2
    np.testing.assert_array_equal(both(f, x=data)[0], wanted)


def test_3_3_two_that_read_each_other() -> None:
    x = ps.Input("x", ps.float32, (n,))
    a, b = ps.Func("a", (n,), dtype=ps.float32), ps.Func("b", (n,), dtype=ps.float32)
    a[0] = 1.0
    a[i] = b[i - 1] + x[i]
    b[i] = a[i] * 2
    found = both((a, b), x=np.ones(5, np.float32))
    np.testing.assert_array_equal(found[0], [1, 3, 7, 15, 31])
    np.testing.assert_array_equal(found[1], found[0] * 2)


@pytest.mark.parametrize("steps", [0, 1, 2, 13])
def test_3_3_a_recurrent_network(steps: int) -> None:
    """A reduction over the previous step's values is part of the recurrence."""
    W, V = ps.Input("W", ps.float32, (U, U)), ps.Input("V", ps.float32, (U, D))
    x = ps.Input("x", ps.float32, (T, D))
    k, d = ps.RVar("k", 0, U), ps.RVar("d", 0, D)
    h = ps.Func("h", (T + 1, U), dtype=ps.float32)
    h[0, u] = 0.0
    h[t, u] = ps.tanh(ps.sum(W[u, k] * h[t - 1, k], k) + ps.sum(V[u, d] * x[t - 1, d], d))
    w, v = RNG.standard_normal((3, 3)).astype("f4"), RNG.standard_normal((3, 2)).astype("f4")
    data = RNG.standard_normal((steps, 2)).astype("f4")
    wanted = np.zeros((steps + 1, 3), np.float32)
    for s in range(steps):
        wanted[s + 1] = np.tanh(w @ wanted[s] + v @ data[s])
    np.testing.assert_allclose(both(h, W=w, V=v, x=data)[0], wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("steps", [0, 1, 2, 13])
def test_3_3_jacobi_in_time(steps: int) -> None:
    x = ps.Input("x", ps.float64, (n,))
    f = ps.Func("f", (T + 1, n), dtype=ps.float64)
    f[0, i] = x[i]
    inner = (f[t - 1, i - 1] + f[t - 1, i] + f[t - 1, i + 1]) / 3
    f[t, i] = ps.select((i > 0) & (i < n - 1), inner, f[t - 1, i])
    last = ps.Func("last", (n,))
    last[i] = f[T, i]
    data = RNG.standard_normal(9)
    wanted = data.copy()
    for _ in range(steps):
        wanted[1:-1] = (wanted[:-2] + wanted[1:-1] + wanted[2:]) / 3
    np.testing.assert_allclose(both(last, x=data, T=steps)[0], wanted)


def test_3_3_the_nest_is_shared() -> None:
    x = ps.Input("x", ps.float32, (n,))
    a, b = ps.Func("a", (n,), dtype=ps.float32), ps.Func("b", (n,), dtype=ps.float32)
    a[i] = ps.select(i > 0, b[i - 1], 0) + x[i]
    b[i] = a[i] * 2
    listing = str(ps.Schedule((a, b)))
    assert listing.count("for i in") == 1
    assert listing.index("a[i] =") < listing.index("b[i] =")


# refusals --------------------------------------------------------------------------------------
def cyclic() -> ps.Func:
    f = ps.Func("f", (n,))
    f[i] = f[i] + 1
    return f


def two_steps() -> ps.Func:
    f = ps.Func("f", (n,), dtype=ps.int32)
    f[i] = ps.select(i > 0, f[i - 1], f[i + 1])
    return f


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (cyclic, r"f\[0\] needs itself: f\[0\] <- f\[0\], at n=1"),
        (two_steps, r"f\[1\] needs itself: f\[1\] <- f\[0\] <- f\[1\], at n=2"),
    ],
)
def test_3_3_a_value_that_needs_itself(build: Callable[[], ps.Func], message: str) -> None:
    func = build()
    with pytest.raises(ps.LanguageError, match=message):
        ps.Schedule(func)
    with pytest.raises(ps.LanguageError, match="needs itself"):
        ps.interpret(func, n=2)


def test_3_3_from_both_ends_to_the_middle() -> None:
    """Neither upwards nor downwards: each half has an order of its own."""
    f = ps.Func("f", (n,), dtype=ps.int32)
    left, right = ps.select(i > 0, f[i - 1] + 1, 0), ps.select(i < n - 1, f[i + 1] + 1, 10)
    f[i] = ps.select(2 * i < n, left, right)
    assert f(n=7).tolist() == [0, 1, 2, 3, 12, 11, 10]
    assert f(n=0).tolist() == []


def test_3_3_no_affine_order() -> None:
    """Well-founded, but in eight stretches that go upwards and downwards in turn."""
    f = ps.Func("f", (8 * n,), dtype=ps.int32)
    value: ps.Expr | int = 1
    for k in range(8):
        before = i + (1 if k % 2 else -1)
        inside = [(x >= k * n) & (x < (k + 1) * n) for x in (i, before)]
        value = value + ps.select(inside[0] & inside[1], f[before], 0)
    f[i] = value
    assert ps.interpret(f, n=2).tolist() == [1, 2, 2, 1] * 4
    with pytest.raises(ps.LanguageError, match="no affine order found in which f"):
        ps.Schedule(f)


def test_3_3_a_region_that_follows_from_itself() -> None:
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i] = ps.select(i > 0, f[i - 1], 0) + 1
    g[i] = f[i + 2]
    assert g(n=4).tolist() == [3, 4, 5, 6]


def test_3_3_a_region_that_follows_from_itself_by_halves() -> None:
    """n, n // 2, n // 4... is no set that proofs can work with."""
    f, g = ps.Func("f", dtype=ps.int32), ps.Func("g", ())
    f[0] = 1
    f[i] = f[i // 2] + i
    g[()] = f[n]
    assert ps.interpret(g, n=8) == 16
    with pytest.raises(ps.LanguageError, match="no exact form of it was found") as caught:
        ps.Schedule(g)
    assert "ps.Func('f', (n, m))" in str(caught.value)


def test_3_3_an_update_that_leaves_its_point() -> None:
    r = ps.RVar("r", 1, n)
    f = ps.Func("f", (n,), dtype=ps.int32)
    f[i] = ps.select(i > 0, f[i - 1], 0)
    f[r] += f[r - 1]
    with pytest.raises(ps.LanguageError, match="beyond its own point"):
        ps.Schedule(f)


def test_3_3_out_of_bounds_at_the_start() -> None:
    f = ps.Func("f", (n,), dtype=ps.int32)
    f[i] = f[i - 1] + 1
    with pytest.raises(ps.LanguageError, match=r"f\[-1\]"):
        ps.Schedule(f)
