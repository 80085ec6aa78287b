"""Products of matrices and vectors, and what is computed row by row from earlier rows."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.csgraph
import scipy.spatial.distance

import polysched as ps

from .case import Arguments, Array, Case, integers, normal


def matmul(
    transpose_a: bool = False, transpose_b: bool = False, dtype: ps.DType = ps.float32
) -> ps.Func:
    """C = A B, each operand stored as it is or transposed."""
    n, m, l = ps.sizes("n m l")
    A = ps.Input("A", dtype, (l, n) if transpose_a else (n, l))
    B = ps.Input("B", dtype, (m, l) if transpose_b else (l, m))
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, l)
    a = A[k, i] if transpose_a else A[i, k]
    b = B[j, k] if transpose_b else B[k, j]

    C = ps.Func("C", (n, m))
    C[i, j] = 0.0
    C[i, j] += a * b
    return C


def batched_matmul() -> ps.Func:
    """One product of matrices for each index of the leading axis."""
    s, n, m, l = ps.sizes("s n m l")
    A = ps.Input("A", ps.float32, (s, n, l))
    B = ps.Input("B", ps.float32, (s, l, m))
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, l)

    C = ps.Func("C", (s, n, m))
    C[..., i, j] = 0.0
    C[..., i, j] += A[..., i, k] * B[..., k, j]
    return C


def gemm() -> ps.Func:
    """R = alpha A B + beta C."""
    n, m, l = ps.sizes("n m l")
    A = ps.Input("A", ps.float64, (n, l))
    B = ps.Input("B", ps.float64, (l, m))
    C = ps.Input("C", ps.float64, (n, m))
    alpha = ps.Param("alpha", ps.float64, default=1.0)
    beta = ps.Param("beta", ps.float64, default=0.0)
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, l)

    R = ps.Func("R", (n, m))
    R[i, j] = beta * C[i, j]
    R[i, j] += alpha * A[i, k] * B[k, j]
    return R


def matmul_int8() -> ps.Func:
    """A product of int8 matrices, summed in int32."""
    n, m, l = ps.sizes("n m l")
    A = ps.Input("A", ps.int8, (n, l))
    B = ps.Input("B", ps.int8, (l, m))
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, l)

    C = ps.Func("C", (n, m), ps.int32)
    C[i, j] = 0
    C[i, j] += ps.cast(ps.int32, A[i, k]) * ps.cast(ps.int32, B[k, j])
    return C


def matvec() -> ps.Func:
    """y = A x."""
    n, m = ps.sizes("n m")
    A = ps.Input("A", ps.float32, (n, m))
    x = ps.Input("x", ps.float32, (m,))
    i = ps.vars("i")
    k = ps.RVar("k", 0, m)

    y = ps.Func("y", (n,))
    y[i] = 0.0
    y[i] += A[i, k] * x[k]
    return y


def dot() -> ps.Func:
    """The inner product, a Func without axes."""
    n = ps.sizes("n")
    x = ps.Input("x", ps.float64, (n,))
    y = ps.Input("y", ps.float64, (n,))
    k = ps.RVar("k", 0, n)

    total = ps.Func("total", ())
    total[()] = 0.0
    total[()] += x[k] * y[k]
    return total


def triangular_matvec() -> ps.Func:
    """y = L x for a lower triangular L: what is above the diagonal is not read."""
    n = ps.sizes("n")
    L = ps.Input("L", ps.float32, (n, n))
    x = ps.Input("x", ps.float32, (n,))
    i = ps.vars("i")
    k = ps.RVar("k", 0, i + 1)

    y = ps.Func("y", (n,))
    y[i] = 0.0
    y[i] += L[i, k] * x[k]
    return y


def forward_substitution() -> ps.Func:
    """Solves L x = b for a lower triangular L with ones on its diagonal."""
    n = ps.sizes("n")
    L = ps.Input("L", ps.float64, (n, n))
    b = ps.Input("b", ps.float64, (n,))
    i = ps.vars("i")
    r = ps.RVar("r", 0, n)
    k = ps.RVar("k", 0, r)

    x = ps.Func("x", (n,))
    x[i] = b[i]
    x[r] -= L[r, k] * x[k]
    return x


def sparse_matvec() -> ps.Func:
    """y = A x for a matrix in compressed rows: row i has the entries start[i] to start[i + 1]."""
    n, m, nonzeros = ps.sizes("n m nonzeros")
    start = ps.Input("start", ps.int32, (n + 1,), range=(0, nonzeros + 1))
    column = ps.Input("column", ps.int32, (nonzeros,), range=(0, m))
    value = ps.Input("value", ps.float32, (nonzeros,))
    x = ps.Input("x", ps.float32, (m,))
    i = ps.vars("i")
    k = ps.RVar("k", start[i], start[i + 1])

    y = ps.Func("y", (n,))
    y[i] = 0.0
    y[i] += value[k] * x[column[k]]
    return y


def pairwise_distances() -> ps.Func:
    """The Euclidean distance of every point of P from every point of Q."""
    n, m, d = ps.sizes("n m d")
    P = ps.Input("P", ps.float64, (n, d))
    Q = ps.Input("Q", ps.float64, (m, d))
    i, j = ps.vars("i j")
    k = ps.RVar("k", 0, d)

    squared = ps.Func("squared")
    squared[i, j] = 0.0
    squared[i, j] += (P[i, k] - Q[j, k]) ** 2

    distance = ps.Func("distance", (n, m))
    distance[i, j] = ps.sqrt(squared[i, j])
    return distance


def shortest_paths() -> ps.Func:
    """All shortest paths of a weighted graph (Floyd and Warshall)."""
    n = ps.sizes("n")
    weight = ps.Input("weight", ps.int32, (n, n))
    i, j = ps.vars("i j")
    via, source, target = ps.rdom("via source target", (0, n), (0, n), (0, n))

    path = ps.Func("path", (n, n))
    path[i, j] = weight[i, j]
    path[source, target] = ps.minimum(path[source, target], path[source, via] + path[via, target])
    return path


# arguments and references ---------------------------------------------------------------------


def _matmul_case(name: str, transpose_a: bool, transpose_b: bool) -> Case:
    def make(rng: np.random.Generator, n: int, m: int, l: int) -> Arguments:
        return {
            "A": normal(rng, *((l, n) if transpose_a else (n, l))),
            "B": normal(rng, *((m, l) if transpose_b else (l, m))),
        }

    def reference(A: Array, B: Array) -> Array:
        A, B = A.astype(np.float64), B.astype(np.float64)
        return (A.T if transpose_a else A) @ (B.T if transpose_b else B)

    return Case(
        name=name,
        build=lambda: matmul(transpose_a, transpose_b),
        sizes="n m l",
        make=make,
        reference=reference,
        tolerance=1e-5,
        tags="float reduction",
    )


def _substitution_arguments(rng: np.random.Generator, n: int) -> Arguments:
    """A matrix so small beside its diagonal of ones that the solution stays bounded."""
    return {"L": rng.standard_normal((n, n)) / max(n, 1), "b": rng.standard_normal(n)}


def _sparse_arguments(rng: np.random.Generator, n: int, m: int) -> Arguments:
    counts = rng.integers(0, min(m, 20) + 1, n)
    nonzeros = int(counts.sum())
    return {
        "start": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        "column": integers(rng, np.int32, nonzeros, below=max(m, 1)),
        "value": normal(rng, nonzeros),
        "x": normal(rng, m),
    }


def _sparse_reference(start: Array, column: Array, value: Array, x: Array) -> Array:
    shape = (start.size - 1, x.size)
    return scipy.sparse.csr_array((value.astype(np.float64), column, start), shape=shape) @ x


def _shortest_reference(weight: Array) -> Array:
    """SciPy takes no loops at a vertex; the program keeps the shorter of loop and round trip."""
    off_diagonal = scipy.sparse.csgraph.floyd_warshall(weight)
    round_trip = (weight + off_diagonal.T).min(axis=1) if weight.size else 0
    np.fill_diagonal(off_diagonal, round_trip)
    return off_diagonal.astype(weight.dtype)


CASES = (
    _matmul_case("matmul", False, False),
    _matmul_case("matmul_at", True, False),
    _matmul_case("matmul_bt", False, True),
    _matmul_case("matmul_at_bt", True, True),
    Case(
        name="batched_matmul",
        build=batched_matmul,
        sizes="s n m l",
        make=lambda rng, s, n, m, l: {"A": normal(rng, s, n, l), "B": normal(rng, s, l, m)},
        reference=lambda A, B: np.matmul(A, B, dtype=np.float64),
        tolerance=1e-5,
        tags="float reduction slow",
        large={"s": 5, "n": 101, "m": 111, "l": 121},
        limits={"s": 2},
    ),
    Case(
        name="gemm",
        build=gemm,
        sizes="n m l",
        make=lambda rng, n, m, l: {
            "A": rng.standard_normal((n, l)),
            "B": rng.standard_normal((l, m)),
            "C": rng.standard_normal((n, m)),
            "alpha": 1.5,
            "beta": -0.75,
        },
        reference=lambda A, B, C, alpha, beta: alpha * (A @ B) + beta * C,
        tolerance=1e-13,
        tags="float reduction params",
        large=201,
    ),
    Case(
        name="matmul_int8",
        build=matmul_int8,
        sizes="n m l",
        make=lambda rng, n, m, l: {
            "A": integers(rng, np.int8, n, l),
            "B": integers(rng, np.int8, l, m),
        },
        reference=lambda A, B: np.matmul(A, B, dtype=np.int32),
        tags="integer reduction",
        large=201,
    ),
    Case(
        name="matvec",
        build=matvec,
        sizes="n m",
        make=lambda rng, n, m: {"A": normal(rng, n, m), "x": normal(rng, m)},
        reference=lambda A, x: A.astype(np.float64) @ x,
        tolerance=1e-5,
        tags="float reduction",
        large={"n": 701, "m": 899},
    ),
    Case(
        name="dot",
        build=dot,
        sizes="n",
        make=lambda rng, n: {"x": rng.standard_normal(n), "y": rng.standard_normal(n)},
        reference=lambda x, y: np.asarray(np.dot(x, y)),
        tolerance=1e-11,
        tags="float reduction",
        large=9_999,
    ),
    Case(
        name="triangular_matvec",
        build=triangular_matvec,
        sizes="n",
        make=lambda rng, n: {"L": normal(rng, n, n), "x": normal(rng, n)},
        reference=lambda L, x: np.tril(L).astype(np.float64) @ x,
        tolerance=1e-5,
        tags="float reduction triangular",
        large=501,
    ),
    Case(
        name="forward_substitution",
        build=forward_substitution,
        sizes="n",
        make=_substitution_arguments,
        reference=lambda L, b: scipy.linalg.solve_triangular(L, b, lower=True, unit_diagonal=True),
        tolerance=1e-13,
        tags="float recurrence triangular",
        large=501,
    ),
    Case(
        name="sparse_matvec",
        build=sparse_matvec,
        sizes="n m",
        make=_sparse_arguments,
        reference=_sparse_reference,
        tolerance=1e-5,
        tags="float reduction gather",
        large={"n": 999, "m": 501},
    ),
    Case(
        name="pairwise_distances",
        build=pairwise_distances,
        sizes="n m d",
        make=lambda rng, n, m, d: {
            "P": rng.standard_normal((n, d)),
            "Q": rng.standard_normal((m, d)),
        },
        reference=lambda P, Q: scipy.spatial.distance.cdist(P, Q),
        tolerance=1e-13,
        tags="float reduction",
        large={"n": 301, "m": 299, "d": 33},
    ),
    Case(
        name="shortest_paths",
        build=shortest_paths,
        sizes="n",
        make=lambda rng, n: {"weight": integers(rng, np.int32, n, n, below=1000) + np.int32(1)},
        reference=_shortest_reference,
        tags="integer recurrence",
        large=201,
    ),
)
