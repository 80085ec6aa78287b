"""Loops over blocks of an RVar whose bounds are read from data: they run over what these touch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps
from polysched.checking.examine import check
from polysched.codegen.ir.text import module_text

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
    "shifted": lambda s: s["f"].update(0).shift("k", 3),
    "mirrored": lambda s: s["f"].update(0).transform(["k"], lambda k: 5 - k),
    "scaled": lambda s: s["f"].update(0).transform(["k"], lambda k: 2 * k + 1),
    "skewed": lambda s: s["f"].update(0).skew("i", "k", 2),
    "shifted blocks": lambda s: s["f"].update(0).split("k", 4) and s["f"].update(0).shift("ko", 2),
    "blocks of a skewed one": lambda s: (
        s["f"].update(0).skew("i", "k", 1) and s["f"].update(0).split("k", 4)
    ),
    "lanes of rows": lambda s: s["f"].update(0).vectorize("i", 4),
    "lanes of rows, shifted": lambda s: (
        s["f"].update(0).shift("i", 2) and s["f"].update(0).vectorize("i", 4).shift("k", 1)
    ),
    "lanes of rows over blocks": lambda s: s["f"].update(0).vectorize("i", 2).split("k", 3),
    "peeled": lambda s: s["f"].update(0).peel("k", first=2),
    "parts": lambda s: s["f"].update(0).partition(ps.RVar("k", 0, 1) < 4),
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


def _line(s: ps.Schedule, loop: str) -> str:
    return next(x.strip() for x in str(s).splitlines() if x.strip().startswith(f"for {loop} in"))


@pytest.mark.parametrize(
    ("schedule", "line"),
    [
        ("shifted", "for k in [int64(ptr[i]) + 3, int64(ptr[i + 1]) + 3):"),
        ("mirrored", "for k in [6 - int64(ptr[i + 1]), 6 - int64(ptr[i])):"),
        ("skewed", "for k in [int64(ptr[i]) + i * 2, int64(ptr[i + 1]) + i * 2):"),
        ("lanes of rows", "for k in [ptr[i], ptr[i + 1]):"),
        # What is left out is left out of the bounds, too.
        ("peeled", "for k in [max(0, ptr[i]), min(min(z, 2), ptr[i + 1])):"),
        # These run over all of it, which the listing says.
        ("scaled", "for k in [1, z * 2) by 2:  # all that k may be, under a guard"),
        ("parts", "for k in [0, z):  # all that k may be, under a guard"),
    ],
)
def test_bounds_move_with_the_loop(schedule: str, line: str) -> None:
    s = row_sums()
    SCHEDULES[schedule](s)
    assert _line(s, "k") == line


def test_a_loop_around_the_rows_says_that_it_runs_over_all() -> None:
    s = row_sums()
    s["f"].update(0).tile("i", "k", 2, 3)
    assert _line(s, "ko").endswith(":  # all that k may be, under a guard")
    assert "#" not in _line(s, "ki")


def columns() -> ps.Schedule:
    """A sparse matrix by a dense one."""
    ptr = ps.Input("ptr", ps.int32, (n + 1,), range=(0, z + 1))
    v, x, j = ps.Input("v", ps.int64, (z,)), ps.Input("x", ps.int64, (z, 4)), ps.vars("j")
    k = ps.RVar("k", ptr[i], ptr[i + 1])
    f = ps.Func("f", (n, 4), ps.int64)
    f[i, j] = 0
    f[i, j] += v[k] * x[k, j]
    return ps.Schedule(f)


@pytest.mark.parametrize("loop", ["i", "j"])
def test_lanes_run_within_what_they_read(loop: str) -> None:
    """Of rows, from the first to the last of any; of columns, each row alone."""
    s = columns()
    s["f"].update(0).vectorize(loop, 4)
    kernel = s.compile()
    text = module_text(kernel._lowered.module)
    inner = [line for line in text.splitlines() if " for k in" in line]
    assert len(inner) >= 1
    assert all("ptr[" in line for line in inner)
    for ends in ENDS.values():
        given = {"ptr": np.array(ends, np.int32), "v": np.arange(1, 13)}
        given["x"] = np.arange(48).reshape(12, 4)
        expected = ps.interpret(s.program.outputs[0], **given)
        np.testing.assert_array_equal(kernel(**given), expected)
        check(s, **given)
