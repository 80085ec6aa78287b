"""Tiles of several steps: skewed ones of stencils over time, and blocks of eliminations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gallery.dynamic import shortest_paths_in_place
from gallery.execute import assert_same
from gallery.timesteps import fdtd_2d, heat_3d, jacobi_2d
from polybench.solvers import cholesky_right_looking, lu_right_looking

import polysched as ps
import polysched.tune.auto as tune
from polysched.targets.facts import machine
from polysched.tune.facts.distances import Distance
from polysched.tune.facts.facts import facts_of
from polysched.tune.model.footprint import Traffic
from polysched.tune.model.model import Model
from polysched.tune.model.work import Site
from polysched.tune.plans.places import ROOT
from polysched.tune.plans.planned import Nest
from polysched.tune.plans.steps import skew_of, skewed
from polysched.tune.realise.realise import realise
from polysched.tune.search.decided import Decided
from polysched.tune.search.search import Search

from .programs import i, j, n

V3 = "x86-64-v3"


def searched(program: Any, **sizes: int) -> Search:
    s = ps.Schedule(program)
    names = {s.program.names[func] for func in s.program.outputs}
    return Search(facts_of(s.rewritten, sizes), Model(machine(V3), 1), names)


def in_tiles(search: Search, func: str) -> list[Nest]:
    own = search.statements[func][-1]
    return [x for x in search.candidates.of(own, ROOT) if x.block is not None]


def best(search: Search, func: str) -> Nest:
    return search.best().funcs[func].nests[-1]


# stencils over time -----------------------------------------------------------------------------
def test_what_no_cache_holds_runs_in_tiles_of_several_steps() -> None:
    search = searched(jacobi_2d(ps.float64), n=4000, m=4000, T=100)
    nest = best(search, "f")
    assert nest.block is not None
    assert nest.block.skews == ((1, 1),)
    written = next(x for x in search.candidates.of(search.statements["f"][-1], ROOT))
    costs = search.costs.at(search.best(), search.statements["f"][-1], ROOT)
    assert costs.of(nest).memory[-1] < costs.of(written).memory[-1] / 2


def test_what_the_caches_hold_runs_step_by_step() -> None:
    assert best(searched(jacobi_2d(), n=40, m=40, T=100), "f").block is None


def test_a_step_that_is_behind_touches_more() -> None:
    """Rows that a tile has left behind are in the caches as long as it has steps."""
    search = searched(jacobi_2d(ps.float64), n=4000, m=4000, T=100)
    s = search.statements["f"][-1]
    costs = search.costs.at(search.best(), s, ROOT)
    plans = [(x.plan.number("steps"), x.plan.number("rows"), x) for x in in_tiles(search, "f")]
    found = {(steps, rows): costs.of(x).memory[-1] for steps, rows, x in plans}
    assert {x for x, _ in found} == {4, 8, 16}
    assert found[4, 64] > 3 * found[16, 64] > 0
    (few, many) = (
        Traffic(work.touches, work.extents)._from(2)
        for work in (
            Site(s, ROOT, {"f": 0}, skewed(costs.accesses, x.block)).work(x)
            for steps, rows, x in plans
            if rows == 16 and steps in (4, 16) and x.block
        )
    )
    assert many > 1.4 * few


@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_tiles_of_steps_have_the_same_bits(threads: int) -> None:
    program = jacobi_2d(ps.float64)
    sizes = {"n": 4000, "m": 4000, "T": 100}
    s = ps.Schedule.auto(program, sizes=sizes, threads=threads, target=V3)
    names = [d.name for d in s.directives]
    assert "skew" in names
    assert names.count("transform") == names.count("parallel") // 2 == threads - 1
    assert "each step 1 of i behind the one before" in s.source()
    made = s.for_target(ps.Schedule(program).target).compile()
    rng = np.random.default_rng(1)
    for rows, columns, steps in ((1, 1, 0), (3, 9, 1), (37, 21, 20), (18, 40, 33)):
        x = rng.random((rows, columns))
        assert_same(made(x, T=steps), ps.interpret(program, x, T=steps))


@pytest.mark.slow
def test_two_axes_are_tiled_with_steps() -> None:
    program = heat_3d(ps.float64)
    sizes = {"n": 250, "m": 250, "l": 250, "T": 40}
    s = ps.Schedule.auto(program, sizes=sizes, threads=1, target=V3)
    assert [d.name for d in s.directives].count("skew") == 2
    made = s.for_target(ps.Schedule(program).target).compile()
    x = np.random.default_rng(1).random((7, 70, 9))
    assert_same(made(x, T=18), ps.interpret(program, x, T=18))


def test_fields_that_drive_each_other_are_not_tiled_one_by_one() -> None:
    search = searched(fdtd_2d(), n=1000, m=1000, T=100)
    assert not any(in_tiles(search, func) for func in ("ex", "ey", "hz"))


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        (((1, 1), (-1, 1), (0, 0)), 1),
        (((1, 1), (0, 2), (0, 0)), 0),
        (((1, 2), (-4, 1), (0, 0)), 4),
        (((1, 1), (-5, 1), (0, 0)), None),
        (((1, 1), (None, 1), (0, 0)), None),
        (((0, 1), (-1, 1), (0, 0)), None),
    ],
)
def test_how_far_behind_steps_must_be(spans: Any, expected: int | None) -> None:
    search = searched(jacobi_2d(), n=40, m=40, T=10)
    s = search.statements["f"][-1]
    low = spans[1][0]
    skews = {"i": {"t": -low}} if low is not None and low < 0 else {}
    found = (Distance(s.name, s.name, "f", spans),)
    assert skew_of(replace(s, distances=found, skewable=skews), 1) == expected


# eliminations -----------------------------------------------------------------------------------
def pivots(search: Search, func: str) -> set[tuple[int, ...]]:
    return {x.block.pivots for x in in_tiles(search, func) if x.block is not None}


def test_pivots_are_what_steps_read_by_their_own_number() -> None:
    assert pivots(searched(lu_right_looking(), n=1000), "A") == {(1, 2)}
    assert pivots(searched(shortest_paths_in_place(), n=1000), "d") == {(1, 2)}
    assert pivots(searched(cholesky_right_looking(), n=1000), "A") == {(2,)}


def test_short_loops_over_pivots_are_not_blocked() -> None:
    assert not in_tiles(searched(lu_right_looking(), n=40), "A")


def _lu(n: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(1).random((n, n)) + 4 * n * np.eye(n)


@pytest.mark.parametrize(
    "program", [lu_right_looking, pytest.param(cholesky_right_looking, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_blocks_of_pivots_have_the_same_bits(program: Callable[[], ps.InOut], threads: int) -> None:
    A = program()
    s = ps.Schedule.auto(A, sizes={"n": 1000}, threads=threads, target=V3)
    names = [d.name for d in s.directives]
    assert "partition" in names
    assert "accumulate_at" in names
    assert names.count("parallel") == threads - 1
    made = s.for_target(ps.Schedule(A).target).compile()
    for size in (1, 2, 15, 16, 17, 40, 53):
        given = _lu(size)
        expected, found = given.copy(), given.copy()
        ps.interpret(A, expected)
        made(found)
        assert_same(found, expected)


def test_shortest_paths_go_by_blocks_of_places() -> None:
    d = shortest_paths_in_place()
    s = ps.Schedule.auto(d, sizes={"n": 1000}, threads=1, target=V3)
    assert [x.name for x in s.directives].count("partition") == 2
    assert "of k at a time whose r and c these are" in s.source()
    made = s.for_target(ps.Schedule(d).target).compile()
    rng = np.random.default_rng(1)
    for size in (1, 15, 16, 33, 41):
        given = rng.integers(1, 99, (size, size), dtype=np.int32)
        assert_same(made(given), ps.interpret(d, given))


def forgetful() -> ps.Func:
    """The row of a step is kept no longer than that: what is left for later would need it."""
    x = ps.Input("x", ps.int32, (n, n))
    d, row = ps.Func("d", (n, n), ps.int32), ps.Func("row", (n,), ps.int32)
    d[i, j], row[i] = x[i, j], 0
    with ps.sequential("k", 0, n) as k:
        p = ps.RVar("p", 0, n)
        r, c = ps.rdom("r c", (0, n), (0, n))
        row[p] = d[k, p]
        d[r, c] += row[c] >> 1
    return d


def test_where_blocks_are_refused_none_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal is about all tiles of several steps of a Func: other numbers are no better."""
    program = forgetful()
    assert best(searched(program, n=1000), "d").block is not None
    tried: list[bool] = []

    def counted(s: ps.Schedule, funcs: Sequence[Decided], *args: Any) -> None:
        tried.append(any(nest.block is not None for d in funcs for nest in d.nests))
        realise(s, funcs, *args)

    monkeypatch.setattr(tune, "realise", counted)
    s = ps.Schedule.auto(program, sizes={"n": 1000}, threads=1, target=V3)
    assert tried == [True, False]
    assert s.directives
