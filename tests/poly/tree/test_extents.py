"""Extents of storage that is made inside of loops."""

from __future__ import annotations

import numpy as np

import polysched as ps


def test_storage_of_a_clone_that_two_patterns_read() -> None:
    """The extent is a function of the size in pieces with divisions, which isl compares only where
    it knows them."""
    n = ps.sizes("n")
    i, j = ps.vars("i j")
    f = ps.Func("f", (2 * n, n))
    f[i, j] = i
    r = ps.RVar("r", n // 2, n)
    f[i, r] += 1
    g = ps.Func("g", (2 * n, n))
    g[j, i] = f[(2 * n - 1 - j) // 2, ps.abs(i)] + f[j - j % 2, i // 2]
    s = ps.Schedule(g)
    s["g"].vectorize("i", 4)
    s["f"].clone_in(s["g"])
    s["f.in.g"].compute_at(s["g"], "j")
    assert np.array_equal(s.compile()(n=5), ps.interpret(g, n=5))
