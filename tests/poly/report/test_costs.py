"""What is likely to be slow: what is found, with which fix, and what nothing is said of."""

from __future__ import annotations

from typing import Any

import pytest
from counting import operations

import polysched as ps
from polysched.poly.report.costs import Cost, costs

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")
a = ps.Input("a", ps.float32, (n, m))
wide = ps.Input("wide", ps.float32, (n + 8, m))
where = ps.Input("where", ps.int32, (n, m))
line = ps.Input("line", ps.float32, (n,))
left, right = ps.Input("left", ps.float32, (n, l)), ps.Input("right", ps.float32, (l, m))


def pointwise() -> ps.Schedule:
    f = ps.Func("f", (n, m))
    f[i, j] = a[i, j] * 2 + 1
    return ps.Schedule(f)


def product() -> ps.Schedule:
    k, C = ps.RVar("k", 0, l), ps.Func("C", (n, m))
    C[i, j] = 0.0
    C[i, j] += left[i, k] * right[k, j]
    return ps.Schedule(C)


def stencil() -> ps.Schedule:
    g, f = ps.Func("g"), ps.Func("f", (n, m))
    g[i, j] = ps.exp(wide[i, j])
    f[i, j] = g[i, j] + g[i + 8, j]
    s = ps.Schedule(f)
    for name in ("g", "f"):
        s[name].vectorize("j", 8)
    return s


def found(s: ps.Schedule) -> dict[str, Cost]:
    return {x.cause: x for x in costs(s.analysis)}


# lanes ------------------------------------------------------------------------------------------
def test_lanes_along_columns() -> None:
    s = pointwise()
    s["f"].vectorize("i", 8)
    cost = found(s)["gathers"]
    assert cost.what == "the vector loop ii of f gathers a and scatters f, element by element"
    assert cost.fix.startswith('s["f"].vectorize("j", ps.native)')


def test_a_transposition_by_columns() -> None:
    f = ps.Func("f", (m, n))
    f[i, j] = a[j, i]
    s = ps.Schedule(f)
    s["f"].vectorize("j", 8)
    assert "a tile of the loops of f" in found(s)["gathers"].fix


def test_tiles_use_lines_as_a_whole() -> None:
    f = ps.Func("f", (m, n))
    f[i, j] = a[j, i]
    s = ps.Schedule(f)
    s["f"].tile("i", "j", 8, 8)
    s["f"].reorder("io", "jo", "ii", "ji").vectorize("ji", 8)
    assert not found(s)


def test_what_data_decide_is_gathered_in_any_order() -> None:
    f = ps.Func("f", (n, m))
    f[i, j] = a[i, ps.clip(where[i, j], 0, m - 1)]
    s = ps.Schedule(f)
    s["f"].vectorize("j", 8)
    assert not found(s)


def test_lanes_of_a_sum_run_in_turn() -> None:
    f, k = ps.Func("f", (n,)), ps.RVar("k", 0, m)
    f[i] = 0
    f[i] += where[i, k]
    s = ps.Schedule(f)
    s["f.update(0)"].vectorize("i", 8)
    assert found(s)["gathers"].stage == "f.update(0)"


# what is computed again -------------------------------------------------------------------------
def test_windows_that_are_computed_anew() -> None:
    s = stencil()
    s["g"].compute_at("f", "i")
    what = found(s)["recomputation"].what
    assert what == "g is computed at i, and so computed 9 times for each element"


def test_what_is_not_kept_from_tile_to_tile_is_computed_anew() -> None:
    s = stencil()
    s["f"].split("i", 4)
    s["g"].compute_at("f", "ii").store_at("f", "io")
    assert found(s)["recomputation"].what.startswith("g is stored in io, and so computed 3 times")


def test_what_a_loop_does_not_move_is_computed_anew() -> None:
    g, f = ps.Func("g"), ps.Func("f", (n, m))
    g[j] = ps.exp(a[0, j])
    f[i, j] = g[j] * a[i, j]
    s = ps.Schedule(f)
    s["f"].vectorize("j", 8)
    s["g"].compute_at("f", "i").vectorize("j", 8)
    assert "anew in each iteration of i" in found(s)["recomputation"].what


@pytest.mark.parametrize("factor", [8, 32])
def test_tiles_that_overlap_little(factor: int) -> None:
    s = stencil()
    s["f"].split("i", factor)
    s["g"].compute_at("f", "io")
    assert ("recomputation" in found(s)) == (factor == 8)  # 16 rows for 8, or 40 for 32


def test_what_slides_is_computed_once() -> None:
    s = stencil()
    s["g"].compute_at("f", "i").store_root()
    assert not found(s)


@pytest.mark.parametrize(("value", "said"), [(lambda x: ps.exp(x), True), (lambda x: x + 1, False)])
def test_what_is_inlined_twice(value: Any, said: bool) -> None:
    g, f = ps.Func("g"), ps.Func("f", (n, m))
    g[i, j] = value(wide[i, j])
    f[i, j] = g[i, j] + g[i + 8, j]
    s = ps.Schedule(f)
    s["g"].compute_inline()
    s["f"].vectorize("j", 8)
    assert ("recomputation" in found(s)) == said


# loops without vectors --------------------------------------------------------------------------
def test_a_loop_that_could_be_a_vector() -> None:
    s = pointwise()
    s["f"].parallel("i")
    cost = found(s)["scalar loop"]
    assert cost.what == "the innermost loop j of f runs one element at a time"
    assert cost.fix == 's["f"].vectorize("j", ps.native)'


def test_a_loop_that_would_have_to_go_inside() -> None:
    s = product()
    s["C.update(0)"].parallel("i")
    cost = found(s)["scalar loop"]
    assert "does not move along memory" in cost.what
    assert cost.fix.endswith("with j innermost")


def test_recurrences_and_stores_of_constants_are_left_alone() -> None:
    f = ps.Func("f", (n,))
    f[i] = ps.where(i > 0, f[i - 1], 0.0) * 0.5 + line[i]
    s = ps.Schedule(f)
    s["f"].split("i", 16)
    assert not found(s)
    s = product()
    s["C"].parallel("i")
    s["C.update(0)"].reorder("i", "k", "j").vectorize("j", 8)
    assert not found(s)


def test_few_iterations_are_left_alone() -> None:
    s = pointwise()
    s["f"].parallel("i")
    assert found(s.fixed({"n": 1000, "m": 64}))
    assert not found(s.fixed({"n": 1000, "m": 4}))  # too few for a vector
    assert not found(s.fixed({"n": 100, "m": 64}))  # too few to matter


# tasks ------------------------------------------------------------------------------------------
def test_threads_for_every_row() -> None:
    s = pointwise()
    s["f"].vectorize("j", 8).parallel("j")
    cost = found(s)["fine tasks"]
    assert "begins again in each iteration of i" in cost.what
    assert cost.seconds < 1e-6


def test_threads_for_each_step_in_time_are_needed() -> None:
    f, t = ps.Func("f", (n, m)), ps.vars("t")
    f[t, i] = ps.where(t > 0, f[t - 1, i], 1.0) * a[t, i]
    s = ps.Schedule(f)
    s["f"].vectorize("i", 8).parallel("i")
    assert "fine tasks" not in found(s)
    some = found(s.fixed({"n": 1000, "m": 64}))["fine tasks"]
    assert "all of its iterations compute 64 elements" in some.what


def test_threads_for_large_tiles_are_no_fine_tasks() -> None:
    s = pointwise()
    s["f"].tile("i", "j", 64, 512)
    s["f"].vectorize("ji", 8).parallel("jo")
    assert found(s)["fine tasks"].seconds > 1e-5  # which is longer than threads sleep


# what it takes ----------------------------------------------------------------------------------
def test_isl_is_hardly_asked() -> None:
    s = stencil()
    s["g"].compute_at("f", "i")
    whole = operations(lambda: s.loop_program)
    assert operations(lambda: costs(s.analysis)) < whole / 20


def test_costs_are_data() -> None:
    s = pointwise()
    s["f"].vectorize("i", 8)
    assert [Cost.from_json(x.to_json()) for x in costs(s.analysis)] == list(costs(s.analysis))
