"""Any program, any sizes, any layout, any values: native code equals the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gallery.case import Arguments, Case
from gallery.execute import assert_same, interpreted, native
from gallery.registry import CASES
from gallery.variants import VIEWS, with_unusual_floats

LARGEST = 12

EXAMPLES = 5
"""Calls of each program."""


@st.composite
def calls(draw: st.DrawFn, case: Case) -> Arguments:
    """Arguments at sizes drawn one by one, each array in a layout of its own."""
    sizes = {
        name: draw(st.integers(0, min(LARGEST, case.limits.get(name, LARGEST))), label=name)
        for name in case.size_names
    }
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    arguments = case.arguments(sizes, rng)
    if draw(st.booleans(), label="unusual floats"):
        arguments = with_unusual_floats(arguments, rng)
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            arguments[name] = VIEWS[draw(st.sampled_from(sorted(VIEWS)), label=name)](value)
    return arguments


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@settings(deadline=None, max_examples=EXAMPLES)
@given(st.data())
def test_native_equals_interpreter(case: Case, data: st.DataObject) -> None:
    arguments = data.draw(calls(case), label="arguments")
    assert_same(native(case, arguments), interpreted(case, arguments))
