"""Periodic neighbours: dependences through `% n` are exact, as those of a torus."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps

n, T = ps.sizes("n T")
t, y, x = ps.vars("t y x")


def _life() -> ps.Func:
    B, L = ps.Input("B", ps.uint8, (n, n)), ps.Func("L", (T, n, n), dtype=ps.uint8)
    L[0, y, x] = B[y, x]
    around = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]
    first, *others = (L[t - 1, (y + a) % n, (x + b) % n] for a, b in around)
    total = first
    for other in others:
        total = total + other
    L[t, y, x] = ps.cast(ps.uint8, (total == 3) | ((total == 2) & (L[t - 1, y, x] == 1)))
    return L


def _generations(board: np.ndarray, count: int) -> np.ndarray:
    found = [board]
    for _ in range(count - 1):
        old, turns = found[-1], [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
        total = sum(np.roll(old, turn, (0, 1)) for turn in turns) - old
        found.append(((total == 3) | ((total == 2) & (old == 1))).astype(np.uint8))
    return np.array(found)


def test_life_on_a_torus_runs_in_parallel_and_in_lanes() -> None:
    s = ps.Schedule(_life())
    s["L.piece(1)"].vectorize("x", 16).parallel("y")
    kernel = s.compile()
    for size in (1, 2, 3, 17, 40):
        board = np.random.default_rng(size).integers(0, 2, (size, size)).astype(np.uint8)
        assert np.array_equal(kernel(B=board, T=4), _generations(board, 4))


def test_the_generations_stay_in_order() -> None:
    with pytest.raises(ps.ScheduleError) as info:
        ps.Schedule(_life())["L.piece(1)"].parallel("t")
    assert info.value.status == "violation"
    assert info.value.kind == "race"


def test_rows_of_a_torus_are_computed_where_they_are_needed() -> None:
    A, L, g = ps.Input("A", ps.float32, (n, n)), ps.Func("L"), ps.Func("g", (n, n))
    L[y, x] = A[y, x] * 2
    g[y, x] = L[(y - 1) % n, x] + L[ps.select(x < 3, y, (y + 1) % n), x]
    s = ps.Schedule(g)
    s[L].compute_at(s[g], y)
    a = np.arange(25, dtype=np.float32).reshape(5, 5)
    below = np.where(np.arange(5) < 3, a, np.roll(a, -1, 0))
    assert np.array_equal(s.compile()(A=a), 2 * np.roll(a, 1, 0) + 2 * below)
    assert "runs L 2.00 times" in str(s)  # if any row were read, L would run n times


def test_a_quotient_that_is_far_is_no_farther_than_its_dividend() -> None:
    """A Func that is read at a quotient by a size is computed within bounds: not as far as sizes
    may reach."""
    m, k = ps.sizes("m"), ps.vars("k")
    g, f = ps.Func("g"), ps.Func("f", (m,))
    g[k] = 7 * k
    f[k] = g[(3 - 5 * k) // n]
    s = ps.Schedule(f)
    s[g].compute_root()
    for count in (1, 2, 3, 20):
        assert s.compile()(n=count, m=5).tolist() == [7 * ((3 - 5 * k) // count) for k in range(5)]
    assert s.compile()(n=0, m=5).tolist() == [0] * 5


@pytest.mark.parametrize(
    "dividend",
    [
        lambda: ps.minimum(x, np.int64(-(2**63))),
        lambda: ps.select(x > 2, np.int64(2**63 - 1), x - 1),
        lambda: ps.select(x > 2, -(2**62), x) + 1,
    ],
)
def test_a_dividend_that_is_near_to_no_size_leaves_no_constant_in_loops(
    dividend: Callable[[], ps.Expr],
) -> None:
    """No size is 2**63: where it would be a period away, nothing is, and loops began at `n - 2**62
    * 2`, which does not fit."""
    g, f = ps.Func("g"), ps.Func("f", (8,))
    g[x] = 7 * x
    f[x] = g[dividend() % n]
    s = ps.Schedule(f)
    s[g].compute_root()
    loops = str(s).split("f[x]")[0]
    assert all(int(x) < 2**40 for x in re.findall(r"\d+", loops))
    kernel = s.compile()
    for count in (1, 3, 20):
        wanted = ps.interpret(f, n=count)
        assert np.array_equal(kernel(n=count), wanted)
        assert np.array_equal(kernel(n=count, region=((1, 7),)), wanted[1:7])
