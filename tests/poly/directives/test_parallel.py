"""parallel: iterations on several threads."""

from __future__ import annotations

import pytest

import polysched as ps

from .cases import gauss_seidel, i, j, plane, product
from .support import listed, refused, same


def test_listing() -> None:
    s = ps.Schedule(plane())
    assert s["f"].parallel(i).name == "f"
    listed(
        s,
        """
        for i in [0, n) (parallel):
          for j in [0, m):
            f[i, j] = x[i, j] * 2 + i
    """,
    )


def test_chunks_keep_the_name() -> None:
    s = ps.Schedule(plane())
    s["f"].parallel(i, 4)
    assert [(x.name, x.kind) for x in s["f"].loops] == [
        ("i", "parallel"), ("ii", "serial"), ("j", "serial"),
    ]  # fmt: skip
    same(s)


@pytest.mark.slow
def test_values() -> None:
    s = ps.Schedule(product())
    s["C"].parallel(i)
    s["C"].update(0).parallel(i).parallel(j)
    same(s, over=(0, 1, 3, 8))


@pytest.mark.slow
def test_what_is_fresh_in_each_iteration_does_not_meet() -> None:
    """Each iteration has a scratch row of its own."""
    n, m = ps.sizes("n m")
    x, a = ps.Input("x", ps.int64, (n, m)), ps.InOut("a", ps.int64, (n, m))
    with ps.sequential("r", 0, n) as r:
        row = ps.Func("row", (m,))
        row[j] = x[r, j] * 2
        a[r, j] = row[j] + row[m - 1 - j]
    s = ps.Schedule(a)
    s["a"].parallel("r")
    same(s)


def test_refuses_a_race() -> None:
    s = ps.Schedule(gauss_seidel())
    with refused(
        s,
        "parallel('r') is refused: two iterations would run concurrently, and one needs the other",
        "a.update(0)[r=1, c=1] writes a[1, 1], a.update(0)[r=2, c=1] reads it, at n=3, m=3",
        hint="wavefront", status="violation", kind="race", tensor="a",
    ):  # fmt: skip
        s["a"].parallel("r")


def test_refuses_a_sum() -> None:
    s = ps.Schedule(product(ps.int64))
    with refused(s, "parallel('k')", hint="gives each a partial sum", kind="race"):
        s["C"].update(0).parallel("k")


def test_refuses_a_chunk_that_is_no_number() -> None:
    s = ps.Schedule(plane())
    with pytest.raises(TypeError, match="the factor of parallel"):
        s["f"].parallel(i, 2.5)


def test_refuses_a_race_of_any_two_iterations_not_only_neighbours() -> None:
    n = ps.size("n")
    A, r = ps.InOut("A", ps.int64, (n,)), ps.RVar("r", 5, n)
    A[r] = A[r - 5]
    s = ps.Schedule(A)
    with refused(s, "A.update(0)[r=5] writes A[5], A.update(0)[r=10] reads it, at n=11"):
        s["A"].parallel("r")
    s["A"].split("r", 5)
    s["A"].parallel("ri")
    same(s)
