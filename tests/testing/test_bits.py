"""What counts as the same bits: all NaNs are equal, in every float type, and zeros are not."""

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps
from polysched.lang.nodes.bits import differing, numbers
from polysched.testing import check
from polysched.testing.native import difference

FLOATS = (ps.float16, ps.bfloat16, ps.float32, ps.float64)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_nans_are_equal_and_zeros_are_not(dtype: ps.DType) -> None:
    quiet = dtype.bits_of(dtype.scalar(np.nan))
    nans = [quiet, quiet ^ 1, quiet | 1 << (dtype.bits - 1)]
    one, inf, zero = (dtype.bits_of(dtype.scalar(x)) for x in (1, np.inf, 0))
    words = dtype.unsigned.numpy
    found = np.array([*nans, one, inf, zero, zero], words).view(dtype.numpy)
    wanted = np.array([*nans[::-1], one, quiet, zero, nans[2] & ~quiet], words).view(dtype.numpy)
    assert differing(found, wanted).tolist() == [False] * 4 + [True, False, True]
    assert differing(found[:1].reshape(()), wanted[4].reshape(())).tolist() is False


def test_nans_of_bfloat16_are_no_difference() -> None:
    """0 % 0 is a NaN with a sign in the interpreter, and one without in native code."""
    n, i = ps.sizes("n"), ps.vars("i")
    f, x = ps.Func("f", (n,)), ps.Input("x", ps.bfloat16, (n,))
    f[i] = x[i] % 0
    check(f, x=ps.bfloat16.array(np.float32([0, -1, 2])))


def test_a_difference_of_bfloat16_is_said_in_numbers() -> None:
    found, wanted = ps.bfloat16.array(np.float32([1, -0.0])), ps.bfloat16.array(np.float32([1, 0]))
    assert numbers(found).dtype == np.float32
    told = difference([found], [wanted], ["f"])
    assert told is not None
    assert (told.index, str(told.got), str(told.wanted)) == ((1,), "-0.0", "0.0")
