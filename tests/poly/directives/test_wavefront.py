"""wavefront: diagonals."""

from __future__ import annotations

import pytest

import polysched as ps

from .cases import gauss_seidel, i, j, jacobi, plane, seidel_2d, t
from .support import listed, refused, same


def test_listing() -> None:
    s = ps.Schedule(gauss_seidel())
    made = s["a"].wavefront("r", "c")
    assert [x.name for x in made] == ["wave", "c"]
    listed(
        s,
        """
        for wave in [2, n + m - 2):
          for c in [max(wave + 1 - n, 1), min(wave, m - 1)):
            a[r, c] = a[r - 1, c] + a[r, c - 1]  # r = wave - c
    """,
    )


def test_values() -> None:
    s = ps.Schedule(gauss_seidel())
    _, c = s["a"].wavefront("r", "c")
    s["a"].parallel(c)
    same(s, over=(2, 3, 5, 9))


@pytest.mark.slow
def test_tiles() -> None:
    s = ps.Schedule(gauss_seidel())
    s["a"].tile("r", "c", 2, 4)
    _, co = s["a"].wavefront("ro", "co", name="w")
    s["a"].parallel(co)
    same(s, over=(2, 3, 5, 9))


def test_refuses_a_distance_that_goes_back() -> None:
    s = ps.Schedule(jacobi())
    s["f"].skew(t, i, -1)
    with refused(s, "is refused", kind="flow", tensor="f"):
        s["f"].wavefront(t, i)


def test_refuses_to_forget_what_a_loop_is() -> None:
    s = ps.Schedule(plane())
    s["f"].parallel(i)
    with refused(s, "the loop i is parallel already", hint="change coordinates first"):
        s["f"].wavefront(i, j)


def test_refuses_one_loop() -> None:
    s = ps.Schedule(plane())
    with pytest.raises(TypeError, match="wavefront takes two loops or more"):
        s["f"].wavefront(i)


def test_a_wave_of_three_needs_the_right_skews() -> None:
    s = ps.Schedule(seidel_2d())
    with refused(s, "wavefront('t', 'i', 'j') is refused", kind="flow"):
        s["a"].wavefront("t", "i", "j")
