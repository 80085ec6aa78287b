"""Folding: a recurrence keeps the planes that are still read, proven, and no more."""

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps
from polysched.poly.placement import folding
from polysched.poly.placement.overwritten import Overwritten
from polysched.poly.placement.precedence import precedence
from polysched.poly.tree.looptree import produced
from polysched.poly.tree.memory import Window

n, m, T = ps.sizes("n m T")
i, j, t = ps.vars("i j t")
RNG = np.random.default_rng(7)


def jacobi(distance: int = 1) -> ps.Func:
    """Only the last plane is asked for; each needs those up to `distance` before it."""
    x = ps.Input("x", ps.float32, (n,))
    f = ps.Func("f", (T + distance, n), dtype=ps.float32)
    for k in range(distance):
        f[k, i] = x[i] * (k + 1)
    f[t, i] = f[t - distance, ps.clip(i - 1, 0, n - 1)] + f[t - 1, ps.clip(i + 1, 0, n - 1)]
    last = ps.Func("last", (n,))
    last[i] = f[T, i]
    return last


def backwards(distance: int = 1) -> ps.Func:
    """Only the first plane is asked for; each needs the one `distance` behind it."""
    x = ps.Input("x", ps.float32, (T, n))
    f = ps.Func("f", (T, n), dtype=ps.float32)
    later = f[t + distance, ps.clip(i - 1, 0, n - 1)]
    f[t, i] = x[t, i] + ps.select(t < T - distance, later, 0)
    first = ps.Func("first", (n,))
    ps.require(T >= 1, "at least one step", first)
    first[i] = f[0, i]
    return first


def windows(func: ps.Func) -> dict[str, int]:
    return {f.name: w.planes for f, w in ps.Schedule(func).windows.items()}


@pytest.mark.slow
@pytest.mark.parametrize("distance", [1, 2, 3])
def test_as_many_planes_as_are_still_read(distance: int) -> None:
    func = jacobi(distance)
    assert windows(func) == {"f": distance + 1}
    data = RNG.standard_normal(7).astype(np.float32)
    for steps in (0, 1, 2, 5, 13):
        found = ps.Schedule(func).compile()(data, T=steps)
        np.testing.assert_array_equal(found, ps.interpret(func, data, T=steps))


def test_one_plane_fewer_would_be_overwritten() -> None:
    schedule = ps.Schedule(jacobi())
    (f,) = (g for g in schedule.funcs if g.name == "f")
    accesses = [a for s in schedule.model.statements for a in s.accesses if a.tensor is f]
    writes = [a for a in accesses if a.is_write]
    reads = [a for a in accesses if not a.is_write]
    before = precedence(schedule.tree)
    distances = [
        Overwritten(schedule.model.context, w, r, writes, before).distances(0)
        for w in writes
        for r in reads
    ]
    assert any(folding._some_multiple(d, 1) for d in distances)
    assert not any(folding._some_multiple(d, 2) for d in distances)
    assert schedule.windows[f] == Window(0, 2)


def middle(distance: int) -> ps.Func:
    """The planes of the left half are computed upwards, those of the right half downwards."""
    f = ps.Func("f", (2 * n,), dtype=ps.int32)
    left = ps.select(i >= distance, f[i - distance] + 1, 0)
    right = ps.select(i < 2 * n - distance, f[i + distance] * 2, 1)
    f[i] = ps.select(i < n, left, right)
    ends = ps.Func("ends", (2,), dtype=ps.int32)
    ps.require(n >= 1, "a middle", ends)
    ends[i] = f[n - 1 + i]
    return ends


@pytest.mark.parametrize("distance", [1, 2, 3])
def test_planes_that_go_both_ways(distance: int) -> None:
    """Planes that share storage are not all ahead of each other: each window is proven anew."""
    func = middle(distance)
    for size in (1, 2, 3, 4, 5, 8, 11):
        np.testing.assert_array_equal(func(n=size), ps.interpret(func, n=size))


def test_shifted_funcs_keep_what_the_other_still_reads() -> None:
    """g runs two steps ahead of f: three of its elements are in use at a time, and of f one more
    than it is behind."""
    f, g, last = (ps.Func(name, (n,), dtype=ps.int32) for name in ("f", "g", "last"))
    f[i] = ps.select(i + 2 < n, g[ps.minimum(i + 2, n - 1)], 1)
    g[i] = ps.select(i >= 3, f[i - 3] + g[i - 1] + g[i - 2], i)
    last[i] = ps.select(i < n - 3, 0, f[i])
    assert set(windows(last)) <= {"f", "g"}
    for size in range(14):
        np.testing.assert_array_equal(last(n=size), ps.interpret(last, n=size))


def test_downwards() -> None:
    func = backwards()
    assert windows(func) == {"f": 2}
    data = RNG.standard_normal((9, 5)).astype(np.float32)
    np.testing.assert_array_equal(func(data), ps.interpret(func, data))


def test_more_planes_than_are_tried_where_planes_go_down() -> None:
    """One more than the largest distance is enough, whichever way that goes."""
    func = backwards(folding.LARGEST + 4)
    assert windows(func) == {"f": folding.LARGEST + 5}
    data = RNG.standard_normal((29, 5)).astype(np.float32)
    np.testing.assert_array_equal(func(data), ps.interpret(func, data))


def test_parts_of_a_loop_that_compute_a_func_in_different_depths() -> None:
    """Each row of the sums is for one iteration of one part: the last part, which needs one row in
    an iteration of two loops, says nothing about the first part, which needs two in one of one."""
    x = ps.Input("x", ps.int64, (n, 3))
    sums, f = ps.Func("sums"), ps.Func("f", (n,))
    r = ps.RVar("r", 1, 3)
    sums[i, j] = x[i, j]
    sums[i, r] += sums[i, r - 1]
    f[i] = sums[i, 2] * 2 + sums[ps.minimum(i + 1, n - 1), 2]
    s = ps.Schedule(f)
    with s.batch():
        s["sums"].store_root()
        s["sums"].compute_at("f", "i")
    s["f"].peel("i", last=1)
    s["f.last"].split("i", 2)
    assert [node.fresh_depth for _, node in produced(s.tree)] == [1, 2]
    assert list(s.windows.values()) == [Window(0, 2)]
    data = RNG.integers(-9, 9, (7, 3))
    np.testing.assert_array_equal(s.compile()(data), ps.interpret(f, data))


def test_a_long_time_loop_keeps_two_planes() -> None:
    """A thousand steps of four million elements: 32 MB, not 16 GB."""
    x = ps.Input("x", ps.float32, (n, m))
    f = ps.Func("f", (T + 1, n, m), dtype=ps.float32)
    f[0, i, j] = x[i, j]
    f[t, i, j] = f[t - 1, ps.clip(i - 1, 0, n - 1), j] * 0.5
    last = ps.Func("last", (n, m))
    last[i, j] = f[T, i, j]
    kernel = ps.Schedule(last).compile()
    sizes = kernel._variants[False].bytes({"n": 2000, "m": 2000, "T": 1000})
    assert sum(sizes) == 2 * 2000 * 2000 * 4
    assert "keeps 2 of f" in kernel.loops


def test_an_output_is_stored_whole() -> None:
    x = ps.Input("x", ps.float32, (n,))
    f = ps.Func("f", (T + 1, n), dtype=ps.float32)
    f[0, i] = x[i]
    f[t, i] = f[t - 1, i] * 2
    assert windows(f) == {}
    assert f(np.ones(2, np.float32), T=3).shape == (4, 2)


def test_what_is_read_whole_later_is_stored_whole() -> None:
    x = ps.Input("x", ps.float32, (n,))
    f, g = ps.Func("f", (n,), dtype=ps.float32), ps.Func("g", (n,))
    f[i] = x[i] + ps.select(i > 0, f[i - 1], 0)
    g[i] = f[i] * 2
    assert windows(g) == {}


def test_a_plane_chosen_by_data_is_stored_whole() -> None:
    x = ps.Input("x", ps.int32, (n,))
    f, g = ps.Func("f", (n,), dtype=ps.int32), ps.Func("g", ())
    f[i] = ps.select(i > 0, f[ps.clip(x[i], 0, i - 1)], 0) + 1
    ps.require(n >= 1, "one element", g)
    g[()] = f[n - 1]
    assert windows(g) == {}
    data = np.array([0, 0, 0, 2, 1, 3], np.int32)
    assert g(data) == ps.interpret(g, data)


def test_in_place_where_only_what_lies_ahead_is_read() -> None:
    """f[t, i] may overwrite f[t - 1, i]: the next one reads f[t - 1, i + 2]."""
    x = ps.Input("x", ps.float32, (n,))
    f = ps.Func("f", (T + 1, n), dtype=ps.float32)
    f[0, i] = x[i]
    f[t, i] = f[t - 1, i] + f[t - 1, ps.clip(i + 1, 0, n - 1)]
    last = ps.Func("last", (n,))
    last[i] = f[T, i]
    assert windows(last) == {"f": 1}
    data = RNG.standard_normal(6).astype(np.float32)
    np.testing.assert_array_equal(last(data, T=9), ps.interpret(last, data, T=9))


def test_a_reduction_inside_keeps_one_plane() -> None:
    """All sums of a step are done before the first value of the step is stored."""
    w = ps.Input("w", ps.float32, (n, n))
    x = ps.Input("x", ps.float32, (n,))
    k = ps.RVar("k", 0, n)
    h = ps.Func("h", (T + 1, n), dtype=ps.float32)
    h[0, i] = x[i]
    h[t, i] = ps.tanh(ps.sum(w[i, k] * h[t - 1, k], k))
    last = ps.Func("last", (n,))
    last[i] = h[T, i]
    assert windows(last) == {"h": 1, "h.sum0": 1}
    data, weights = (RNG.standard_normal(s).astype(np.float32) for s in ((4,), (4, 4)))
    for steps in (0, 1, 13):
        found = last(x=data, w=weights, T=steps)
        np.testing.assert_array_equal(found, ps.interpret(last, x=data, w=weights, T=steps))


def batch_first() -> ps.Func:
    """Time is the second axis; the last step of every row is asked for."""
    x = ps.Input("x", ps.float32, (n, m))
    f = ps.Func("f", (n, T + 1, m), dtype=ps.float32)
    f[i, 0, j] = x[i, j]
    f[i, t, j] = f[i, t - 1, ps.clip(j - 1, 0, m - 1)] + f[i, t - 1, j] / 2
    last = ps.Func("last", (n, m))
    last[i, j] = f[i, T, j]
    return last


def test_along_another_axis_than_the_first() -> None:
    func = batch_first()
    schedule = ps.Schedule(func)
    assert list(schedule.windows.values()) == [Window(1, 2)]
    assert "keeps 2 along axis 1 of f" in str(schedule)
    data = RNG.standard_normal((3, 5)).astype(np.float32)
    for steps in (0, 1, 2, 13):
        np.testing.assert_array_equal(func(data, T=steps), ps.interpret(func, data, T=steps))


def test_along_the_last_axis() -> None:
    """The sum of each row, of which only the one before is ever needed."""
    x = ps.Input("x", ps.float32, (n, m))
    f, g = ps.Func("f", (n, m), dtype=ps.float32), ps.Func("g", (n,))
    ps.require(m >= 1, "a column", g)
    f[i, j] = ps.select(j > 0, f[i, j - 1], 0) + x[i, j]
    g[i] = f[i, m - 1]
    assert list(ps.Schedule(g).windows.values()) == [Window(1, 1)]
    data = RNG.standard_normal((4, 6)).astype(np.float32)
    np.testing.assert_array_equal(g(data), ps.interpret(g, data))


def test_two_steps_asked_for_are_both_kept() -> None:
    """The last one and the one before, of each row: no plane may go before either is read."""
    x = ps.Input("x", ps.float32, (n, m))
    f, g = ps.Func("f", (n, m), dtype=ps.float32), ps.Func("g", (n,))
    ps.require(m >= 2, "two columns", g)
    f[i, j] = ps.select(j > 0, f[i, j - 1], 0) + x[i, j]
    g[i] = f[i, m - 1] * f[i, m - 2]
    assert list(ps.Schedule(g).windows.values()) == [Window(1, 2)]
    data = RNG.standard_normal((4, 6)).astype(np.float32)
    np.testing.assert_array_equal(g(data), ps.interpret(g, data))


def test_planes_given_to_a_function_are_stored_whole() -> None:
    x = ps.Input("x", ps.float32, (n,))
    f = ps.Func("f", (T + 1, n), dtype=ps.float32)
    f[0, i] = x[i]
    f[t, i] = f[t - 1, ps.clip(i - 1, 0, n - 1)] * 2
    last = ps.extern("last", lambda a: a[0], [(f, ((T, T + 1), (0, n)))], (n,), ps.float32)
    assert windows(last) == {}
    data = RNG.standard_normal(5).astype(np.float32)
    np.testing.assert_array_equal(last(data, T=6), ps.interpret(last, data, T=6))


def test_a_reader_outside_of_the_loops_that_reads_nothing() -> None:
    """What is computed anew in each iteration of a loop has a reader elsewhere, in an arm that is
    never chosen. It shares no values with those inside."""
    f, g, h = ps.Func("f", (n + 1,)), ps.Func("g"), ps.Func("h", ())
    r = ps.RVar("r", 1, n + 1)
    f[i] = i
    f[r - r % 2] |= f[r]
    g[i, j] = ps.cast(ps.float32, f[ps.clip(j % 3, 0, n)])
    never = n - 1 - n
    h[()] = ps.select(ps.select(never >= 0, f[never], 31) != 0, 0, g[n, -1] + g[n, 1])
    s = ps.Schedule(h)
    s["f.update(0)"].store_root()
    s["f"].compute_at("g", "i")
    assert "for i in" in str(s)
    assert s.compile()(n=5) == ps.interpret(h, n=5)
