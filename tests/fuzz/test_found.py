"""Schedules that are found: what is asked of them, and the calls that find one by themselves."""

from __future__ import annotations

from typing import Any

import pytest

import polysched as ps

from . import trial
from .compare import Report
from .experiments import EXPERIMENTS
from .limits import TooLong, given_up
from .outcomes import outcome
from .programs import Case
from .scheduled import Scheduled

LINES = ("n = ps.sizes('n')", "i = ps.vars('i')", "f = ps.Func('f', (n,))", "f[i] = 2 * i + n")


def _case(asked: str, *more: str) -> Scheduled:
    program = Case("\n".join((*LINES, *more)), ("f",), (), (), {}, ({"n": 12},) * 2, 1)
    return Scheduled(program, auto=True, asked=asked)


def _tried(case: Scheduled) -> Report:
    return trial.run(case, None, lambda case, phase: None)[1]


def test_what_is_asked_is_an_argument() -> None:
    assert _case("threads=2").head == "s = ps.Schedule.auto((f, ), threads=2)"
    assert _case("").head == "s = ps.Schedule.auto((f, ))"


def test_cases_are_written_and_read_with_what_is_asked() -> None:
    written = _case("threads=2").to_dict()
    assert Scheduled.from_dict(written) == _case("threads=2")
    del written["asked"]  # one that was kept before
    assert Scheduled.from_dict(written) == _case("")


def test_some_schedules_are_asked_for_and_changed() -> None:
    drawn = [EXPERIMENTS["auto"].draw(seed) for seed in range(12)]
    asked = {case.asked for case, _ in drawn}
    assert {"", "threads=8"} < asked
    assert {choices is None for _, choices in drawn} == {True, False}


def test_sizes_that_a_program_refuses_are_no_finding() -> None:
    report = _tried(_case("sizes={'n': 7}", "ps.require(n >= 9, 'small')"))
    assert report.counts["sizes refused"] == 1
    assert not report.findings


def test_a_refusal_of_other_sizes_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*args: Any, **kwargs: Any) -> Any:
        raise ps.ScheduleError("planted")

    monkeypatch.setattr(ps.Schedule, "auto", refuses)
    assert [f.kind for f in _tried(_case("threads=2")).findings] == ["refused (program)"]


def test_bare_calls_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("planted")

    monkeypatch.setattr(ps.Func, "__call__", fails)
    kinds = set()
    for seed in range(6):
        case = _case("")
        program = Case(**{**vars(case.program), "seed": seed})
        report = _tried(Scheduled(program, auto=True))
        kinds |= {f.kind for f in report.findings}
    assert kinds == {"wrong exception (call bare)"}


def test_what_is_given_up_is_no_fault() -> None:
    def endless() -> None:
        while True:
            pass

    with pytest.raises(TooLong), given_up(0.01):
        outcome(endless)
