"""Rows of a recurrence that begins with a piece of its own, side by side."""

from __future__ import annotations

import numpy as np
import pytest
from gallery.case import normal
from gallery.execute import assert_same

import polysched as ps

from .programs import i, j, m, n

SIZES = {"n": 300, "m": 400}


def sums_of_rows() -> ps.Func:
    x = ps.Input("x", ps.float64, (n, m))
    f = ps.Func("f", (n, m))
    f[i, 0] = x[i, 0]
    f[i, j] = x[i, j] / (f[i, j - 1] + 2)
    return f


def rows_of_two() -> ps.Func:
    """Two Funcs that need each other run in the same loops."""
    x = ps.Input("x", ps.float64, (n, m))
    f, g = ps.Func("f", (n, m), ps.float64), ps.Func("g", (n, m), ps.float64)
    g[i, 0] = x[i, 0]
    g[i, j] = x[i, j] / (f[i, j - 1] + 2)
    f[i, 0] = 1.0
    f[i, j] = x[i, j] / (g[i, j] + 2)
    return f


def directives(program: ps.Func) -> list[str]:
    s = ps.Schedule.auto(program, sizes=SIZES, threads=1, target="x86-64-v3")
    return [d.name for d in s.directives]


def test_rows_are_taken_apart_from_what_they_begin_with() -> None:
    assert directives(sums_of_rows()) == ["fission", "split", "reorder", "unroll"]


def test_rows_that_others_share_stay_together() -> None:
    assert "fission" not in directives(rows_of_two())


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (17, 11)])
def test_they_have_the_same_bits(shape: tuple[int, int]) -> None:
    s = ps.Schedule.auto(sums_of_rows(), sizes=SIZES, threads=2)
    x = np.abs(normal(np.random.default_rng(3), *shape)).astype(np.float64)
    assert_same((s.compile()(x),), (ps.interpret(sums_of_rows(), x),))
