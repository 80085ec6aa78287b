"""rename: another name for a loop."""

from __future__ import annotations

import pytest

import polysched as ps

from .cases import i, plane
from .support import listed, refused, same


def test_listing() -> None:
    s = ps.Schedule(plane())
    assert s["f"].rename(i, "row").name == "f"
    listed(
        s,
        """
        for row in [0, n):
          for j in [0, m):
            f[i, j] = x[i, j] * 2 + i
    """,
    )
    same(s)


def test_the_old_name_is_stale() -> None:
    s = ps.Schedule(plane())
    row = s["f"][i]
    s["f"].rename(i, "row")
    with refused(s, "f has no loop i any more", "rename('i', name='row') replaced it"):
        s["f"].split(row, 2)


def test_a_name_given_back_is_good_again() -> None:
    s = ps.Schedule(plane())
    s["f"].rename(i, "row").rename("row", "i").split(i, 2)
    same(s)


def test_refuses_a_name_that_is_there() -> None:
    s = ps.Schedule(plane())
    with refused(s, "f has a loop j already"):
        s["f"].rename(i, "j")


@pytest.mark.parametrize("name", ["k", "io"])
def test_refuses_no_such_loop(name: str) -> None:
    s = ps.Schedule(plane())
    with refused(s, f"f has no loop {name}", hint="its loops are i, j"):
        s["f"].rename(name, "x")
