"""fission: one loop in two."""

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps

from .cases import i, n, product
from .support import listed, refused, same


def pair(ahead: int) -> ps.Schedule:
    a, b = ps.InOut("a", ps.int64, (n + 4,)), ps.InOut("b", ps.int64, (n,))
    with ps.sequential("r", 0, n) as r:
        a[r] = a[r] + r
        b[r] = a[r + ahead] * 2
    return ps.Schedule((a, b))


def test_listing() -> None:
    s = pair(0)
    assert s["a"].fission("r").name == "a.update(0)"
    listed(
        s,
        """
        for r in [0, n):
          a[r] = a[r] + r
        for r in [0, n):
          b[r] = a[r + 0] * 2
    """,
    )


def test_values() -> None:
    s = pair(0)
    s["a"].fission("r")
    s["a"].parallel("r")
    s["b"].vectorize("r", 4)
    assert [x.kind for x in s["a"].loops] == ["parallel"]
    same(s)


@pytest.mark.parametrize("after", ["a.update(0)", "handle"])
def test_the_stage_may_be_named(after: str) -> None:
    s = pair(0)
    s["b"].fission("r", after=s["a"] if after == "handle" else after)
    same(s)


def test_refuses_what_needs_an_earlier_iteration() -> None:
    s = pair(2)
    with refused(
        s, "fission('r', after='a.update(0)') is refused",
        "b.update(0)[r=0] reads a[2], a.update(0)[r=2] writes it, at n=3", kind="anti",
    ):  # fmt: skip
        s["a"].fission("r")


def test_refuses_to_cut_behind_the_last() -> None:
    s = pair(0)
    with refused(s, "nothing comes after b.update(0) in the loop r", hint="after="):
        s["b"].fission("r")


def test_refuses_a_stage_elsewhere() -> None:
    s = ps.Schedule(product())
    with refused(s, "is not inside of the loop"):
        s["C"].update(0).fission(i, after="C")


def test_refuses_an_unknown_stage() -> None:
    s = pair(0)
    with refused(s, "there is no stage c", hint="a.update(0), b.update(0)"):
        s["a"].fission("r", after="c")


def test_what_is_fresh_in_each_iteration_cannot_be_taken_from_its_reader() -> None:
    A = ps.InOut("A", ps.int64, (n,))
    with ps.sequential("t", 0, 3) as t:
        row = ps.Func("row", (n,))
        row[i] = A[i] * 2 + t
        A[i] += row[i]
    s = ps.Schedule(A)
    before = str(s)
    with pytest.raises(ps.ScheduleError, match="the first would run after the second"):
        s["row"].fission("t")
    assert str(s) == before


def test_a_func_of_literals_is_settled_inside_of_a_block() -> None:
    A = ps.InOut("A", ps.int64, (n,))
    with ps.sequential("t", 0, 3) as t:
        row = ps.Func("row", (n,))
        row[i] = t * i
        A[i] += row[i]
    assert ps.Schedule(A).compile()(np.zeros(3, np.int64)).tolist() == [0, 3, 6]


def test_a_copy_on_the_stack_stays_with_what_reads_it() -> None:
    """A ValueError was raised of a loop in which only what others read is left."""
    n, i = ps.size("n"), ps.vars("i")
    x, g = ps.Input("x", ps.int32, (4,)), ps.Func("g", (n,))
    g[i] = x[0] + 1
    s = ps.Schedule(g)
    s["g"].stage("x", at=i)
    s["x.i"].store_in("stack")
    with pytest.raises(ps.ScheduleError, match="lives for the whole program"):
        s["g"].fission(i, after="x.i")
