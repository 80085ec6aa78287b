"""Programs that directives are tried on."""

from __future__ import annotations

import polysched as ps

n, m, l, T = ps.sizes("n m l T")
i, j, t = ps.vars("i j t")


def product(dtype: ps.DType = ps.float32) -> ps.Func:
    """C = A B"""
    A, B = ps.Input("A", dtype, (n, l)), ps.Input("B", dtype, (l, m))
    k = ps.RVar("k", 0, l)
    C = ps.Func("C", (n, m))
    C[i, j] = 0 if dtype.is_int else 0.0
    C[i, j] += A[i, k] * B[k, j]
    return C


def gauss_seidel(*, north_east: bool = False) -> ps.InOut:
    """a[i, j] = a[i - 1, j] + a[i, j - 1], and with the neighbour above on the right."""
    a = ps.InOut("a", ps.int64, (n, m))
    r, c = ps.rdom("r c", (1, n), (1, m - 1))
    value = a[r - 1, c] + a[r, c - 1]
    if north_east:
        value = value + a[r - 1, c + 1]
    a[r, c] = value
    return a


def jacobi() -> ps.Func:
    """Three points in each of T steps."""
    x = ps.Input("x", ps.float64, (n,))
    f = ps.Func("f", (T, n), ps.float64)
    left, right = ps.maximum(i - 1, 0), ps.minimum(i + 1, n - 1)
    f[t, i] = ps.select(t == 0, x[i], (f[t - 1, left] + f[t - 1, i] + f[t - 1, right]) / 3)
    return f


def seidel_2d() -> ps.InOut:
    """Nine points in place, T times."""
    a = ps.InOut("a", ps.int64, (n, n))
    with (
        ps.sequential("t", 0, T),
        ps.sequential("i", 1, n - 1) as y,
        ps.sequential("j", 1, n - 1) as x,
    ):
        total = a[y, x]
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                if dy or dx:
                    total = total + a[y + dy, x + dx]
        a[y, x] = total // 9
    return a


def running(distance: int, dtype: ps.DType = ps.int64) -> ps.InOut:
    """A[r] = A[r] + A[r - distance], in place; forward if the distance is negative."""
    A = ps.InOut("A", dtype, (n,))
    lo, hi = (distance, n) if distance > 0 else (0, n + distance)
    r = ps.RVar("r", lo, hi)
    A[r] = A[r] + A[r - distance]
    return A


def blur() -> ps.Func:
    """Three points of a row, then three of a column: g, then f."""
    x = ps.Input("x", ps.int64, (n + 2, m + 2))
    g, f = ps.Func("g"), ps.Func("f", (n, m))
    g[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    f[i, j] = g[i, j] + g[i + 1, j] + g[i + 2, j]
    return f


def plane() -> ps.Func:
    """Every point by itself."""
    x = ps.Input("x", ps.int64, (n, m))
    f = ps.Func("f", (n, m))
    f[i, j] = x[i, j] * 2 + i
    return f


def lu(*, by_rows: bool = False) -> ps.InOut:
    """The factors of a matrix in place: right-looking, or row by row in one nest."""
    a = ps.InOut("a", ps.float64, (n, n))
    if by_rows:
        with ps.sequential("k", 0, n) as k, ps.sequential("r", k + 1, n) as r:
            c = ps.RVar("c", k + 1, n)
            a[r, k] = a[r, k] / a[k, k]
            a[r, c] -= a[r, k] * a[k, c]
        return a
    with ps.sequential("k", 0, n) as k:
        r, c = ps.rdom("r c", (k + 1, n), (k + 1, n))
        a[r, k] = a[r, k] / a[k, k]
        a[r, c] -= a[r, k] * a[k, c]
    return a


def cholesky() -> ps.InOut:
    """The lower factor of a symmetric matrix in place."""
    a = ps.InOut("a", ps.float64, (n, n))
    with ps.sequential("k", 0, n) as k:
        r, q = ps.rdom("r q", (k + 1, n), (k + 1, n))
        c = ps.RVar("c", k + 1, q + 1)
        a[k, k] = ps.sqrt(ps.maximum(a[k, k], 1.0))
        a[r, k] = a[r, k] / a[k, k]
        a[q, c] -= a[q, k] * a[c, k]
    return a


def floyd_warshall() -> ps.InOut:
    """Shortest paths in place."""
    d = ps.InOut("d", ps.int64, (n, n))
    with ps.sequential("k", 0, n) as k:
        r, c = ps.rdom("r c", (0, n), (0, n))
        d[r, c] = ps.minimum(d[r, c], d[r, k] + d[k, c])
    return d


def nussinov() -> ps.InOut:
    """The most pairs in each part of a sequence, from short parts to long ones."""
    s = ps.Input("s", ps.int64, (n,))
    N = ps.InOut("N", ps.int64, (n, n))
    with ps.sequential("i", n - 2, -1, step=-1) as a, ps.sequential("j", a + 1, n) as b:
        k = ps.RVar("k", a, b)
        N[a, b] = ps.maximum(N[a, b], N[a + 1, b - 1] + ps.cast(ps.int64, s[a] == s[b]))
        N[a, b] = ps.maximum(N[a, b], N[a, k] + N[k + 1, b])
    return N


def lstm() -> ps.Func:
    """A recurrent layer of m units over T steps, without the inputs' matrix."""
    x = ps.Input("x", ps.float32, (T, 4, m))
    R = ps.Input("R", ps.float32, (4, m, m))
    k = ps.RVar("k", 0, m)
    h, c = ps.Func("h", (T + 1, m), ps.float32), ps.Func("c", (T + 1, m), ps.float32)
    gates = [x[t - 1, g, j] + ps.sum(R[g, j, k] * h[t - 1, k], k) for g in range(4)]
    c[0, j] = 0.0
    c[t, j] = gates[1] * c[t - 1, j] + gates[0] * gates[2]
    h[0, j] = 0.0
    h[t, j] = gates[3] * c[t, j]
    last = ps.Func("last", (m,))
    last[j] = h[T, j]
    return last
