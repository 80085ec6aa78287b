"""Small programs of which a directive, a listing or a compilation once took isl many seconds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from counting import operations

import polysched as ps
from polysched.checking.examine import examine
from polysched.poly.sets.hulls import PIECES_LIMIT, filled
from polysched.poly.sets.isl import Set

n, m = ps.sizes("n m")
i, j, k = ps.vars("i j k")


def sparsely_updated() -> ps.Func:
    """Reads two of three elements of a diagonal, and updates that touch neighbours of these."""
    data = ps.Input("data", ps.int32, (m,))
    f, last = ps.Func("f", dtype=ps.uint16), ps.Func("last", (), dtype=ps.uint16)
    f[i, j, k] = ps.cast(ps.uint16, 100 * i + 10 * j + k)
    r = ps.RVar("r", 1, m)
    f[i, r, k] >>= 1
    q = ps.RVar("q", 1, n - 1)
    f[i, 2 * j + 1, 1] -= ps.cast(ps.uint16, data[ps.clip(q, 0, m - 1)] == i)
    last[()] = 0
    d = ps.RVar("d", n // 2, n, where=lambda d: (d + d) % 3 != 0)
    last[()] ^= f[-d, m - 1 - d, 3]
    return last


@pytest.mark.slow
def test_updates_whose_regions_have_many_existentials() -> None:
    """The bounds of their Vars were of 64 pieces with up to 16 existentials each: to list the
    schedule took isl 8 million operations, and a split was not proven in 20 seconds."""
    last = sparsely_updated()
    assert operations(lambda: ps.Schedule(last)) < 200_000
    s = ps.Schedule(last)
    assert operations(lambda: str(s)) < 3_000_000
    assert operations(lambda: s["f.update(0)"].split("i", 8)) < 3_500_000
    for rows, columns in product((0, 1, 2, 5, 9), (1, 2, 6)):
        given = np.arange(columns, dtype=np.int32) - 3
        assert s.compile()(data=given, n=rows) == ps.interpret(last, data=given, n=rows)
    assert not examine(s, data=np.arange(4, dtype=np.int32), n=5).breaches


def test_a_side_without_a_common_end_stays_bounded() -> None:
    """Of more pieces than a region may have, some begin at 1 and some at m - n: no constraint is
    common to them, and the whole region was kept with all of its pieces."""
    given = Set("[n, m] -> { [x, y] : 0 <= x < n and 1 <= y < m }")
    for c in range(80):
        given = given.union(
            Set(f"[n, m] -> {{ [x, y] : 0 <= x < n and m - n <= y < m - 1 and x = {2 * c} }}")
        )
    assert given.n_basic_set() > PIECES_LIMIT
    found = filled(given, Set("[n, m] -> { : n >= 0 and m >= 0 }"), exact=True)
    assert given.is_subset(found)
    assert found.n_basic_set() <= 2
    assert found.dim_has_any_lower_bound(3, 1)
