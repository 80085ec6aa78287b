"""The minimum and the maximum of floats, of zeros, infinities and NaNs among them."""

from __future__ import annotations

import platform
from itertools import product

import numpy as np
import pytest
from gallery.execute import assert_same

import polysched as ps

n, i = ps.size("n"), ps.vars("i")
INF, NAN = float("inf"), float("nan")
SPECIAL = (0.0, -0.0, 1.0, -1.0, 3.5, INF, -INF, NAN, -NAN, 1e-40, -1e-40)


@pytest.mark.parametrize("target", [None, "x86-64-v3"])
@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", [ps.float32, ps.float64], ids=str)
def test_they_are_those_of_the_interpreter(dtype: ps.DType, lanes: int, target: str | None) -> None:
    x, y = ps.Input("x", dtype, (n,)), ps.Input("y", dtype, (n,))
    low, high = ps.Func("low", (n,)), ps.Func("high", (n,))
    low[i], high[i] = ps.minimum(x[i], y[i]), ps.maximum(x[i], y[i])
    s = ps.Schedule((low, high))
    if lanes > 1:
        s[low].vectorize(i, lanes)
        s[high].vectorize(i, lanes)
    kernel = (s if target is None else s.for_target(target)).compile()
    given = [np.array(z, str(dtype)) for z in zip(*product(SPECIAL, SPECIAL), strict=True)]
    assert_same(kernel(*given), ps.interpret((low, high), *given))
    others = [np.concatenate((a, a[:3])) for a in given]  # a vector that is not full
    assert_same(kernel(*others), ps.interpret((low, high), *others))


@pytest.mark.parametrize("target", [None, "x86-64-v3"])
@pytest.mark.parametrize("lanes", [6, 16])
def test_those_of_all_lanes_are_those_of_the_interpreter(lanes: int, target: str | None) -> None:
    """Rows of which the extreme is a zero of either sign, an infinity, or NaN in any lane."""
    m = ps.size("m")
    x, k = ps.Input("x", ps.float32, (n, m)), ps.RVar("k", 0, m)
    low, high = ps.Func("low", (n,)), ps.Func("high", (n,))
    low[i], high[i] = INF, -INF
    low[i] = ps.minimum(low[i], x[i, k])
    high[i] = ps.maximum(high[i], x[i, k])
    s = ps.Schedule((low, high))
    for func in (low, high):
        s[func].update(0).vectorize(k, lanes)
    kernel = (s if target is None else s.for_target(target)).compile()
    ends = ((0.0, -0.0), (-0.0, 0.0), (1.0, NAN), (-1.0, -NAN), (2.0, INF), (-2.0, -INF))
    rows = np.array([[most] * lanes for most, _ in ends for _ in range(lanes)], np.float32)
    rows[range(len(rows)), np.arange(len(rows)) % lanes] = np.repeat([b for _, b in ends], lanes)
    assert_same(kernel(rows), ps.interpret((low, high), rows))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="code for x86")
@pytest.mark.parametrize(("target", "compares"), [("v4", False), ("v3", True)])
def test_a_running_maximum_waits_for_no_mask_of_nans(target: str, compares: bool) -> None:
    x, k = ps.Input("x", ps.float64, (n,)), ps.RVar("k", 0, n)
    high = ps.Func("high", (), dtype=ps.float64)
    high[()] = -INF
    high[()] = ps.maximum(high[()], x[k] * high[()])
    asm = ps.Schedule(high, target=target).compile().asm
    assert ("vcmpunord" in asm, "vpternlog" in asm) == (compares, not compares)
