"""How many values a loop takes, and extents of storage that is made inside of loops."""

from __future__ import annotations

import numpy as np
import pytest
from counting import operations

import polysched as ps
from polysched.poly.sets.budget import budget
from polysched.poly.sets.isl import CONTEXT, Set
from polysched.poly.tree.extents import SEVERAL, span_of


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


def test_the_span_of_many_pieces_compares_no_two_of_them() -> None:
    """It is that of all of them where one outer iteration has both ends."""
    pieces = [
        f"(x - {k}r) mod {k} <= {k // 2} and (x + r) mod {k + 1} <= 1 and r >= {k}"
        for k in range(3, 12)
    ]
    text = f"[n] -> {{ [r, x] : 0 <= x <= 3 and 0 <= r < n and ({' or '.join(pieces)}) }}"
    assert Set(text).n_basic_set() > SEVERAL
    assert span_of(Set(text), 1) == 4
    assert operations(lambda: span_of(Set(text), 1)) < 30_000


def test_the_span_of_many_pieces_that_share_no_outer_iteration() -> None:
    """The whole spans 12 values, and each outer iteration one."""
    pieces = [f"(r = {k} and x = {k})" for k in (0, 3, 5, 1, 9, 11, 4, 7, 8, 2)]
    assert span_of(Set(f"{{ [r, x] : {' or '.join(pieces)} }}"), 1) == 1
    both = Set(f"{{ [r, x] : {' or '.join(pieces)} or (r = 3 and x = 6) }}")
    assert span_of(both, 1) == 4


@pytest.mark.parametrize("modulus", [5, 2**31 - 1, 2**44 + 1, 2**63 - 1])
def test_pieces_that_ask_of_remainders_are_spanned_with_few_operations(modulus: int) -> None:
    """The first and the last value of each iteration of i0 would be found in minutes."""
    tiles = f"i0 >= 0 and 0 <= i1 <= 3 and 0 <= j <= 3 and 16 i0 + 4 i1 + j < n and {modulus} *"
    point = f"floor((16 i0 + 4 i1 + j)/{modulus})"
    pieces = [
        f"(exists j: {tiles}{point} {sign} 16 i0 + 4 i1 + j - {shift})"
        for sign, shift in (("<=", 1), ("=", 0), ("<=", 2), (">=", 1))
    ]
    visited = Set.read_from_str(CONTEXT, f"[n] -> {{ [i0, i1] : {' or '.join(pieces)} }}")
    with budget(200_000):
        assert span_of(visited, 1) == 4


def test_spans_are_the_largest_of_any_iteration() -> None:
    visited = Set.read_from_str(
        CONTEXT, "[n] -> { [i, j] : 0 <= i < n and i % 3 <= j <= 4 and (j = 0 or j >= 2) }"
    )
    assert span_of(visited, 1) == 5
    assert span_of(visited, 0) is None
    assert span_of(visited.subtract(visited), 1) == 0


def test_one_of_many_pieces_that_spans_more_with_the_sizes_is_enough() -> None:
    pieces = [f"(r = {k} and {k} <= x < {'n' if k == 5 else k + 2})" for k in range(3 * SEVERAL)]
    ended = [f"(r = {k} and {k} <= x < {k + 2})" for k in range(3 * SEVERAL)]
    for some, span in ((pieces, None), (ended, 2)):
        assert span_of(Set(f"[n] -> {{ [r, x] : {' or '.join(some)} }}"), 1) == span
    many = [f"(r - {k} x >= {k * k} and x < n + {k} and x >= 0)" for k in range(1, 5 * SEVERAL)]
    visited = Set(f"[n] -> {{ [r, x] : {' or '.join(many)} }}")
    assert operations(lambda: span_of(visited, 1)) < 20_000


def test_lanes_and_copies_in_a_triangle_with_clamps_compile() -> None:
    """The loops of the initial values have bounds of two hundred pieces, of which any two were
    compared: more than the time allowed, and found out by the compilation alone."""
    n, m = ps.sizes("n m")
    i, j = ps.vars("i j")
    a, r = ps.Input("a", ps.int64, (n, m)), ps.RVar("r", 2, n)
    g, f = ps.Func("g", (n, m), ps.int64), ps.Func("f", (n,))
    g[i, j] = ps.sum(a[ps.clip(i + 2, 0, n - 1), ps.clip(j - 1, 0, m - 1)], r)
    f[i] = g[ps.clip(i + 1, 0, n - 1), ps.clip(i, 0, m - 1)]
    s = ps.Schedule(f)
    s["g.sum0"].unroll("j", 4)
    s["g.sum0.update(0)"].vectorize("r", 16)
    s["g.sum0"].unroll("i", 4).unroll("j", 4)
    given = np.arange(35).reshape(7, 5)
    assert np.array_equal(s.compile()(a=given), ps.interpret(f, given))
