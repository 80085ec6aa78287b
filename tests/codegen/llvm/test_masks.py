"""Masks of loads and stores, where LLVM makes wrong code of what it knows of them."""

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.lower import assembly

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def turned(dtype: ps.DType, lanes: int, target: str) -> ps.Schedule:
    """A program whose first lanes read from the other end of a row, in two rows after each other:
    what is known of a mask goes from one block of code to the next."""
    x = ps.Input("x", dtype, (n, m))
    f = ps.Func("f", (n, m))
    f[i, j] = x[i, (j - 3) % m]
    s = ps.Schedule(f, target=target)
    s[f].tile(i, j, 2, lanes)
    s[f].vectorize("ji").unroll("ii")
    return s


@pytest.mark.parametrize("lanes", [2, 3, 4, 5, 8, 9, 12, 15, 16, 20, 24, 28])
@pytest.mark.parametrize("dtype", [ps.float32, ps.float64], ids=str)
def test_lanes_that_are_known_to_be_off_load_nothing(dtype: ps.DType, lanes: int) -> None:
    kernel = turned(dtype, lanes, "x86-64-v3").compile()
    for columns in (4 * lanes + 3, 2 * lanes, lanes + 1):
        x = np.arange(3 * columns, dtype=dtype.numpy).reshape(3, columns)
        np.testing.assert_array_equal(kernel(x), np.roll(x, 3, axis=1))


@pytest.mark.parametrize(
    ("lanes", "target", "is_hidden"),
    [(12, "x86-64-v3", True), (8, "x86-64-v3", False), (12, "x86-64-v4", False)],
)
def test_masks_are_hidden_where_that_is_needed(lanes: int, target: str, is_hidden: bool) -> None:
    s = turned(ps.float32, lanes, target)
    asm = assembly(s.loop_program, s.target)
    assert ("no_lanes" in asm) == is_hidden
