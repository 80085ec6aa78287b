"""Chains of products of matrices and vectors."""

from __future__ import annotations

import numpy as np
from gallery.case import Array

import polysched as ps

from .variants import arrays, cases


def two_mm() -> ps.Func:
    """R = alpha A B C + beta D."""
    n, m, l, p = ps.sizes("n m l p")
    A = ps.Input("A", ps.float64, (n, l))
    B = ps.Input("B", ps.float64, (l, m))
    C = ps.Input("C", ps.float64, (m, p))
    D = ps.Input("D", ps.float64, (n, p))
    alpha, beta = ps.Param("alpha", ps.float64), ps.Param("beta", ps.float64)
    i, j = ps.vars("i j")
    k, h = ps.RVar("k", 0, l), ps.RVar("h", 0, m)

    AB = ps.Func("AB")
    AB[i, j] = alpha * ps.sum(A[i, k] * B[k, j], k)
    R = ps.Func("R", (n, p))
    R[i, j] = beta * D[i, j] + ps.sum(AB[i, h] * C[h, j], h)
    return R


def two_mm_in_place() -> ps.InOut:
    """D := alpha A B C + beta D."""
    n, m, l, p = ps.sizes("n m l p")
    A = ps.Input("A", ps.float64, (n, l))
    B = ps.Input("B", ps.float64, (l, m))
    C = ps.Input("C", ps.float64, (m, p))
    D = ps.InOut("D", ps.float64, (n, p))
    alpha, beta = ps.Param("alpha", ps.float64), ps.Param("beta", ps.float64)
    i, j = ps.vars("i j")
    k, h = ps.RVar("k", 0, l), ps.RVar("h", 0, m)

    AB = ps.Func("AB")
    AB[i, j] = alpha * ps.sum(A[i, k] * B[k, j], k)
    D[i, j] *= beta
    D[i, j] += AB[i, h] * C[h, j]
    return D


def three_mm() -> ps.Func:
    """G = (A B) (C D)."""
    n, m, l, p, q = ps.sizes("n m l p q")
    A = ps.Input("A", ps.float64, (n, l))
    B = ps.Input("B", ps.float64, (l, m))
    C = ps.Input("C", ps.float64, (m, q))
    D = ps.Input("D", ps.float64, (q, p))

    E = ps.einsum("ik,kj->ij", A, B, name="E")
    F = ps.einsum("ik,kj->ij", C, D, name="F")
    return ps.einsum("ik,kj->ij", E, F, name="G")


def atax() -> ps.Func:
    """y = A^T (A x)."""
    n, m = ps.sizes("n m")
    A = ps.Input("A", ps.float64, (n, m))
    x = ps.Input("x", ps.float64, (m,))
    i, j = ps.vars("i j")
    k, h = ps.RVar("k", 0, m), ps.RVar("h", 0, n)

    Ax = ps.Func("Ax")
    Ax[i] = ps.sum(A[i, k] * x[k], k)
    y = ps.Func("y", (m,))
    y[j] = ps.sum(A[h, j] * Ax[h], h)
    return y


def bicg() -> tuple[ps.Func, ...]:
    """s = A^T r, q = A p."""
    n, m = ps.sizes("n m")
    A = ps.Input("A", ps.float64, (n, m))
    r = ps.Input("r", ps.float64, (n,))
    p = ps.Input("p", ps.float64, (m,))
    i, j = ps.vars("i j")
    k, h = ps.RVar("k", 0, m), ps.RVar("h", 0, n)

    s = ps.Func("s", (m,))
    s[j] = ps.sum(A[h, j] * r[h], h)
    q = ps.Func("q", (n,))
    q[i] = ps.sum(A[i, k] * p[k], k)
    return s, q


def doitgen() -> ps.Func:
    """R[r, q, p] = sum over s of A[r, q, s] C[s, p]: a basis of one axis transformed."""
    n, m, l = ps.sizes("n m l")
    A = ps.Input("A", ps.float64, (n, m, l))
    C = ps.Input("C", ps.float64, (l, l))
    r, q, p = ps.vars("r q p")
    s = ps.RVar("s", 0, l)

    R = ps.Func("R", (n, m, l))
    R[r, q, p] = ps.sum(A[r, q, s] * C[s, p], s)
    return R


def doitgen_in_place() -> ps.InOut:
    """Line by line in place: the sums of a line are taken before it is overwritten."""
    n, m, l = ps.sizes("n m l")
    A = ps.InOut("A", ps.float64, (n, m, l))
    C = ps.Input("C", ps.float64, (l, l))
    p = ps.vars("p")
    s = ps.RVar("s", 0, l)

    with ps.sequential("r", 0, n) as r, ps.sequential("q", 0, m) as q:
        A[r, q, p] = ps.sum(A[r, q, s] * C[s, p], s)
    return A


def doitgen_by_line() -> ps.InOut:
    """The same, with a line of its own for the sums, fresh in each iteration."""
    n, m, l = ps.sizes("n m l")
    A = ps.InOut("A", ps.float64, (n, m, l))
    C = ps.Input("C", ps.float64, (l, l))
    p = ps.vars("p")
    s = ps.RVar("s", 0, l)

    with ps.sequential("r", 0, n) as r, ps.sequential("q", 0, m) as q:
        line = ps.Func("line")
        line[p] = ps.sum(A[r, q, s] * C[s, p], s)
        A[r, q, p] = line[p]
    return A


def mvt() -> tuple[ps.Func, ...]:
    """x1' = x1 + A y1, x2' = x2 + A^T y2."""
    n = ps.sizes("n")
    A = ps.Input("A", ps.float64, (n, n))
    x1, x2, y1, y2 = (ps.Input(s, ps.float64, (n,)) for s in ("x1", "x2", "y1", "y2"))
    i = ps.vars("i")
    k = ps.RVar("k", 0, n)

    r1, r2 = ps.Func("r1", (n,)), ps.Func("r2", (n,))
    r1[i] = x1[i] + ps.sum(A[i, k] * y1[k], k)
    r2[i] = x2[i] + ps.sum(A[k, i] * y2[k], k)
    return r1, r2


def mvt_in_place() -> tuple[ps.InOut, ...]:
    """Both vectors are accumulated where they are."""
    n = ps.sizes("n")
    A = ps.Input("A", ps.float64, (n, n))
    y1, y2 = (ps.Input(s, ps.float64, (n,)) for s in ("y1", "y2"))
    x1, x2 = (ps.InOut(s, ps.float64, (n,)) for s in ("x1", "x2"))
    i = ps.vars("i")
    k = ps.RVar("k", 0, n)

    x1[i] += A[i, k] * y1[k]
    x2[i] += A[k, i] * y2[k]
    return x1, x2


# arguments and references ---------------------------------------------------------------------


def _mvt_reference(A: Array, x1: Array, x2: Array, y1: Array, y2: Array) -> tuple[Array, ...]:
    return x1 + A @ y1, x2 + y2 @ A


CASES = (
    *cases(
        "2mm",
        {"": two_mm, "-in-place": two_mm_in_place},
        sizes="n m l p",
        make=arrays("A:nl B:lm C:mp D:np", alpha=1.5, beta=-0.75),
        reference=lambda A, B, C, D, alpha, beta: alpha * (A @ B @ C) + beta * D,
        tags="float reduction params",
        large=151,
    ),
    *cases(
        "3mm",
        {"": three_mm},
        sizes="n m l p q",
        make=arrays("A:nl B:lm C:mq D:qp"),
        reference=lambda A, B, C, D: np.linalg.multi_dot([A, B, C, D]),
        tags="float reduction",
        large=151,
    ),
    *cases(
        "atax",
        {"": atax},
        sizes="n m",
        make=arrays("A:nm x:m"),
        reference=lambda A, x: A.T @ (A @ x),
        tags="float reduction",
        large=401,
    ),
    *cases(
        "bicg",
        {"": bicg},
        sizes="n m",
        make=arrays("A:nm r:n p:m"),
        reference=lambda A, r, p: (r @ A, A @ p),
        tags="float reduction multiple",
        large=401,
    ),
    *cases(
        "doitgen",
        {"": doitgen, "-in-place": doitgen_in_place, "-by-line": doitgen_by_line},
        sizes="n m l",
        make=arrays("A:nml C:ll"),
        reference=lambda A, C: np.einsum("rqs,sp->rqp", A, C),
        tags="float reduction",
        large={"n": 21, "m": 31, "l": 61},
    ),
    *cases(
        "mvt",
        {"": mvt, "-in-place": mvt_in_place},
        sizes="n",
        make=arrays("A:nn x1:n x2:n y1:n y2:n"),
        reference=_mvt_reference,
        tags="float reduction multiple",
        large=401,
    ),
)
