"""skew: an inner loop that moves with an outer one."""

from __future__ import annotations

import pytest

import polysched as ps

from .cases import gauss_seidel, i, j, jacobi, n, plane, t
from .support import listed, refused, same


def test_listing() -> None:
    s = ps.Schedule(gauss_seidel())
    assert s["a"].skew("r", "c", 1, name="w").name == "w"
    listed(
        s,
        """
        for r in [1, n):
          for w in [r + 1, m + r - 1):
            a[r, c] = a[r - 1, c] + a[r, c - 1]  # c = w - r
    """,
    )


@pytest.mark.parametrize("factor", [-2, -1, 1, 2, 5])
def test_values(factor: int) -> None:
    s = ps.Schedule(gauss_seidel(north_east=True))
    s["a"].skew("r", "c", factor)
    same(s, over=(2, 3, 5, 9))


def test_an_interchange_becomes_legal() -> None:
    s = ps.Schedule(jacobi())
    w = s["f"].skew(t, i, 1)
    s["f"].reorder(w, t)
    same(s, over=(1, 2, 3, 9))


def test_lanes_stay_lanes() -> None:
    s = ps.Schedule(plane())
    s["f"].vectorize(j, 4)
    s["f"].skew(i, "ji")
    same(s)


def test_refuses_the_wrong_way() -> None:
    s = ps.Schedule(plane())
    with refused(s, "i is not inside of j", hint="reorder first"):
        s["f"].skew(j, i)
    with refused(s, "i is not inside of i"):
        s["f"].skew(i, i)


def test_refuses_a_name_that_is_there() -> None:
    s = ps.Schedule(plane())
    with refused(s, "f has a loop i already"):
        s["f"].skew(i, j, 1, name="i")


@pytest.mark.parametrize("factor", [-1, 0])
def test_a_skew_that_is_too_small_does_not_help(factor: int) -> None:
    s = ps.Schedule(jacobi())
    s["f"].skew(t, i, factor)
    with refused(s, "reorder", kind="flow"):
        s["f"].reorder(i, t)


def _diagonal() -> ps.Schedule:
    """Each step needs the one before, one element to the left: lanes along t are in order."""
    x = ps.Input("x", ps.int32, (n,))
    f = ps.Func("f", (n, n), ps.int32)
    f[t, i] = ps.select((t > 0) & (i > 0), f[t - 1, i - 1] + 1, x[i])
    s = ps.Schedule(f)
    s["f"].vectorize(t, 4)
    return s


@pytest.mark.parametrize("factor", [-1, -2])
def test_lanes_may_not_meet_otherwise(factor: int) -> None:
    s = _diagonal()
    with refused(s, "skew", kind="flow"):
        s["f"].skew("ti", i, factor)


def test_lanes_that_keep_their_distance() -> None:
    s = _diagonal()
    s["f"].skew("ti", i, 1)
    same(s, over=(1, 2, 5, 9))
