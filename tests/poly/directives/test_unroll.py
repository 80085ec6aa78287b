"""unroll: bodies one after the other."""

from __future__ import annotations

import pytest

import polysched as ps

from .cases import gauss_seidel, i, j, n, plane, product
from .support import listed, refused, same


def test_listing() -> None:
    s = ps.Schedule(plane())
    assert s["f"].unroll(j, 4).name == "f"
    listed(
        s,
        """
        for i in [0, n):
          for j in [0, (m - 1) // 4 + 1):
            for ji in [0, min(m - j * 4, 4)) (unrolled):
              f[i, j] = x[i, j] * 2 + i  # f.j = j * 4 + ji
    """,
    )


@pytest.mark.slow
def test_a_loop_of_vectors() -> None:
    """The inner loop is called so that no other one is."""
    s = ps.Schedule(plane())
    s["f"].vectorize(j, 4).unroll(j, 2)
    assert [(x.name, x.kind) for x in s["f"].loops][1:] == [
        ("j", "serial"), ("ji2", "unrolled"), ("ji", "vector"),
    ]  # fmt: skip
    same(s, over=(0, 1, 7, 9, 16))


@pytest.mark.slow
def test_values() -> None:
    s = ps.Schedule(product())
    s["C"].update(0).unroll(i, 2).unroll("k", 3)
    same(s, over=(0, 1, 3, 8))


@pytest.mark.slow
def test_the_order_is_that_of_the_loop() -> None:
    s = ps.Schedule(gauss_seidel())
    s["a"].unroll("c", 3).unroll("r", 2)
    same(s, over=(2, 3, 5, 9))


def test_a_range_that_moves() -> None:
    """Bounds of several parts span more than any iteration of the loops around needs."""
    f = ps.Func("f", (n, 6), ps.int64)
    f[i, j] = 7 * i - j
    s = ps.Schedule(f)
    s["f"].unroll(j)
    s["f"].peel(j, first=1, last=2)
    same(s)


def test_refuses_many() -> None:
    f = ps.Func("f", (n, 300), ps.int64)
    f[i, j] = i + j
    s = ps.Schedule(f)
    with refused(s, "the loop j has 300 iterations, and at most 256 are unrolled"):
        s["f"].unroll(j)


def test_refuses_a_symbolic_extent() -> None:
    s = ps.Schedule(plane())
    with refused(s, "the loop j has no constant extent", hint='unroll("j", 8) splits first'):
        s["f"].unroll(j)


@pytest.mark.parametrize("factor", [0, -1])
def test_refuses_no_factor(factor: int) -> None:
    s = ps.Schedule(plane())
    with refused(s, "the factor of unroll is at least 1"):
        s["f"].unroll(j, factor)
