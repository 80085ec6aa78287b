"""How much of a row vectors and threads take at a time, and what begins in registers."""

from __future__ import annotations

import pytest

import polysched as ps
from polysched.targets.facts import machine
from polysched.tune.facts.facts import StatementFacts, facts_of
from polysched.tune.model.model import Model
from polysched.tune.plans.places import ROOT
from polysched.tune.plans.planned import Nest
from polysched.tune.plans.suited import different, widths_of
from polysched.tune.plans.templates import Templates
from polysched.tune.search.search import Search

from .programs import i, j, m, n, product

V3 = "x86-64-v3"


def candidates(
    program: ps.Func, threads: int = 2, **sizes: int
) -> tuple[StatementFacts, list[Nest]]:
    """The last statement of a program, and the nests that it may have."""
    s = ps.Schedule(program)
    search = Search(facts_of(s.rewritten, sizes), Model(machine(V3), threads), {program.name})
    own = search.statements[program.name][-1]
    return own, list(search.candidates.of(own, ROOT))


def looked_up(stores: bool = False) -> ps.Func:
    """Elements of a table that data choose, or a table of elements of which data say where."""
    table = ps.Input("table", ps.float32, (256,))
    x = ps.Input("x", ps.uint8, (n, m))
    f = ps.Func("f", (256,) if stores else (n, m))
    if not stores:
        f[i, j] = table[x[i, j]] * table[255 - x[i, j]]
        return f
    a, b = ps.rdom("a b", (0, n), (0, m))
    f[i] = 0.0
    f[x[a, b]] = 1.0
    return f


# lanes ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("types", "lanes"),
    [
        ((ps.float32, ps.float32), 8),
        ((ps.uint8,) * 5, 32),
        ((ps.uint8, ps.float32), 8),
        ((ps.float32, ps.float64), 4),
    ],
    ids=str,
)
def test_a_vector_has_one_value_of_a_tuple(types: tuple[ps.DType, ...], lanes: int) -> None:
    """All values of an element lie in vectors of their own."""
    inputs = [ps.Input(f"x{k}", t, (n, m)) for k, t in enumerate(types)]
    f = ps.Func("f", (n, m), types)
    f[i, j] = tuple(x[i, j] for x in inputs)
    own, nests = candidates(f, n=500, m=600)
    assert own.widest == 32 // lanes
    assert {n.plan.number("lanes") for n in nests if n.plan.knob("vector") == 1} == {lanes}


# threads ----------------------------------------------------------------------------------------
def test_threads_have_equal_parts_of_the_only_row() -> None:
    sizes = {"n": 1, "m": 4000, "q": 4096}
    s = ps.Schedule.auto(product(), sizes=sizes, threads=2, target=V3)
    assert "C_update0_chunk', 2016" in s.source()  # full tiles of 32


def test_no_piece_is_longer_than_a_row() -> None:
    """One thread would have all of it."""
    own, nests = candidates(product(), n=1, m=1000, q=4096)
    chunks = {n.plan.number("chunk") for n in nests if n.plan.knob("parallel") == 1}
    assert own.loops[1].name == "j"
    assert chunks == {0, 256, 512}


# vectors ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("lanes", "extent", "expected"),
    [
        (16, 56, [16, 8]),
        (8, 28, [8, 4]),
        (16, 64, [16]),  # full vectors
        (16, 60, [16]),  # the last one is more than half full
        (16, 8, [16, 8]),  # where other loops have left half of one
        (16, 7, [16]),
        (16, 1000, [16]),  # one of many
        (4, 10, [4]),
    ],
)
def test_half_vectors_are_tried_where_the_last_one_would_be_half_empty(
    lanes: int, extent: int, expected: list[int]
) -> None:
    assert widths_of(lanes, 1, (9, extent)) == expected


@pytest.mark.parametrize(
    ("extent", "short", "expected"),
    [
        (16, True, [1]),
        (24, True, [1, 2, 4]),  # vectors of half as many lanes, too
        (32, True, [1, 2]),
        (33, True, [1, 2, 4]),
        (16, False, [1, 2, 4]),  # there are more at other sizes
    ],
)
def test_vectors_side_by_side_beyond_a_short_loop_are_not_tried_again(
    extent: int, short: bool, expected: list[int]
) -> None:
    own, _ = candidates(product())
    templates = Templates(own, (9, extent, 9), (False, short, False))
    assert different((1, 2, 4), 16, 1, templates) == tuple(expected)
    assert different((1,), 16, -1, templates) == (1,)


def test_no_loops_are_looked_at_twice() -> None:
    x, f = ps.Input("x", ps.float32, (n, 16)), ps.Func("f", (n, 16))
    f[i, j] = ps.sqrt(x[i, j]) + 1
    _, nests = candidates(f, n=1000)
    loops = [n.loops for n in nests if n.plan.knob("vector") == 1]
    assert len(set(loops)) == len(loops) > 1


def test_elements_that_data_choose_are_loaded_in_vectors() -> None:
    _, nests = candidates(looked_up())
    assert any(n.plan.knob("vector") == 1 for n in nests)


def test_elements_that_data_place_are_not_stored_in_vectors() -> None:
    own, nests = candidates(looked_up(stores=True))
    assert own.kind == "scatter"
    assert all(n.plan.knob("vector") in (None, -1) for n in nests)


# registers --------------------------------------------------------------------------------------
def test_rows_of_a_tile_are_begun_side_by_side() -> None:
    """So a tile of fewer rows is in registers, too."""
    s = ps.Schedule.auto(product(), sizes={"n": 1000, "m": 1000, "q": 1000}, target=V3)
    assert {d.loop for d in s.directives if d.name == "unroll" and d.stage == "C"} == {"i", "jo"}


def test_partial_results_of_a_row_begin_in_it() -> None:
    """Where rows are summed up in a loop over several: else all of them begin in memory."""
    x, f = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n, m))
    k, mean = ps.RVar("k", 0, m), ps.Func("mean")
    mean[i] = ps.sum(x[i, k], k) / m
    f[i, j] = x[i, j] - mean[i]
    s = ps.Schedule.auto(f, sizes={"n": 4096, "m": 1024}, threads=2, target=V3, reassociate=True)
    placed = {d.stage: (d.consumer, d.loop) for d in s.directives if d.name == "compute_at"}
    made = next(name for name in placed if ".by." in name)
    assert placed[made] == (f"{made.split('.by.')[0]}.update(0)", "i")
