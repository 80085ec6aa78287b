"""Products of matrices and vectors as in the BLAS: dense, symmetric and triangular."""

from __future__ import annotations

import numpy as np
from gallery.case import Array

import polysched as ps

from .variants import arrays, cases


def _scalars() -> tuple[ps.Param, ps.Param]:
    return ps.Param("alpha", ps.float64), ps.Param("beta", ps.float64)


def gemm() -> ps.Func:
    """R = alpha A B + beta C."""
    n, m, l = ps.sizes("n m l")
    A = ps.Input("A", ps.float64, (n, l))
    B = ps.Input("B", ps.float64, (l, m))
    C = ps.Input("C", ps.float64, (n, m))
    alpha, beta = _scalars()
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, l)

    R = ps.Func("R", (n, m))
    R[i, j] = alpha * ps.sum(A[i, k] * B[k, j], k) + beta * C[i, j]
    return R


def gemm_in_place() -> ps.InOut:
    """C := alpha A B + beta C, by two updates."""
    n, m, l = ps.sizes("n m l")
    A = ps.Input("A", ps.float64, (n, l))
    B = ps.Input("B", ps.float64, (l, m))
    C = ps.InOut("C", ps.float64, (n, m))
    alpha, beta = _scalars()
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, l)

    C[i, j] *= beta
    C[i, j] += alpha * A[i, k] * B[k, j]
    return C


_VECTORS = ("u1", "v1", "u2", "v2", "y", "z")


def gemver() -> tuple[ps.Func, ...]:
    """A' = A + u1 v1^T + u2 v2^T, x = beta A'^T y + z, w = alpha A' x."""
    n = ps.sizes("n")
    A = ps.Input("A", ps.float64, (n, n))
    u1, v1, u2, v2, y, z = (ps.Input(name, ps.float64, (n,)) for name in _VECTORS)
    alpha, beta = _scalars()
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, n)

    R = ps.Func("R", (n, n))
    R[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    x = ps.Func("x", (n,))
    x[i] = beta * ps.sum(R[k, i] * y[k], k) + z[i]
    w = ps.Func("w", (n,))
    w[i] = alpha * ps.sum(R[i, k] * x[k], k)
    return R, x, w


def gemver_in_place() -> tuple[ps.InOut | ps.Func, ...]:
    """The same, where the matrix is replaced and x, w are accumulated."""
    n = ps.sizes("n")
    A = ps.InOut("A", ps.float64, (n, n))
    u1, v1, u2, v2, y, z = (ps.Input(name, ps.float64, (n,)) for name in _VECTORS)
    alpha, beta = _scalars()
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, n)

    A[i, j] += u1[i] * v1[j] + u2[i] * v2[j]
    x = ps.Func("x", (n,))
    x[i] = z[i]
    x[i] += beta * A.final[k, i] * y[k]
    w = ps.Func("w", (n,))
    w[i] = 0.0
    w[i] += alpha * A.final[i, k] * x[k]
    return A, x, w


def gesummv() -> ps.Func:
    """y = alpha A x + beta B x."""
    n = ps.sizes("n")
    A = ps.Input("A", ps.float64, (n, n))
    B = ps.Input("B", ps.float64, (n, n))
    x = ps.Input("x", ps.float64, (n,))
    alpha, beta = _scalars()
    i = ps.vars("i")
    k = ps.RVar("k", 0, n)

    y = ps.Func("y", (n,))
    y[i] = alpha * ps.sum(A[i, k] * x[k], k) + beta * ps.sum(B[i, k] * x[k], k)
    return y


def symm() -> ps.Func:
    """R = alpha A B + beta C for a symmetric A, of which the lower triangle is stored."""
    n, m = ps.sizes("n m")
    A = ps.Input("A", ps.float64, (n, n))
    B = ps.Input("B", ps.float64, (n, m))
    C = ps.Input("C", ps.float64, (n, m))
    alpha, beta = _scalars()
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, n)

    full = ps.select(k <= i, A[i, k], A[k, i])
    R = ps.Func("R", (n, m))
    R[i, j] = beta * C[i, j] + alpha * ps.sum(full * B[k, j], k)
    return R


def symm_in_place() -> ps.InOut:
    """Row i of the triangle is read once: for row i of the result, and for those above it."""
    n, m = ps.sizes("n m")
    A = ps.Input("A", ps.float64, (n, n))
    B = ps.Input("B", ps.float64, (n, m))
    C = ps.InOut("C", ps.float64, (n, m))
    alpha, beta = _scalars()
    j = ps.vars("j")

    with ps.sequential("i", 0, n) as i:
        k = ps.RVar("k", 0, i)
        C[k, j] += alpha * A[i, k] * B[i, j]
        own = A[i, i] * B[i, j] + ps.sum(A[i, k] * B[k, j], k)
        C[i, j] = beta * C[i, j] + alpha * own
    return C


def syr2k() -> ps.Func:
    """R = alpha (A B^T + B A^T) + beta C in the lower triangle, C above it."""
    n, m = ps.sizes("n m")
    A = ps.Input("A", ps.float64, (n, m))
    B = ps.Input("B", ps.float64, (n, m))
    C = ps.Input("C", ps.float64, (n, n))
    alpha, beta = _scalars()
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, m)

    product = ps.sum(A[i, k] * B[j, k] + B[i, k] * A[j, k], k)
    R = ps.Func("R", (n, n))
    R[i, j] = ps.select(j <= i, beta * C[i, j] + alpha * product, C[i, j])
    return R


def syr2k_in_place() -> ps.InOut:
    """Updates of the lower triangle alone."""
    n, m = ps.sizes("n m")
    A = ps.Input("A", ps.float64, (n, m))
    B = ps.Input("B", ps.float64, (n, m))
    C = ps.InOut("C", ps.float64, (n, n))
    alpha, beta = _scalars()
    i = ps.vars("i")
    j = ps.RVar("j", 0, i + 1)
    k = ps.RVar("k", 0, m)

    C[i, j] *= beta
    C[i, j] += alpha * A[i, k] * B[j, k] + alpha * B[i, k] * A[j, k]
    return C


def syrk() -> ps.Func:
    """R = alpha A A^T + beta C in the lower triangle, C above it."""
    n, m = ps.sizes("n m")
    A = ps.Input("A", ps.float64, (n, m))
    C = ps.Input("C", ps.float64, (n, n))
    alpha, beta = _scalars()
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, m)

    R = ps.Func("R", (n, n))
    square = ps.sum(A[i, k] * A[j, k], k)
    R[i, j] = ps.select(j <= i, beta * C[i, j] + alpha * square, C[i, j])
    return R


def syrk_in_place() -> ps.InOut:
    """Updates of the lower triangle alone."""
    n, m = ps.sizes("n m")
    A = ps.Input("A", ps.float64, (n, m))
    C = ps.InOut("C", ps.float64, (n, n))
    alpha, beta = _scalars()
    i = ps.vars("i")
    j = ps.RVar("j", 0, i + 1)
    k = ps.RVar("k", 0, m)

    C[i, j] *= beta
    C[i, j] += alpha * A[i, k] * A[j, k]
    return C


def trmm() -> ps.Func:
    """R = alpha A^T B for a lower triangular A with ones on its diagonal, which are not stored."""
    n, m = ps.sizes("n m")
    A = ps.Input("A", ps.float64, (n, n))
    B = ps.Input("B", ps.float64, (n, m))
    alpha = ps.Param("alpha", ps.float64)
    i, j = ps.vars("i j")
    k = ps.RVar("k", i + 1, n)

    R = ps.Func("R", (n, m))
    R[i, j] = alpha * (B[i, j] + ps.sum(A[k, i] * B[k, j], k))
    return R


def trmm_in_place() -> ps.InOut:
    """B := alpha A^T B: row i needs those with larger indices as they were, so it comes first."""
    n, m = ps.sizes("n m")
    A = ps.Input("A", ps.float64, (n, n))
    B = ps.InOut("B", ps.float64, (n, m))
    alpha = ps.Param("alpha", ps.float64)
    j = ps.vars("j")

    with ps.sequential("i", 0, n) as i:
        k = ps.RVar("k", i + 1, n)
        B[i, j] += A[k, i] * B[k, j]
        B[i, j] *= alpha
    return B


# arguments and references ---------------------------------------------------------------------


def _gemver_reference(
    A: Array, u1: Array, v1: Array, u2: Array, v2: Array, y: Array, z: Array,
    alpha: float, beta: float,
) -> tuple[Array, ...]:  # fmt: skip
    R = A + np.outer(u1, v1) + np.outer(u2, v2)
    x = beta * (y @ R) + z
    return R, x, alpha * (R @ x)


def _symm_reference(A: Array, B: Array, C: Array, alpha: float, beta: float) -> Array:
    return alpha * (np.tril(A) + np.tril(A, -1).T) @ B + beta * C


def _lower(product: Array, C: Array, beta: float) -> Array:
    return np.tril(product + beta * C) + np.triu(C, 1)


def _syr2k_reference(A: Array, B: Array, C: Array, alpha: float, beta: float) -> Array:
    return _lower(alpha * (A @ B.T + B @ A.T), C, beta)


def _syrk_reference(A: Array, C: Array, alpha: float, beta: float) -> Array:
    return _lower(alpha * (A @ A.T), C, beta)


def _trmm_reference(A: Array, B: Array, alpha: float) -> Array:
    return alpha * (np.tril(A, -1) + np.eye(len(A))).T @ B


CASES = (
    *cases(
        "gemm",
        {"": gemm, "-in-place": gemm_in_place},
        sizes="n m l",
        make=arrays("A:nl B:lm C:nm", alpha=1.5, beta=-0.75),
        reference=lambda A, B, C, alpha, beta: alpha * (A @ B) + beta * C,
        tags="float reduction params",
        large=151,
    ),
    *cases(
        "gemver",
        {"": gemver, "-in-place": gemver_in_place},
        sizes="n",
        make=arrays("A:nn u1:n v1:n u2:n v2:n y:n z:n", alpha=1.5, beta=-0.75),
        reference=_gemver_reference,
        tags="float reduction params multiple",
        large=301,
    ),
    *cases(
        "gesummv",
        {"": gesummv},
        sizes="n",
        make=arrays("A:nn B:nn x:n", alpha=1.5, beta=-0.75),
        reference=lambda A, B, x, alpha, beta: alpha * (A @ x) + beta * (B @ x),
        tags="float reduction params",
        large=301,
    ),
    *cases(
        "symm",
        {"": symm, "-in-place": symm_in_place},
        sizes="n m",
        make=arrays("A:nn B:nm C:nm", alpha=1.5, beta=-0.75),
        reference=_symm_reference,
        tags="float reduction params triangular",
        large=151,
    ),
    *cases(
        "syr2k",
        {"": syr2k, "-in-place": syr2k_in_place},
        sizes="n m",
        make=arrays("A:nm B:nm C:nn", alpha=1.5, beta=-0.75),
        reference=_syr2k_reference,
        tags="float reduction params triangular",
        large=151,
    ),
    *cases(
        "syrk",
        {"": syrk, "-in-place": syrk_in_place},
        sizes="n m",
        make=arrays("A:nm C:nn", alpha=1.5, beta=-0.75),
        reference=_syrk_reference,
        tags="float reduction params triangular",
        large=151,
    ),
    *cases(
        "trmm",
        {"": trmm, "-in-place": trmm_in_place},
        sizes="n m",
        make=arrays("A:nn B:nm", alpha=1.5),
        reference=_trmm_reference,
        tags="float reduction params triangular",
        large=151,
    ),
)
