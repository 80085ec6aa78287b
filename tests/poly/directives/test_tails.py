"""split(tail=): what happens where the extent is no multiple of the factor."""

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps

from .cases import i, j, jacobi, n, plane, product, running
from .support import listed, refused, same

ALWAYS = ("auto", "guard", "mask", "peel")
"""Tails that every loop can have."""

NEAR_4 = (0, 1, 3, 4, 5, 7, 8, 9, 13)
"""Multiples of 4, and what is next to them."""


def triangle() -> ps.InOut:
    """The points of a square on and right of its diagonal."""
    x, f = ps.Input("x", ps.int64, (n, n)), ps.InOut("f", ps.int64, (n, n))
    r = ps.RVar("r", 0, n)
    c = ps.RVar("c", r, n)
    f[r, c] = x[r, c] * 2 + c
    return f


def behind() -> ps.Schedule:
    """g two iterations behind f, in one loop: from index 2 on, both; before it, f alone."""
    x = ps.Input("x", ps.int64, (n + 2,))
    f, g = ps.Func("f", (n + 2,)), ps.Func("g", (n,))
    f[i] = x[i] * 2
    g[i] = f[i + 2] + f[i]
    s = ps.Schedule((f, g))
    s[g].compute_with(f, i, shift=2)
    return s


def side_by_side() -> ps.Schedule:
    """Two stages in one loop that need nothing of each other."""
    x = ps.Input("x", ps.int64, (n,))
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = x[i] * 2
    g[i] = x[i] + i
    s = ps.Schedule((f, g))
    s[g].compute_with(f, i)
    return s


# listings ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("tail", ["guard", "mask"])
def test_whole_loops_under_a_condition(tail: str) -> None:
    s = ps.Schedule(plane())
    s["f"].split(j, 8, tail=tail)
    listed(
        s,
        """
        for i in [0, n):
          for jo in [0, (m - 1) // 8 + 1):
            for ji in [0, 8):
              if m >= jo * 8 + ji + 1:
                f[i, j] = x[i, j] * 2 + i  # j = jo * 8 + ji
    """,
    )


def test_peel() -> None:
    s = ps.Schedule(plane())
    assert [x.name for x in s["f"].split(j, 8, tail="peel")] == ["jo", "ji"]
    listed(
        s,
        """
        for i in [0, n):
          for jo in [0, (m - 8) // 8 + 1):
            for ji in [0, 8):
              f[i, j] = x[i, j] * 2 + i  # j = jo * 8 + ji
          for jo in [-((7 - m) // 8), (m - 1) // 8 + 1):
            for ji in [0, m - jo * 8):
              f[i, j] = x[i, j] * 2 + i  # j = jo * 8 + ji
    """,
    )
    assert [x.name for x in s["f.tail"].loops] == ["i", "jo", "ji"]


def test_shift() -> None:
    s = ps.Schedule(plane())
    s["f"].split(j, 8, tail="shift")
    listed(
        s,
        """
        for i in [0, n):
          for jo in [0, (m - 8) // 8 + 1):
            for ji in [0, 8):
              f[i, j] = x[i, j] * 2 + i  # j = jo * 8 + ji
          if m >= m // 8 * 8 + 1:
            for ji in [max(m - 8, 0), m):
              f[i, j] = x[i, j] * 2 + i  # j = ji
    """,
    )
    assert [x.name for x in s["f.tail"].loops] == ["i", "ji"]


def test_round_up() -> None:
    s = ps.Schedule(plane())
    s["f"].split(j, 8, tail="round_up")
    listed(
        s,
        """
        for i in [0, n):
          for jo in [0, (m - 8) // 8 + 1):
            for ji in [0, 8):
              f[i, j] = x[i, j] * 2 + i  # j = jo * 8 + ji
        requires (n == 0) | (m // 8 * 8 == m) & (n >= 1): assumed, j is a multiple of 8
    """,
    )


# values -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("tail", [*ALWAYS, "shift"])
@pytest.mark.parametrize("loop", ["i", "j"])
def test_values(tail: str, loop: str) -> None:
    s = ps.Schedule(plane())
    s["f"].split(loop, 4, tail=tail)
    same(s, over=NEAR_4)


@pytest.mark.parametrize("tail", [*ALWAYS, "shift"])
def test_lanes(tail: str) -> None:
    s = ps.Schedule(plane())
    s["f"].split(j, 4, tail=tail)
    s["f"].vectorize("ji")
    assert s["f"]["ji"].kind == "vector"
    same(s, over=NEAR_4)


@pytest.mark.slow
@pytest.mark.parametrize("tail", ["peel", "shift"])
def test_the_tail_is_scheduled_apart(tail: str) -> None:
    s = ps.Schedule(plane())
    s["f"].split(j, 4, tail=tail)
    s["f"].vectorize("ji")
    s["f.tail"].vectorize("ji")
    assert s["f.tail"]["ji"].kind == "vector"
    same(s, over=NEAR_4)


@pytest.mark.parametrize("tail", [*ALWAYS, "shift"])
def test_stages_that_share_a_loop(tail: str) -> None:
    s = side_by_side()
    s["f"].split(i, 4, tail=tail)
    assert [x.name for x in s["g"].loops] == ["io", "ii"]
    same(s, over=NEAR_4)


@pytest.mark.parametrize("tail", ALWAYS)
def test_stages_that_share_a_part_of_a_loop(tail: str) -> None:
    """What is a full tile of f is none of g."""
    s = behind()
    s["f"].split(i, 4, tail=tail)
    same(s, over=NEAR_4)


@pytest.mark.parametrize("tail", ALWAYS)
@pytest.mark.parametrize("distance", [3, -3])
def test_loops_that_do_not_begin_or_end_with_a_tile(tail: str, distance: int) -> None:
    s = ps.Schedule(running(distance))
    s["A"].split("r", 4, tail=tail)
    same(s, over=range(3, 15))


def test_a_head_of_its_own() -> None:
    s = ps.Schedule(running(3))
    s["A"].split("r", 4, tail="peel")
    assert [x.extent for x in s["A.update(0).head"].loops] == ["1", "1"]
    assert s["A"]["ri"].extent == "4"


@pytest.mark.parametrize("tail", ALWAYS)
@pytest.mark.parametrize("loop", ["r", "c"])
def test_triangles(tail: str, loop: str) -> None:
    s = ps.Schedule(triangle())
    s["f"].split(loop, 4, tail=tail)
    same(s, over=NEAR_4)


@pytest.mark.slow
def test_shift_below_a_diagonal() -> None:
    """The last tile of a row is where the row ends."""
    s = ps.Schedule(plane())
    below, _ = s["f"].partition(j < i)
    below.fission(j)
    below.split(j, 4, tail="shift")
    below.vectorize("ji")
    same(s, over=NEAR_4)


@pytest.mark.parametrize("tail", ALWAYS)
def test_the_order_stays(tail: str) -> None:
    s = ps.Schedule(running(1))
    s["A"].split("r", 4, tail=tail)
    same(s, over=(1, 3, 4, 5, 8, 9))


# round_up ---------------------------------------------------------------------------------------
def test_round_up_asks_and_auto_does_not() -> None:
    s, t = ps.Schedule(plane()), ps.Schedule(plane())
    s["f"].split(j, 16, tail="round_up")
    t["f"].split(j, 16)
    assert t.conditions == ()
    (condition,) = s.conditions
    assert condition.endswith("assumed, j is a multiple of 16")
    x = np.arange(26).reshape(2, 13)
    with pytest.raises(ps.CallError, match=r"j is a multiple of 16, which fails at n=2, m=13"):
        s.compile()(x)
    np.testing.assert_array_equal(t.compile()(x), ps.interpret(t.program.outputs, x)[0])


@pytest.mark.parametrize("lanes", [False, True])
def test_round_up_runs_at_multiples(lanes: bool) -> None:
    s = ps.Schedule(plane())
    s["f"].split(j, 4, tail="round_up")
    if lanes:
        s["f"].vectorize("ji")
    same(s, over=(0, 4, 8, 16))


def test_round_up_asks_nothing_where_the_loop_does_not_run() -> None:
    s = ps.Schedule(plane())
    s["f"].split(j, 16, tail="round_up")
    assert s.compile()(np.zeros((0, 13), np.int64)).shape == (0, 13)


def test_round_up_of_a_loop_around_a_triangle() -> None:
    s = ps.Schedule(triangle())
    s["f"].split("r", 4, tail="round_up")
    same(s, over=(0, 4, 8))


@pytest.mark.parametrize(
    ("schedule", "loop"),
    [(ps.Schedule(triangle()), "c"), (ps.Schedule(running(3)), "r")],
    ids=["triangle", "from 3 on"],
)
def test_refuses_round_up_where_a_tile_is_never_whole(schedule: ps.Schedule, loop: str) -> None:
    stage = schedule[schedule.program.outputs[0]]
    with refused(
        schedule, f"no sizes at which the loop {loop} runs", f"{loop} is a multiple of 4",
        hint="in the listing", status="malformed", sizes={},
    ):  # fmt: skip
        stage.split(loop, 4, tail="round_up")


# refusals of shift ------------------------------------------------------------------------------
def test_refuses_shift_of_an_update() -> None:
    s = ps.Schedule(product(ps.int64))
    with refused(
        s, "tail='shift' runs some instances of C.update(0) twice, and it reads what it writes",
        hint="tail='auto' or 'peel'", status="malformed", kind=None, sizes={},
    ):  # fmt: skip
        s["C"].update(0).split(j, 4, tail="shift")


def test_refuses_shift_of_an_update_that_reads_nothing_of_its_own() -> None:
    s = ps.Schedule(triangle())
    with refused(s, "f.update(0) twice, and it is no pure definition", status="malformed"):
        s["f"].split("r", 4, tail="shift")


def test_refuses_shift_of_what_reads_itself() -> None:
    s = ps.Schedule(jacobi())
    with refused(s, "instances of f twice, and it reads what it writes", status="malformed"):
        s["f"].split("t", 4, tail="shift")


def test_refuses_shift_where_another_stage_has_read() -> None:
    """f would be written again behind what reads it."""
    s = behind()
    with refused(s, "split('i', 4, tail='shift') is refused", status="violation", kind="flow"):
        s["f"].split(i, 4, tail="shift")


def test_refuses_shift_of_a_loop_without_a_full_tile_first() -> None:
    s = ps.Schedule(plane())
    right, _ = s["f"].partition(j >= i)
    right.fission(j)
    with refused(s, "does not begin with a full tile", hint="any beginning", status="malformed"):
        right.split(j, 4, tail="shift")


def test_refuses_a_shifted_tail_that_runs_concurrently_with_what_it_repeats() -> None:
    """Both write the same element, and the same value: it is a race nevertheless."""
    f = ps.Func("f", (n,), ps.int64)
    f[i] = 0
    s = ps.Schedule(f)
    s[f].parallel(i)
    s[f].split(i, 3, tail="shift")
    with refused(s, "f[i=2] writes f[2], f[i=2] writes it, at n=4", kind="race", sizes={"n": 4}):
        s[f].compute_with(s["f.tail"], "ii", shift=1)
