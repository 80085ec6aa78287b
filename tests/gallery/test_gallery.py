"""Every program of the gallery: native code, the interpreter and NumPy agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallery.case import Case
from gallery.execute import assert_close, assert_same, interpreted, native
from gallery.registry import CASES

SIZES = (0, 1, 2, 7)
QUICK_SIZE = 2  # less than a vector, and more than one iteration, and soon interpreted
MORE_SIZES = (33,)
STEPS = (0, 1, 2, 13)


def _call(case: Case, size: int) -> Any:
    marks = [pytest.mark.quick] if size == QUICK_SIZE else []
    slow = [pytest.mark.slow] if size in MORE_SIZES and case.has("slow") else []
    return pytest.param(case, size, id=f"{case.name}-{size}", marks=[*marks, *slow])


@pytest.mark.parametrize(
    ("case", "size"),
    [_call(case, size) for case in CASES for size in (*SIZES, *MORE_SIZES)],
)
def test_native_equals_interpreter(case: Case, size: int) -> None:
    arguments = case.arguments(size, np.random.default_rng(size))
    assert_same(native(case, arguments), interpreted(case, arguments))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_native_is_close_to_reference(case: Case) -> None:
    arguments = case.arguments(case.large_sizes(), np.random.default_rng(0))
    assert_close(native(case, arguments), case.reference(**arguments), case.tolerance)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("size", [1, 7])
def test_interpreter_is_close_to_reference(case: Case, size: int) -> None:
    arguments = case.arguments(size, np.random.default_rng(size))
    assert_close(interpreted(case, arguments), case.reference(**arguments), case.tolerance)


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("case", [c for c in CASES if c.steps], ids=lambda case: case.name)
def test_steps_in_time(case: Case, steps: int) -> None:
    """Not a step, one, two, and more than any window of planes."""
    sizes = case.small_sizes(5) | {case.steps: steps}
    arguments = case.arguments(sizes, np.random.default_rng(steps))
    found = native(case, arguments)
    assert_same(found, interpreted(case, arguments))
    assert_close(found, case.reference(**arguments), case.tolerance)
