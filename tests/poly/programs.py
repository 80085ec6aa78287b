"""Small programs whose domains are of every kind that the polyhedral part must handle."""

from __future__ import annotations

import polysched as ps


def rectangle() -> ps.Func:
    """{ [i, j] : 0 <= i < n, 0 <= j < m }"""
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    f = ps.Func("f", (n, m))
    f[i, j] = i + 2 * j
    return f


def triangle() -> ps.Func:
    """An update over 0 <= k <= i."""
    n = ps.sizes("n")
    i = ps.vars("i")
    a = ps.Input("a", ps.int32, (n,))
    k = ps.RVar("k", 0, i + 1)
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i] += a[k]
    return f


def strided() -> ps.Func:
    """An update over every third k from 1, and a parity condition on two RVars."""
    n = ps.sizes("n")
    i = ps.vars("i")
    r, k = ps.rdom("r k", (0, n), (0, n), where=lambda r, k: ((r + k) % 2 == 0) & (k % 3 == 1))
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i] += r * k
    return f


def union() -> ps.Func:
    """A condition whose domain is a union of two pieces."""
    n = ps.sizes("n")
    i = ps.vars("i")
    k = ps.RVar("k", 0, n, where=lambda k: (k < 3) | (k >= n - 2))
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i] += k
    return f


def diamond() -> ps.Func:
    """A domain bounded by four slanted lines."""
    n = ps.sizes("n")
    r, k = ps.rdom(
        "r k", (-n, n + 1), (-n, n + 1),
        where=lambda r, k: (r + k <= n) & (r - k <= n) & (k - r <= n) & (r + k >= -n),
    )  # fmt: skip
    f = ps.Func("f", ())
    f[()] = 0
    f[()] += r * k
    return f


def pieces() -> ps.Func:
    """A pure definition in four pieces."""
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    f = ps.Func("f", (n, m))
    f[0, 0] = 1
    f[0, j] = 2
    f[i, 0] = 3
    f[i, j] = 4
    return f


def pipeline() -> ps.Func:
    """Regions that grow and shrink through strides and clamps."""
    n = ps.sizes("n")
    i = ps.vars("i")
    a = ps.Input("a", ps.int32, (n,))
    edge = ps.boundary.repeat_edge(a)
    down, up, f = ps.Func("down"), ps.Func("up"), ps.Func("f", (n,))
    down[i] = edge[2 * i - 1] + edge[2 * i] + edge[2 * i + 1]
    up[i] = down[i // 2] + down[(i + 1) // 2]
    f[i] = up[i] - edge[i]
    return f


def at_sizes() -> ps.Func:
    """A union of many pieces at some sizes, and of none at others."""
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    at = m < 1
    for c in range(1, 10):  # neither one piece nor equations, which would be put in for m elsewhere
        at |= (m >= 4 * c) & (m <= 4 * c + 1) & (n >= c)
    k = ps.RVar("k", 0, n, where=lambda k: at & ((k < 3) | (k >= n - 2)))
    f = ps.Func("f", (n, m))
    f[i, j] = 0
    f[i, j] += k
    return f


ALL = (rectangle, triangle, strided, union, diamond, pieces, pipeline, at_sizes)
