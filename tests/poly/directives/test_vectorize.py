"""vectorize: iterations as lanes."""

from __future__ import annotations

import pytest

import polysched as ps

from .cases import blur, i, j, n, plane, product, running
from .support import listed, refused, same


def test_listing() -> None:
    s = ps.Schedule(plane())
    assert s["f"].vectorize(j, 8).name == "f"
    listed(
        s,
        """
        for i in [0, n):
          for j in [0, (m - 1) // 8 + 1):
            for ji in [0, min(m - j * 8, 8)) (vector):
              f[i, j] = x[i, j] * 2 + i  # f.j = j * 8 + ji
    """,
    )


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [2, 3, 8, 64])
def test_values(lanes: int) -> None:
    s = ps.Schedule(plane())
    s["f"].vectorize(j, lanes)
    same(s)


@pytest.mark.slow
def test_lanes_around_a_loop() -> None:
    s = ps.Schedule(product())
    s["C"].update(0).vectorize(i, 4)
    assert [x.name for x in s["C"].update(0).loops] == ["i", "ii", "j", "k"]
    same(s, over=(0, 1, 3, 8))


def test_a_triangle_inside_of_lanes() -> None:
    """Lanes with bounds of their own run under guards."""
    x, f = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n,))
    k = ps.RVar("k", i // 2, i + 1)
    f[i] = 0
    f[i] += x[k]
    s = ps.Schedule(f)
    s["f"].update(0).vectorize(i, 4)
    same(s)


def test_a_loop_of_few() -> None:
    f = ps.Func("f", (n, 6), ps.int64)
    f[i, j] = 7 * i - j
    s = ps.Schedule(f)
    s["f"].vectorize(j)
    assert [x.kind for x in s["f"].loops] == ["serial", "vector"]
    same(s)


@pytest.mark.slow
def test_a_split_says_how_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where conditions have many pieces isl needs minutes to count."""
    s = ps.Schedule(blur())
    s["f"].split(j, 64)
    with monkeypatch.context() as patch:
        patch.setattr("polysched.poly.tree.extents.constant_extent", None)
        s["f"].vectorize("ji")
    same(s)


def test_a_split_by_more_than_there_are() -> None:
    f = ps.Func("f", (n, 6), ps.int64)
    f[i, j] = 7 * i - j
    s = ps.Schedule(f)
    s["f"].split(j, 1000)
    s["f"].vectorize("ji")
    same(s)


@pytest.mark.slow
def test_lanes_that_differ_from_iteration_to_iteration() -> None:
    """The loops' bounds are wider than what either half of the lanes needs."""
    s = ps.Schedule(blur())
    s["f"].vectorize(j, 4)
    _, right = s["f"].partition(i < 2)
    right.shift("ji", 1)
    same(s)


def test_refuses_many() -> None:
    f = ps.Func("f", (n, 65), ps.int64)
    f[i, j] = i + j
    s = ps.Schedule(f)
    with refused(s, "the loop j has 65 iterations, and at most 64 are lanes", hint="splits first"):
        s["f"].vectorize(j)


def test_refuses_a_symbolic_extent() -> None:
    s = ps.Schedule(plane())
    with refused(s, "the loop j has no constant extent", hint='vectorize("j", 8)'):
        s["f"].vectorize(j)


def test_refuses_lanes_that_need_each_other() -> None:
    s = ps.Schedule(running(3))
    with refused(
        s, "vectorize('r', 4) is refused: two lanes would run concurrently",
        "A.update(0)[r=4] writes A[4], A.update(0)[r=7] reads it, at n=8",
        kind="lane", tensor="A", sizes={"n": 8},
    ):  # fmt: skip
        s["A"].vectorize("r", 4)


def test_refuses_a_float_sum() -> None:
    s = ps.Schedule(product())
    with refused(s, "vectorize('k', 4)", hint="reassociate()", kind="lane"):
        s["C"].update(0).vectorize("k", 4)


@pytest.mark.parametrize("kind", ["parallel", "vectorize"])
def test_refuses_lanes_of_lanes(kind: str) -> None:
    s = ps.Schedule(plane())
    s["f"].vectorize(i, 4)
    with refused(s, "would be inside of the vector loop ii", hint="reorder"):
        getattr(s["f"], kind)(j, 4)
