"""Factorisations and triangular solves as recurrences: elements from earlier elements."""

from __future__ import annotations

import numpy as np
import scipy.linalg

import polysched as ps

from .case import Arguments, Array, Case


def lu_by_steps() -> ps.Func:
    """L and U in one matrix, by n steps of elimination, each on a matrix of its own."""
    n = ps.sizes("n")
    A = ps.Input("A", ps.float64, (n, n))
    k, i, j = ps.vars("k i j")

    a = ps.Func("a", (n + 1, n, n), ps.float64)
    p = k - 1  # the pivot of step k
    a[0, i, j] = A[i, j]
    a[k, i, j] = ps.select(
        (i > p) & (j > p),
        a[p, i, j] - a[p, i, p] / a[p, p, p] * a[p, p, j],
        (i > p) & (j == p),
        a[p, i, p] / a[p, p, p],
        a[p, i, j],
    )
    LU = ps.Func("LU", (n, n))
    LU[i, j] = a[n, i, j]
    return LU


def cholesky_by_steps() -> ps.Func:
    """L with A = L L^T, each column updating what is right of it (right-looking)."""
    n = ps.sizes("n")
    A = ps.Input("A", ps.float64, (n, n))
    k, i, j = ps.vars("k i j")

    a = ps.Func("a", (n + 1, n, n), ps.float64)
    p = k - 1
    a[0, i, j] = A[i, j]
    a[k, i, j] = ps.select(
        (i > p) & (j > p),
        a[p, i, j] - a[p, i, p] * a[p, j, p] / a[p, p, p],
        (i >= p) & (j == p),
        a[p, i, p] / ps.sqrt(a[p, p, p]),
        a[p, i, j],
    )
    L = ps.Func("L", (n, n))
    L[i, j] = ps.select(j <= i, a[n, i, j], 0.0)
    return L


def lu_doolittle() -> tuple[ps.Func, ps.Func]:
    """L, with ones on its diagonal, and U: each element once, by an inner product."""
    n = ps.sizes("n")
    A = ps.Input("A", ps.float64, (n, n))
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, ps.minimum(i, j))

    L, U = ps.Func("L", (n, n), ps.float64), ps.Func("U", (n, n), ps.float64)
    left = A[i, j] - ps.sum(L[i, k] * U[k, j], k)
    L[i, j] = ps.select(i > j, left / U[j, j], i == j, 1.0, 0.0)
    U[i, j] = ps.select(i <= j, left, 0.0)
    return L, U


def cholesky() -> ps.Func:
    """L with A = L L^T, row by row."""
    n = ps.sizes("n")
    A = ps.Input("A", ps.float64, (n, n))
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, j)

    L = ps.Func("L", (n, n), ps.float64)
    left = A[i, j] - ps.sum(L[i, k] * L[j, k], k)
    L[i, j] = ps.select(i > j, left / L[j, j], i == j, ps.sqrt(left), 0.0)
    return L


def ldlt() -> tuple[ps.Func, ps.Func]:
    """L, with ones on its diagonal, and d, with A = L diag(d) L^T."""
    n = ps.sizes("n")
    A = ps.Input("A", ps.float64, (n, n))
    i, j = ps.vars("i j")
    k, q = ps.RVar("k", 0, j), ps.RVar("q", 0, i)

    L, d = ps.Func("L", (n, n), ps.float64), ps.Func("d", (n,), ps.float64)
    left = A[i, j] - ps.sum(L[i, k] * L[j, k] * d[k], k)
    L[i, j] = ps.select(i > j, left / d[j], i == j, 1.0, 0.0)
    d[i] = A[i, i] - ps.sum(L[i, q] ** 2 * d[q], q)
    return L, d


def solve_lower() -> ps.Func:
    """X with L X = B for a lower triangular L, from the first row down."""
    n, m = ps.sizes("n m")
    L = ps.Input("L", ps.float64, (n, n))
    B = ps.Input("B", ps.float64, (n, m))
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, i)

    X = ps.Func("X", (n, m), ps.float64)
    X[i, j] = (B[i, j] - ps.sum(L[i, k] * X[k, j], k)) / L[i, i]
    return X


def solve_upper() -> ps.Func:
    """X with L^T X = B for a lower triangular L, from the last row up."""
    n, m = ps.sizes("n m")
    L = ps.Input("L", ps.float64, (n, n))
    B = ps.Input("B", ps.float64, (n, m))
    i, j = ps.vars("i j")
    k = ps.RVar("k", i + 1, n)

    X = ps.Func("X", (n, m), ps.float64)
    X[i, j] = (B[i, j] - ps.sum(L[k, i] * X[k, j], k)) / L[i, i]
    return X


def solve_definite() -> ps.Func:
    """x with A x = b for a positive definite A: Cholesky, then down, then up."""
    n = ps.sizes("n")
    b = ps.Input("b", ps.float64, (n,))
    i = ps.vars("i")
    k, q = ps.RVar("k", 0, i), ps.RVar("q", i + 1, n)

    L = cholesky()
    y, x = ps.Func("y", (n,), ps.float64), ps.Func("x", (n,), ps.float64)
    y[i] = (b[i] - ps.sum(L[i, k] * y[k], k)) / L[i, i]
    x[i] = (y[i] - ps.sum(L[q, i] * x[q], q)) / L[i, i]
    return x


def tridiagonal() -> ps.Func:
    """x with T x = b for a tridiagonal T (Thomas): a pair of recurrences down, one up."""
    n = ps.sizes("n")
    lower = ps.Input("lower", ps.float64, (n,))
    diagonal = ps.Input("diagonal", ps.float64, (n,))
    upper = ps.Input("upper", ps.float64, (n,))
    b = ps.Input("b", ps.float64, (n,))
    i = ps.vars("i")

    s = ps.Func("s", (n,), (ps.float64, ps.float64))
    c, d = ps.select(i > 0, s[i - 1], (0.0, 0.0))
    pivot = diagonal[i] - lower[i] * c
    s[i] = (upper[i] / pivot, (b[i] - lower[i] * d) / pivot)

    x = ps.Func("x", (n,), ps.float64)
    c, d = s[i]
    x[i] = d - ps.select(i < n - 1, c * x[i + 1], 0.0)
    return x


def gram_schmidt() -> tuple[ps.Func, ps.Func]:
    """Q and R of A, by columns (the classical method); the rows of `Q` are Q's columns."""
    n, m = ps.sizes("n m")
    A = ps.Input("A", ps.float64, (m, n))
    k, p, i = ps.vars("k p i")
    r, s, q = ps.RVar("r", 0, m), ps.RVar("s", 0, m), ps.RVar("q", 0, k)

    Q, along = ps.Func("Q", (n, m), ps.float64), ps.Func("along", (n, n), ps.float64)
    v, norm = ps.Func("v", (n, m), ps.float64), ps.Func("norm", (n,), ps.float64)
    along[k, p] = ps.select(p < k, ps.sum(Q[p, r] * A[r, k], r), 0.0)
    v[k, i] = A[i, k] - ps.sum(Q[q, i] * along[k, q], q)
    norm[k] = ps.sqrt(ps.sum(v[k, s] ** 2, s))
    Q[k, i] = v[k, i] / norm[k]

    R = ps.Func("R", (n, n))
    R[p, k] = ps.select(p < k, along[k, p], p == k, norm[k], 0.0)
    return Q, R


def gram_schmidt_modified() -> tuple[ps.Func, ps.Func]:
    """Q and R of A: each step takes one direction out of all the columns that are left."""
    n, m = ps.sizes("n m")
    A = ps.Input("A", ps.float64, (m, n))
    k, i, j = ps.vars("k i j")
    r, s = ps.RVar("r", 0, m), ps.RVar("s", 0, m)

    V = ps.Func("V", (n, m, n), ps.float64)
    Q, R = ps.Func("Q", (n, m), ps.float64), ps.Func("R", (n, n), ps.float64)
    norm = ps.Func("norm", (n,), ps.float64)
    V[0, i, j] = A[i, j]
    V[k, i, j] = V[k - 1, i, j] - Q[k - 1, i] * R[k - 1, j]
    norm[k] = ps.sqrt(ps.sum(V[k, r, k] ** 2, r))
    Q[k, i] = V[k, i, k] / norm[k]
    R[k, j] = ps.select(j > k, ps.sum(Q[k, s] * V[k, s, j], s), j == k, norm[k], 0.0)
    return Q, R


# arguments and references ---------------------------------------------------------------------


def _definite(rng: np.random.Generator, n: int) -> Array:
    """Symmetric, with eigenvalues between 1 and about 5."""
    B = rng.standard_normal((n, n)) / max(n, 1) ** 0.5
    return B @ B.T + np.eye(n)


def _lower(rng: np.random.Generator, n: int) -> Array:
    """What is above the diagonal is not read."""
    return rng.standard_normal((n, n)) / max(n, 1) + 2 * np.eye(n)


def _without_pivots(A: Array) -> tuple[Array, Array]:
    """L and U, from Cholesky's factor of a symmetric matrix."""
    C = np.linalg.cholesky(A)
    d = np.diag(C)
    return C / d, (C * d).T


def _packed(A: Array) -> Array:
    L, U = _without_pivots(A)
    return np.tril(L, -1) + U


def _tridiagonal_arguments(rng: np.random.Generator, n: int) -> Arguments:
    sides = {name: rng.standard_normal(n) for name in ("lower", "upper", "b")}
    return {**sides, "diagonal": 8 + rng.standard_normal(n)}


def _tridiagonal_reference(lower: Array, diagonal: Array, upper: Array, b: Array) -> Array:
    bands = np.array([np.roll(upper, 1), diagonal, np.roll(lower, -1)])
    return scipy.linalg.solve_banded((1, 1), bands, b)


def _tall(rng: np.random.Generator, n: int, m: int) -> Arguments:
    """n columns, far from dependent, in n + m rows."""
    A = rng.standard_normal((n + m, n)) / max(n + m, 1) ** 0.5
    return {"A": A + 2 * np.eye(n + m, n)}


def _qr(A: Array) -> tuple[Array, Array]:
    """Q^T and R, with a positive diagonal of R, as Gram and Schmidt have it."""
    Q, R = np.linalg.qr(A)
    sign = np.sign(np.diag(R))
    return (Q * sign).T, R * sign[:, None]


CASES = (
    Case(
        name="lu_by_steps",
        build=lu_by_steps,
        sizes="n",
        make=lambda rng, n: {"A": _definite(rng, n)},
        reference=_packed,
        tolerance=1e-12,
        tags="float recurrence slow",
        large=101,
        limits={"n": 13},
    ),
    Case(
        name="cholesky_by_steps",
        build=cholesky_by_steps,
        sizes="n",
        make=lambda rng, n: {"A": _definite(rng, n)},
        reference=lambda A: np.linalg.cholesky(A),
        tolerance=1e-12,
        tags="float recurrence slow",
        large=101,
        limits={"n": 13},
    ),
    Case(
        name="lu_doolittle",
        build=lu_doolittle,
        sizes="n",
        make=lambda rng, n: {"A": _definite(rng, n)},
        reference=_without_pivots,
        tolerance=1e-12,
        tags="float recurrence reduction triangular multiple slow",
        large=101,
        limits={"n": 20},
    ),
    Case(
        name="solve_lower",
        build=solve_lower,
        sizes="n m",
        make=lambda rng, n, m: {"L": _lower(rng, n), "B": rng.standard_normal((n, m))},
        reference=lambda L, B: scipy.linalg.solve_triangular(L, B, lower=True),
        tolerance=1e-12,
        tags="float recurrence reduction triangular slow",
        large=101,
        limits={"m": 12},
    ),
    Case(
        name="solve_upper",
        build=solve_upper,
        sizes="n m",
        make=lambda rng, n, m: {"L": _lower(rng, n), "B": rng.standard_normal((n, m))},
        reference=lambda L, B: scipy.linalg.solve_triangular(L, B, lower=True, trans="T"),
        tolerance=1e-12,
        tags="float recurrence reduction triangular slow",
        large=101,
        limits={"m": 12},
    ),
    Case(
        name="tridiagonal",
        build=tridiagonal,
        sizes="n",
        make=_tridiagonal_arguments,
        reference=_tridiagonal_reference,
        tolerance=1e-13,
        tags="float recurrence tuple",
        large=9_999,
    ),
    Case(
        name="gram_schmidt_modified",
        build=gram_schmidt_modified,
        sizes="n m",
        make=_tall,
        reference=_qr,
        tolerance=1e-11,
        tags="float recurrence reduction multiple slow",
        large={"n": 41, "m": 61},
        limits={"n": 8, "m": 8},
    ),
    Case(
        name="cholesky",
        build=cholesky,
        sizes="n",
        make=lambda rng, n: {"A": _definite(rng, n)},
        reference=lambda A: np.linalg.cholesky(A),
        tolerance=1e-12,
        tags="float recurrence reduction triangular slow",
        large=201,
        limits={"n": 20},
    ),
    Case(
        name="ldlt",
        build=ldlt,
        sizes="n",
        make=lambda rng, n: {"A": _definite(rng, n)},
        reference=lambda A: (_without_pivots(A)[0], np.diag(_without_pivots(A)[1])),
        tolerance=1e-12,
        tags="float recurrence reduction triangular multiple slow",
        large=101,
        limits={"n": 20},
    ),
    Case(
        name="solve_definite",
        build=solve_definite,
        sizes="n",
        make=lambda rng, n: {"A": _definite(rng, n), "b": rng.standard_normal(n)},
        reference=lambda A, b: np.linalg.solve(A, b),
        tolerance=1e-12,
        tags="float recurrence reduction triangular slow",
        large=101,
        limits={"n": 20},
    ),
    Case(
        name="gram_schmidt",
        build=gram_schmidt,
        sizes="n m",
        make=_tall,
        reference=_qr,
        tolerance=1e-11,
        tags="float recurrence reduction triangular multiple slow",
        large={"n": 41, "m": 61},
        limits={"n": 10, "m": 10},
    ),
)
