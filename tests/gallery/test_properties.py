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


@st.composite
def calls(draw: st.DrawFn) -> tuple[Case, Arguments]:
    """A case with arguments at sizes drawn one by one, each array in a layout of its own."""
    case = draw(st.sampled_from(CASES))
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
    return case, arguments


@pytest.mark.slow
@settings(deadline=None, max_examples=500)
@given(calls())
def test_native_equals_interpreter(call: tuple[Case, Arguments]) -> None:
    case, arguments = call
    assert_same(native(case, arguments), interpreted(case, arguments))
