"""split: a loop in two."""

from __future__ import annotations

import pytest

import polysched as ps

from .cases import gauss_seidel, i, j, n, plane
from .support import listed, refused, same


def test_listing() -> None:
    s = ps.Schedule(plane())
    jo, ji = s["f"].split(j, 8)
    assert (jo.name, ji.name) == ("jo", "ji")
    listed(
        s,
        """
        for i in [0, n):
          for jo in [0, (m - 1) // 8 + 1):
            for ji in [0, min(m - jo * 8, 8)):
              f[i, j] = x[i, j] * 2 + i  # j = jo * 8 + ji
    """,
    )


def test_names() -> None:
    s = ps.Schedule(plane())
    outer, inner = s["f"].split("j", 8, names=("block", "lane"))
    assert [x.name for x in s["f"].loops] == ["i", "block", "lane"]
    assert (outer.extent, inner.extent) == ("(m - 1) // 8 + 1", "min(m - block * 8, 8)")


@pytest.mark.parametrize("factor", [1, 2, 3, 8, 100])
def test_values(factor: int) -> None:
    s = ps.Schedule(plane())
    s["f"].split(i, factor)
    s["f"].split(j, factor)
    same(s)


def test_a_loop_that_begins_elsewhere_has_tiles_from_index_0() -> None:
    s = ps.Schedule(gauss_seidel())
    s["a"].split("r", 4)
    listed(
        s,
        """
        for ro in [0, (n - 1) // 4 + 1):
          for ri in [max(1 - ro * 4, 0), min(n - ro * 4, 4)):
            for c in [1, m - 1):
              a[r, c] = a[r - 1, c] + a[r, c - 1]  # r = ro * 4 + ri
    """,
    )
    same(s, over=(2, 3, 5, 9))


def test_twice() -> None:
    s = ps.Schedule(plane())
    _, ji = s["f"].split(j, 8)
    s["f"].split(ji, 3)
    assert [x.name for x in s["f"].loops] == ["i", "jo", "jio", "jii"]
    same(s)


@pytest.mark.parametrize("factor", [0, -4])
def test_refuses_no_factor(factor: int) -> None:
    s = ps.Schedule(plane())
    with refused(s, f"the factor of split is at least 1, not {factor}"):
        s["f"].split(j, factor)


@pytest.mark.parametrize("factor", [2.0, True, "8", n])
def test_refuses_what_is_no_python_integer(factor: object) -> None:
    s = ps.Schedule(plane())
    with pytest.raises(TypeError, match="the factor of split is a Python integer"):
        s["f"].split(j, factor)


def test_refuses_names_that_are_there() -> None:
    s = ps.Schedule(plane())
    with refused(s, "f has a loop i already", hint="names="):
        s["f"].split(j, 8, names=("i", "ji"))
    with refused(s, "f has a loop x already"):
        s["f"].split(j, 8, names=("x", "x"))


def test_refuses_an_unknown_tail() -> None:
    s = ps.Schedule(plane())
    with refused(s, "the tail of split is one of auto, ", "not 'sometimes'"):
        s["f"].split(j, 8, tail="sometimes")
    with refused(s, "the tail of split", "not 'gaurd'", hint="did you mean guard?"):
        s["f"].split(j, 8, tail="gaurd")


@pytest.mark.parametrize("kind", ["vectorize", "unroll"])
def test_refuses_lanes(kind: str) -> None:
    s = ps.Schedule(plane())
    getattr(s["f"], kind)(j, 8)
    with refused(s, "the loop ji is", "already", hint="split first"):
        s["f"].split("ji", 2)


@pytest.mark.parametrize(
    ("factor", "hint"),
    [(2.0, "hint: 2"), ("8", "hint: 8 without quotes"), ("io", 'names=("io", "ii") names them')],
)
def test_says_what_is_an_integer(factor: object, hint: str) -> None:
    with pytest.raises(TypeError) as info:
        ps.Schedule(plane())["f"].split(j, factor)
    assert hint in str(info.value)
