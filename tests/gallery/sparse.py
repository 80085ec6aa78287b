"""Sparse matrices, ragged rows and clusters: bounds and indices that are read from data."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.spatial.distance

import polysched as ps

from .case import Arguments, Array, Case, integers, normal


def _rows(n: ps.Size, m: ps.Size) -> tuple[ps.Input, ps.Input, ps.Input]:
    """A matrix of n rows and m columns in compressed rows: start, column, value."""
    nonzeros = ps.sizes("nonzeros")
    start = ps.Input("start", ps.int32, (n + 1,), range=(0, nonzeros + 1))
    column = ps.Input("column", ps.int32, (nonzeros,), range=(0, m))
    return start, column, ps.Input("value", ps.float32, (nonzeros,))


def csr_matvec() -> ps.Func:
    """y = A x, each element one inline sum over the entries of a row."""
    n, m = ps.sizes("n m")
    start, column, value = _rows(n, m)
    x = ps.Input("x", ps.float32, (m,))
    i = ps.vars("i")
    k = ps.RVar("k", start[i], start[i + 1])

    y = ps.Func("y", (n,))
    y[i] = ps.sum(value[k] * x[column[k]], k)
    return y


def csr_matmul() -> ps.Func:
    """Y = A X: each entry of A scales a row of a dense matrix."""
    n, m, l = ps.sizes("n m l")
    start, column, value = _rows(n, m)
    X = ps.Input("X", ps.float32, (m, l))
    i, j = ps.vars("i j")
    k = ps.RVar("k", start[i], start[i + 1])

    Y = ps.Func("Y", (n, l))
    Y[i, j] = ps.sum(value[k] * X[column[k], j], k)
    return Y


def csr_transposed_matvec() -> ps.Func:
    """y = A^T x: each entry of A adds to the element that its column says."""
    n, m = ps.sizes("n m")
    start, column, value = _rows(n, m)
    x = ps.Input("x", ps.float32, (n,))
    j = ps.vars("j")
    r = ps.RVar("r", 0, n)
    k = ps.RVar("k", start[r], start[r + 1])

    y = ps.Func("y", (m,), ps.float32)
    y[j] = 0.0
    y[column[k]] += value[k] * x[r]
    return y


def csr_forward_substitution() -> ps.Func:
    """Solves (I + A) x = b for a strictly lower triangular A. The recurrence reads what the
    columns say; that they lie before the row is promised by a clamp."""
    n = ps.sizes("n")
    start, column, value = _rows(n, n)
    b = ps.Input("b", ps.float32, (n,))
    i = ps.vars("i")
    k = ps.RVar("k", start[i], start[i + 1])

    x = ps.Func("x", (n,), ps.float32)
    x[0] = b[0]
    x[i] = b[i] - ps.sum(value[k] * x[ps.minimum(column[k], i - 1)], k)
    return x


def csr_power_iteration() -> ps.Func:
    """A^T x for a square sparse A by repeated products: a recurrence over sums that data bound."""
    n, T = ps.sizes("n T")
    start, column, value = _rows(n, n)
    x = ps.Input("x", ps.float32, (n,))
    t, i = ps.vars("t i")
    k = ps.RVar("k", start[i], start[i + 1])

    p = ps.Func("p", (T + 1, n), ps.float32)
    p[0, i] = x[i]
    p[t, i] = ps.sum(value[k] * p[t - 1, column[k]], k)

    last = ps.Func("last", (n,))
    last[i] = p[T, i]
    return last


def ragged_softmax() -> ps.Func:
    """Softmax within segments of a flat array: each element knows its segment."""
    n, segments = ps.sizes("n segments")
    x = ps.Input("x", ps.float32, (n,))
    start = ps.Input("start", ps.int64, (segments + 1,), range=(0, n + 1))
    segment = ps.Input("segment", ps.int32, (n,), range=(0, segments))
    i, s = ps.vars("i s")
    k = ps.RVar("k", start[s], start[s + 1])

    top, total = ps.Func("top", (segments,)), ps.Func("total", (segments,))
    top[s] = ps.max(x[k], k, initial=-np.inf)
    total[s] = ps.sum(ps.exp(x[k] - top[s]), k)
    y = ps.Func("y", (n,))
    y[i] = ps.exp(x[i] - top[segment[i]]) / total[segment[i]]
    return y


def nearest_centroid() -> ps.Func:
    """The assignment step of k-means: the first of the nearest centroids of each point."""
    n, m, d = ps.sizes("n m d")
    X = ps.Input("X", ps.float64, (n, d))
    C = ps.Input("C", ps.float64, (m, d))
    i = ps.vars("i")
    c, k = ps.RVar("c", 0, m), ps.RVar("k", 0, d)

    label = ps.Func("label", (n,))
    label[i] = ps.argmin(ps.sum((X[i, k] - C[c, k]) ** 2, k), c)
    return label


def kmeans_step() -> tuple[ps.Func, ps.Func]:
    """Points assigned to the nearest centroid, and the centroids moved to the mean of theirs."""
    n, m, d = ps.sizes("n m d")
    X = ps.Input("X", ps.float64, (n, d))
    C = ps.Input("C", ps.float64, (m, d))
    i, j, c = ps.vars("i j c")
    q, k, r = ps.RVar("q", 0, m), ps.RVar("k", 0, d), ps.RVar("r", 0, n)

    label = ps.Func("label", (n,))
    label[i] = ps.argmin(ps.sum((X[i, k] - C[q, k]) ** 2, k), q)
    count, total = ps.Func("count", (m,), ps.int64), ps.Func("total", (m, d), ps.float64)
    count[c] = 0
    count[label[r]] += 1
    total[c, j] = 0.0
    total[label[r], j] += X[r, j]
    moved = ps.Func("moved", (m, d))
    moved[c, j] = ps.select(count[c] > 0, total[c, j] / count[c], C[c, j])
    return moved, label


# arguments and references ---------------------------------------------------------------------


def _csr(rng: np.random.Generator, n: int, m: int, lower: bool = False) -> Arguments:
    """Up to 20 entries a row, columns in any order and possibly twice."""
    counts = rng.integers(0, min(m, 20) + 1, n)
    if lower:
        counts[:1] = 0
    rows = np.repeat(np.arange(n), counts)
    below = rows if lower else np.full(rows.shape, m)
    return {
        "start": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        "column": (rng.random(rows.shape) * below).astype(np.int32),
        "value": normal(rng, rows.size) / np.float32(20),
    }


def _matrix(start: Array, column: Array, value: Array, m: int) -> scipy.sparse.csr_array:
    shape = (start.size - 1, m)
    return scipy.sparse.csr_array((value.astype(np.float64), column, start), shape=shape)


def _substitution_reference(start: Array, column: Array, value: Array, b: Array) -> Array:
    A = _matrix(start, column, value, b.size).toarray()
    return scipy.linalg.solve_triangular(A, b, lower=True, unit_diagonal=True)


def _power_reference(start: Array, column: Array, value: Array, x: Array, T: int) -> Array:
    A = _matrix(start, column, value, x.size)
    for _ in range(T):
        x = A @ x
    return x


def _segments(rng: np.random.Generator, n: int, segments: int) -> Arguments:
    """Some segments are empty; without any segment there is no element."""
    segment = np.sort(integers(rng, np.int32, n if segments else 0, below=max(segments, 1)))
    start = np.searchsorted(segment, np.arange(segments + 1))
    return {"x": 5 * normal(rng, segment.size), "start": start, "segment": segment}


def _segments_reference(x: Array, start: Array, segment: Array) -> Array:
    weight = np.exp(x.astype(np.float64))
    return weight / np.bincount(segment, weight, start.size - 1)[segment]


def _kmeans_reference(X: Array, C: Array) -> tuple[Array, Array]:
    label = scipy.spatial.distance.cdist(X, C, "sqeuclidean").argmin(axis=1)
    member = label[:, None] == np.arange(len(C))
    count = member.sum(axis=0)[:, None]
    return np.where(count > 0, member.T @ X / np.maximum(count, 1), C), label


def _points(rng: np.random.Generator, n: int, m: int, d: int) -> Arguments:
    """At least one centroid."""
    return {"X": rng.standard_normal((n, d)), "C": rng.standard_normal((m + 1, d))}


_LARGE = {"n": 999, "m": 501}

CASES = (
    Case(
        name="csr_matvec",
        build=csr_matvec,
        sizes="n m",
        make=lambda rng, n, m: {**_csr(rng, n, m), "x": normal(rng, m)},
        reference=lambda x, **rows: _matrix(**rows, m=x.size) @ x,
        tolerance=1e-5,
        tags="float reduction gather",
        large=_LARGE,
    ),
    Case(
        name="csr_matmul",
        build=csr_matmul,
        sizes="n m l",
        make=lambda rng, n, m, l: {**_csr(rng, n, m), "X": normal(rng, m, l)},
        reference=lambda X, **rows: _matrix(**rows, m=len(X)) @ X,
        tolerance=1e-5,
        tags="float reduction gather slow",
        large={**_LARGE, "l": 67},
        limits={"l": 12},
    ),
    Case(
        name="csr_transposed_matvec",
        build=csr_transposed_matvec,
        sizes="n m",
        make=lambda rng, n, m: {**_csr(rng, n, m), "x": normal(rng, n), "shape": (m,)},
        reference=lambda x, shape, **rows: _matrix(**rows, m=shape[0]).T @ x,
        tolerance=1e-5,
        tags="float scatter",
        large=_LARGE,
    ),
    Case(
        name="csr_forward_substitution",
        build=csr_forward_substitution,
        sizes="n",
        make=lambda rng, n: {**_csr(rng, n, n, lower=True), "b": normal(rng, n)},
        reference=_substitution_reference,
        tolerance=1e-5,
        tags="float recurrence reduction gather pieces",
        large=501,
    ),
    Case(
        name="csr_power_iteration",
        build=csr_power_iteration,
        sizes="n T",
        make=lambda rng, n, T: {**_csr(rng, n, n), "x": normal(rng, n), "T": T},
        reference=_power_reference,
        tolerance=1e-5,
        tags="float recurrence reduction gather slow",
        large={"n": 301, "T": 5},
        limits={"n": 12, "T": 13},
        steps="T",
    ),
    Case(
        name="ragged_softmax",
        build=ragged_softmax,
        sizes="n segments",
        make=_segments,
        reference=_segments_reference,
        tolerance=1e-5,
        tags="float reduction gather",
        large={"n": 999, "segments": 101},
    ),
    Case(
        name="nearest_centroid",
        build=nearest_centroid,
        sizes="n m d",
        make=_points,
        reference=lambda X, C: _kmeans_reference(X, C)[1],
        tags="float reduction slow",
        large={"n": 501, "m": 31, "d": 17},
        limits={"m": 12, "d": 6},
    ),
    Case(
        name="kmeans_step",
        build=kmeans_step,
        sizes="n m d",
        make=_points,
        reference=_kmeans_reference,
        tolerance=1e-13,
        tags="float reduction scatter multiple slow",
        large={"n": 501, "m": 31, "d": 17},
        limits={"m": 12, "d": 6},
    ),
)
