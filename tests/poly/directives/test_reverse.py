"""reverse: a loop from its last iteration to its first."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import polysched as ps
from polysched.poly.schedule.stages import StageHandle
from polysched.testing.oracle import instances

from .cases import blur, gauss_seidel, i, j, jacobi, lu, n, plane, product, running, t
from .oracle import Nest, random_program
from .support import judged, listed, refused, same
from .test_property import ask, outcomes


def loops(s: ps.Schedule) -> list[str]:
    """The listing without its notes."""
    return [line for line in str(s).splitlines() if "note: " not in line]


def test_listing() -> None:
    s = ps.Schedule(plane())
    assert s["f"].reverse(i).name == "f"
    listed(
        s,
        """
        for i in [-n, 0):
          for j in [0, m):
            f[i, j] = x[i, j] * 2 + i  # f.i = -(i + 1)
    """,
    )


@pytest.mark.parametrize("name", ["i", "j"])
def test_it_undoes_itself(name: str) -> None:
    s = ps.Schedule(plane())
    before = loops(s)
    s["f"].reverse(name).reverse(name)
    assert loops(s) == before


def test_a_whole_loop_stays_whole_and_undoes_itself() -> None:
    s = ps.Schedule(plane())
    s["f"].split(j, 4, tail="guard")
    before = loops(s)
    s["f"].reverse("ji")
    assert "for ji in [0, 4):" in str(s)
    same(s)
    s["f"].reverse("ji")
    assert loops(s) == before


def test_a_loop_that_runs_down_runs_up() -> None:
    """The coordinate is a sum again, and no mirror of a mirror."""
    u = ps.Func("u", (n,), ps.int64)
    u[i] = ps.select(i < n - 1, u[i + 1] + 1, 0)
    s = ps.Schedule(u)
    (loop,) = s[u].loops
    before = loops(s)
    with refused(s, f"reverse('{loop.name}') is refused", kind="flow"):
        s[u].reverse(loop)
    with s.trust("to look at the coordinate"):
        s[u].reverse(loop)
        assert f"for {loop.name} in [-1, n - 1):" in str(s)
        s[u].reverse(loop)
    assert loops(s) == before


#: What is done to the loops `i` and `j` of `f`, and still is right.
SCHEDULES: dict[str, Callable[[ps.Schedule], object]] = {
    "outer": lambda s: s["f"].reverse(i),
    "inner": lambda s: s["f"].reverse(j),
    "both": lambda s: s["f"].reverse(i).reverse(j),
    "lanes": lambda s: s["f"].reverse(j).vectorize(j, 4),
    "lanes of a split loop": lambda s: s["f"].split(j, 4) and s["f"].reverse("ji").vectorize("ji"),
    "masked lanes": lambda s: (
        s["f"].split(j, 4, tail="mask") and s["f"].reverse("ji").vectorize("ji")
    ),
    "threads": lambda s: s["f"].reverse(i).parallel(i, 2),
    "unrolled": lambda s: s["f"].reverse(j).unroll(j, 3),
    "tiles": lambda s: s["f"].tile(i, j, 3, 4) and s["f"].reverse("io").reverse("ji"),
    "tiles of it": lambda s: s["f"].reverse(i).reverse(j).tile(i, j, 3, 4),
    "guarded": lambda s: s["f"].reverse(j).split(j, 4, tail="guard"),
    "peeled tiles": lambda s: s["f"].reverse(j).split(j, 4, tail="peel"),
    "tiles of peeled tiles": lambda s: (
        s["f"].split(j, 4, tail="peel") and s["f"].reverse("jo").reverse("ji")
    ),
    "the last ones first": lambda s: s["f"].reverse(j).peel(j, first=2),
    "peeled": lambda s: s["f"].peel(j, first=2) and s["f.first"].reverse(j),
    "fused": lambda s: s["f"].split(j, 4) and s["f"].reverse("jo").fuse("jo", "ji"),
    "fused inside": lambda s: s["f"].split(j, 4) and s["f"].reverse("ji").fuse("jo", "ji"),
    "skewed": lambda s: s["f"].skew(i, j, 2) and s["f"].reverse(j),
    "skewed by it": lambda s: s["f"].reverse(i).skew(i, j, 2),
    "shifted": lambda s: s["f"].reverse(j).shift(j, 3),
    "reordered": lambda s: s["f"].reverse(j).reorder(j, i),
    "mapped": lambda s: s["f"].reverse(i).transform((i, j), lambda i, j: (i + j, j)),
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEDULES)
def test_values(name: str) -> None:
    s = ps.Schedule(plane())
    SCHEDULES[name](s)
    assert ps.Schedule.from_json(s.program.outputs, s.to_json()) == s
    same(s, over=(0, 1, 4, 7, 13))


def _down(count: int) -> range:
    return range(count - 1, -1, -1)


Points = list[tuple[int, int]]
ORDERS: dict[str, Callable[[int, int], Points]] = {
    "both": lambda n, m: [(a, b) for a in _down(n) for b in _down(m)],
    "peeled tiles": lambda n, m: [(a, b) for a in range(n) for b in _down(m)],
    "the last ones first": lambda n, m: [(a, b) for a in range(n) for b in _down(m)],
    "fused inside": lambda n, m: [
        (a, o + b) for a in range(n) for o in range(0, m, 4) for b in _down(4) if o + b < m
    ],
}


@pytest.mark.parametrize("name", ORDERS)
def test_the_order_is_the_one_from_last_to_first(name: str) -> None:
    s = ps.Schedule(plane())
    SCHEDULES[name](s)
    for rows, columns in ((0, 3), (1, 1), (3, 8), (2, 13)):
        found = instances(s.model, s.tree, {"n": rows, "m": columns})
        assert [point for _, point in found] == ORDERS[name](rows, columns)


def test_an_interchange_becomes_legal() -> None:
    """Columns from right to left: what was one row up and one column right is in order."""
    a = ps.InOut("a", ps.int64, (n, n))
    r, c = ps.rdom("r c", (1, n), (0, n - 1))
    a[r, c] = a[r, c] + a[r - 1, c + 1]
    s = ps.Schedule(a)
    with refused(s, "reorder('c', 'r') is refused", kind="flow"):
        s["a"].reorder("c", "r")
    s["a"].reverse("c").reorder("c", "r")
    same(s, over=(0, 1, 2, 5, 9))


def test_refuses_to_overwrite_what_is_read_ahead() -> None:
    s = ps.Schedule(running(-1))
    with refused(
        s, "reverse('r') is refused: the first would run after the second",
        "A.update(0)[r=0] reads A[1], A.update(0)[r=1] writes it", kind="anti",
        status="violation", sizes={"n": 3},
    ):  # fmt: skip
        s["A"].reverse("r")


def test_refuses_a_flow_backwards() -> None:
    s = ps.Schedule(gauss_seidel())
    for name, second in (("r", "a.update(0)[r=2, c=1]"), ("c", "a.update(0)[r=1, c=2]")):
        said = "a.update(0)[r=1, c=1] writes a[1, 1]", second
        with refused(s, f"reverse('{name}')", *said, kind="flow"):
            s["a"].reverse(name)


def test_rows_that_carry_nothing_run_backwards_inside_of_steps() -> None:
    s = ps.Schedule(jacobi())
    with refused(s, "reverse('t') is refused", kind="flow"):
        s["f"].reverse(t)
    s["f"].reverse(i)
    same(s, over=(1, 2, 3, 9))


def test_sums_keep_their_order_until_they_are_told_otherwise() -> None:
    s = ps.Schedule(product())
    with refused(s, "reverse('k') is refused", hint="reassociate()", kind="flow"):
        s["C"].update(0).reverse("k")
    s["C"].update(0).reassociate().reverse("k")
    assert not s.bit_exact
    exact = ps.Schedule(product(ps.int32))
    exact["C"].update(0).reverse("k")
    assert exact.bit_exact
    same(exact, over=(0, 1, 5))


def test_lanes_may_not_change_sides() -> None:
    """Four at a time are apart, whichever way; one at a time, the last would come first."""
    s = ps.Schedule(running(4))
    s["A"].split("r", 4)
    s["A"].reverse("ri").vectorize("ri")
    same(s, over=(4, 5, 9, 16))
    with refused(s, "reverse('ro') is refused", kind="flow"):
        s["A"].reverse("ro")


@pytest.mark.parametrize("kind", ["parallel", "vectorize", "unroll"])
def test_refuses_what_is_no_serial_loop(kind: str) -> None:
    s = ps.Schedule(plane())
    s["f"].split(j, 4)
    getattr(s["f"], kind)("ji")
    with refused(s, "the loop ji is ", " already", hint="reverse first", status="malformed"):
        s["f"].reverse("ji")


def test_refuses_tiles_that_are_moved_to_the_end() -> None:
    s = ps.Schedule(plane())
    s["f"].reverse(j)
    with refused(s, "jo does not begin with a full tile, as tail='shift' needs"):
        s["f"].split(j, 4, tail="shift")


def test_refuses_no_such_loop() -> None:
    s = ps.Schedule(plane())
    with refused(s, "f has no loop k", hint="its loops are i, j"):
        s["f"].reverse("k")


# several stages ---------------------------------------------------------------------------------
def test_stages_of_a_loop_stay_in_their_order() -> None:
    a, b = ps.InOut("a", ps.int64, (n,)), ps.InOut("b", ps.int64, (n,))
    with ps.sequential("r", 0, n) as r:
        a[r] = a[r] + r
        b[r] = a[r] * 2
    s = ps.Schedule((a, b))
    s["b"].reverse("r")
    same(s)
    listed(
        s,
        """
        for r in [-n, 0):
          a[r] = a[r] + r  # a.r = -(r + 1)
          b[r] = a[r] * 2  # b.r = -(r + 1)
    """,
    )


def test_steps_of_a_factorization_stay_in_their_order() -> None:
    s = ps.Schedule(lu())
    with refused(s, "reverse('k') is refused"):
        s["a.update(1)"].reverse("k")
    s["a.update(1)"].reverse("r").reverse("c")
    same(s, over=(0, 1, 2, 5))


def test_pieces_that_share_a_loop_are_reversed_once() -> None:
    f, x = ps.Func("f", (n, n)), ps.Input("x", ps.int64, (n, n))
    f[0, j] = x[0, j]
    f[i, j] = x[i, j] * 2
    s = ps.Schedule(f)
    s[f].reverse(j)
    assert [d.stage for d in s.directives] == ["f.piece(0)", "f.piece(1)"]
    same(s)


@pytest.mark.parametrize("first", [True, False])
def test_a_window_slides_backwards(first: bool) -> None:
    """Each row of g is computed once, and three are kept, whichever way f runs."""
    s = ps.Schedule(blur())
    if first:
        s["f"].reverse(i)
    s["g"].compute_at("f", i).store_root()
    if not first:
        s["f"].reverse(i)
    assert [w.planes for w in s.windows.values()] == [3]
    assert judged(s, n=6, m=4).counts["instances"] == (6 + 2) * 4 + 6 * 4
    same(s, over=(0, 1, 2, 5, 9))


def test_a_window_of_its_consumer_found_by_the_producer() -> None:
    s = ps.Schedule(blur())
    s["f"].split(i, 4)
    s["g"].compute_at("f", "io")
    s["g"].reverse("io").reverse(i)
    same(s, over=(0, 1, 2, 5, 9))


def test_a_recurrence_inside_of_its_consumer_is_computed_when_it_is_needed() -> None:
    """The first iteration needs the last value, and with it all: these are kept."""
    x, g, f = ps.Input("x", ps.int64, (n,)), ps.Func("g"), ps.Func("f", (n,))
    g[i] = ps.select(i > 0, g[i - 1], 0) + x[i]
    f[i] = g[i] * 2
    s = ps.Schedule(f)
    s["g"].compute_at("f", i).store_root()
    assert [w.planes for w in s.windows.values()] == [1]
    s["f"].reverse(i)
    assert not s.windows
    assert judged(s, n=6).counts["instances"] == 6 + 6
    same(s)


@pytest.mark.parametrize("blocks", [False, True])
def test_bounds_from_data(blocks: bool) -> None:
    z = ps.sizes("z")
    ptr = ps.Input("ptr", ps.int32, (n + 1,), range=(0, z + 1))
    v, k = ps.Input("v", ps.int64, (z,)), ps.RVar("k", ptr[i], ptr[i + 1])
    f = ps.Func("f", (n,), ps.int64)
    f[i] = 0
    f[i] += v[k] * (k + 1)
    s = ps.Schedule(f)
    s["f"].update(0).reverse("k")
    assert "for k in [-int64(ptr[i + 1]), -int64(ptr[i])):" in str(s)
    if blocks:
        s["f"].update(0).split("k", 4)
    given = {"ptr": np.array([0, 3, 3, 11, 4, 12], np.int32), "v": np.arange(12) ** 2}
    np.testing.assert_array_equal(s.compile()(**given), ps.interpret(f, **given))


# random programs --------------------------------------------------------------------------------
def _reversed(nest: Nest, name: str) -> Nest:
    old = nest.levels[nest.find(name)]
    return nest.replaced(name, replace(old, value=lambda r, q: -old.value(r, q)))


@pytest.mark.parametrize("seed", range(40))
def test_accepted_iff_no_pair_is_out_of_order(seed: int) -> None:
    """Plain Python enumerates the pairs; skewed or split first, or as written."""
    rng = random.Random(f"reverse {seed}")
    program = random_program(rng)
    schedule = ps.Schedule(program.arrays())
    stage = schedule[f"A{program.lines[0].write.array}.update(0)"]
    nest = Nest()
    if seed % 3 == 1:
        stage.skew("r", "q", 1)
        nest = nest.skewed("r", "q", 1)
    elif seed % 3 == 2:
        stage.split("q", 2)
        nest = nest.split("q", 2, ("qo", "qi"))
    for _ in range(3):
        name = rng.choice([x.name for x in nest.levels])
        made = _reversed(nest, name)
        if ask(stage, (f"reverse({name})", partial(StageHandle.reverse, loop=name), made), program):
            nest = made
    outcomes(program, schedule)
