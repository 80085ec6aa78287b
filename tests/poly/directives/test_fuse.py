"""fuse: two loops in one."""

from __future__ import annotations

import pytest

import polysched as ps

from .cases import gauss_seidel, i, j, n, plane
from .support import listed, refused, same


def fixed() -> ps.Schedule:
    f = ps.Func("f", (n, 6), ps.int64)
    f[i, j] = 7 * i - j
    return ps.Schedule(f)


def test_listing() -> None:
    s = fixed()
    assert s["f"].fuse(i, j).name == "ij"
    listed(
        s,
        """
        for ij in [0, n * 6):
          f[i, j] = 7 * i - j  # i = ij // 6, j = ij - ij // 6 * 6
    """,
    )


def test_values() -> None:
    s = fixed()
    s["f"].fuse(i, j, name="x")
    s["f"].parallel("x", 4)
    same(s)


@pytest.mark.slow
def test_tiles_are_fused() -> None:
    """The loop inside of a tile has a constant extent where its tiles are full."""
    s = ps.Schedule(plane())
    s["f"].tile(i, j, 4, 8)
    s["f"].fuse("ii", "ji")
    same(s)


def test_two_parallel_loops_are_one() -> None:
    s = fixed()
    s["f"].parallel(i).parallel(j)
    assert s["f"].fuse(i, j).kind == "parallel"
    same(s)


def test_refuses_a_parallel_loop_around_one_that_is_not() -> None:
    A = ps.InOut("A", ps.int64, (n, 8))
    r, c = ps.rdom("r c", (0, n), (1, 8))
    A[r, c] = A[r, c] + A[r, c - 1]
    s = ps.Schedule(A)
    s["A"].parallel("r")
    with refused(s, "fuse('r', 'c') is refused", tensor="A"):
        s["A"].fuse("r", "c")


def test_refuses_a_symbolic_extent() -> None:
    s = ps.Schedule(plane())
    with refused(s, "the loop j has no constant extent", hint="tile first"):
        s["f"].fuse(i, j)


def test_refuses_loops_apart() -> None:
    s = ps.Schedule(plane())
    s["f"].tile(i, j, 4, 8)
    with refused(s, "ji is not directly inside of io", hint="reorder"):
        s["f"].fuse("io", "ji")


@pytest.mark.parametrize("kind", ["vectorize", "unroll"])
def test_refuses_lanes(kind: str) -> None:
    s = fixed()
    getattr(s["f"], kind)(j)
    with refused(s, "the loop j is", "already", hint="fuse first"):
        s["f"].fuse(i, j)


def test_refuses_a_name_that_is_there() -> None:
    s = fixed()
    s["f"].split(i, 4)
    with refused(s, "f has a loop io already"):
        s["f"].fuse("ii", j, name="io")


def test_loops_of_a_recurrence() -> None:
    s = ps.Schedule(gauss_seidel())
    with refused(s, "the loop c has no constant extent"):
        s["a"].fuse("r", "c")


def test_refuses_the_range_of_an_index_type() -> None:
    """Of 3 x 3 elements 196,608 were visited."""
    a = ps.Input("a", ps.int16, (3, n))
    r, f = ps.Input("r", ps.uint16, (n,), range=(0, n)), ps.Func("f", (n,))
    f[i] = a[ps.clip(i, 0, 2), r[i]]
    s = ps.Schedule(f)
    s["f"].stage("a", at=i)
    with refused(s, "x1 has no constant extent, but for the 65536 values of the type of an"):
        s["a.i"].fuse("x0", "x1")


@pytest.mark.parametrize("factor", [None, 2**16])
def test_large_extents_that_somebody_asked_for(factor: int | None) -> None:
    f = ps.Func("f", (n, 100_000 if factor is None else n))
    f[i, j] = i + j
    s = ps.Schedule(f)
    if factor is None:
        s["f"].fuse(i, j)
    else:
        s["f"].split(j, factor)
        s["f"].fuse("jo", "ji")
    assert s.directives[-1].name == "fuse"
