"""Bare calls: a schedule that takes long to get comes when there have been some calls."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from gallery.case import normal
from gallery.execute import assert_same

import polysched as ps
from polysched import kernels
from polysched.kernels import AutoKernel, default_kernel
from polysched.targets.host import this_machine
from polysched.tune import auto as tune
from polysched.tune.auto import MOST_CALLS, ForCalls
from polysched.tune.plans.effort import BRIEF, QUICK, Effort, unhurried

from .programs import i, j, m, n

X86 = this_machine().arch == "x86_64"

BETTER = [["split", "vectorize"]]
AFTER = 5
"""Calls after which the schedule of these tests comes."""


class Searches:
    """Stands for the search: the loops as written first, then vectors.

    Attributes:
        asked: for which efforts.
        first: by how much the first schedule splits a loop; it has no directives if by 1.
        error: what the next search raises.
    """

    def __init__(self) -> None:
        self.asked: list[Effort] = []
        self.first = 4
        self.error: BaseException | None = None

    def __call__(self, s: ps.Schedule, threads: int, usual: Any, effort: Effort) -> ForCalls:
        self.asked.append(effort)
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        made = s.copy()
        loops = made[made.program.outputs[0]]
        if effort.waits:
            if self.first > 1:
                loops.split("j", self.first)
            return ForCalls(made, AFTER)
        loops.vectorize("j", 8)
        return ForCalls(made, None)


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> Searches:
    monkeypatch.delenv(kernels.VARIABLE, raising=False)
    made = Searches()
    monkeypatch.setattr(tune, "found_for_calls", made)
    return made


rng = np.random.default_rng(3)
x = ps.Input("x", ps.float32, (n, m))


def sums() -> ps.Func:
    f = ps.Func("f", (n, m))
    f[i, j] = x[i, j] + ps.exp(x[i, j])
    return f


def directives(f: ps.Func) -> list[list[str]]:
    runs = default_kernel(f)
    assert isinstance(runs, AutoKernel)
    return [[d.name for d in k._schedule.directives] for k in {*runs._found.values()}]


def test_it_comes_once_after_so_many_calls(searches: Searches) -> None:
    f, array = sums(), normal(rng, 200, 301)
    wanted = ps.Schedule.default(sums()).compile()(array)
    for _ in range(AFTER):
        assert_same((f(array),), (wanted,))
        assert directives(f) == [["split"]]
    for _ in range(AFTER):
        assert_same((f(array),), (wanted,))
        assert directives(f) == BETTER
    assert searches.asked == [BRIEF, unhurried(BRIEF)]


def test_calls_in_any_form_count(searches: Searches) -> None:
    f, array = sums(), normal(rng, 200, 301)
    f(array)
    for call in (lambda: f(x=array), lambda: f(array, out=array.copy()), lambda: f(array[::-1])):
        call()
    f(normal(rng, 198, 299))
    assert len(searches.asked) == 1
    f(array)
    assert len(searches.asked) == 2


def test_calls_of_other_sizes_do_not(searches: Searches) -> None:
    f, array = sums(), normal(rng, 200, 301)
    for _ in range(AFTER):
        f(array)
        f(normal(rng, 900, 900))
    assert len(searches.asked) == 2
    f(array)
    assert len(searches.asked) == 3


def test_it_is_not_for_sizes_that_run_as_written(searches: Searches) -> None:
    searches.first = 1  # no split either
    f, array, tiny = sums(), normal(rng, 200, 301), normal(rng, 3, 3)
    f(tiny)
    for _ in range(AFTER + 1):
        f(array)
    runs = default_kernel(f)
    assert isinstance(runs, AutoKernel)
    assert [k is runs for k in runs._found.values()] == [True, False]
    assert searches.asked[-1] == unhurried(searches.asked[0])


def test_calls_are_remembered_behind_it(searches: Searches) -> None:
    f, array = sums(), normal(rng, 200, 301)
    for _ in range(AFTER):
        f(array)
    assert not default_kernel(f)._cached_calls
    for _ in range(2):
        f(array)
    assert len(default_kernel(f)._cached_calls) == 1


@pytest.mark.parametrize("error", [ps.ScheduleError("too intricate"), ps.LanguageError("no")])
def test_what_cannot_be_proven_is_not_tried_again(searches: Searches, error: Exception) -> None:
    f, array = sums(), normal(rng, 200, 301)
    for _ in range(AFTER):
        f(array)
    searches.error = error
    for _ in range(2 * AFTER):
        f(array)
    assert len(searches.asked) == 2
    assert directives(f) == [["split"]]


def test_a_fault_of_the_search_is_raised_once(searches: Searches) -> None:
    f, array = sums(), normal(rng, 200, 301)
    for _ in range(AFTER):
        f(array)
    searches.error = ps.InternalError("a fault")
    with pytest.raises(ps.InternalError, match="a fault"):
        f(array)
    for _ in range(2 * AFTER):
        f(array)
    assert len(searches.asked) == 2
    assert directives(f) == [["split"]]


def test_what_interrupts_it_puts_it_off(searches: Searches) -> None:
    f, array = sums(), normal(rng, 200, 301)
    for _ in range(AFTER):
        f(array)
    searches.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        f(array)
    assert directives(f) == [["split"]]
    f(array)
    assert directives(f) == BETTER


def test_threads_that_call_at_once_look_for_it_once(searches: Searches) -> None:
    f, array = sums(), normal(rng, 200, 301)
    f(array)
    callers = [
        threading.Thread(target=lambda: [f(array) for _ in range(2 * AFTER)]) for _ in range(3)
    ]
    for t in callers:
        t.start()
    for t in callers:
        t.join()
    assert len(searches.asked) == 2
    assert directives(f) == BETTER


def test_equal_programs_wait_for_as_many_calls() -> None:
    """Nothing is timed."""
    k, found = ps.RVar("k", 0, m), []
    for _ in range(2):
        products = tuple(ps.Func(f"f{number}", (n, n)) for number in range(4))
        for f in products:
            f[i, j] = ps.sum(x[i, k] * x[j, k], k)
        target = "x86-64-v3" if X86 else None
        s = ps.Schedule.default(products, target=target)
        found.append(tune.found_for_calls(s, 2, {"n": 100, "m": 100}, QUICK))
    assert found[0].schedule.source() == found[1].schedule.source()
    assert found[0].pays_after == found[1].pays_after
    assert not X86 or 1 < found[0].pays_after < MOST_CALLS


def test_little_is_not_looked_for() -> None:
    few = tune.found_for_calls(ps.Schedule.default(sums()), 2, {"n": 1000, "m": 1000}, QUICK)
    assert few.pays_after is None
