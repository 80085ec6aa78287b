"""Kernels of PolyBench with the mistake that is most easily made, and what is said to it."""

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps
from polybench.stencils import fdtd_2d_in_place

n, T = ps.sizes("n T")
i, j = ps.vars("i j")


def matrix(kind: type[ps.Input | ps.InOut], name: str = "A") -> ps.Input | ps.InOut:
    return kind(name, ps.float64, (n, n))


def test_floyd_warshall_over_vars() -> None:
    """Row and column k keep their values, but only as long as no path[k, k] is negative."""
    path = ps.InOut("path", ps.int32, (n, n))
    with ps.sequential("k", 0, n) as k:
        path[i, j] = ps.minimum(path[i, j], path[i, k] + path[k, j])
    with pytest.raises(ps.LanguageError, match="depends on the order of its Vars") as error:
        ps.Schedule(path)
    assert "[k=0, i=0, j=0] writes path[0, 0]" in str(error.value)
    assert "make i, j RVars" in error.value.hint


def test_seidel_over_vars() -> None:
    A = ps.InOut("A", ps.float64, (n,))
    with ps.sequential("t", 0, T):
        A[i] = ps.select((i > 0) & (i < n - 1), (A[i - 1] + A[i] + A[i + 1]) / 3.0, A[i])
    with pytest.raises(ps.LanguageError, match=r"depends on the order of its Vars .*at n=3, T=1"):
        ps.Schedule(A)


def test_cholesky_with_a_sum_that_is_too_long() -> None:
    A = matrix(ps.Input)
    k = ps.RVar("k", 0, j + 1)
    L = ps.Func("L", (n, n), ps.float64)
    L[i, j] = ps.select(j <= i, A[i, j] - ps.sum(L[i, k] * L[j, k], k), 0.0)
    with pytest.raises(ps.LanguageError, match=r"needs itself: .* <- L\[0, 0\] <- .*at n=1"):
        ps.Schedule(L)


def test_nussinov_in_both_directions() -> None:
    s = ps.Func("s", (n, n), ps.int32)
    s[i, j] = ps.select(i < j, s[i + 1, j] + ps.select(i > 0, s[i - 1, j], 1), 0)
    with pytest.raises(ps.LanguageError, match=r"s\[0, 2\] needs itself: .*at n=3"):
        ps.Schedule(s)


def test_covariance_that_does_not_say_which_observations() -> None:
    x = matrix(ps.InOut, "x")
    k = ps.RVar("k", 0, n)
    mean, c = ps.Func("mean"), ps.Func("c", (n, n))
    mean[j] = ps.sum(x.initial[k, j], k)
    x[i, j] -= mean[j]
    with pytest.raises(ps.LanguageError, match="not clear which value of x it reads") as error:
        c[i, j] = ps.sum(x[k, i] * x[k, j], k)
    assert "x.initial" in error.value.hint
    assert "x.final" in error.value.hint


def test_lu_with_a_row_called_as_the_step() -> None:
    A = matrix(ps.InOut)
    with ps.sequential("k", 0, n) as k:
        row = ps.RVar("k", k + 1, n)
        with pytest.raises(ps.LanguageError, match="both called k") as error:
            A[row, k] /= A[k, k]
    assert "another name" in error.value.hint


def test_lu_by_sums_over_a_row_at_once() -> None:
    """They would be computed for all of the row before any of it is changed."""
    A = matrix(ps.InOut)
    with ps.sequential("i", 0, n) as r:
        c, k = ps.RVar("c", r, n), ps.RVar("k", 0, r)
        with pytest.raises(ps.LanguageError, match="would not see what that changes") as error:
            A[r, c] -= ps.sum(A[r, k] * A[k, c], k)
    assert "ps.sequential('c', lo, hi)" in error.value.hint


def test_durbin_with_scratch_that_is_fresh_each_time() -> None:
    y = ps.InOut("y", ps.float64, (n,))
    z, last = ps.Func("z"), ps.Func("last", (n,))
    with ps.sequential("k", 0, n) as k:
        z[i] = y[k - 1 - i]
        y[ps.RVar("r", 0, k)] += z[ps.RVar("r", 0, k)]
    with pytest.raises(ps.LanguageError, match="fresh in each iteration"):
        last[i] = z[i]


def test_adi_with_scratch_without_a_shape() -> None:
    u = ps.InOut("u", ps.float64, (n,))
    v = ps.Func("v")
    v[i] = 0.0
    with ps.sequential("t", 0, T):
        v[i] = u[i]
        u[i] = 2.0 * v[i]
    with pytest.raises(ps.LanguageError, match="its region does not follow") as error:
        ps.Schedule(u)
    assert "declare a shape" in error.value.hint


def test_ludcmp_one_row_too_far() -> None:
    b = ps.InOut("b", ps.float64, (n,))
    with ps.sequential("i", n, -1, step=-1) as r:
        b[r] = 0.0
    with pytest.raises(ps.LanguageError, match=r"b\[0\], at n=0"):
        ps.Schedule(b)


def test_trisolv_after_the_loop() -> None:
    x = ps.InOut("x", ps.float64, (n,))
    with ps.sequential("i", 0, n) as r:
        x[r] *= 2.0
    with pytest.raises(ps.LanguageError, match="has no value outside of it"):
        x[r] += 1.0


def test_fdtd_2d_without_a_row_for_the_wave() -> None:
    kernel = ps.Schedule(fdtd_2d_in_place()).compile()
    fields = {name: np.zeros((0, 3)) for name in ("ex", "ey", "hz")}
    with pytest.raises(ps.CallValueError, match=r"out of bounds at T=2, n=0, m=3"):
        kernel(f=np.ones(2), **fields)
    kernel(f=np.ones(0), **fields)  # no wave, no row


def test_jacobi_from_an_array_into_itself() -> None:
    A, B = (ps.InOut(name, ps.float64, (n,)) for name in "AB")
    r = ps.RVar("r", 1, n - 1)
    with ps.sequential("t", 0, T):
        B[r] = A[r - 1] + A[r + 1]
        A[r] = B[r - 1] + B[r + 1]
    same = np.arange(4.0)
    with pytest.raises(ps.CallValueError, match="shares memory"):
        ps.Schedule((A, B)).compile()(A=same, B=same, T=1)
    assert same.tolist() == [0, 1, 2, 3]
