"""peel: the first and the last iterations apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import polysched as ps

from .cases import blur, gauss_seidel, i, j, plane
from .support import listed, refused, same


def test_listing() -> None:
    s = ps.Schedule(plane())
    assert s["f"].peel(j, first=1, last=2).name == "f"
    listed(
        s,
        """
        for i in [0, n):
          if m >= 1:
            for j in [0, 1):
              f[i, j] = x[i, j] * 2 + i
          for j in [1, m - 2):
            f[i, j] = x[i, j] * 2 + i
          for j in [max(m - 2, 1), m):
            f[i, j] = x[i, j] * 2 + i
    """,
    )


@pytest.mark.parametrize(("first", "last"), [(1, 0), (0, 1), (3, 2), (20, 20)])
def test_values(first: int, last: int) -> None:
    s = ps.Schedule(plane())
    s["f"].peel(i, first=first, last=last)
    s["f"].peel(j, first=first, last=last)
    same(s)


def test_the_order_stays() -> None:
    s = ps.Schedule(gauss_seidel(north_east=True))
    s["a"].peel("c", first=1, last=1)
    same(s, over=(2, 3, 5, 9))


@pytest.mark.slow
def test_the_middle_is_scheduled_apart() -> None:
    s = ps.Schedule(plane())
    s["f"].peel(j, first=1)
    s["f"].vectorize(j, 4)
    s["f.first"].parallel(i)
    same(s)


def test_of_what_is_in_lanes() -> None:
    A = ps.InOut("A", ps.int64, (9,))
    r = ps.RVar("r", 0, 8)
    A[r] = A[r + 1] + 1
    s = ps.Schedule(A)
    s["A"].vectorize("r")
    with refused(s, "the lanes of the vector loop r run together", hint="peel first"):
        s["A"].peel("r", first=1)


@pytest.mark.parametrize(("first", "last"), [(0, 0), (-1, 2)])
def test_refuses_none(first: int, last: int) -> None:
    s = ps.Schedule(plane())
    what = "peel takes at least one iteration" if not first else "is at least 0, not -1"
    with refused(s, what):
        s["f"].peel(j, first=first, last=last)


def test_refuses_no_such_loop() -> None:
    s = ps.Schedule(plane())
    with refused(s, "f has no loop r"):
        s["f"].peel("r", first=1)


@pytest.mark.slow
def test_twice() -> None:
    """Each part has a name of its own."""
    s = ps.Schedule(plane())
    s["f"].split(i, 4)
    s["f"].peel(j, last=4)
    s["f.last"].parallel(j)
    s["f"].peel(j, last=1).peel("ii", first=1)
    parts = "f.first, f.last'.first, f.last.first, f, f.last', f.last"
    with refused(s, "there is no stage g", hint=parts):
        s["g"].unroll(j)
    with refused(s, "the parallel loop j would be inside of the vector loop ii"):
        s["f.last"].vectorize("ii")
    s["f.last'"].unroll(j)
    same(s)


@pytest.mark.slow
def test_a_copy_is_not_called_as_a_part() -> None:
    """Nor a part as a copy."""
    for early in (True, False):
        s = ps.Schedule(blur())
        s["f"].rename(i, "first")
        if early:
            s["g"].peel(i, first=1)
        copy = s["f"].stage("g", at="first")
        if not early:
            s["g"].peel(i, first=1)
        assert copy.name == ("g.first'" if early else "g.first")
        part = s["g.first" if early else "g.first'"]
        part.reorder(j, i)
        same(s, over=(0, 1, 3))


@pytest.mark.parametrize(
    "cut",
    [
        lambda u: u.peel("r", last=1),
        lambda u: u.split("r", 8, tail="peel"),
        lambda u: u.split("r", 8, tail="shift"),
    ],
    ids=["peel", "tail=peel", "tail=shift"],
)
def test_refuses_a_loop_of_what_others_need(cut: Callable[[Any], object]) -> None:
    """A loop that never runs can be left with nothing but what is computed for another one."""
    r = ps.RVar("r", 0, 0)
    f = ps.Func("f", (), dtype=ps.int32)
    f[()] = 5
    g = ps.Func("g", (4,), dtype=ps.int32)
    g[i] = 0
    g[r] += f[()]
    s = ps.Schedule(g)
    s[f].compute_at(s[g].update(0), "r").fission("r")
    with refused(s, "holds only what is computed for stages outside of it (f)", hint="fission"):
        cut(s[f])
    s[f].split("r", ps.native)
    same(s)
