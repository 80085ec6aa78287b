"""Accumulations at few points of Funcs whose elements begin at all of them, in one accumulator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps
from polysched.interp import interpret

n, i, j = ps.size("n"), *ps.vars("i j")
Where = Callable[[ps.Expr], ps.Expr]

POINTS: dict[str, Where] = {
    "first": lambda k: k == i,
    "first and behind": lambda k: (k == i) & (k < 1),
    "one": lambda k: (i == 3) & (k > 0),
    "a few": lambda k: (i > 1) & (i <= k),
    "none": lambda k: (i == 3) & (k > 9),
}


def sums(where: Where, end: int) -> tuple[ps.Func, ps.Schedule]:
    x = ps.Input("x", ps.float32, (n,))
    k, f = ps.RVar("k", 0, end, where=where), ps.Func("f", (n,), ps.float32)
    f[i] = 2.0
    f[i] += x[i] * k + x[i]
    s = ps.Schedule(f)
    s["f"].compute_at("f.update(0)", i)
    return f, s


@pytest.mark.parametrize("end", [1, 5])
@pytest.mark.parametrize("points", POINTS)
def test_elements_begin_that_nothing_is_added_to(points: str, end: int) -> None:
    """The element of each iteration was taken from where something is added: the others were
    written back there, and their own elements never."""
    f, s = sums(POINTS[points], end)
    s["f.update(0)"].accumulate_at(i)
    kernel = s.compile()
    for count in (0, 1, 4, 9):
        x = np.arange(1, count + 1, dtype=np.float32)
        assert np.array_equal(kernel(x), interpret(f, x)), count


def test_elements_of_tiles_begin() -> None:
    f, s = sums(POINTS["first"], 2)
    u = s["f.update(0)"]
    u.split(i, 4)
    u.accumulate_at("io")
    u.vectorize("ii")
    x = np.arange(1, 12, dtype=np.float32)
    assert np.array_equal(s.compile()(x), interpret(f, x))


def test_a_chosen_schedule_of_a_sum_at_one_point() -> None:
    x, f = ps.Input("x", ps.float64, (n, n)), ps.Func("f", (n, 3), ps.float64)
    k, l = ps.RVar("k", 0, 1, where=lambda k: 2 * k == i), ps.RVar("l", 0, n)
    f[i, j] = 1.0
    f[i, j] = ps.maximum(f[i, j], x[k, l] * (j + 2))
    kernel = ps.Schedule.auto(f, sizes={"n": 21}).compile()
    for count in (1, 8, 21):
        given = np.random.default_rng(count).random((count, count))
        assert np.array_equal(kernel(given), interpret(f, given))


def test_refuses_an_accumulator_of_elements_that_no_loop_tells() -> None:
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,), ps.float32)
    k = ps.RVar("k", 0, n)
    f[i] = 2.0
    f[k % 3] += x[k]
    with pytest.raises(ps.ScheduleError, match="accumulate_at"):
        ps.Schedule(f)["f.update(0)"].accumulate_at("k")
