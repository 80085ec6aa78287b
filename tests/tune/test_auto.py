"""Schedules that are found by the model: what is chosen, and what is done about refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gallery.case import normal
from gallery.execute import assert_same, outputs
from gallery.registry import find as program

import polysched as ps
from polysched.targets.facts import machine
from polysched.tune import auto as tune
from polysched.tune.facts.distances import Distance
from polysched.tune.facts.facts import Facts, facts_of
from polysched.tune.model.model import Model
from polysched.tune.plans.plan import Plan
from polysched.tune.plans.templates import Templates
from polysched.tune.realise.realise import realise
from polysched.tune.search.decided import Partial, Refused
from polysched.tune.search.search import Search

from .programs import i, j, m, n, product

V3 = "x86-64-v3"
LARGE = {"n": 1000, "m": 1000, "q": 1000}


def blur() -> ps.Func:
    x = ps.Input("x", ps.float32, (n + 2, m))
    rows, f = ps.Func("rows"), ps.Func("f", (n, m))
    rows[i, j] = ps.exp(x[i, j])
    f[i, j] = rows[i, j] + rows[i + 1, j] + rows[i + 2, j]
    return f


def totals(reduce: Any = ps.sum) -> ps.Func:
    x = ps.Input("x", ps.float32, (n, m))
    k, f = ps.RVar("k", 0, m), ps.Func("f", (n,))
    f[i] = reduce(x[i, k], k)
    return f


# order of sums ----------------------------------------------------------------------------------
def test_reassociated_sums_are_near_and_said_to_be_no_bits() -> None:
    s = ps.Schedule.auto(totals(), reassociate=True)
    assert not s.bit_exact
    x = normal(np.random.default_rng(1), 21, 999)
    np.testing.assert_allclose(s.compile()(x), x.sum(axis=1, dtype=np.float64), rtol=1e-4)


def test_sums_keep_their_order() -> None:
    s = ps.Schedule.auto(totals())
    assert s.bit_exact
    x = normal(np.random.default_rng(1), 21, 99)
    assert_same(s.compile()(x), ps.interpret(totals(), x))


# what is chosen ---------------------------------------------------------------------------------
def names(s: ps.Schedule) -> list[str]:
    return [d.name for d in s.directives]


def test_a_product_is_computed_in_tiles_of_copied_panels() -> None:
    s = ps.Schedule.auto(product(), threads=2, target=V3)
    assert {"stage", "accumulate_at", "compute_at", "vectorize", "unroll", "parallel"} <= {
        *names(s)
    }


def test_a_window_slides_down_strips() -> None:
    sizes = {"h": 1536, "w": 2560}
    s = ps.Schedule.auto(outputs(program("harris")), sizes=sizes, threads=2, target=V3)
    assert {"store_at", "vectorize", "parallel"} <= {*names(s)}


def test_a_stencil_of_a_stencil_is_computed_in_tiles_of_rows() -> None:
    s = ps.Schedule.auto(blur(), sizes={"n": 3000, "m": 3000}, threads=2, target=V3)
    assert "_rows" in s.source()
    assert {"compute_at", "vectorize", "unroll", "parallel"} <= {*names(s)}
    assert "store_at" not in names(s)


@pytest.mark.slow
def test_rows_of_a_matrix_are_added_several_at_a_time() -> None:
    """Each is read from begin to end: tiles of results would read it in short pieces."""
    x, a = ps.Input("x", ps.float32, (n,)), ps.Input("a", ps.float32, (n, m))
    f, k = ps.Func("f", (m,)), ps.RVar("k", 0, n)
    f[j] = ps.sum(x[k] * a[k, j], k)
    s = ps.Schedule.auto(f, sizes={"n": 4096, "m": 4096}, threads=1, target=V3)
    assert ".unroll('ki')" in s.source()
    assert "accumulate_at" not in names(s)
    made = s.compile()
    for rows, columns in ((1, 1), (7, 33), (8, 16), (30, 70)):
        rng = np.random.default_rng(1)
        args = normal(rng, rows), normal(rng, rows, columns)
        assert_same(made(*args), ps.interpret(f, *args))


@pytest.mark.slow
def test_a_maximum_is_in_lanes_and_a_sum_in_rows() -> None:
    assert "rfactor" in names(ps.Schedule.auto(totals(ps.max), target=V3))
    assert "rfactor" not in names(ps.Schedule.auto(totals(), target=V3))
    assert "rfactor" in names(ps.Schedule.auto(totals(), target=V3, reassociate=True))


@pytest.mark.parametrize("columns", [1, 3, 16, 33, 60, 64, 200])
@pytest.mark.parametrize("target", [V3, "x86-64-v4"])
def test_products_of_known_widths(columns: int, target: str) -> None:
    assert ps.Schedule.auto(product(columns=columns), threads=2, target=target).directives


def test_sums_into_a_part_of_what_is_begun() -> None:
    """The pure definition covers more than its update, so it is not computed inside of that."""
    x, k = ps.Input("x", ps.float32, (n, m)), ps.RVar("k", 0, m)
    f = ps.Func("f", (n, m))
    f[i, j] = 1.0
    f[i, 0] += x[i, k]
    s = ps.Schedule.auto(f, target=V3)
    assert "f" not in {d.stage for d in s.directives if d.name == "compute_at"}


def test_proofs_that_take_long_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def unproved(s: ps.Schedule, funcs: Any, statements: Any, *more: Any) -> None:
        tried.append(1)
        raise Refused(funcs[0], ps.ScheduleError("in the time allowed", status="unproved"))

    monkeypatch.setattr(tune, "realise", unproved)
    assert not ps.Schedule.auto(product(), sizes=LARGE).directives
    assert len(tried) == tune.UNPROVED + 1


def test_what_is_cheap_is_inlined_and_what_is_not_is_kept() -> None:
    x = ps.Input("x", ps.float32, (n + 1, m))
    y = ps.Input("y", ps.int32, (n + 1, m))
    names = ("twice", "slow", "third")
    twice, slow, third = (ps.Func(name) for name in names)
    f = ps.Func("f", (n, m))
    twice[i, j] = x[i, j] + 1
    slow[i, j] = ps.exp(x[i, j])
    third[i, j] = y[i, j] // 3
    f[i, j] = sum(g[i, j] * g[i + 1, j] for g in (twice, slow, third))
    s = ps.Schedule.auto(f, target=V3)
    assert {x.name for x in s.funcs} == {"slow", "third", "f"}


@pytest.mark.parametrize("name", ["sparse_matvec", "histogram"])
def test_what_gains_nothing_has_no_vectors(name: str) -> None:
    s = ps.Schedule.auto(outputs(program(name)), threads=1, target=V3)
    assert not [d for d in s.directives if d.stage.endswith("update(0)") and d.name == "split"]


@pytest.mark.slow
def test_funcs_of_one_name_have_their_own_loops() -> None:
    x = ps.Input("x", ps.float32, (n, m))
    first, second, f = ps.Func("g"), ps.Func("g"), ps.Func("f", (n, m))
    first[i, j] = ps.exp(x[i, j])
    second[i, j] = ps.exp(first[i, j] + first[n - 1 - i, j])
    f[i, j] = second[i, j] + second[n - 1 - i, j]
    s = ps.Schedule.auto(f, target=V3)
    assert {d.stage for d in s.directives if d.name == "vectorize"} == {"f", "g", "g_2"}


def test_equal_questions_have_equal_answers() -> None:
    first, second = (ps.Schedule.auto(blur(), threads=2, target=V3) for _ in range(2))
    assert first.source() == second.source()
    assert first.to_json() == second.to_json()


@pytest.mark.slow
def test_a_schedule_is_replayed_from_json_and_can_be_changed() -> None:
    f = product()
    s = ps.Schedule.auto(f, target=V3)
    again = ps.Schedule.from_json(f, s.to_json())
    assert again == s
    again["C.update(0)"].unroll("k", 2)
    assert again != s


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.quick) for name in ("matmul", "blur")),
        *("harris", "conv_layer", "softmax", "heat"),
    ],
)
def test_the_first_plan_is_accepted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[Refused] = []

    def counted(*args: Any) -> None:
        try:
            realise(*args)
        except Refused as error:
            refused.append(error)
            raise

    monkeypatch.setattr(tune, "realise", counted)
    s = ps.Schedule.auto(outputs(program(name)))
    assert len(refused) <= 1, refused
    assert "vectorize" in names(s)


# plans ------------------------------------------------------------------------------------------
def planned(f: ps.Func) -> tuple[ps.Schedule, Facts, Model, Partial]:
    s = ps.Schedule(f, target=V3)
    facts, model = facts_of(s.rewritten, {}), Model(machine(s.target), 2)
    return s, facts, model, Search(facts, model, {"C", "f"}).best()


@pytest.mark.parametrize("build", [product, blur, totals])
def test_a_plan_is_plain_data(build: Any) -> None:
    s, facts, model, best = planned(build())
    plan = Plan(funcs=tuple(d.plan for d in best.funcs.values()))
    again = Plan.from_json(plan.to_json())
    assert again == plan
    assert hash(again) == hash(plan)
    search = Search(facts, model, {"C", "f"})
    found = search.decided(again.funcs)
    assert found is not None
    assert found.funcs == best.funcs
    realise(s, list(found.funcs.values()), search.statements)
    assert s.directives


def test_a_plan_of_another_program_is_none() -> None:
    _, _, _, best = planned(blur())
    _, facts, model, _ = planned(totals())
    plans = [d.plan for d in best.funcs.values() if d.plan.func == "f"]
    assert Search(facts, model, {"f"}).decided(plans) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"inline": [1], "keep": [], "funcs": []}'])
def test_what_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(ps.LanguageError, match="no plan"):
        Plan.from_json(text)


# refusals ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("accepted_after", [1, 3, 7])
def test_the_next_plan_is_tried(accepted_after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Plan] = []

    def stubborn(s: ps.Schedule, funcs: Any, statements: Any, *more: Any) -> None:
        tried.append(Plan(funcs=tuple(d.plan for d in funcs)))
        if len(tried) <= accepted_after:
            raise Refused(funcs[-1], ps.ScheduleError("not like this", status="violation"))
        realise(s, funcs, statements)

    monkeypatch.setattr(tune, "realise", stubborn)
    s = ps.Schedule.auto(blur(), sizes={"n": 1000, "m": 1000}, target=V3)
    assert len({*tried}) == len(tried) == accepted_after + 1
    assert s.directives
    x = normal(np.random.default_rng(1), 9, 7)
    assert_same(
        ps.Schedule.from_json(blur(), s.to_json())
        .for_target(ps.Schedule(blur()).target)
        .compile()(x),
        ps.interpret(blur(), x),
    )


def test_a_program_that_refuses_everything_is_left_as_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(s: ps.Schedule, funcs: Any, statements: Any, *more: Any) -> None:
        raise Refused(funcs[0], ps.ScheduleError("never"))

    monkeypatch.setattr(tune, "realise", never)
    assert not ps.Schedule.auto(blur()).directives


def test_nobody_to_blame_leaves_it_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def unproved(s: ps.Schedule, funcs: Any, statements: Any, *more: Any) -> None:
        raise Refused(None, ps.ScheduleError("too intricate"))

    monkeypatch.setattr(tune, "realise", unproved)
    assert not ps.Schedule.auto(product()).directives


# recurrences ------------------------------------------------------------------------------------
@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_points_of_a_step_in_time_are_in_vectors(threads: int) -> None:
    """Threads share the points of a step, too: the loop over steps stays around them."""
    start, u = ps.Input("start", ps.float32, (m,)), ps.Func("u", (n, m), ps.float32)
    left, right = u[i - 1, ps.maximum(j - 1, 0)], u[i - 1, ps.minimum(j + 1, m - 1)]
    u[i, j] = ps.select(i == 0, start[j], (left + 2 * u[i - 1, j] + right) / 4)
    sizes = {"n": 200, "m": 4000 if threads == 1 else 400_000}  # more than asking them takes
    s = ps.Schedule.auto(u, sizes=sizes, threads=threads, target=V3)
    assert "vectorize" in names(s)
    assert ("parallel" in names(s)) == (threads > 1)
    x = normal(np.random.default_rng(4), 77)
    native = ps.Schedule.auto(u, sizes=sizes, threads=threads).compile()
    assert_same((native(x, n=9),), (ps.interpret(u, x, n=9),))


def test_several_schedules_are_given_the_best_first_and_the_one_as_written_last() -> None:
    f, sizes = product(), {"n": 500, "m": 500, "q": 500}
    found = list(tune.several(ps.Schedule(f, target=V3), 2, sizes=sizes, most=4))
    assert 2 <= len(found) <= 5
    (first, best), (_, last) = found[0], found[-1]
    assert best == ps.Schedule.auto(f, sizes=sizes, threads=2, target=V3)
    assert first == min(seconds for seconds, _ in found)
    assert not last.directives


# operands that are copied, and results that are not read -----------------------------------------
def stages(s: ps.Schedule) -> list[Any]:
    return [d for d in s.directives if d.name == "stage"]


@pytest.mark.slow
def test_an_operand_that_lies_across_vectors_is_copied_in_panels() -> None:
    q = ps.size("q")
    k = ps.RVar("k", 0, q)
    a, b = ps.Input("A", ps.float32, (n, q)), ps.Input("B", ps.float32, (m, q))
    c = ps.Func("C", (n, m))
    c[i, j] = 0
    c[i, j] += a[i, k] * b[j, k]
    s = ps.Schedule.auto(c, sizes={"n": 500, "m": 500, "q": 500}, target=V3)
    assert [d.tensor for d in stages(s)] == ["B"]
    x, y = (normal(np.random.default_rng(3), 37, 21) for _ in range(2))
    native = ps.Schedule.auto(c, sizes={"n": 500, "m": 500, "q": 500}).compile()
    assert_same((native(x, y),), (ps.interpret(c, x, y),))


def test_panels_are_copied_for_each_of_several_products() -> None:
    q, b = ps.sizes("q b")
    t, k = ps.vars("t"), ps.RVar("k", 0, q)
    x, y = ps.Input("A", ps.float32, (b, n, q)), ps.Input("B", ps.float32, (b, q, m))
    c = ps.Func("C", (b, n, m))
    c[t, i, j] = 0
    c[t, i, j] += x[t, i, k] * y[t, k, j]
    s = ps.Schedule.auto(c, sizes={"n": 999, "m": 999, "q": 999, "b": 4}, threads=2, target=V3)
    assert [d.tensor for d in stages(s)] == ["B"]
    (order,) = (d.loops for d in s.directives if d.name == "reorder" and "k" in d.loops)
    assert order[:2] == ("t", "jo")


@pytest.mark.slow
def test_what_each_step_reads_anew_is_turned_once() -> None:
    """The weights of a recurrent layer: vectors of them lie side by side then."""
    case, sizes = program("lstm"), {"T": 128, "U": 256, "D": 256}
    s = ps.Schedule.auto(outputs(case), sizes=sizes, threads=1, target=V3)
    copies = {d.tensor for d in stages(s)}
    assert copies == {"R", "W"}


def test_large_results_are_written_past_the_caches() -> None:
    x, f = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = ps.exp(x[i, j])
    large, small = (
        ps.Schedule.auto(f, sizes={"n": size, "m": size}, target=V3) for size in (9000, 300)
    )
    assert "stream" in names(large)
    assert "stream" not in names(small)


def test_no_last_cache_is_counted_on_for_all_of_a_large_result() -> None:
    x, f = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = ps.exp(x[i, j])
    target = ps.Schedule(f, target=V3).target
    server = replace(
        target, caches=(*target.caches[:-1], replace(target.caches[-1], bytes=1 << 29))
    )
    large, middle = (
        ps.Schedule.auto(f, sizes={"n": size, "m": size}, target=server) for size in (3000, 2000)
    )
    assert "stream" in names(large)
    assert "stream" not in names(middle)


def test_results_of_several_threads_may_take_more_of_the_last_cache() -> None:
    x, f = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n, m))
    f[i, j] = ps.exp(x[i, j])
    own, shared, large = (
        ps.Schedule.auto(f, sizes={"n": size, "m": size}, threads=threads, target=V3)
        for size, threads in ((900, 1), (900, 2), (1100, 2))
    )
    assert "stream" in names(own)
    assert "stream" not in names(shared)
    assert "stream" in names(large)


def test_results_that_are_read_again_are_not() -> None:
    x, f, g = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n, m)), ps.Func("g", (n, m))
    f[i, j] = ps.exp(x[i, j])
    g[i, j] = f[i, j] / 3
    s = ps.Schedule.auto((f, g), sizes={"n": 9000, "m": 9000}, target=V3)
    assert {d.stage for d in s.directives if d.name == "stream"} <= {"g"}


def test_channels_are_side_by_side_in_vectors_of_pixels() -> None:
    x, f = ps.Input("x", ps.float32, (n, m, 3)), ps.Func("f", (n, m, 3))
    c = ps.vars("c")
    f[i, j, c] = ps.exp(x[i, j, c])
    s = ps.Schedule.auto(f, target=V3)
    (vector,) = (d.loop for d in s.directives if d.name == "vectorize")
    assert vector.startswith("j")
    assert "c" in {d.loop for d in s.directives if d.name == "unroll"}


# wavefronts -------------------------------------------------------------------------------------
def averaged(dtype: ps.DType = ps.float64) -> ps.Func:
    """Each element waits for its neighbours above and to the left of it."""
    x, f = ps.Input("x", dtype, (n, m)), ps.Func("f", (n, m))
    above = ps.select((i > 0) & (j < m - 1), f[i - 1, j + 1], 1)
    f[i, j] = x[i, j] + (above + ps.select(j > 0, f[i, j - 1], 2)) // 3
    return f


@pytest.mark.parametrize("dtype", [pytest.param(ps.float64, marks=pytest.mark.slow), ps.int32])
def test_rows_that_wait_for_each_other_run_behind_each_other(dtype: ps.DType) -> None:
    f = averaged(dtype)
    s = ps.Schedule.auto(f, sizes={"n": 1000, "m": 1000}, target=V3)
    assert "s[\"f\"].skew('i', 'j', 2)" in s.source()
    assert ".unroll('ii')" in s.source()
    rng, made = np.random.default_rng(1), s.for_target(ps.Schedule(f).target).compile()
    for rows, columns in ((1, 1), (7, 3), (8, 9), (17, 20), (40, 2), (3, 41)):
        x = rng.integers(-99, 99, (rows, columns)).astype(str(dtype))
        assert_same(made(x), ps.interpret(f, x))


@pytest.mark.slow
def test_sweeps_over_a_row_are_taken_apart_from_its_beginning() -> None:
    """The first step shares the loop over steps with the others."""
    T, t = ps.size("T"), ps.vars("t")
    x, f, last = ps.Input("x", ps.float64, (n,)), ps.Func("f", (T + 1, n)), ps.Func("last", (n,))
    f[0, i] = x[i]
    before = ps.select(i > 0, f[t, i - 1], 1) + ps.select(i < n - 1, f[t - 1, i + 1], 2)
    f[t, i] = (before + f[t - 1, i]) / 3
    last[i] = f[T, i]
    s = ps.Schedule.auto(last, sizes={"n": 1000, "T": 100}, target=V3)
    assert "s[\"f.piece(0)\"].fission('t', after='f.piece(0)')" in s.source()
    assert "s[\"f.piece(1)\"].skew('t', 'i', 2)" in s.source()
    rng, made = np.random.default_rng(1), s.for_target(ps.Schedule(last).target).compile()
    for steps, columns in ((0, 1), (1, 4), (7, 9), (8, 3), (21, 40)):
        given = normal(rng, columns).astype(np.float64)
        assert_same(made(given, T=steps), ps.interpret(last, given, T=steps))


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([((1, 1), (0, 0)), ((0, 0), (1, 1))], 1),
        ([((1, 1), (-1, 1)), ((0, 0), (1, 1))], 2),
        ([((1, 1), (-3, 1)), ((0, 0), (1, 1))], 4),
        ([((1, 1), (-4, 1)), ((0, 0), (1, 1))], 0),
        ([((1, 1), (None, 1)), ((0, 0), (1, 1))], 0),
        ([((1, None), (0, None)), ((0, 0), (1, 1))], 1),
        ([], 0),
    ],
)
def test_how_far_behind_rows_must_be(spans: list[Any], expected: int) -> None:
    s = facts_of(ps.Schedule(averaged()).rewritten, None).statements[0]
    found = tuple(Distance(s.name, s.name, "f", tuple(x)) for x in spans)
    assert Templates(replace(s, distances=found), (9, 9), (False, False)).skew(0) == expected
