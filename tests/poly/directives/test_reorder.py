"""reorder: loops in another order."""

from __future__ import annotations

import pytest

import polysched as ps

from .cases import gauss_seidel, i, j, lu, plane, product
from .support import listed, refused, same


def test_listing() -> None:
    s = ps.Schedule(product())
    s["C"].update(0).reorder("k", i, j)
    listed(
        s,
        """
        for i in [0, n):
          for j in [0, m):
            C[i, j] = 0.0
        for k in [0, l):
          for i in [0, n):
            for j in [0, m):
              C[i, j] = fma(A[i, k], B[k, j], C[i, j])
    """,
    )


@pytest.mark.slow
@pytest.mark.parametrize("order", ["ijk", "ikj", "jik", "jki", "kij", "kji"])
def test_values(order: str) -> None:
    s = ps.Schedule(product())
    s["C"].update(0).reorder(*order)
    same(s, over=(0, 1, 3, 8))
    assert s.bit_exact


def test_loops_that_are_not_named_keep_their_places() -> None:
    s = ps.Schedule(product())
    s["C"].update(0).reorder("k", i)
    assert [x.name for x in s["C"].update(0).loops] == ["k", "j", "i"]


def test_kinds_move_along() -> None:
    s = ps.Schedule(plane())
    s["f"].parallel(i).reorder(j, i)
    assert [(x.name, x.kind) for x in s["f"].loops] == [("j", "serial"), ("i", "parallel")]
    same(s)


def test_refuses_a_dependence_that_turns_round() -> None:
    s = ps.Schedule(gauss_seidel(north_east=True))
    with refused(
        s,
        "reorder('c', 'r') is refused: the first would run after the second",
        "writes a[1, 2]", "reads it, at n=3, m=4",
        hint='skew("r", "c", 1) first',
        status="violation", kind="flow", tensor="a", sizes={"n": 3, "m": 4},
    ):  # fmt: skip
        s["a"].reorder("c", "r")


def test_refuses_a_loop_that_holds_more() -> None:
    s = ps.Schedule(lu())
    with refused(s, "the loop k holds more than the loop inside of it", hint="fission"):
        s["a.update(1)"].reorder("r", "k")


def test_refuses_a_loop_twice() -> None:
    s = ps.Schedule(plane())
    with refused(s, "a loop is named twice"):
        s["f"].reorder(i, i)


def test_refuses_a_parallel_loop_inside_of_lanes() -> None:
    s = ps.Schedule(plane())
    s["f"].parallel(i).vectorize(j, 8)
    with refused(s, "the parallel loop i would be inside of the vector loop ji"):
        s["f"].reorder("ji", i, j)


def test_refuses_lanes_without_a_constant_number() -> None:
    x = ps.Input("x", ps.int64, (ps.size("n") + 4,))
    f = ps.Func("f", (ps.size("n"),))
    k = ps.RVar("k", i, i + 4)
    f[i] = 0
    f[i] += x[k]
    s = ps.Schedule(f)
    s["f"].update(0).vectorize("k")
    with refused(s, "the loop k would have no constant extent"):
        s["f"].update(0).reorder("k", i)
