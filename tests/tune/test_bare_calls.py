"""Bare calls: a schedule is found for about the sizes of a call, and bits stay what they are."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from gallery.case import normal
from gallery.execute import assert_same
from hypothesis import given, strategies as st

import polysched as ps
from polysched import kernels
from polysched.kernels import CLASSES, MOST, AutoKernel, default_kernel
from polysched.tune import auto as tune
from polysched.tune.classes import class_of, distance
from polysched.tune.facts.amount import amount_of
from polysched.tune.plans.effort import BRIEF, QUICK, THOROUGH, effort_for

from .programs import i, j, m, n, product

rng = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def _switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(kernels.VARIABLE, raising=False)


def kernel(f: ps.Func) -> AutoKernel:
    made = default_kernel(f)
    assert isinstance(made, AutoKernel)
    return made


def found(f: ps.Func) -> list[ps.Schedule]:
    """The schedules that calls of a Func have found so far."""
    runs = kernel(f)
    return [k._schedule for k in {*runs._found.values()} - {runs}]


def operands(rows: int, inner: int, columns: int) -> tuple[Any, Any]:
    return normal(rng, rows, inner), normal(rng, inner, columns)


def test_large_arrays_run_with_a_schedule_that_is_found() -> None:
    f, arrays = product(), operands(150, 149, 151)
    assert_same((f(*arrays),), (ps.Schedule.default(product()).compile()(*arrays),))
    (s,) = found(f)
    assert {"vectorize", "unroll"} <= {d.name for d in s.directives}
    assert s.bit_exact


def test_small_arrays_run_in_the_loops_as_written() -> None:
    f, arrays = product(), operands(7, 5, 6)
    assert_same((f(*arrays),), (ps.interpret(f, *arrays),))
    assert not found(f)


def test_nothing_is_found_where_that_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kernels.VARIABLE, "0")
    f, arrays = product(), operands(150, 149, 151)
    f(*arrays)
    assert type(default_kernel(f)) is kernels.Kernel


def test_sizes_that_are_about_the_same_share_a_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, int]] = []
    real = tune.found_for_calls

    def counted(s: Any, threads: int, usual: dict[str, int], effort: Any) -> Any:
        asked.append(dict(usual))
        return real(s, threads, usual, effort)

    monkeypatch.setattr(tune, "found_for_calls", counted)
    f = product()
    for k in range(4):
        f(*operands(150 + k, 149 - k, 151 + k))
    assert len(asked) == 1
    plain = ps.Schedule.default(product()).compile()
    for sizes in [(1, 600, 600), (600, 1, 600), (600, 600, 1), (60, 60, 60), (9, 300, 300)]:
        arrays = operands(*sizes)
        assert_same((f(*arrays),), (plain(*arrays),))
    assert len(asked) <= MOST
    assert len(found(f)) <= MOST


def test_searches_that_find_nothing_are_few_too(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def nothing(s: Any, *_: Any, **__: Any) -> Any:
        asked.append(1)
        return tune.ForCalls(s, None)

    monkeypatch.setattr(tune, "found_for_calls", nothing)
    f = product()
    for rows in range(60, 4000, 200):
        f(*operands(rows, 60, 60))
    assert len(asked) <= MOST


def test_classes_of_many_small_sizes_are_few() -> None:
    f, x = ps.Func("f", (n, m)), ps.Input("x", ps.float32, (n, m))
    f[i, j] = x[i, j] + 1
    for rows in range(1, 16):
        for columns in range(1, 16):
            f(normal(rng, rows, columns))
    assert len(kernel(f)._found) <= 2 * CLASSES
    assert not found(f)
    f(normal(rng, 1000, 1000))
    assert found(f)


def test_scalars_that_bound_no_loop_do_not_count() -> None:
    s, x = ps.Param("s", ps.int32), ps.Input("x", ps.float32, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.select(i > s, x[i], 0)
    for value in range(-20, 20):
        f(normal(rng, 99), s=value)
    assert len(kernel(f)._found) == 1


def test_a_search_keeps_no_other_func_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_end = threading.Event(), threading.Event()
    real = tune.found_for_calls

    def slow(*given: Any, **more: Any) -> Any:
        begun.set()
        assert may_end.wait(60)
        return real(*given, **more)

    quick, x = ps.Func("f", (n,)), ps.Input("x", ps.float32, (n,))
    quick[i] = x[i] + 1
    monkeypatch.setattr(tune, "found_for_calls", slow)
    f, arrays = product(), operands(150, 149, 151)
    caller = threading.Thread(target=lambda: f(*arrays))
    caller.start()
    try:
        assert begun.wait(60)
        assert_same((quick(arrays[0][0]),), (arrays[0][0] + 1,))
    finally:
        may_end.set()
        caller.join()


@pytest.mark.parametrize("sizes", [(0, 5, 5), (5, 0, 5), (5, 5, 0), (0, 0, 0)])
def test_nothing_to_compute(sizes: tuple[int, int, int]) -> None:
    f, arrays = product(), operands(*sizes)
    assert_same((f(*arrays),), (arrays[0] @ arrays[1],))


@pytest.mark.slow
def test_a_part() -> None:
    f, arrays = product(), operands(150, 149, 151)
    assert_same((f(*arrays, region=[(3, 140), (2, 149)]),), (f(*arrays)[3:140, 2:149],))


def test_what_cannot_be_proven_runs_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise ps.ScheduleError("too intricate")

    monkeypatch.setattr(tune, "found_for_calls", refused)
    f, arrays = product(), operands(60, 59, 61)
    assert_same((f(*arrays),), (ps.Schedule.default(product()).compile()(*arrays),))
    assert not found(f)


def test_faults_of_the_search_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ps.InternalError("a fault")

    monkeypatch.setattr(tune, "found_for_calls", broken)
    with pytest.raises(ps.InternalError, match="a fault"):
        product()(*operands(60, 59, 61))


def test_loops_are_shared_by_threads_whoever_calls_first() -> None:
    f, arrays = product(), operands(150, 149, 151)
    with ps.threads(1):
        f(*arrays)
    (s,) = found(f)
    assert "parallel" in {d.name for d in s.directives}


def test_calls_that_do_not_fit_find_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        tune, "found_for_calls", lambda *_, **__: pytest.fail("looked for a schedule")
    )
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n, m))
    f[i, j] = ps.exp(x[i]) + x[j]
    with pytest.raises(ps.CallValueError, match="out of bounds at m=501"):
        f(normal(rng, 500), m=501)


def test_threads_that_call_at_once_find_one_schedule() -> None:
    f, arrays = product(), operands(150, 149, 151)
    results: list[Any] = []
    callers = [threading.Thread(target=lambda: results.append(f(*arrays))) for _ in range(4)]
    for t in callers:
        t.start()
    for t in callers:
        t.join()
    assert len(found(f)) == 1
    for result in results:
        assert_same((result,), (results[0],))


def test_scalars() -> None:
    x, scale = ps.Input("x", ps.float32, (n, m)), ps.Param("scale", ps.float32)
    f = ps.Func("f", (n, m))
    f[i, j] = ps.exp(x[i, j]) * scale
    array = normal(rng, 300, 301)
    wanted = ps.Schedule.default(f).compile()(array, scale=2.5)
    assert_same((f(array, scale=2.5),), (wanted,))
    assert found(f)


def test_a_class_that_the_program_does_not_accept_has_a_schedule_for_sizes_near_it() -> None:
    """500 windows, 64 apart, are cut from 32192 samples: these count as 1008 and 16128, which is
    too many windows."""
    windows = ps.sizes("windows")
    x = ps.Input("x", ps.float32, (n,))
    ps.require(n >= 64 * windows + 192, "samples for each window")
    f = ps.Func("f", (windows, 256))
    f[i, j] = x[64 * i + j] * x[64 * i + j] + 1
    array = normal(rng, 32192)
    numbers = class_of({"n": 32192, "windows": 500}, ["n", "windows"])
    with pytest.raises(ps.ScheduleError, match="accepts no call with n=16128, windows=1008"):
        ps.Schedule.auto(f, sizes=numbers)
    wanted = ps.Schedule.default(f).compile()(array, windows=500)
    assert_same((f(array, windows=500),), (wanted,))
    assert found(f)


# classes and efforts ------------------------------------------------------------------------------
@given(st.integers(0, 10**6) | st.integers(0, 2**40))
def test_a_class_is_near_its_sizes_and_of_itself(size: int) -> None:
    (number,) = class_of({"n": size}, ["n"]).values()
    assert class_of({"n": number}, ["n"]) == {"n": number}
    assert distance([size], [number]) < 0.75
    assert distance([size], [size]) == 0


def test_efforts_follow_what_there_is_to_do() -> None:
    rewritten = ps.Schedule.default(product()).rewritten
    efforts = [
        effort_for(amount_of(rewritten, {"n": k, "m": k, "q": k})) for k in (4, 16, 64, 200, 1000)
    ]
    assert efforts == [None, None, BRIEF, QUICK, THOROUGH]
