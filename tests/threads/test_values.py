"""Parallel loops on threads: the same bits on any number of them."""

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.ir.ir import Buffer, For, Store, Stores
from polysched.codegen.ir.parallel import why_serial
from polysched.codegen.runtime import pool as pools
from polysched.lang.nodes.nodes import Var, integer
from threads.programs import (
    COUNTS,
    SCHEDULES,
    arguments,
    i,
    j,
    joined,
    large_tiles,
    m,
    n,
    on,
    scaled,
)


@pytest.mark.parametrize("name", SCHEDULES)
def test_same_bits_on_any_number_of_threads(name: str, handed_out: pools.Pool) -> None:
    s = SCHEDULES[name]()
    kernel = s.compile()
    for rows, columns in ((0, 0), (1, 1), (1, 7), (13, 5), (37, 11)):
        x = arguments(s, rows, columns)
        wanted = ps.interpret(s.program.outputs[0], x)
        for count in COUNTS:
            for _ in range(5):
                found = on(count, kernel, x)
                assert found.tobytes() == wanted.tobytes(), (name, rows, columns, count)
    x = arguments(s, 400, 300)
    alone = on(1, kernel, x)

    def again() -> None:
        for count in COUNTS[1:]:
            assert on(count, kernel, x).tobytes() == alone.tobytes(), (name, count)

    joined(handed_out, again)


@pytest.mark.slow
def test_large_tiles_against_numpy(handed_out: pools.Pool) -> None:
    s = large_tiles()
    x = arguments(s, 517, 2500)
    across = (x[:, :-2] + x[:, 1:-1] + x[:, 2:]) / np.float32(3)
    wanted = (across[:-2] + across[1:-1] + across[2:]) / np.float32(3)
    kernel = s.compile()
    results = [on(count, kernel, x) for count in COUNTS]
    assert all(r.tobytes() == results[0].tobytes() for r in results)
    np.testing.assert_allclose(results[0], wanted, rtol=1e-4, atol=1e-5)


def test_atomic_sums_of_floats(handed_out: pools.Pool) -> None:
    """Of whole numbers, so that their order does not matter."""
    x = ps.Input("x", ps.float64, (n, m))
    r, c = ps.rdom("r c", (0, n), (0, m))
    f = ps.Func("f", (), ps.float64)
    f[()] = 0.0
    f[()] += x[r, c]
    s = ps.Schedule(f)
    s["f.update(0)"].reassociate().atomic().parallel(r)
    x_ = np.arange(64.0 * 500).reshape(64, 500)
    kernel = s.compile()
    for count in COUNTS:
        assert on(count, kernel, x_)[()] == x_.sum()


def test_pairs_that_are_accumulated_run_in_order() -> None:
    """One compare-and-swap holds no pair: such a loop is not handed out."""
    out = [Buffer(name, ps.int64, (integer(1),), (integer(0),), "output") for name in "ab"]
    k = Var("k")
    stores = tuple(Store(b, (integer(0),), k, atomic=True) for b in out)
    one, two = (
        For(k, integer(0), integer(9), 1, "parallel", Stores(s), "k") for s in (stores[:1], stores)
    )
    assert why_serial(one) is None
    assert why_serial(two) == "what it accumulates is not one number at a time"


def test_zero_divisors_are_counted_on_all_threads(handed_out: pools.Pool) -> None:
    x = ps.Input("x", ps.int32, (n, m))
    f = ps.Func("f", (n, m))
    f[i, j] = 7 // x[i, j]
    s = ps.Schedule(f)
    s[f].parallel(i)
    kernel = s.compile(checks=True)
    x_ = np.zeros((1999, 300), np.int32)
    x_[::3, ::5] = 1
    zeros = int((x_ == 0).sum())

    def again() -> None:
        for count in COUNTS:
            with pytest.raises(ps.CallError, match=f"^{zeros} integer divisions by zero"):
                on(count, kernel, x_)

    joined(handed_out, again, 100)
    # Where the CPUs are busy threads rarely meet, and sums may be right by luck.
    assert "atomicrmw add ptr" in kernel.llvm


def test_streamed_stores_are_there_when_a_call_returns(handed_out: pools.Pool) -> None:
    f, s = scaled()
    s[f].stream()
    s[f].parallel(i)
    kernel, x = s.compile(), np.zeros((64, 64), np.float32)
    for k in range(200):
        x[:] = k / 256
        found = on(3, kernel, x)
        assert (found[0] == found[0, 0]).all()
        assert (found - np.arange(64, dtype=np.float32)[:, None] == found[0, 0]).all() or k


def test_a_schedule_says_what_runs_on_one_thread() -> None:
    x = ps.Input("x", ps.float32, (n,))
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = x[i] * 2
    g[i] = ps.trace(f[i], "f")
    s = ps.Schedule(g)
    s[f].compute_root().parallel(i)
    assert "one thread" not in str(s)
    s[g].parallel(i)
    note = "i runs on one thread: g calls Python"
    assert str(s).count("one thread") == 1
    assert note in str(s)
    assert note in s.explain()
