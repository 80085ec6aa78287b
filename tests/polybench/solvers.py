"""Factorisations and triangular solves, each in place and as a recurrence."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from gallery.case import Arguments, Array

import polysched as ps

from .variants import cases


def cholesky() -> ps.Func:
    """L L^T = A for L lower triangular: each element from those to its left and above."""
    n = ps.sizes("n")
    A = ps.Input("A", ps.float64, (n, n))
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, j)

    L = ps.Func("L", (n, n), ps.float64)
    rest = A[i, j] - ps.sum(L[i, k] * L[j, k], k)
    L[i, j] = ps.select(j < i, rest / L[j, j], j == i, ps.sqrt(rest), A[i, j])
    return L


def cholesky_by_rows() -> ps.InOut:
    """In the lower triangle of A, row after row."""
    n = ps.sizes("n")
    A = ps.InOut("A", ps.float64, (n, n))

    with ps.sequential("i", 0, n) as i:
        with ps.sequential("j", 0, i) as j:
            k = ps.RVar("k", 0, j)
            A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        k = ps.RVar("k", 0, i)
        A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = ps.sqrt(A[i, i])
    return A


def cholesky_right_looking() -> ps.InOut:
    """In the lower triangle of A: each column, when done, updates all that is right of it."""
    n = ps.sizes("n")
    A = ps.InOut("A", ps.float64, (n, n))

    with ps.sequential("k", 0, n) as k:
        i = ps.RVar("i", k + 1, n)
        j = ps.RVar("j", k + 1, i + 1)
        A[k, k] = ps.sqrt(A[k, k])
        A[i, k] /= A[k, k]
        A[i, j] -= A[i, k] * A[j, k]
    return A


def durbin() -> ps.Func:
    """T y = -r for the symmetric Toeplitz matrix T of 1, r[0], ..., r[n-2], by Levinson and Durbin:
    a[k] = -(r[k] + sum over l < k of r[k-1-l] y[k-1, l]) / b[k], b[k] = (1 - a[k-1]^2) b[k-1],
    y[k, i] = y[k-1, i] + a[k] y[k-1, k-1-i] for i < k, y[k, k] = a[k]."""
    n = ps.sizes("n")
    r = ps.Input("r", ps.float64, (n,))
    k, i = ps.vars("k i")
    l = ps.RVar("l", 0, k)

    a = ps.Func("a", (n,), ps.float64)
    b = ps.Func("b", (n,), ps.float64)
    y = ps.Func("y", (n, n), ps.float64)
    b[0] = 1.0
    b[k] = (1.0 - a[k - 1] ** 2) * b[k - 1]
    a[k] = -(r[k] + ps.sum(r[k - 1 - l] * y[k - 1, l], l)) / b[k]
    y[k, i] = ps.select(
        i < k, y[k - 1, i] + a[k] * y[k - 1, k - 1 - i], ps.select(i == k, a[k], 0.0)
    )
    solution = ps.Func("solution", (n,))
    solution[i] = y[n - 1, i]
    return solution


def durbin_in_place() -> ps.Func:
    """The same, where the solution grows by one element in each iteration."""
    n = ps.sizes("n")
    r = ps.Input("r", ps.float64, (n,))
    j = ps.vars("j")

    a, b = (ps.Func(name, (), ps.float64) for name in "ab")
    y = ps.Func("y", (n,), ps.float64)
    a[()] = 0.0
    b[()] = 1.0
    y[j] = 0.0
    with ps.sequential("k", 0, n) as k:
        i = ps.RVar("i", 0, k)
        b[()] *= 1.0 - a[()] ** 2
        a[()] = -(r[k] + ps.sum(r[k - 1 - i] * y[i], i)) / b[()]
        z = ps.Func("z")
        z[j] = y[j] + a[()] * y[k - 1 - j]
        y[i] = z[i]
        y[k] = a[()]
    return y


def gramschmidt() -> tuple[ps.Func, ...]:
    """Q R = A with orthonormal columns in Q and R upper triangular. V[k] is A without its parts
    along the first k columns of Q: R[k, k] = |V[k, :, k]|, Q[:, k] = V[k, :, k] / R[k, k],
    R[k, j] = Q[:, k] . V[k, :, j] and V[k+1, :, j] = V[k, :, j] - Q[:, k] R[k, j]."""
    m, n = ps.sizes("m n")
    A = ps.Input("A", ps.float64, (m, n))
    k, i, j = ps.vars("k i j")
    h = ps.RVar("h", 0, m)

    V = ps.Func("V", (n, m, n), ps.float64)
    column = ps.Func("column", (n, m), ps.float64)
    R = ps.Func("R", (n, n), ps.float64)
    before = V[k - 1, i, j] - column[k - 1, i] * R[k - 1, j]
    V[0, i, j] = A[i, j]
    V[k, i, j] = ps.select(j >= k, before, 0.0)
    norm = ps.sqrt(ps.sum(V[k, h, k] ** 2, h))
    column[k, i] = V[k, i, k] / norm
    R[k, j] = ps.select(j == k, norm, j > k, ps.sum(column[k, h] * V[k, h, j], h), 0.0)
    Q = ps.Func("Q", (m, n))
    Q[i, j] = column[j, i]
    return Q, R


def gramschmidt_in_place() -> tuple[ps.InOut | ps.Func, ...]:
    """Modified Gram and Schmidt: each column, when done, is taken out of those right of it."""
    m, n = ps.sizes("m n")
    A = ps.InOut("A", ps.float64, (m, n))
    i, j = ps.vars("i j")
    h = ps.RVar("h", 0, m)

    Q, R = ps.Func("Q", (m, n)), ps.Func("R", (n, n))
    Q[i, j] = 0.0
    R[i, j] = 0.0
    with ps.sequential("k", 0, n) as k:
        c = ps.RVar("c", k + 1, n)
        R[k, k] = ps.sqrt(ps.sum(A[h, k] ** 2, h))
        Q[i, k] = A[i, k] / R[k, k]
        R[k, c] = ps.sum(Q[h, k] * A[h, c], h)
        A[i, c] -= Q[i, k] * R[k, c]
    return A, Q, R


def lu() -> ps.Func:
    """L U = A without pivoting, L with ones on its diagonal, both in one matrix:
    u[i, j] = a[i, j] - sum over k < i of l[i, k] u[k, j] for j >= i,
    l[i, j] = (a[i, j] - sum over k < j of l[i, k] u[k, j]) / u[j, j] for j < i."""
    n = ps.sizes("n")
    A = ps.Input("A", ps.float64, (n, n))
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, ps.minimum(i, j))

    F = ps.Func("F", (n, n), ps.float64)
    rest = A[i, j] - ps.sum(F[i, k] * F[k, j], k)
    F[i, j] = ps.select(j < i, rest / F[j, j], rest)
    return F


def factorise_by_rows(A: ps.InOut, n: ps.Size) -> None:
    """Replaces A by its factors, row after row."""
    with ps.sequential("i", 0, n) as i:
        with ps.sequential("j", 0, i) as j:
            k = ps.RVar("k", 0, j)
            A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        with ps.sequential("j", i, n) as j:
            k = ps.RVar("k", 0, i)
            A[i, j] -= A[i, k] * A[k, j]


def lu_by_rows() -> ps.InOut:
    """In place, row after row."""
    n = ps.sizes("n")
    A = ps.InOut("A", ps.float64, (n, n))
    factorise_by_rows(A, n)
    return A


def lu_by_dot_products() -> ps.InOut:
    """In place, row after row, with the sums inline."""
    n = ps.sizes("n")
    A = ps.InOut("A", ps.float64, (n, n))

    with ps.sequential("i", 0, n) as i:
        with ps.sequential("j", 0, i) as j:
            k = ps.RVar("k", 0, j)
            A[i, j] = (A[i, j] - ps.sum(A[i, k] * A[k, j], k)) / A[j, j]
        with ps.sequential("j", i, n) as j:
            k = ps.RVar("k", 0, i)
            A[i, j] -= ps.sum(A[i, k] * A[k, j], k)
    return A


def lu_right_looking() -> ps.InOut:
    """In place: each row and column, when done, updates all that is below and right of it."""
    n = ps.sizes("n")
    A = ps.InOut("A", ps.float64, (n, n))

    with ps.sequential("k", 0, n) as k:
        i, j = ps.rdom("i j", (k + 1, n), (k + 1, n))
        A[i, k] /= A[k, k]
        A[i, j] -= A[i, k] * A[k, j]
    return A


def ludcmp() -> tuple[ps.Func, ...]:
    """A x = b by L U = A, L y = b (upwards), U x = y (downwards)."""
    n = ps.sizes("n")
    F = lu()
    b = ps.Input("b", ps.float64, (n,))
    i = ps.vars("i")
    below, above = ps.RVar("k", 0, i), ps.RVar("k", i + 1, n)

    y = ps.Func("y", (n,), ps.float64)
    y[i] = b[i] - ps.sum(F[i, below] * y[below], below)
    x = ps.Func("x", (n,), ps.float64)
    x[i] = (y[i] - ps.sum(F[i, above] * x[above], above)) / F[i, i]
    return F, x


def ludcmp_in_place() -> tuple[ps.InOut, ...]:
    """A is replaced by its factors, and b by the solution."""
    n = ps.sizes("n")
    A = ps.InOut("A", ps.float64, (n, n))
    b = ps.InOut("b", ps.float64, (n,))

    factorise_by_rows(A, n)
    with ps.sequential("i", 0, n) as i:
        k = ps.RVar("k", 0, i)
        b[i] -= A[i, k] * b[k]
    with ps.sequential("i", n - 1, -1, step=-1) as i:
        k = ps.RVar("k", i + 1, n)
        b[i] -= A[i, k] * b[k]
        b[i] /= A[i, i]
    return A, b


def trisolv() -> ps.Func:
    """L x = b for L lower triangular: x[i] = (b[i] - sum over k < i of L[i, k] x[k]) / L[i, i]."""
    n = ps.sizes("n")
    L = ps.Input("L", ps.float64, (n, n))
    b = ps.Input("b", ps.float64, (n,))
    i = ps.vars("i")
    k = ps.RVar("k", 0, i)

    x = ps.Func("x", (n,), ps.float64)
    x[i] = (b[i] - ps.sum(L[i, k] * x[k], k)) / L[i, i]
    return x


def trisolv_in_place() -> ps.Func:
    """The same, step by step."""
    n = ps.sizes("n")
    L = ps.Input("L", ps.float64, (n, n))
    b = ps.Input("b", ps.float64, (n,))
    j = ps.vars("j")

    x = ps.Func("x", (n,))
    x[j] = b[j]
    with ps.sequential("i", 0, n) as i:
        k = ps.RVar("k", 0, i)
        x[i] -= L[i, k] * x[k]
        x[i] /= L[i, i]
    return x


# arguments and references ---------------------------------------------------------------------


def _positive_definite(rng: np.random.Generator, n: int) -> Arguments:
    root = rng.standard_normal((n, n))
    return {"A": root @ root.T + n * np.eye(n)}


def _dominant(rng: np.random.Generator, n: int) -> Arguments:
    """The diagonal outweighs each column, so that pivoting would exchange no rows."""
    return {"A": rng.uniform(-1, 1, (n, n)) + 2 * n * np.eye(n)}


def _system(rng: np.random.Generator, n: int) -> Arguments:
    return _dominant(rng, n) | {"b": rng.standard_normal(n)}


def _triangular(rng: np.random.Generator, n: int) -> Arguments:
    L = np.tril(_dominant(rng, n)["A"]) + np.triu(rng.standard_normal((n, n)), 1)
    return {"L": L, "b": rng.standard_normal(n)}


def _autocorrelation(rng: np.random.Generator, n: int) -> Arguments:
    """What a decaying signal correlates to: the Toeplitz matrix is well conditioned."""
    return {"r": 0.4 ** np.arange(1, n + 1) * rng.uniform(0.5, 1.0, n)}


def _columns(rng: np.random.Generator, m: int, n: int) -> Arguments:
    """Independent columns: at least as many rows as columns, by n more."""
    return {"A": rng.standard_normal((m + n, n))}


def _cholesky_reference(A: Array) -> Array:
    return np.linalg.cholesky(A) + np.triu(A, 1)


def _durbin_reference(r: Array) -> Array:
    return np.linalg.solve(scipy.linalg.toeplitz(np.r_[1.0, r[:-1]]), -r)


def _gramschmidt_reference(A: Array) -> tuple[Array, ...]:
    Q, R = np.linalg.qr(A)
    signs = np.sign(np.diag(R))
    return Q * signs, R * signs[:, None]


def _gramschmidt_in_place_reference(A: Array) -> tuple[Array, ...]:
    """Each column of A ends as what was left of it before it was normalised."""
    Q, R = _gramschmidt_reference(A)
    return Q * np.diag(R), Q, R


def _lu_reference(A: Array) -> Array:
    P, L, U = scipy.linalg.lu(A)
    if not np.array_equal(P, np.eye(len(A))):
        raise ValueError("SciPy exchanged rows")
    return np.tril(L, -1) + U


CASES = (
    *cases(
        "cholesky",
        {"": cholesky, "-by-rows": cholesky_by_rows, "-right-looking": cholesky_right_looking},
        sizes="n",
        make=_positive_definite,
        reference=_cholesky_reference,
        tags="float recurrence triangular",
        large=151,
    ),
    *cases(
        "durbin",
        {"": durbin, "-in-place": durbin_in_place},
        sizes="n",
        make=_autocorrelation,
        reference=_durbin_reference,
        tags="float recurrence triangular",
        large=301,
    ),
    *cases(
        "gramschmidt",
        {"": gramschmidt},
        sizes="m n",
        make=_columns,
        reference=_gramschmidt_reference,
        tags="float recurrence triangular multiple",
        large={"m": 41, "n": 61},
    ),
    *cases(
        "gramschmidt",
        {"-in-place": gramschmidt_in_place},
        sizes="m n",
        make=_columns,
        reference=_gramschmidt_in_place_reference,
        tags="float recurrence triangular multiple",
        large={"m": 41, "n": 61},
    ),
    *cases(
        "lu",
        {
            "": lu,
            "-by-rows": lu_by_rows,
            "-by-dot-products": lu_by_dot_products,
            "-right-looking": lu_right_looking,
        },
        sizes="n",
        make=_dominant,
        reference=_lu_reference,
        tags="float recurrence triangular",
        large=151,
    ),
    *cases(
        "ludcmp",
        {"": ludcmp, "-in-place": ludcmp_in_place},
        sizes="n",
        make=_system,
        reference=lambda A, b: (_lu_reference(A), np.linalg.solve(A, b)),
        tags="float recurrence triangular multiple",
        large=151,
    ),
    *cases(
        "trisolv",
        {"": trisolv, "-in-place": trisolv_in_place},
        sizes="n",
        make=_triangular,
        reference=lambda L, b: scipy.linalg.solve_triangular(L, b, lower=True),
        tags="float recurrence triangular",
        large=301,
    ),
)
