"""Programs with operands to be copied, reductions to be taken apart, tiles to be filled up."""

from __future__ import annotations

from collections.abc import Callable

import polysched as ps

n, m, l = ps.sizes("n m l")
i, j, c = ps.vars("i j c")


def product(dtype: ps.DType = ps.float32) -> ps.Func:
    """C = A B"""
    A, B = ps.Input("A", dtype, (n, l)), ps.Input("B", dtype, (l, m))
    k = ps.RVar("k", 0, l)
    C = ps.Func("C", (n, m))
    C[i, j] = 0 if dtype.is_int else 0.0
    C[i, j] += A[i, k] * B[k, j]
    return C


def convolution() -> ps.Func:
    """A 3 x 3 filter for each of m output channels, over l input channels."""
    x, w = ps.Input("x", ps.float32, (l, n + 2, n + 2)), ps.Input("w", ps.float32, (m, l, 3, 3))
    k, dy, dx = ps.rdom("k dy dx", (0, l), (0, 3), (0, 3))
    out = ps.Func("y", (m, n, n))
    out[c, i, j] = 0.0
    out[c, i, j] += w[c, k, dy, dx] * x[k, i + dy, j + dx]
    return out


def histogram() -> ps.Func:
    """How often each byte occurs."""
    x = ps.Input("x", ps.uint8, (n, m))
    r, q = ps.rdom("r q", (0, n), (0, m))
    H = ps.Func("H", (256,), ps.int32)
    H[i] = 0
    H[x[r, q]] += 1
    return H


def best(which: str = "argmax", dtype: ps.DType = ps.float32) -> ps.Func:
    """The place of the largest or smallest of a row."""
    x = ps.Input("x", dtype, (n, m + 1))
    k = ps.RVar("k", 0, m + 1)
    at = ps.Func("at", (n,))
    at[i] = getattr(ps, which)(x[i, k], k)
    return at


def blur() -> ps.Func:
    """Three stages, of which the first is inlined at first."""
    x = ps.Input("x", ps.float32, (n + 2, m + 2))
    twice, g, f = ps.Func("twice"), ps.Func("g"), ps.Func("f", (n, m))
    twice[i, j] = x[i, j] * 2
    g[i, j] = twice[i, j] + 1
    f[i, j] = g[i, j] + g[i + 1, j] + g[i, j + 2]
    return f


def norms() -> tuple[ps.Func, ps.Func]:
    """Sums of columns and of rows, and two readers of them."""
    x = ps.Input("x", ps.int32, (n, m))
    r, q = ps.RVar("r", 0, n), ps.RVar("q", 0, m)
    a, b = ps.Func("a", (m,)), ps.Func("b", (n,))
    a[j] = 0
    a[j] += x[r, j]
    b[i] = 0
    b[i] += x[i, q] * a[q]
    top = ps.Func("top", (n, m))
    top[i, j] = ps.maximum(b[i] + a[j], x[i, j])
    low = ps.Func("low", (n,))
    low[i] = b[i] - 1
    return top, low


PROGRAMS: dict[str, Callable[[], ps.Func | tuple[ps.Func, ...]]] = {
    "product": product,
    "integers": lambda: product(ps.int32),
    "convolution": convolution,
    "histogram": histogram,
    "argmax": best,
    "argmin": lambda: best("argmin", ps.uint8),
    "blur": blur,
    "norms": norms,
}
