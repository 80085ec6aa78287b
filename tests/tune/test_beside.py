"""What iterations side by side have in common, and blocks beside those of other statements."""

from __future__ import annotations

from dataclasses import replace

import pytest

import polysched as ps
from polysched.targets.facts import machine
from polysched.tune.facts.facts import StatementFacts, facts
from polysched.tune.model.cost import Cost, seconds_of, sums_of
from polysched.tune.model.footprint import Touch
from polysched.tune.model.model import Model, Work
from polysched.tune.model.registers import loaded
from polysched.tune.plans.alike import alike
from polysched.tune.plans.places import ROOT, OuterLoop, Spot
from polysched.tune.plans.suited import jams_of
from polysched.tune.plans.templates import Templates

from .programs import i, j, m, n, q

V3 = Model(machine("x86-64-v3"), 1)
ROWS, COLUMNS = 0, 1


def stencil(*rows: int, across: int = 0, clamped: bool = False) -> StatementFacts:
    """A sum of what lies so many rows away."""
    x, g = ps.Input("x", ps.float32, (n + 64, m + 8)), ps.Func("g", (n, m))
    at = [ps.clip(i + r, 0, n - 1) if clamped else i + r for r in rows]
    g[i, j] = sum((x[k, j + across * p] for p, k in enumerate(at)), 0.0)
    (found,) = facts(g, {"n": 100, "m": 200}).statements
    return found


def gaps_of(s: StatementFacts) -> list[tuple[tuple[int, ...], ...]]:
    return [x.gaps for x in alike(s) if not x.one.is_write]


@pytest.mark.parametrize(
    ("rows", "across", "gaps"),
    [
        ((0, 1, 2), 0, ((1, 1), ())),
        ((2, 0, 5), 0, ((2, 3), ())),
        ((0, 1, 40), 0, ((1,), ())),
        ((0, 1, 2), 1, ((), ())),
        ((3,), 0, ((), ())),
    ],
)
def test_gaps_are_iterations_from_one_access_to_the_next(
    rows: tuple[int, ...], across: int, gaps: tuple[tuple[int, ...], ...]
) -> None:
    assert gaps_of(stencil(*rows, across=across)) == [gaps]


def test_clamped_rows_are_as_far_apart_as_in_the_middle() -> None:
    assert gaps_of(stencil(0, 1, 3, clamped=True)) == [((1, 2), ())]


def test_nobody_knows_how_far_data_say() -> None:
    x, at = ps.Input("x", ps.float32, (n, m)), ps.Input("at", ps.int32, (n,), range=(0, n - 1))
    g = ps.Func("g", (n, m))
    g[i, j] = x[at[i], j] + x[at[(i + 1) % n], j]
    (s,) = facts(g, {"n": 100, "m": 200}).statements
    assert [a.behind for a in s.accesses if a.tensor == "x"] == [0, None]
    assert [x.gaps for x in alike(s) if x.one.tensor == "x"] == [((), ())]


def rows_cost(count: int, gaps: tuple[int, ...], extent: float) -> float:
    """What loads of several rows take."""
    own = ((), gaps, ()) if gaps else ()
    t = Touch(4, 1e6, False, (1000.0, 1000.0, 1.0), count, gaps=own)
    kinds = ("serial", "unrolled", "vector")
    work = Work((100.0, extent, 8.0), kinds, (t,), (), (False,) * 3, (), False, 4, False)
    return V3.cost(work).compute


def test_rows_side_by_side_load_once_what_they_have_in_common() -> None:
    # Of 4 rows that read 3 each, 6 are different ones: as many as 2 rows have without.
    assert rows_cost(3, (1, 1), 4.0) == rows_cost(3, (), 2.0)
    assert rows_cost(3, (9, 9), 4.0) == rows_cost(3, (), 4.0)


@pytest.mark.parametrize(
    ("beside", "gaps", "registers"),
    [(8.0, (), 12.0), (1000.0, (), 6.0), (0.0, (), 12.0), (1000.0, (1, 1), 12.0)],
)
def test_rows_that_have_nothing_in_common_need_few_registers(
    beside: float, gaps: tuple[int, ...], registers: float
) -> None:
    t = Touch(4, 1e6, False, (4000.0, beside, 1.0), 3, gaps=((), gaps, ()) if gaps else ())
    kinds = ("serial", "unrolled", "vector")
    # Vectors that lie one behind the other are computed side by side.
    assert loaded(t, 12.0, (10.0, 4.0, 8.0), kinds, 1) == registers


# where it is so ---------------------------------------------------------------------------------
def jams(
    s: StatementFacts, spot: Spot, extents: tuple[int, int], *readers: StatementFacts
) -> list[int]:
    statements = {x.func: (x,) for x in (s, *readers)}
    return jams_of(s, statements, spot, Templates(s, extents, spot.has_few(s)), COLUMNS)


def inside(s: StatementFacts, rows: int) -> Spot:
    outer = OuterLoop(("h", "i"), 10, "serial", (1.0, 0.0))
    around = OuterLoop(("h", "io"), 10, "serial", (10.0, 0.0))
    return Spot(("h", "i"), (around, outer), (rows, 200), (True, False), 2)


def test_rows_of_a_stencil_are_side_by_side() -> None:
    assert jams(stencil(0, 1, 2), ROOT, (100, 200)) == [ROWS]
    assert jams(stencil(0), ROOT, (100, 200)) == []


def test_few_rows_are_side_by_side_where_others_read_them() -> None:
    s = stencil(0)
    assert jams(s, inside(s, 3), (3, 200)) == [ROWS]
    assert jams(s, inside(s, 99), (99, 200)) == []


@pytest.mark.parametrize(
    ("extent", "moves", "expected"),
    [(3, True, [ROWS]), (3, False, []), (q, True, [])],
    ids=["window", "nothing in common", "long sum"],
)
def test_rows_of_sums_over_windows_are_side_by_side_where_they_are_read(
    extent: ps.Size | int, moves: bool, expected: list[int]
) -> None:
    """They load once what these have in common, and have the sums in registers."""
    x, w = ps.Input("x", ps.float32, (n, m, q)), ps.Input("w", ps.float32, (q,))
    k, f = ps.RVar("k", 0, extent), ps.Func("f", (n, m))
    f[i, j] = ps.sum(x[i, j, k] * (w[k] if moves else 2), k)
    *sums, s = facts(f, {"n": 100, "m": 200, "q": 50}).statements
    statements = {"f": (s,), "f.sum0": tuple(sums)}
    templates = Templates(s, (100, 200), (False, False))
    assert jams_of(s, statements, ROOT, templates, COLUMNS) == expected


@pytest.mark.parametrize(("is_chosen", "expected"), [(False, [ROWS]), (True, [])])
def test_rows_that_data_choose_are_not(is_chosen: bool, expected: list[int]) -> None:
    """They are in no registers for who reads them."""
    x, at = ps.Input("x", ps.float32, (3, m)), ps.Input("at", ps.int32, (n, m), range=(0, 2))
    g, h = ps.Func("g", (3, m)), ps.Func("h", (n, m))
    g[i, j] = ps.sqrt(x[i, j])
    h[i, j] = g[at[i, j], j] if is_chosen else g[0, j] + g[2, j] * at[i, j]
    stored = ps.Schedule(h)
    stored["g"].compute_root()
    s, reader = facts(stored, {"n": 100, "m": 200}).statements
    assert jams(s, inside(s, 3), (3, 200), reader) == expected


def test_rows_of_a_window_that_slides_are_not() -> None:
    """The first ones fill it: how many rows there are differs."""
    s = stencil(0, 1, 2)
    spot = inside(s, 3)
    assert jams(s, spot, (3, 200)) == [ROWS]
    assert jams(s, replace(spot, stored=1), (3, 200)) == []


# what blocks take together ----------------------------------------------------------------------
def test_a_block_computes_while_that_around_it_waits_for_memory() -> None:
    waits, computes = Cost(1e-3, (4e-3,), 0.0), Cost(4e-3, (1e-3,), 0.0)
    one_by_one = seconds_of({"f": waits, "g": computes})
    assert one_by_one == waits.seconds + computes.seconds
    beside = seconds_of({"f": waits, "g": replace(computes, within="f")})
    assert beside == Cost(5e-3, (5e-3,), 0.0).seconds < one_by_one


def test_blocks_in_blocks_are_one() -> None:
    costs = {x: Cost(1e-3, (0.0,), 0.0, within=y) for x, y in (("f", None), ("g", "f"), ("h", "g"))}
    assert seconds_of(costs) == pytest.approx(3e-3)


def test_what_is_left_of_sums_is_what_no_change_reaches() -> None:
    """Neither by a block that runs in another one now, nor by one that did so before."""
    waits, computes = Cost(1e-3, (4e-3,), 0.0), Cost(4e-3, (1e-3,), 0.0)
    alone = {"f": waits, "g": computes, "h": computes}
    inside = {**alone, "h": replace(computes, within="f")}
    for before, after in ((alone, inside), (inside, alone)):
        sums = sums_of(before, before, {}, ())
        assert sums_of(after, ["h"], before, sums)[-1] == seconds_of(after) != sums[-1]
        assert sums_of(before, ["g"], before, (*sums[:1], 7.0, 8.0)) == sums
    assert sums_of(alone, ["h"], alone, (5.0, 7.0, 9.0))[:2] == (5.0, 7.0)
