"""Rule 2.2 for a Func whose own inline reductions stand in its pure definition: its dtype follows
from the definition, as if the reductions were operators."""

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps

n, m = ps.sizes("n m")
i, j, t, s = ps.vars("i j t s")
E = ps.Input("E", ps.float32, (n, m))
P = ps.Input("P", ps.float32, (m, m))
B = ps.Input("B", ps.int16, (n, n))
rng = np.random.default_rng(7)
GIVEN = {"E": rng.random((5, 4), np.float32), "P": rng.random((4, 4), np.float32)}
PAIRS = {"B": rng.integers(-3, 9, (6, 6)).astype(np.int16)}
r = ps.RVar("r", 0, m)


def viterbi(dtype):
    v = ps.Func("v", (n, m), dtype)
    v[t, s] = ps.select(t == 0, E[0, s], E[t, s] + ps.max(v[t - 1, r] + P[r, s], r))
    return v


def viterbi_after_a_literal(dtype):
    v = ps.Func("v", (n, m), dtype)
    v[0, s] = 0
    v[t, s] = E[t, s] + ps.min(v[t - 1, r] * P[r, s], r)
    return v


def nussinov(dtype):
    f, k = ps.Func("f", (n, n), dtype), ps.RVar("k", i, j)
    inner = ps.maximum(f[i + 1, j - 1] + B[i, j], ps.max(f[i, k] + f[k + 1, j], k))
    f[i, j] = ps.select(i >= j, 0, inner)
    return f


def partitions(dtype):
    f, k = ps.Func("f", (n,), dtype), ps.RVar("k", 0, i)
    f[i] = ps.select(i == 0, 1, ps.sum(f[k] * f[i - 1 - k], k))
    return f


def wider_initial(dtype):
    f, k = ps.Func("f", (n,), dtype), ps.RVar("k", 0, i)
    f[i] = B[0, i] + ps.max(f[k], k, initial=ps.cast(ps.float64, i))
    return f


def converted(dtype):
    f, k = ps.Func("f", (n,), dtype), ps.RVar("k", 0, i)
    f[i] = ps.cast(ps.float32, i) / 2 + ps.sum(f[k], k, dtype=ps.float64)
    return f


def nearest(dtype):
    f, k = ps.Func("f", (n,), dtype), ps.RVar("k", 0, i)
    f[i] = ps.select(i == 0, B[0, 0], B[0, i] + ps.argmax(f[k], k))
    return f


def reachable(dtype):
    f, k = ps.Func("f", (n,), dtype), ps.RVar("k", 0, i)
    f[i] = (B[0, i] > 0) | ps.any(f[k] & (B[k, i] > 1), k)
    return f


def nested(dtype):
    f, k = ps.Func("f", (n,), dtype), ps.RVar("k", 0, i)
    q = ps.RVar("q", 0, k)
    f[i] = ps.select(i == 0, B[0, 0], ps.sum(f[k] + ps.sum(f[q], q), k))
    return f


PROGRAMS = [
    (viterbi, ps.float32, GIVEN),
    (viterbi_after_a_literal, ps.float32, GIVEN),
    (nussinov, ps.int16, PAIRS),
    (partitions, ps.int64, {"n": 9}),
    (wider_initial, ps.float64, PAIRS),
    (converted, ps.float64, {"n": 7}),
    (nearest, ps.int64, PAIRS),
    (reachable, ps.bool_, PAIRS),
    (nested, ps.int16, PAIRS),
]


@pytest.mark.parametrize(("make", "dtype", "given"), PROGRAMS)
def test_2_2_own_reductions_need_no_dtype(make, dtype, given):
    f = make(None)
    assert f.dtype == dtype
    want = ps.interpret(make(dtype), **given)
    assert want.dtype == dtype.numpy
    assert np.array_equal(ps.interpret(f, **given), want)
    assert np.array_equal(f(**given), want)


def test_2_2_a_later_definition_does_not_change_the_dtype_that_a_reduction_has_read():
    v = viterbi(None)
    with pytest.raises(ps.LanguageError, match="makes it float64"):
        v[t, s] = v[t, s] + ps.cast(ps.float64, 1)
    v[t, s] += 1
    assert v.dtype == ps.float32


def test_2_2_what_is_refused_leaves_no_dtype_behind():
    f, k = ps.Func("f", (n,)), ps.RVar("k", 0, i)
    with pytest.raises(ps.LanguageError, match="the Var j is not on the left side"):
        f[i] = ps.sum(f[k], k) + ps.cast(ps.float64, j)
    with pytest.raises(ps.LanguageError, match="is not known: it has no definition yet"):
        assert f.dtype
    f[i] = B[0, i] + ps.sum(f[k], k)
    assert f.dtype == ps.int16
