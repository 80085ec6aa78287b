"""Updates whose places depend on data, computed at a loop of a consumer."""

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps
from polysched.checking.examine import check
from polysched.interp import interpret

h, w = ps.sizes("h w")
y, z = ps.vars("y z")
ry, rx = ps.rdom("ry rx", (0, h), (0, w))


def _arguments(rows: int, columns: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(rows)
    return {"a": rng.integers(0, 4, (rows, columns), dtype=np.uint8)}


def _same(s: ps.Schedule, f: ps.Func) -> None:
    kernel = s.compile()
    for rows, columns in ((0, 0), (1, 1), (5, 3), (4, 0), (9, 4)):
        arguments = _arguments(rows, columns)
        np.testing.assert_array_equal(kernel(**arguments), interpret(f, **arguments))
    check(s, **_arguments(5, 3))


def _rows(own: bool = False) -> ps.Func:
    """How often each value occurs in each pair of rows."""
    a = ps.Input("a", ps.uint8, (h, w), range=(0, 4))
    count = ps.Func("count", (h // 2 + 1, 4), ps.int32)
    count[y, z] = 0
    count[ry // 2, a[ry, rx]] += count[0, 0] if own else 1
    f = ps.Func("f", (h // 2, 4))
    f[y, z] = count[y, z] + count[y + 1, z]
    return f


def test_instances_that_touch_other_rows_are_left_out() -> None:
    f = _rows()
    s = ps.Schedule(f)
    s["count"].compute_at("f", "y")
    assert "for ry in [y * 2, min(y * 2 + 4, h)):" in str(s)
    assert "store count[2, 4]:" in str(s)
    _same(s, f)


def test_all_that_may_be_touched_is_stored() -> None:
    """Of one value, all that an instance could write instead."""
    f = _rows()
    s = ps.Schedule(f)
    s["f"].reorder("z", "y")
    s["count"].compute_at("f", "y")
    assert "store count[2, 4]:" in str(s)
    _same(s, f)


@pytest.mark.parametrize("own", [False, True])
def test_all_instances_run_where_they_read_others(own: bool) -> None:
    f = _rows(own)
    s = ps.Schedule(f)
    s["count"].compute_at("f", "y")
    assert ("for ry in [0, h):" in str(s)) == own
    if own:
        _same(s, f)


def test_nothing_is_left_out_where_any_place_may_be_touched() -> None:
    a = ps.Input("a", ps.uint8, (h, w), range=(0, 4))
    count = ps.Func("count", (4,), ps.int32)
    count[z] = 0
    count[a[ry, rx]] += 1
    f = ps.Func("f", (4,))
    f[z] = count[z]
    s = ps.Schedule(f)
    s["count"].compute_at("f", "z")
    assert "store count[4]:" in str(s)
    _same(s, f)
