"""Ends of loops and extents of storage that round, or that come from index types."""

from __future__ import annotations

import numpy as np

import polysched as ps
from polysched.checking.examine import check
from polysched.interp import interpret

n, m = ps.sizes("n m")
i = ps.vars("i")


def test_an_end_that_rounds_is_the_smallest_of_values() -> None:
    a = ps.Input("a", ps.float32, (n,))
    f = ps.Func("f")
    f[i] = ps.boundary.repeat_edge(a)[i] * 2.0
    g = ps.Func("g", ((n + 1) // 2,))
    g[i] = (f[2 * i - 1] + f[2 * i + 2]) - (f[2 * i] + f[2 * i + 1])
    s = ps.Schedule(g)
    s["f"].split("i", 8)
    s["f"].vectorize("ii")
    text = str(s)
    assert "for ii in [max(-(io * 8 + 1), 0), min(n * 2 + 1 - (io * 8 + n // 2 * 2), 8))" in text
    kernel = s.compile()
    for size in range(20):
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_array_equal(kernel(x), interpret(g, x))
    check(s, np.arange(7, dtype=np.float32))


def _gathered() -> ps.Func:
    a = ps.Input("a", ps.float32, (m,))
    at = ps.Input("at", ps.int32, (n,), range=(0, m))
    f = ps.Func("f")
    f[i] = a[i] * 2.0
    g = ps.Func("g", (n,))
    g[i] = f[at[i]] - f[at[n - 1 - i]]
    return g


def test_an_index_type_is_no_extent() -> None:
    g = _gathered()
    s = ps.Schedule(g)
    s["f"].compute_at("g", "i")
    assert "store f[m]:" in str(s)
    a, at = np.float32([1, 2, 3]), np.int32([2, 0, 1, 1])
    np.testing.assert_array_equal(s.compile()(a=a, at=at), interpret(g, a=a, at=at))
    check(s, a=a, at=at)


def test_a_triangle_is_stored_in_rows_as_long_as_the_last() -> None:
    a = ps.Input("a", ps.float32, (n,))
    j = ps.vars("j")
    f = ps.Func("f", (n, n))
    f[i, j] = a[i] * a[j]
    r = ps.RVar("r", 0, i + 1)
    g = ps.Func("g", (n,))
    g[i] = 0.0
    g[i] += f[i, r] - f[i, i - r]
    s = ps.Schedule(g)
    u = s["g"].update(0)
    u.split("i", 4)
    s["f"].compute_at(u, "io")
    assert "store f[4, n]:" in str(s)
    check(s, np.arange(6, dtype=np.float32))


def test_storage_begins_where_a_half_does() -> None:
    """The first element needed is (y - 1) / 2 in every second iteration, and y / 2 - 1 else."""
    h, w = ps.sizes("h w")
    y, x, c = ps.vars("y x c")
    a = ps.Input("a", ps.int32, (h + 4, w + 4))
    f = ps.Func("f")
    f[y, x] = a[y + 2, x + 2] * 2
    g = ps.Func("g", (h, w, 2))
    up, left, here = f[y // 2 - 1, x // 2], f[y // 2, x // 2 - 1], f[y // 2, x // 2]
    g[y, x, c] = ps.select(y % 2 == 0, up, ps.select(x % 2 == 0, left, here)) + here
    s = ps.Schedule(g)
    s["f"].compute_at("g", "c")
    kernel = s.compile()
    for rows, columns in ((0, 1), (1, 1), (2, 3), (5, 4)):
        data = np.arange((rows + 4) * (columns + 4), dtype=np.int32).reshape(rows + 4, -1)
        np.testing.assert_array_equal(kernel(data), interpret(g, data))
        check(s, data)
