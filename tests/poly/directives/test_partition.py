"""partition: a stage in two by a condition."""

from __future__ import annotations

import pytest

import polysched as ps

from .cases import i, j, m, n, plane, product
from .support import listed, refused, same


def test_listing() -> None:
    s = ps.Schedule(plane())
    low, high = s["f"].partition(j < 4)
    assert (low.name, high.name) == ("f[0]", "f[1]")
    listed(
        s,
        """
        for i in [0, n):
          for j in [0, m):
            if 3 >= j:
              f[i, j] = x[i, j] * 2 + i
            if j >= 4:
              f[i, j] = x[i, j] * 2 + i
    """,
    )


CONDITIONS = {
    "corner": (i < 2) & (j >= m - 1),
    "parity": (i + j) % 2 == 0,
    "diagonal": i == j,
    "all": i >= 0,
    "none": i < 0,
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_values(name: str) -> None:
    s = ps.Schedule(plane())
    s["f"].partition(CONDITIONS[name])
    same(s)


@pytest.mark.slow
def test_the_parts_are_scheduled_apart() -> None:
    s = ps.Schedule(plane())
    left, right = s["f"].partition(j < 4)
    left.fission(j)
    left.fission(i)
    right.tile(i, j, 4, 8)
    right.parallel("io")
    assert [x.name for x in left.loops] == ["i", "j"]
    same(s)


@pytest.mark.slow
def test_an_rvar_and_a_part_of_a_part() -> None:
    s = ps.Schedule(product())
    k = ps.vars("k")
    first, _ = s["C"].update(0).partition(k < 3)
    a, b = first.partition(i == j)
    assert (a.name, b.name) == ("C.update(0)[0][0]", "C.update(0)[0][1]")
    same(s, over=(0, 1, 3, 8))


def test_the_whole_is_gone() -> None:
    s = ps.Schedule(plane())
    f = s["f"]
    f.partition(i < 2)
    with refused(s, "there is no stage f", hint="f[0], f[1]"):
        f.split(i, 2)


def test_refuses_what_is_not_affine() -> None:
    s = ps.Schedule(plane())
    with refused(s, "the condition is not affine"):
        s["f"].partition(i * j < 4)


def test_refuses_other_vars() -> None:
    s = ps.Schedule(plane())
    with refused(s, "f has no Var or RVar k", hint="a condition is over i, j"):
        s["f"].partition(ps.vars("k") < 4)


def test_refuses_a_number() -> None:
    s = ps.Schedule(plane())
    with pytest.raises(TypeError, match="condition"):
        s["f"].partition(i + 1)


def test_refuses_an_order_that_matters() -> None:
    """Odd places need the even ones before them: cut into two loops, the order is lost."""
    A, r = ps.InOut("A", ps.int64, (n,)), ps.RVar("r", 1, n)
    A[r] = A[r - 1] + 1
    s = ps.Schedule(A)
    odd, _ = s["A"].partition(ps.vars("r") % 2 == 1)
    with refused(s, "fission('r', after='A.update(0)[0]') is refused", kind="flow"):
        odd.fission("r")
