"""Loops over blocks of an RVar whose bounds are read from data: they run over what these touch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.check import check

n, z = ps.sizes("n z")
i = ps.vars("i")

ENDS = {
    "rows": [0, 3, 3, 4, 11, 12],
    "nothing": [0, 0, 0],
    "backwards": [9, 2, 7, 1, 12],
    "one row of all": [0, 12],
}
SCHEDULES: dict[str, Callable[[ps.Schedule], object]] = {
    "split": lambda s: s["f"].update(0).split("k", 4),
    "guarded": lambda s: s["f"].update(0).split("k", 5, tail="guard"),
    "unrolled": lambda s: s["f"].update(0).unroll("k", 3),
    "lanes": lambda s: s["f"].update(0).vectorize("k", 8),
    "lanes of blocks": lambda s: (
        s["f"].update(0).vectorize("k", 2).split("k", 3, names=("kb", "kc"))
    ),
    "tiles of tiles": lambda s: s["f"].update(0).tile("k", 6) and s["f"].update(0).split("ko", 2),
    "rows at once": lambda s: s["f"].update(0).parallel("i").split("k", 4),
}


def row_sums() -> ps.Schedule:
    ptr = ps.Input("ptr", ps.int32, (n + 1,), range=(0, z + 1))
    v, k = ps.Input("v", ps.int64, (z,)), ps.RVar("k", ptr[i], ptr[i + 1])
    f = ps.Func("f", (n,), ps.int64)
    f[i] = 0
    f[i] += v[k] * (k + 1)
    return ps.Schedule(f)


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_values(schedule: str, ends: str) -> None:
    s = row_sums()
    SCHEDULES[schedule](s)
    given = {"ptr": np.array(ENDS[ends], np.int32), "v": np.arange(1, 13)}
    expected = ps.interpret(s.program.outputs[0], **given)
    np.testing.assert_array_equal(s.compile()(**given), expected)
    check(s, **given)


def test_only_blocks_that_are_needed_run() -> None:
    s = row_sums()
    s["f"].update(0).split("k", 4)
    assert "for ko in [int64(ptr[i]) // 4, (int64(ptr[i + 1]) - 1) // 4 + 1):" in str(s)
    s["f"].update(0).split("ko", 2)
    assert "for koo in [int64(ptr[i]) // 8, (int64(ptr[i + 1]) - 1) // 8 + 1):" in str(s)


def test_blocks_around_the_rows_are_all_that_there_are() -> None:
    """No one row says which are needed."""
    s = row_sums()
    u = s["f"].update(0)
    u.split("k", 4)
    u.reorder("ko", "i", "ki")
    assert "ptr" not in next(line for line in str(s).splitlines() if "for ko in" in line)
    given = {"ptr": np.array(ENDS["rows"], np.int32), "v": np.arange(1, 13)}
    expected = ps.interpret(s.program.outputs[0], **given)
    np.testing.assert_array_equal(s.compile()(**given), expected)
    check(s, **given)
