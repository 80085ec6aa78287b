"""Recurrences that are defined inside a `sequential`: fresh in each of its iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polysched as ps

n, T = ps.sizes("n T")
i, j = ps.vars("i j")


def check(u: ps.InOut, wanted: Callable[..., Any], start: Any, **sizes: int) -> None:
    """Native code, the interpreter and a loop in Python agree."""
    for how in (ps.Schedule(u).compile(), ps.Schedule.default(u).compile(), interpreter(u)):
        assert how(u=start.copy(), **sizes).tolist() == wanted(start.tolist(), **sizes)


def interpreter(u: ps.InOut) -> Callable[..., Any]:
    return lambda **arguments: ps.interpret(u, **arguments)


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_down_after_up(size: int) -> None:
    u = ps.InOut("u", ps.int64, (n,))
    with ps.sequential("t", 0, T) as t:
        up, down = (ps.Func(name, (n,), ps.int64) for name in ("up", "down"))
        up[i] = u[i] + ps.select(i > 0, up[i - 1], t)
        down[i] = up[i] - ps.select(i < n - 1, down[i + 1], 0)
        u[i] = down[i] % 101

    def wanted(u: list[int], T: int) -> list[int]:
        for t in range(T):
            up: list[int] = []
            for x in u:
                up.append(x + (up[-1] if up else t))
            down: list[int] = []
            for x in up[::-1]:
                down.append(x - (down[-1] if down else 0))
            u = [x % 101 for x in down[::-1]]
        return u

    for steps in (0, 1, 3):
        check(u, wanted, np.arange(1, size + 1), T=steps)


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_funcs_that_read_each_other_through_a_reduction(size: int) -> None:
    u = ps.InOut("u", ps.int64, (n,))
    with ps.sequential("t", 0, T) as t:
        p, q = (ps.Func(name, (n,), ps.int64) for name in "pq")
        k = ps.RVar("k", 0, i)
        p[i] = u[i] + ps.select(i > 0, q[i - 1], t)
        q[i] = p[i] + ps.sum(p[k] * q[k], k) % 7
        u[i] = q[i] % 101

    def wanted(u: list[int], T: int) -> list[int]:
        for t in range(T):
            p: list[int] = []
            q: list[int] = []
            for x in u:
                total = sum(a * b for a, b in zip(p, q, strict=True))
                p.append(x + (q[-1] if q else t))
                q.append(p[-1] + total % 7)
            u = [x % 101 for x in q]
        return u

    for steps in (0, 1, 3):
        check(u, wanted, np.arange(1, size + 1), T=steps)


@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_plane_with_an_update_in_two_loops_one_of_them_downwards(size: int) -> None:
    u = ps.InOut("u", ps.int64, (n, n))
    with ps.sequential("t", T, -1, step=-1) as t, ps.sequential("s", 0, t) as s:
        p = ps.Func("p", (n, n), ps.int64)
        p[i, j] = u[i, j] + ps.select((i > 0) & (j < n - 1), p[i - 1, j + 1], t)
        p[i, j] += s
        u[i, j] = p[j, i] % 101

    def wanted(u: list[list[int]], T: int) -> list[list[int]]:
        for t in range(T, -1, -1):
            for s in range(t):
                p = [[0] * size for _ in range(size)]
                for x in range(size):
                    for y in range(size):
                        before = p[x - 1][y + 1] if x > 0 and y < size - 1 else t
                        p[x][y] = u[x][y] + before + s
                u = [[p[y][x] % 101 for y in range(size)] for x in range(size)]
        return u

    check(u, wanted, np.arange(size * size).reshape(size, size), T=3)


def test_a_value_that_needs_itself() -> None:
    u = ps.InOut("u", ps.int64, (n,))
    with ps.sequential("t", 0, T):
        p = ps.Func("p", (n,), ps.int64)
        p[i] = ps.select(i > 0, p[i - 1], p[i + 1])
        u[i] = p[i]
    with pytest.raises(ps.LanguageError, match=r"needs itself: .*at n=2, T=1"):
        ps.Schedule(u)


def test_an_update_between_the_definitions_of_what_they_read() -> None:
    """All of a recurrence runs where its last definition stands, after the update."""
    u = ps.InOut("u", ps.int64, (n,))
    with ps.sequential("t", 0, T):
        p, q = (ps.Func(name, (n,), ps.int64) for name in "pq")
        p[i] = u[i] + ps.select(i > 0, q[i - 1], 0)
        u[i] = 5
        q[i] = p[i] + u[i]
        u[i] = q[i]
    with pytest.raises(ps.LanguageError, match="p reads u before this update of it") as error:
        ps.Schedule(u)
    assert "one after the other" in error.value.hint


def test_an_update_between_the_definitions_of_what_only_later_ones_read() -> None:
    u, v = (ps.InOut(name, ps.int64, (n,)) for name in "uv")
    with ps.sequential("t", 0, T):
        p, q = (ps.Func(name, (n,), ps.int64) for name in "pq")
        p[i] = u[i] + ps.select(i > 0, q[i - 1], 0)
        v[i] += 5
        q[i] = p[i] + v[i]
        u[i] = q[i]
    found = ps.Schedule((u, v)).compile()(u=np.arange(3), v=np.zeros(3, np.int64), T=1)
    assert [a.tolist() for a in found] == [[5, 11, 18], [5, 5, 5]]
