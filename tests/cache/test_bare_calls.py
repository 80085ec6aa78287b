"""What was found for bare calls is found again, by another Func of the same program."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched import kernels
from polysched.cache import keys, store
from polysched.kernels import AutoKernel, default_kernel
from polysched.lang.errors.errors import ScheduleError
from polysched.poly.schedule.recorded import Recorded
from polysched.targets import facts
from polysched.targets.facts import Measured
from polysched.tune import auto as tune, kept_plans
from polysched.tune.auto import ForCalls
from polysched.tune.kept_plans import StoredPlan
from polysched.tune.plans.effort import Effort

from .programs import arrays, product

AFTER = 3


class Searches:
    """Stands for the search: a split first, then vectors; counts how often it is asked."""

    def __init__(self) -> None:
        self.count = 0
        self.nothing = False

    def __call__(self, s: ps.Schedule, threads: int, usual: Any, effort: Effort) -> ForCalls:
        self.count += 1
        made = s.copy()
        if self.nothing:
            return ForCalls(made, None)
        loops = made["C.update(0)"]
        if effort.waits:
            loops.split("j", 4)
            return ForCalls(made, AFTER)
        loops.split("j", 8)
        return ForCalls(made, None)


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> Searches:
    monkeypatch.delenv(kernels.VARIABLE, raising=False)
    made = Searches()
    monkeypatch.setattr(tune, "found_for_calls", made)
    return made


def plans() -> list[StoredPlan | None]:
    return [kept_plans.read_plan(x.key) for x in store.entries() if x.kind == "plan"]


def runs(f: ps.Func) -> list[Any]:
    kernel = default_kernel(f)
    assert isinstance(kernel, AutoKernel)
    return [k._schedule for k in kernel._found.values()]


A, B = arrays(size=150)


def test_nothing_is_searched_for_again(searches: Searches) -> None:
    first, second = product(), product()
    wanted = first(A, B)
    assert searches.count == 1
    assert second(A, B).tobytes() == wanted.tobytes()
    assert searches.count == 1
    (recorded,) = runs(second)
    assert isinstance(recorded, Recorded)
    assert recorded.digest == runs(first)[0].digest == recorded.schedule.digest
    assert default_kernel(second).cached
    assert not default_kernel(first).cached
    assert str(recorded) == str(runs(first)[0])


def test_no_schedule_is_made_where_its_preconditions_are_kept(searches: Searches) -> None:
    product()(A, B)
    second = product()
    second(A, B)
    kernel = default_kernel(second)
    called: Any = kernel._schedule
    assert "schedule" not in called.__dict__
    wanted = ps.Schedule.default(product())
    assert called.digest == wanted.digest != ps.Schedule(product()).digest
    assert str(kernel) == f"{kernel!r}\n{wanted}"
    assert pickle.loads(pickle.dumps(kernel)) == kernel


def test_the_better_schedule_is_kept_as_well(searches: Searches) -> None:
    first = product()
    for _ in range(AFTER + 1):
        wanted = first(A, B)
    assert searches.count == 2
    for _ in range(2):
        second = product()
        for _ in range(2 * AFTER):
            assert second(A, B).tobytes() == wanted.tobytes()
        assert searches.count == 2
        (last,) = runs(second)[0].schedule.directives
        assert (last.name, last.factor) == ("split", 8)


def test_calls_that_pay_are_counted_anew_in_each_process(searches: Searches) -> None:
    product()(A, B)
    (plan,) = plans()
    assert plan is not None
    assert plan.pays_after == AFTER
    second = product()
    for _ in range(AFTER):
        second(A, B)
    assert searches.count == 1
    second(A, B)
    assert searches.count == 2
    (plan,) = plans()
    assert plan is not None
    assert plan.pays_after is None


def test_loops_as_written_are_kept(searches: Searches) -> None:
    searches.nothing = True
    product()(A, B)
    assert plans() == [StoredPlan(None, None)]
    second = product()
    second(A, B)
    assert searches.count == 1
    assert runs(second) == [default_kernel(second)._schedule]


def test_small_calls_are_kept_too(searches: Searches) -> None:
    a, b = arrays(size=3)
    product()(a, b)
    assert searches.count == 0
    assert plans() == [StoredPlan(None, None)]


def test_a_better_schedule_that_is_none_is_not_looked_for_again(searches: Searches) -> None:
    product()(A, B)
    second = product()
    searches.nothing = True
    for _ in range(AFTER + 1):
        second(A, B)
    assert searches.count == 2
    (plan,) = plans()
    assert plan is not None
    assert plan.text is not None
    assert plan.pays_after is None


@pytest.mark.parametrize(
    "other",
    [
        lambda: product(2)(A, B),
        lambda: product()(np.tile(A, (5, 1)), B),
    ],
)
def test_other_programs_and_sizes_are_searched_for(searches: Searches, other: Any) -> None:
    product()(A, B)
    other()
    assert searches.count == 2


def test_other_threads_and_measurements_are_searched_for(
    searches: Searches, monkeypatch: pytest.MonkeyPatch
) -> None:
    product()(A, B)
    with ps.threads(3):
        product()(A, B)
    assert searches.count == 2
    product()(A, B)
    assert searches.count == 2
    levels = len(ps.machine().target.caches) + 1
    facts.save(
        ps.machine().target, Measured("2026-01-01", {"float32": 1e11}, (1e9,) * levels, 1e-5)
    )
    product()(A, B)
    assert searches.count == 3


def test_a_schedule_whose_code_is_gone_is_made_again(searches: Searches) -> None:
    wanted = product()(A, B)
    for x in store.entries():
        if x.kind in ("code", "terms", "journal"):
            store.remove(x.kind, x.key)
    second = product()
    assert second(A, B).tobytes() == wanted.tobytes()
    assert searches.count == 1
    assert not default_kernel(second).cached


# refusals ---------------------------------------------------------------------------------------
def test_a_schedule_that_is_refused_now_is_searched_for(searches: Searches) -> None:
    wanted = product()(A, B)
    (entry,) = [x for x in store.entries() if x.kind == "plan"]
    text = '{"format": 1, "default": true, "inputs": null, "steps": [{"directive": ' \
        '{"stage": "C", "name": "split", "options": {"loop": "none", "factor": 2}}, ' \
        '"trust": null}]}'  # fmt: skip
    kept_plans.keep_plan(entry.key, StoredPlan(text, None))
    for x in store.entries():
        if x.kind in ("code", "terms"):
            store.remove(x.kind, x.key)
    with pytest.raises((ScheduleError, ps.LanguageError)):
        _ = Recorded(ps.Schedule(product()).program, ps.Schedule(product()).target, text).schedule
    assert product()(A, B).tobytes() == wanted.tobytes()
    assert searches.count == 2


@pytest.mark.parametrize(
    "header",
    [{}, {"text": 3, "pays_after": None, "digest": None}, {"text": None, "digest": None},
     {"text": None, "pays_after": 0, "digest": None},
     {"text": None, "pays_after": True, "digest": None},
     {"text": None, "pays_after": "1", "digest": None},
     {"text": None, "pays_after": None}, {"text": None, "pays_after": None, "digest": 1}],
)  # fmt: skip
def test_a_plan_that_means_nothing_is_searched_for(
    searches: Searches, header: dict[str, Any]
) -> None:
    product()(A, B)
    (entry,) = [x for x in store.entries() if x.kind == "plan"]
    store.write("plan", entry.key, header)
    product()(A, B)
    assert searches.count == 2


def test_a_program_without_a_digest_has_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    target = ps.Schedule(product()).target
    assert kept_plans.plan_key(None, target, 2, {}) is None
    assert kept_plans.read_plan(None) is None
    kept_plans.keep_plan(None, StoredPlan(None, None))
    monkeypatch.setattr(keys, "is_current", lambda: False)
    key = kept_plans.plan_key("d", target, 2, {"n": 3})
    assert key is not None
    kept_plans.keep_plan(key, StoredPlan(None, None))
    assert kept_plans.read_plan(key) is None


def test_keys_tell_sizes_by_name() -> None:
    target = ps.Schedule(product()).target
    found = [{"n": 1, "m": 2}, {"m": 1, "n": 2}, {"n": 1}, {}]
    assert len({kept_plans.plan_key("d", target, 2, x) for x in found}) == len(found)
    assert kept_plans.plan_key("d", target, 2, {"n": 1, "m": 2}) == kept_plans.plan_key(
        "d", target, 2, {"m": 2, "n": 1}
    )
