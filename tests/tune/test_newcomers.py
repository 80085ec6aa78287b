"""Programs as they are written by who has read no more than how to write them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from gallery.case import normal
from gallery.execute import assert_same

import polysched as ps

from .programs import i, j, m, n

V3 = "x86-64-v3"


def own_code(s: ps.Schedule) -> ps.Kernel:
    """A kernel of a schedule for another machine, for this one."""
    return s.for_target(ps.Schedule(s.program.outputs).target).compile()


def test_what_data_choose_is_computed_once() -> None:
    """Sums of rows by label: an instance of any row may change any sum, so no part of them is
    enough for one sum."""
    x, k = ps.Input("x", ps.float64, (n, m)), ps.RVar("k", 0, n)
    label, total, f = ps.Func("label", (n,)), ps.Func("total", (m, m)), ps.Func("f", (m, m))
    r = ps.RVar("r", 0, m)
    label[i] = ps.argmax(x[i, r], r)
    total[i, j] = 0
    total[label[k], j] += x[k, j]
    f[i, j] = total[i, j] / 2
    s = ps.Schedule.auto(f, sizes={"n": 1000, "m": 16}, target=V3)
    assert "total" not in {d.stage for d in s.directives if d.name == "compute_at"}
    assert ps.facts(f).statement("total.update(0)").axes == (1, None)


def test_what_is_read_at_two_places_is_needed_at_both() -> None:
    """Covariances: of the columns of all rows, two are multiplied."""
    x, k = ps.Input("x", ps.float64, (n, m)), ps.RVar("k", 0, n)
    d, f = ps.Func("d", (n, m)), ps.Func("f", (m, m))
    d[i, j] = x[i, j] - 1
    f[i, j] = 0
    f[i, j] += d[k, i] * d[k, j]
    (window,) = (w for w in ps.facts(f).windows if w.producer == "d")
    (along,) = (w for w in window.loops if w.loop == "j")
    assert along.steps == (0, 1)
    s = ps.Schedule.auto(f, sizes={"n": 2000, "m": 100}, threads=2, target=V3)
    assert "compute_at" not in [x.name for x in s.directives if x.stage == "d"]


@pytest.mark.parametrize("threads", [1, 2])
def test_short_steps_have_vectors_and_do_not_ask_threads(threads: int) -> None:
    """Averages of a few channels over time: a step is not worth being handed out."""
    steps, t = ps.Size("steps"), ps.Var("t")
    x, f = ps.Input("x", ps.float32, (steps, m)), ps.Func("f", (steps, m), ps.float32)
    f[0, j] = x[0, j]
    f[t, j] = 0.5 * f[t - 1, j] + 0.5 * x[t, j]
    s = ps.Schedule.auto(f, sizes={"steps": 5000, "m": 64}, threads=threads, target=V3)
    names = [d.name for d in s.directives]
    assert "vectorize" in names
    assert "parallel" not in names
    given = normal(np.random.default_rng(1), 9, 21)
    assert_same((own_code(s)(given),), (ps.interpret(f, given),))


def test_the_maximum_of_all_is_in_lanes() -> None:
    x, f = ps.Input("x", ps.float32, (n, m)), ps.Func("f", ())
    at = ps.rdom("a b", (0, n), (0, m))
    f[()] = ps.max(x[at], at)
    s = ps.Schedule.auto(f, sizes={"n": 300, "m": 300}, target=V3)
    assert "rfactor" in [d.name for d in s.directives]
    rng, made = np.random.default_rng(1), own_code(s)
    for rows, columns in ((1, 1), (3, 70), (5, 8), (2, 33)):
        given = normal(rng, rows, columns)
        assert_same((made(given),), (ps.interpret(f, given),))
    given[1, 5] = np.nan
    assert np.isnan(made(given))


@pytest.mark.parametrize("op", [ps.argmin, ps.argmax], ids=["argmin", "argmax"])
def test_places_along_rows_are_in_lanes(op: Callable[..., ps.Expr]) -> None:
    """Each lane has the best of its elements: of equal ones the first, and the first NaN of all."""
    x, f, k = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n,)), ps.RVar("k", 0, m)
    f[i] = op(x[i, k], k)
    s = ps.Schedule.auto(f, sizes={"n": 300, "m": 3000}, target=V3)
    assert "rfactor" in [d.name for d in s.directives]
    assert "vectorize" in [d.name for d in s.directives if "update" in d.stage]
    rng, made = np.random.default_rng(1), own_code(s)
    for rows, columns in ((1, 1), (3, 7), (5, 64), (4, 133)):
        given = rng.integers(0, 4, (rows, columns)).astype("f4")
        given[rows // 2, columns // 2 :: 11] = np.nan
        assert_same((made(given),), (ps.interpret(f, given),))


@pytest.mark.parametrize(("dtype", "lanes"), [("f4", 8), ("f8", 4), ("u1", 8)])
def test_vectors_of_elements_have_at_most_two_of_their_places(dtype: str, lanes: int) -> None:
    """A place has 8 bytes, so there are two vectors of 4 beside one of 8 elements."""
    x, f, k = ps.Input("x", np.dtype(dtype), (n,)), ps.Func("f", ()), ps.RVar("k", 0, n)
    f[()] = ps.argmax(x[k], k)
    s = ps.Schedule.auto(f, sizes={"n": 100_000}, target=V3)
    update = next(d.stage for d in s.directives if d.name == "vectorize" and "update" in d.stage)
    assert f"s[\"{update}\"].split('ki', {lanes}, " in s.source()


@pytest.mark.parametrize(("columns", "expected"), [(16, False), (3000, True)])
def test_results_of_lanes_are_few_beside_the_elements_of_a_row(
    columns: int, expected: bool
) -> None:
    """They are compared one after the other in the end."""
    x, f, k = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n,)), ps.RVar("k", 0, m)
    f[i] = ps.argmin(x[i, k], k)
    s = ps.Schedule.auto(f, sizes={"n": 10_000, "m": columns}, target=V3)
    assert ("rfactor" in [d.name for d in s.directives]) == expected


def test_windows_are_summed_in_registers_of_who_reads_them() -> None:
    x, w = ps.Input("x", ps.float32, (n, m)), ps.Input("w", ps.float32, (3, 3))
    at, f = ps.rdom("u v", (0, 3), (0, 3)), ps.Func("f", (n - 2, m - 2))
    f[i, j] = ps.sum(x[i + at[0], j + at[1]] * w[at[0], at[1]], at)
    s = ps.Schedule.auto(f, sizes={"n": 1000, "m": 1000}, threads=1, target="znver4")
    (stored,) = (line for line in str(s).splitlines() if "store f.sum0" in line)
    assert stored.strip() == "store f.sum0[4, 16]:"
    given = normal(np.random.default_rng(1), 23, 61), normal(np.random.default_rng(2), 3, 3)
    assert_same((own_code(s)(*given),), (ps.interpret(f, *given),))


@pytest.mark.parametrize(("dtype", "beside"), [(ps.int32, False), (ps.float32, True)], ids=str)
def test_running_sums_are_side_by_side_where_they_wait(dtype: ps.DType, beside: bool) -> None:
    """Integers are added in a cycle, and what is converted before waits for nothing."""
    x, f, g = ps.Input("x", ps.uint8, (n, m)), ps.Func("f"), ps.Func("g", (n, m))
    f[i, 0] = ps.cast(dtype, x[i, 0])
    f[i, j] = f[i, j - 1] + ps.cast(dtype, x[i, j])
    g[0, j] = f[0, j]
    g[i, j] = g[i - 1, j] + f[i, j]
    s = ps.Schedule.auto(g, sizes={"n": 2000, "m": 1000}, threads=1, target=V3)
    assert any(d.stage == "f.piece(1)" for d in s.directives) == beside
    given = np.random.default_rng(1).integers(0, 255, (19, 37)).astype("u1")
    assert_same((own_code(s)(given),), (ps.interpret(g, given),))


def test_the_first_of_the_best_of_users_is_in_lanes() -> None:
    """The largest element of an array and its place, as a tuple that is updated."""
    x, f, r = ps.Input("x", ps.float32, (n,)), ps.Func("f", ()), ps.RVar("r", 1, n)
    f[()] = (x[0], 0)
    f[()] = ps.select(x[r] > f[()][0], (x[r], r), f[()])
    s = ps.Schedule.auto(f, sizes={"n": 100_000}, target=V3)
    assert "rfactor" in [d.name for d in s.directives]
    rng, made = np.random.default_rng(1), own_code(s)
    for extent in (1, 3, 65, 200):
        given = rng.integers(0, 9, extent).astype("f4")
        assert_same(made(given), ps.interpret(f, given))


def folded() -> ps.Func:
    """The largest element of each row, and how often one was larger than all before."""
    x, k = ps.Input("x", ps.float32, (n, m)), ps.RVar("k", 0, m)
    f = ps.Func("f", (n,), (ps.float32,) * 2)
    f[i] = (-1.0, 0.0)
    best, times = f[i]
    f[i] = ps.select(x[i, k] > best, (x[i, k], times + 1), (best, times))
    return f


def test_what_users_fold_is_in_registers_and_in_order() -> None:
    f = folded()
    facts = ps.facts(f).statement("f.update(0)")
    assert (facts.kind, facts.is_exact, facts.values) == ("fold", False, 2)
    s = ps.Schedule.auto(f, sizes={"n": 3000, "m": 300}, target=V3)
    assert {"vectorize", "accumulate_at"} <= {d.name for d in s.directives}
    rng, made = np.random.default_rng(1), own_code(s)
    for rows, columns in ((1, 1), (7, 3), (40, 37)):
        given = normal(rng, rows, columns)
        want = ps.interpret(f, given)
        assert_same(made(given), want)


def test_rows_behind_each_other_begin_after_all_pieces() -> None:
    """The distance of two words, with its first row, its first column and their corner."""
    a, b = ps.Input("a", ps.uint8, (n,)), ps.Input("b", ps.uint8, (m,))
    d, f = ps.Func("d", (n + 1, m + 1), ps.int32), ps.Func("f", ())
    d[0, j], d[i, 0], d[0, 0] = ps.cast(ps.int32, j), ps.cast(ps.int32, i), 0
    other = ps.select(a[i - 1] == b[j - 1], 0, 1)
    d[i, j] = ps.minimum(ps.minimum(d[i - 1, j], d[i, j - 1]) + 1, d[i - 1, j - 1] + other)
    f[()] = d[n, m]
    s = ps.Schedule.auto(f, sizes={"n": 1000, "m": 1000}, target=V3)
    assert "s[\"d.piece(2)\"].fission('i', after='d.piece(2)')" in s.source()
    rng, made = np.random.default_rng(1), own_code(s)
    for rows, columns in ((0, 0), (0, 5), (4, 1), (7, 9), (16, 3)):
        given = [rng.integers(0, 3, x).astype(np.uint8) for x in (rows, columns)]
        assert_same((made(*given),), (ps.interpret(f, *given),))


def test_channels_are_computed_together_while_threads_share_other_loops() -> None:
    """Four sums and differences of the same elements: each instance is one of them, and all four
    stand side by side, so that no thread has a channel for itself."""
    x, f, c = ps.Input("x", ps.float32, (2 * n, 2 * m)), ps.Func("f", (4, n, m)), ps.vars("c")
    p, q, r, s_ = (x[2 * i + a, 2 * j + b] for a in (0, 1) for b in (0, 1))
    f[c, i, j] = ps.mux(c, [(p + q + r + s_) * 0.5, p - q + r - s_, p + q - r - s_, p - q - r + s_])
    (facts,) = ps.facts(f).statements
    assert dict(facts.operations) == {"add float32": 3, "multiply float32": 1}
    s = ps.Schedule.auto(f, sizes={"n": 512, "m": 512}, threads=2, target=V3)
    made = {(d.name, d.loop) for d in s.directives if d.name in ("unroll", "parallel")}
    assert ("unroll", "c") in made
    assert ("parallel", "i") in made
    given = normal(np.random.default_rng(2), 14, 38)
    assert_same((own_code(s)(given),), (ps.interpret(f, given),))


def test_what_needs_more_of_each_step_before_is_not_computed_for_a_part() -> None:
    """A stencil over time whose last step alone is read: a part of it would be a cone."""
    t, x, f = ps.Var("t"), ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    u, rate = ps.Func("u", (m, n)), ps.Func("rate", (m, n))
    inside = (t > 0) & (i > 0) & (i < n - 1)
    u[t, i] = ps.select(inside, u[t - 1, i - 1] + u[t - 1, i + 1], x[i])
    rate[t, i] = ps.select(t > 0, rate[t - 1, i] * x[i], 1.0)
    f[i] = u[m - 1, i] + rate[m - 1, i]
    s = ps.Schedule.auto(f, sizes={"n": 100_000, "m": 100}, threads=2, target="x86-64-v3")
    placed = [d.text() for d in s.directives if d.name == "compute_at"]
    assert not any('s["u"]' in x for x in placed)
    assert any('s["rate"]' in x for x in placed)
    assert any('s["u"].vectorize' in d.text() for d in s.directives)
