"""Outputs whose elements interleave: told apart from those that overlap themselves."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import polysched as ps
from polysched.codegen.runtime.arguments import _overlaps_itself

n, m = ps.sizes("n m")
i, j = ps.vars("i j")

BASE = np.zeros(2000, np.float32)


def laid_out(shape: tuple[int, ...], steps: tuple[int, ...]) -> np.ndarray:
    strides = tuple(4 * k for k in steps)
    return np.lib.stride_tricks.as_strided(BASE[1000:], shape, strides)


AXES = st.lists(st.tuples(st.integers(0, 5), st.integers(-30, 30)), min_size=1, max_size=4)


@pytest.mark.slow
@settings(max_examples=300, deadline=None, derandomize=True)
@given(AXES)
def test_as_counting_addresses_says(axes: list[tuple[int, int]]) -> None:
    shape, steps = zip(*axes, strict=True)
    indices = itertools.product(*map(range, shape))
    addresses = {sum(k * step for k, step in zip(at, steps, strict=True)) for at in indices}
    assert _overlaps_itself(laid_out(shape, steps)) == (len(addresses) < math.prod(shape))


def plane() -> ps.Func:
    x = ps.Input("x", ps.float32, (n, m))
    f = ps.Func("f", (n, m))
    f[i, j] = x[i, j] + 1
    return f


@pytest.mark.parametrize("steps", [(3, 2), (5, 3), (-3, 2), (2, 5)])
def test_writes_into_interleaved_elements(steps: tuple[int, int]) -> None:
    """They were said to lie at one address."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    out = laid_out((2, 3), steps)
    assert plane()(x, out=out) is out
    np.testing.assert_array_equal(out, x + 1)


@pytest.mark.parametrize("steps", [(1, 1), (0, 1), (4, 2), (2, -1)])
def test_refuses_elements_at_one_address(steps: tuple[int, int]) -> None:
    with pytest.raises(ps.CallError, match="several elements of out= of f lie at one address"):
        plane()(np.zeros((2, 3), np.float32), out=laid_out((2, 3), steps))
