"""tile: blocks of iterations."""

from __future__ import annotations

import pytest

import polysched as ps

from .cases import gauss_seidel, i, j, plane, product
from .support import listed, refused, same


def test_listing() -> None:
    s = ps.Schedule(plane())
    made = s["f"].tile(i, j, 4, 8)
    assert [x.name for x in made] == ["io", "jo", "ii", "ji"]
    listed(
        s,
        """
        for io in [0, (n - 1) // 4 + 1):
          for jo in [0, (m - 1) // 8 + 1):
            for ii in [0, min(n - io * 4, 4)):
              for ji in [0, min(m - jo * 8, 8)):
                f[i, j] = x[i, j] * 2 + i  # i = io * 4 + ii, j = jo * 8 + ji
    """,
    )


@pytest.mark.parametrize("factors", [(1, 1), (4, 8), (5, 3), (16, 2)])
def test_values(factors: tuple[int, int]) -> None:
    s = ps.Schedule(plane())
    s["f"].tile(i, j, *factors)
    same(s)


@pytest.mark.slow
def test_three_loops() -> None:
    s = ps.Schedule(product())
    s["C"].update(0).tile(i, j, "k", 4, 8, 2)
    assert [x.name for x in s["C"].update(0).loops] == ["io", "jo", "ko", "ii", "ji", "ki"]
    same(s, over=(0, 1, 3, 8))


def test_recorded_as_what_it_does() -> None:
    s = ps.Schedule(plane())
    s["f"].tile(i, j, 4, 8)
    assert [d.name for d in s.directives] == ["split", "split", "reorder"]


def test_refused_as_a_whole() -> None:
    s = ps.Schedule(gauss_seidel(north_east=True))
    with refused(
        s, """s["a.update(0)"].tile('r', 'c', 4, 2) is refused""", kind="flow",
        directive="""s["a.update(0)"].tile('r', 'c', 4, 2)""",
    ):  # fmt: skip
        s["a"].tile("r", "c", 4, 2)


@pytest.mark.parametrize("given", [(), ("i",), ("i", "j", 4)])
def test_refuses_other_numbers_of_factors(given: tuple[object, ...]) -> None:
    s = ps.Schedule(plane())
    with pytest.raises(TypeError, match="tile takes loops, then as many factors"):
        s["f"].tile(*given)


def test_refuses_an_unknown_loop_and_forgets_the_first_split() -> None:
    s = ps.Schedule(plane())
    with refused(s, "f has no loop k"):
        s["f"].tile(i, "k", 4, 4)
