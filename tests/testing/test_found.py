"""What random programs and directives have found."""

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps
from polysched.checking.examine import examine
from polysched.testing import check
from polysched.testing.orders import misordered

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
a = ps.Input("a", ps.float32, (n, m))


@pytest.mark.slow
def test_unrolled_loops_that_begin_apart_in_each_lane() -> None:
    """Copy k of an unrolled loop must be the same iteration in all lanes."""
    f = ps.Func("f", (n, m), ps.float32)
    f[i, j] = ps.select(i > 1, f[i - 1, ps.clip(j + 1, 0, m - 1)], a[i, j])
    s = ps.Schedule(f)
    s["f"].skew("i", "j", 2)
    s["f"].vectorize("j", 4)
    s["f"].unroll_and_jam("i", 4)
    check(s, sizes={"n": 3, "m": 4})
    check(s, sizes={"n": 9, "m": 7})


@pytest.mark.slow
def test_a_vector_loop_that_begins_before_its_first_iteration() -> None:
    """The number of lanes is counted from where the bounds begin."""
    f = ps.Func("f", (n,), ps.float32)
    f[i] = a[i, 0]
    s = ps.Schedule(f)
    s["f"].partition(2 * i < m)
    s["f[0]"].split("i", 8)
    s["f[1]"].tile("io", "ii", 4, 2)
    s["f[0]"].shift("iii", 1)
    s["f[0]"].tile("iio", "ioi", "iii", 2, 2, 5)
    s["f[1]"].vectorize("iiii", 4)
    check(s, sizes={"n": 3, "m": 4})
    check(s, sizes={"n": 40, "m": 31})


def test_a_witness_is_at_sizes_that_a_call_accepts() -> None:
    """f reads a column of a, so that m is not 0 where there is any row."""
    f = ps.Func("f", (n,), ps.float32)
    f[i] = a[i, m // 2]
    r = ps.RVar("r", 2, n)
    t = ps.RVar("t", 2, n)
    f[r] = f[t - 1] + f[r]
    s = ps.Schedule(f)
    with pytest.raises(ps.ScheduleError) as refused:
        s["f"].update(0).reorder("t", "r")
    assert refused.value.sizes == {"n": 5, "m": 1}


def test_a_size_that_the_program_does_not_have() -> None:
    f = ps.Func("f", (n,), ps.float32)
    f[i] = 1.0
    with pytest.raises(ps.ScheduleError, match="no size or Param m"):
        ps.Schedule(f)["f"].partition(i < m)


def test_what_is_fresh_in_each_iteration_orders_none() -> None:
    """f is written anew in each iteration, so that running them backwards is right."""
    c = ps.InOut("c", ps.int32, (n,))
    with ps.sequential("t", 0, n) as t:
        f = ps.Func("f", (m,), ps.int32)
        f[i] = i + t
        c[t] += f[m - 1] + f[0]
    s = ps.Schedule(c)
    s["f"].transform(["t"], lambda t: -t)
    check(s, sizes={"n": 3, "m": 2})
    assert not list(misordered(examine(s, c=np.zeros(3, np.int32), m=2)))


def test_lanes_share_what_is_fresh_in_each_iteration() -> None:
    c = ps.InOut("c", ps.int32, (n,))
    with ps.sequential("t", 0, n) as t:
        f = ps.Func("f", (m,), ps.int32)
        f[i] = i + t
        c[t] += f[m - 1] + f[0]
    with pytest.raises(ps.ScheduleError, match="two lanes"):
        ps.Schedule(c)["f"].vectorize("t", 4)


def test_iterations_at_once_have_storage_of_their_own() -> None:
    c = ps.InOut("c", ps.int32, (n,))
    with ps.sequential("t", 0, n) as t:
        f = ps.Func("f", (m,), ps.int32)
        f[i] = i + t
        c[t] += f[m - 1] + f[0]
    s = ps.Schedule(c)
    s["f"].parallel("t")
    check(s, sizes={"n": 3, "m": 2})


def test_atomic_accumulations_may_meet() -> None:
    f = ps.Func("f", (n,), ps.int32)
    f[i] = ps.sum(1, ps.RVar("r", 1, m))
    s = ps.Schedule(f)
    s["f.sum0"].update(0).atomic().parallel("r")
    assert not list(misordered(examine(s, n=2, m=4)))


def test_what_is_fresh_does_not_outlive_its_iteration() -> None:
    """Every second iteration computes f, and none does between it and the next one."""
    c = ps.InOut("c", ps.int32, (n,))
    with ps.sequential("t", 0, n, step=2) as t:
        f = ps.Func("f", (m,), ps.int32)
        f[i] = i + t
        c[t] += f[m - 1] + f[0]
    s = ps.Schedule(c)
    with pytest.raises(ps.ScheduleError, match="has not computed there") as refused:
        s["c.update(0)"].shift("t", 1)
    assert "in the iteration" in str(refused.value)
    s["c.update(0)"].split("t", 4)
    check(s, sizes={"n": 11, "m": 3})


def test_where_a_constant_was_read_does_not_matter() -> None:
    """f is inlined, and x says only which element of it is read."""
    x = ps.Input("x", ps.int32, (n,))
    f, g = ps.Func("f", (n,), ps.int32), ps.Func("g", (n,), ps.int32)
    f[i] = 5
    g[i] = f[ps.clip(x[0], 0, 0)]
    s = ps.Schedule(g)
    s["g"].unroll_and_jam("i", 5)
    assert "f[" not in str(s)
    check(s, sizes={"n": 3})


def test_what_is_fetched_need_not_be_read() -> None:
    """Behind the peeled iterations nothing of x is."""
    x = ps.Input("x", ps.float64, (n,))
    f = ps.Func("f", (n, m), ps.float64)
    f[i, j] = ps.select(i > 1, f[0, 0], x[0])
    s = ps.Schedule(f)
    s["f"].peel("i", first=2)
    s["f"].prefetch("x", "j", 2)
    check(s, sizes={"n": 5, "m": 3})


def test_what_is_read_stays_read_where_it_does_not_matter() -> None:
    f = ps.Func("f", (n,), ps.int64)
    f[i] = 5
    f[i] -= f[i]
    f[i] += 0 * f[i] + 3
    s = ps.Schedule(f)
    s["f"].update(0).parallel("i")
    check(s, sizes={"n": 3})


@pytest.mark.slow
def test_a_recurrence_in_each_iteration_of_a_loop() -> None:
    """What it keeps is not worth minutes: it is stored whole then."""
    f = ps.Func("f", (n, m), ps.int64)
    j2 = ps.clip(j + 2, 0, m - 1)
    x = ps.Input("x", ps.int64, (n, m))
    f[i, j] = ps.select(i > 1, f[i - 1, j2] + f[i - 2, j2], x[ps.clip(i - 1, 0, n - 1), j2])
    g = ps.Func("g", (n,), ps.int64)
    g[i] = f[i, m - 1] + f[n - 1, 0]
    s = ps.Schedule(g)
    s["f"].compute_at("g", "i")
    check(s, sizes={"n": 3, "m": 4})
    check(s, sizes={"n": 5, "m": 1})


@pytest.mark.slow
def test_a_copy_for_all_parts_of_a_definition() -> None:
    """That t is 0 in the first part does not say where the second one reads."""
    x = ps.InOut("x", ps.float32, (n, m))
    f = ps.InOut("f", ps.float32, (n,))
    with ps.sequential("t", 0, 3, step=2) as t:
        r = ps.RVar("r", 1, n)
        f[r] = x[0, t]
    s = ps.Schedule(f)
    s["f.update(0)"].tile("t", "r", 4, 2)
    s["f.update(0)"].partition(ps.vars("t") < 1)
    s["f.update(0)[0]"].reorder("ti", "ro", "ri")
    s["f.update(0)[0]"].stage("x", at="ti", layout=("ro", "ri"))
    check(s, sizes={"n": 3, "m": 4})


@pytest.mark.slow
def test_the_ends_of_a_loop_are_not_worth_minutes() -> None:
    x, y = ps.Input("x", ps.float32, (n,)), ps.InOut("y", ps.float32, (n, m))
    with ps.sequential("t", n - 1, -1, step=-1):
        y[i, j] = 3 * y[i, j] + 3 * x[i]
        r = ps.RVar("r", 2, n - 2)
        y[r, j] += y[r, j]
    s = ps.Schedule(y)
    u = s["y.update(1)"]
    u.split("j", 5)
    u.tile("jo", "ji", 4, 2)
    u.fuse("jio", "joi")
    u.parallel("r")
    u.peel("r", last=1)
    s["y.update(1).last"].skew("t.down", "joo", 1)
    s["y.update(1).last"].split("joo", 5)
    check(s, sizes={"n": 7, "m": 6})
