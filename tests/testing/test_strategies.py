"""The strategies give what `check` takes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import polysched as ps
from polysched.testing import Mismatch, arguments, check, programs, schedules
from polysched.testing.programs import Sample

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
a = ps.Input("a", ps.float32, (n, m))
blur = ps.Func("blur", (n, m))
blur[i, j] = a[i, j] + a[ps.clip(i - 1, 0, n - 1), j]
total = ps.Func("total", (n,))
total[i] = 0.0
total[i] += blur[i, ps.RVar("k", 0, m)]


@pytest.mark.slow
@settings(max_examples=8, deadline=None, database=None, derandomize=True)
@given(schedules(total), st.integers(0, 6))
def test_random_schedules_are_right(schedule: ps.Schedule, size: int) -> None:
    try:
        check(schedule, sizes={"n": size, "m": 5})
    except ps.CallValueError:
        assert schedule.assumptions, "a schedule refuses only sizes that it says it does"


@pytest.mark.slow
@settings(max_examples=5, deadline=None, database=None, derandomize=True)
@given(programs())
def test_random_programs_are_right(program: Sample) -> None:
    check(program.build(), sizes={"n": 3, "m": 4})


@settings(max_examples=15, deadline=None, database=None, derandomize=True)
@given(arguments(total))
def test_random_arguments_fit(call: dict[str, Any]) -> None:
    assert ps.interpret(total, **call).shape == call["a"].shape[:1]


def test_a_mismatch_is_an_assertion() -> None:
    assert issubclass(Mismatch, AssertionError)
