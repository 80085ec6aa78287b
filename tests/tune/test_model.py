"""The model of what nests cost, and the orders that dependences allow, against counting."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, strategies as st

from polysched.targets.facts import machine
from polysched.tune.facts.distances import Distance
from polysched.tune.facts.order import carried, is_in_order, is_independent
from polysched.tune.model.cost import Cost
from polysched.tune.model.footprint import (
    LINE,
    STREAMS,
    Ahead,
    Level,
    Sharing,
    Touch,
    Traffic,
    ahead,
    footprint,
    moves_from,
)
from polysched.tune.model.model import Model, Work
from polysched.tune.plans.planned import Kind

V3 = machine("x86-64-v3")


# memory -----------------------------------------------------------------------------------------
def lines(t: Touch, extents: tuple[int, ...]) -> int:
    """The lines that are touched, one by one."""
    found = set()
    for at in product(*map(range, extents)):
        element = sum(int(x or 0) * k for x, k in zip(t.strides, at, strict=True))
        found.add(element * t.bytes // LINE)
    return len(found)


@st.composite
def nested(draw: st.DrawFn) -> tuple[Touch, tuple[int, ...]]:
    """An access to a row-major array of two axes, some loops over none of them."""
    width = draw(st.integers(1, 40))
    extents = (draw(st.integers(1, 12)), draw(st.integers(1, width)), draw(st.integers(1, 5)))
    order = draw(st.permutations(range(3)))
    strides = (width, 1, 0)
    size = draw(st.sampled_from((1, 4, 8)))
    t = Touch(size, 12.0 * width, False, tuple(float(strides[k]) for k in order))
    return t, tuple(extents[k] for k in order)


@given(nested())
def test_a_footprint_is_about_the_lines_that_are_touched(
    case: tuple[Touch, tuple[int, ...]],
) -> None:
    t, extents = case
    moves = moves_from(t, extents)[0]
    found, counted = footprint(t.bytes, t.elements, moves) / LINE, lines(t, extents)
    assert counted / 2 - 2 <= found <= 2 * counted + 2


@given(nested())
def test_inner_loops_touch_no_more(case: tuple[Touch, tuple[int, ...]]) -> None:
    t, extents = case
    found = [footprint(t.bytes, t.elements, moves) for moves in moves_from(t, extents)]
    assert found == sorted(found, reverse=True)


def of(each: int, strides: tuple[float | None, ...], extents: tuple[float, ...]) -> Ahead:
    """What is fetched ahead of loops, of elements of so many bytes."""
    return ahead(each, moves_from(Touch(each, 1e6, False, strides), extents)[0])


@pytest.mark.parametrize(
    ("strides", "extents", "expected"),
    [
        ((4096, 1), (100, 32), 4 * 32),
        ((4096, 1), (100, 8), LINE),
        ((4096, 1), (STREAMS, 32), float("inf")),
        ((32, 1), (100, 32), float("inf")),
        ((100, 1), (100, 32), float("inf")),
        ((8192, 4096, 8, 1), (100, 2, 4, 8), 4 * 32),
        ((0, 4096, 0, 1), (9, 100, 9, 32), 4 * 32),
        ((4096, None, 1), (100, 5, 32), float("inf")),
    ],
)
def test_runs_end_where_loops_go_on_far_away(
    strides: tuple[float | None, ...], extents: tuple[float, ...], expected: float
) -> None:
    assert of(4, strides, extents).far == expected


def test_the_nearest_cache_fetches_less_far_ahead() -> None:
    rows = of(4, (256, 1), (100, 64))
    assert rows.far == float("inf")
    assert rows.near == 4 * 64


@pytest.mark.parametrize(
    ("strides", "extents", "expected"),
    [
        ((2000, 4, 250, 1), (100, 60, 2, 4), True),
        ((4, 62500, 1), (60, 2, 4), False),
        ((4, 40, 1), (7, 8, 4), True),
        ((4, 28, 1), (7, 8, 4), False),  # as near as what is fetched ahead
        ((250, 4, 1), (100, 63, 4), False),
        ((250, 4, 0, 1), (100, 63, 2, 4), False),
        ((None, 250, 1), (60, 2, 4), True),
        ((250, None, 1), (60, 2, 4), False),
    ],
)
def test_rows_of_a_page_are_taken_for_one(
    strides: tuple[float | None, ...], extents: tuple[float, ...], expected: bool
) -> None:
    assert of(8, strides, extents).is_beside == expected


# costs ------------------------------------------------------------------------------------------
def row_by_row(kinds: tuple[Kind, ...], rows: int = 1000, columns: float = 1000) -> Work:
    """f[i, j] = x[i, j] + 1."""
    strides = (columns, 1.0)
    return Work(
        (float(rows), columns),
        kinds,
        (
            Touch(4, rows * columns, False, strides),
            Touch(4, rows * columns, True, strides, is_own=True),
        ),
        (("add float32", (True, True), 1),),
        (False, False),
        (("add float32", 1),),
        False,
        4,
        False,
    )


def cost(work: Work, threads: int = 1) -> Cost:
    return Model(V3, threads).cost(work)


def test_integers_wait_less_than_floats_and_only_for_what_needs_them() -> None:
    """f[j] = f[j - 1] + x[j], and the same where x[j] is computed of much else."""
    along = replace(row_by_row(("serial", "serial")), chained=(False, True))
    integers = replace(along, operations=(("add int32", (True, True), 1),))
    integers = replace(integers, waiting=(("add int32", 1),))
    assert 1.5 * cost(integers).compute < cost(along).compute
    more = (("add float32", 1), ("divide float32", 1))
    assert cost(replace(along, waiting=more)).compute > 2 * cost(along).compute


def test_vectors_are_faster_and_threads_share_arithmetic() -> None:
    scalar, vector = cost(row_by_row(("serial", "serial"))), cost(row_by_row(("serial", "vector")))
    shared = cost(row_by_row(("parallel", "vector")), 4)
    assert vector.compute < scalar.compute / 2
    assert shared.compute < vector.compute / 3
    assert shared.starts > vector.starts == 0


def test_short_loops_are_not_handed_out() -> None:
    work = row_by_row(("parallel", "vector"), rows=4, columns=16)
    assert cost(work, 4).compute == cost(work).compute


def test_one_thread_is_not_asked() -> None:
    """Neither in each of many iterations around."""
    kinds: tuple[Kind, ...] = ("serial", "parallel")
    assert cost(row_by_row(kinds)).starts == 0 < cost(row_by_row(kinds), 2).starts


def test_more_work_costs_more() -> None:
    kinds: tuple[Kind, ...] = ("serial", "vector")
    found = [cost(row_by_row(kinds, rows)).seconds for rows in (10, 100, 1000, 10000)]
    assert found == sorted(found)


def test_a_chain_of_additions_waits() -> None:
    work = row_by_row(("serial", "serial"))
    own = replace(work.touches[1], strides=(1.0, 0.0))
    waits = replace(
        work,
        touches=(work.touches[0], own),
        chained=(False, True),
        is_sum=True,
        is_held=True,
    )
    assert cost(waits).compute > 1.5 * cost(replace(waits, chained=(False, False))).compute


def test_what_no_cache_holds_is_limited_by_memory() -> None:
    large = cost(row_by_row(("serial", "vector"), 10000, 10000))
    assert large.limit == "memory"
    assert cost(row_by_row(("serial", "serial"), 10, 10)).limit == "arithmetic"


def test_threads_have_a_part_of_a_common_cache_each() -> None:
    """But for what all of their iterations touch."""
    level, extents = Level(10_000, 1e9, 0.0), (4.0, 10.0, 1500.0)
    for along, is_held in ((1500.0, False), (0.0, True)):
        x = Traffic([Touch(4, 1e6, False, (along, 0.0, 1.0))], extents)
        alone, together = x.seconds(level), x.seconds(level, Sharing(0, 2))
        assert (together == alone) == is_held


def test_half_vectors_take_half_the_time_where_units_take_two_at_a_time() -> None:
    work = row_by_row(("serial", "vector"), columns=24)
    touches = tuple(replace(t, strides=(0.0, 0.0)) for t in work.touches)
    work = replace(work, touches=touches, operations=(("add float32", (True, True), 20),))
    one, two = machine("znver4"), machine("x86-64-v3")
    for m, lanes, is_better in ((one, 8, True), (two, 4, False)):
        whole, narrow = (Model(m, 1).cost(replace(work, lanes=x)) for x in (2 * lanes, lanes))
        assert (narrow.compute < whole.compute) == is_better


def test_what_data_choose_is_loaded_at_once() -> None:
    """By one instruction; what lies apart otherwise, and what is stored, is not."""

    def taken(stride: float | None, is_write: bool) -> float:
        work = row_by_row(("serial", "vector"))
        own = replace(work.touches[is_write], strides=(1000.0, stride))
        pair = (work.touches[0], own) if is_write else (own, work.touches[1])
        return cost(replace(work, touches=pair)).compute

    assert taken(None, False) < 0.7 * taken(100.0, False)
    assert taken(None, True) > 0.9 * taken(100.0, True)


@pytest.mark.parametrize(("rows", "conflict"), [(4, False), (8, True)])
def test_rows_that_are_written_where_they_are_read_take_one_line_each(
    rows: int, conflict: bool
) -> None:
    """Of rows that lie a power of two apart, those of two arrays fit into 8 ways."""

    def taken(columns: float) -> float:
        strides = (columns * rows, 1.0, columns)
        touches = (
            Touch(4, 1e6, False, strides),
            Touch(4, 1e6, False, strides, is_own=True),
            Touch(4, 1e6, True, strides, is_own=True),
        )
        work = row_by_row(("serial", "serial"))
        kinds: tuple[Kind, ...] = ("serial", "serial", "unrolled")
        operations = (("add float32", (True, True, True), 1),)
        return cost(
            replace(
                work,
                extents=(64.0, 2048.0, float(rows)),
                kinds=kinds,
                touches=touches,
                operations=operations,
                chained=(False, True, False),
            )
        ).compute

    assert (taken(2048.0) > 1.2 * taken(2064.0)) == conflict


# orders -----------------------------------------------------------------------------------------
vectors = st.lists(st.integers(-2, 2), min_size=2, max_size=3)


def is_positive(vector: tuple[int, ...]) -> bool:
    return next((x for x in vector if x), 1) > 0


@pytest.mark.slow
@given(st.data(), st.integers(2, 3))
def test_an_order_is_right_where_all_distances_stay_positive(
    data: st.DataObject, depth: int
) -> None:
    one = st.tuples(*[st.integers(-2, 2)] * depth).filter(lambda v: any(v) and is_positive(v))
    points = data.draw(st.lists(one, min_size=1, max_size=3))
    order = data.draw(st.permutations(range(depth)))
    distances = [Distance("f", "f", "f", tuple((x, x) for x in v)) for v in points]
    wanted = all(is_positive(tuple(v[k] for k in order)) for v in points)
    assert is_in_order(order, carried(distances)) == wanted
    for at in range(depth):
        carries = any(v[order[at]] and not any(v[k] for k in order[:at]) for v in points)
        if wanted:
            assert is_independent(order, at, carried(distances)) >= (not carries)


@pytest.mark.parametrize(("order", "right"), [((0, 1, 0, 1), True), ((1, 0, 1, 0), True)])
def test_forward_distances_can_be_tiled(order: tuple[int, ...], right: bool) -> None:
    distances = [
        Distance("f", "f", "f", ((1, 1), (0, 0))),
        Distance("f", "f", "f", ((0, 0), (1, 1))),
    ]
    assert is_in_order(order, carried(distances)) == right


def test_backward_distances_cannot_be_tiled() -> None:
    distances = [Distance("f", "f", "f", ((1, 1), (-1, -1)))]
    assert is_in_order((0, 1), carried(distances))
    assert not is_in_order((0, 1, 0, 1), carried(distances))
    assert not is_in_order((1, 0), carried(distances))


def test_sums_in_a_block_of_others_begin_no_loop() -> None:
    """A loop of one iteration around a block of registers is none; of what is stored it is one."""
    t = Touch(4, 1e6, False, (1000.0, 0.0, 1.0))
    work = Work(
        (1000.0, 1.0, 8.0),
        ("serial", "serial", "vector"),
        (t,),
        (("add float32", (True, True, True), 1),),
        (False, False, False),
        (("add float32", 1),),
        True,
        4,
        True,
    )
    model = Model(V3, 1)
    assert model.compute(replace(work, in_registers=True)) < model.compute(work)
    longer = replace(work, extents=(1000.0, 2.0, 8.0))
    assert model.compute(replace(longer, in_registers=True)) == model.compute(longer)
