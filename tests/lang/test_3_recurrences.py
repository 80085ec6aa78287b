"""Rule 3.3: Funcs may read themselves and each other as long as no point needs itself."""

from __future__ import annotations

import numpy as np
from lang.support import refused, run

import polysched as ps

n, m = ps.sizes("n m")
i, j, t = ps.vars("i j t")
A = ps.Input("A", ps.float32, (n,))
M = ps.Input("M", ps.float32, (n, m))


def func(*shape, name="f", dtype=None):
    return ps.Func(name, shape or (n,), dtype=dtype)


def test_3_3_a_running_sum():
    f = func()
    f[0] = A[0]
    f[i] = f[i - 1] + A[i]
    ps.require(n >= 1, "one point", f)
    a = np.float32([1, 2, 4])
    assert np.array_equal(run(f, A=a), np.cumsum(a))


def test_3_3_a_guard_instead_of_a_piece():
    f = func(dtype=ps.float32)
    f[i] = ps.select(i > 0, f[i - 1], 0) + A[i]
    a = np.float32([1, 2, 4])
    assert np.array_equal(run(f, A=a), np.cumsum(a))
    assert run(f, A=a[:0]).shape == (0,)


def test_3_3_an_axis_may_run_down():
    f = func(dtype=ps.float32)
    f[i] = ps.select(i < n - 1, f[i + 1], 0) + A[i]
    a = np.float32([1, 2, 4])
    assert np.array_equal(run(f, A=a), np.cumsum(a[::-1])[::-1])


def test_3_3_the_length_of_the_longest_common_subsequence():
    X, Y = ps.Input("X", ps.int32, (n,)), ps.Input("Y", ps.int32, (m,))
    f = func(n + 1, m + 1)
    f[0, 0] = 0
    f[0, j] = 0
    f[i, 0] = 0
    longest = ps.maximum(f[i - 1, j], f[i, j - 1])
    f[i, j] = ps.select(X[i - 1] == Y[j - 1], f[i - 1, j - 1] + 1, longest)
    found = run(f, X=np.int32([1, 3, 4, 1, 2, 3]), Y=np.int32([3, 4, 1, 2, 1, 3]))
    assert found[-1, -1] == 5


def test_3_3_a_heat_equation():
    f = func(m, n, dtype=ps.float32)
    left, right = ps.maximum(i - 1, 0), ps.minimum(i + 1, n - 1)
    f[0, i] = A[i]
    f[t, i] = (f[t - 1, left] + f[t - 1, i] + f[t - 1, right]) * 0.25
    wanted = [np.float32([0, 8, 0, 0])]
    for _ in range(3):
        u = np.pad(wanted[-1], 1, mode="edge")
        wanted.append(((u[:-2] + u[1:-1] + u[2:]) * np.float32(0.25)).astype(np.float32))
    assert np.array_equal(run(f, A=wanted[0], m=4), wanted)


def test_3_3_funcs_that_read_each_other():
    f, g = (func(name=name, dtype=ps.int64) for name in "fg")
    f[0], g[0] = 1, 2
    f[i] = g[i - 1] * 2
    g[i] = f[i - 1] + f[i]
    x, y = [1], [2]
    for _ in range(5):
        x.append(y[-1] * 2)
        y.append(x[-2] + x[-1])
    assert run(f, n=6).tolist() == x
    assert run(g, n=6).tolist() == y


def test_3_3_a_recurrent_network_with_an_inline_reduction():
    W, X = ps.Input("W", ps.float32, (m, m)), ps.Input("X", ps.float32, (n, m))
    k = ps.RVar("k", 0, m)
    h = func(n, m, name="h", dtype=ps.float32)
    h[0, i] = ps.tanh(X[0, i])
    h[t, i] = ps.tanh(X[t, i] + ps.sum(W[i, k] * h[t - 1, k], k))
    ps.require(n >= 1, "one step", h)
    rng = np.random.default_rng(0)
    w, x = (rng.standard_normal(s).astype(np.float32) for s in ((3, 3), (5, 3)))
    state, wanted = np.zeros(3, np.float32), []
    for step in range(5):
        state = np.tanh(x[step] + (w @ state if step else 0))
        wanted.append(state)
    np.testing.assert_allclose(run(h, W=w, X=x), wanted, rtol=1e-5)


def test_3_3_the_dtype_of_a_recurrence_follows_from_what_it_starts_from():
    f = func()
    f[0] = A[0]
    f[i] = f[i - 1] * 2 + 1
    assert f.dtype == ps.float32


def test_3_3_an_update_at_its_own_point():
    f = func()
    f[0] = 1
    f[i] = f[i - 1] * 2
    f[i] += 1
    assert run(f, n=4).tolist() == [2, 5, 11, 23]


# refusals -------------------------------------------------------------------------------------
def test_3_3_a_point_that_needs_itself_is_refused():
    f = func(dtype=ps.int64)
    f[i] = f[i] + 1  # here
    with refused("f[0] needs itself: f[0] <- f[0], at n=1", hint="give it an RVar", marked=True):
        ps.Schedule(f)
    with refused("f[0] needs itself: f[0] <- f[0]", hint="give it an RVar"), _forget_line():
        ps.interpret(f, n=3)


class _forget_line:
    """The refusal names a line of the program, which is checked elsewhere."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        assert isinstance(error, ps.LanguageError)
        raise ps.LanguageError(error.what, hint=error.hint)


def test_3_3_a_cycle_of_several_points_is_shown():
    f = func(dtype=ps.int64)
    f[i] = f[n - 1 - i] + 1  # here
    with refused(" needs itself: ", " <- ", "at n=", marked=True):
        ps.Schedule(f)


def test_3_3_a_cycle_through_another_func_is_shown():
    f, g = (func(name=name, dtype=ps.int64) for name in "fg")
    f[i] = g[i] + 1
    g[i] = f[i] * 2
    with refused(" needs itself: ", "f[0]", "g[0]"), _forget_line():
        ps.Schedule(f)


def test_3_3_a_region_closes_over_the_recurrence():
    f, g = ps.Func("f", dtype=ps.int64), func(name="g")
    f[0] = 1
    f[i] = f[i - 1] + 1
    g[i] = f[i]
    assert run(g, n=4).tolist() == [1, 2, 3, 4]


def test_3_3_a_region_without_an_end_needs_a_shape():
    f, g = ps.Func("f", dtype=ps.int64), func(name="g")
    f[i] = f[i - 1] + 1  # here
    g[i] = f[i]
    with refused("the region of f that is needed follows from itself and has no end",
                 "along axis 0 it goes on downwards", hint="f[0] = ...", marked=True):  # fmt: skip
        ps.Schedule(g)


def test_3_3_a_region_that_depends_on_data_needs_a_shape():
    f, g = ps.Func("f", dtype=ps.int64), func(name="g")
    x = ps.Input("x", ps.int32, (n,))
    f[0] = 1
    f[i] = f[ps.clip(x[i], 0, i - 1)] + 1  # here
    g[i] = f[i]
    with refused("follows from itself, through an index that depends on data",
                 hint="ps.Func('f', (n, m))", marked=True):  # fmt: skip
        ps.Schedule(g)


def test_3_3_a_recurrence_reads_within_bounds():
    f = func()
    f[0] = 1
    f[i] = f[i - 2] * 2
    with refused("out of bounds", error=ps.CallValueError):
        f(n=4)


def test_3_3_an_update_beyond_its_own_point_is_refused():
    f = func()
    f[0] = 1
    f[i] = f[i - 1] * 2
    f[n - 1 - ps.RVar("k", 0, n)] += 1  # here
    with refused("f.update(0) is part of a recurrence (f) and changes f beyond its own point",
                 hint="the same Vars on the left", marked=True):  # fmt: skip
        ps.Schedule(f)


def test_3_3_a_loop_over_an_rvar_says_the_same():
    r = ps.RVar("r", 1, n)
    f = func()
    f[i] = 1
    f[r] = f[r - 1] * 2
    assert run(f, n=6).tolist() == [1, 2, 4, 8, 16, 32]
