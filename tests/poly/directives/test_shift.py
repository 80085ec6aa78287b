"""shift: a stage some iterations later."""

from __future__ import annotations

import pytest

import polysched as ps

from .cases import blur, i, j, n, plane
from .support import listed, refused, same


def pair(ahead: int) -> ps.Schedule:
    """Two arrays in one loop: b needs a, `ahead` iterations later."""
    a, b = ps.InOut("a", ps.int64, (n + 4,)), ps.InOut("b", ps.int64, (n,))
    with ps.sequential("r", 0, n) as r:
        a[r] = a[r] + r
        b[r] = a[r + ahead] * 2
    return ps.Schedule((a, b))


def test_listing() -> None:
    s = pair(0)
    assert s["b"].shift("r", 2).name == "r"
    listed(
        s,
        """
        for r in [0, n + 2):
          if n >= r + 1:
            a[r] = a[r] + r
          if r >= 2:
            b[r] = a[r + 0] * 2  # b.r = r - 2
    """,
    )


@pytest.mark.parametrize("by", [0, 1, 4])
def test_values(by: int) -> None:
    s = pair(0)
    s["b"].shift("r", by)
    same(s)


def test_a_stage_alone_may_go_anywhere() -> None:
    s = ps.Schedule(plane())
    s["f"].shift(i, -3)
    s["f"].shift(j, 5)
    same(s)


def test_refuses_a_stage_before_what_it_needs() -> None:
    s = pair(0)
    with refused(
        s, "shift('r', by=-1) is refused: the first would run after the second",
        "a.update(0)[r=0] writes a[0], b.update(0)[r=0] reads it, at n=1", kind="flow",
    ):  # fmt: skip
        s["b"].shift("r", -1)


@pytest.mark.parametrize(("by", "legal"), [(0, True), (-1, True), (1, False), (2, False)])
def test_what_reads_ahead_may_not_fall_behind(by: int, legal: bool) -> None:
    s = pair(1)
    if legal:
        s["b"].shift("r", by)
        same(s)
        return
    with refused(s, "b.update(0)[r=0] reads a[1]", kind="anti"):
        s["b"].shift("r", by)


def test_refuses_no_such_loop() -> None:
    s = pair(0)
    with refused(s, "b.update(0) has no loop k", hint="its loops are r"):
        s["b"].shift("k", 1)


@pytest.mark.slow
def test_refuses_loops_of_a_consumer() -> None:
    """What is computed where it is needed would be computed there still."""
    s = ps.Schedule(blur())
    s["f"].split(i, 4, names=("io", "ii"))
    s["g"].compute_at("f", "io")
    with refused(
        s, "g is computed inside of the loop io, in the iterations that need it",
        hint="shift what reads it, or a loop of its own", status="malformed",
    ):  # fmt: skip
        s["g"].shift("io", 1)
    s["g"].shift(j, 1)
    same(s)
