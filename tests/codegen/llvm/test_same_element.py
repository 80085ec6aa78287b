"""An element that is the same in all lanes, and is loaded in some of them only."""

from __future__ import annotations

import numpy as np
import pytest
from gallery.execute import as_tuple, assert_same

import polysched as ps

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
w, v = ps.Input("w", ps.float32, (m,)), ps.Input("v", ps.float32, (n,))
at = ps.Input("at", ps.int32, (n,), range=(0, 2**30))
LANES = 8


def behind() -> ps.Func:
    """An element of a row, from where data say."""
    f = ps.Func("f", (n, m))
    f[i, j] = ps.select(j >= at[i], v[i], w[j])
    return f


def shifted() -> ps.Func:
    """A row that begins where data say."""
    f = ps.Func("f", (n, m))
    k = j - at[i]
    f[i, j] = ps.select(k >= 0, w[ps.clip(k, 0, m - 1)] + 1, 0.0)
    return f


def compiled(f: ps.Func, target: str | None) -> ps.Kernel:
    s = ps.Schedule(f, target=target)
    s[f].vectorize(j, LANES)
    return s.compile()


@pytest.mark.parametrize("target", ["x86-64-v3", None])
def test_it_is_loaded_once_where_a_lane_wants_it(target: str | None) -> None:
    kernel = compiled(behind(), target)
    assert "masked.gather" not in kernel.llvm
    given = {"w": np.arange(21, dtype=np.float32), "at": np.int32([0, 3, 8, 15, 20, 21, 2**29])}
    given["v"] = np.arange(100, 107, dtype=np.float32)
    expected = ps.Schedule.default(behind()).compile()(**given)
    assert_same(as_tuple(kernel(**given)), as_tuple(expected))


def test_full_vectors_that_begin_where_data_say_are_loaded_as_such() -> None:
    kernel = compiled(shifted(), "x86-64-v3")
    loads = [x for x in kernel.llvm.splitlines() if f"= load <{LANES} x float>" in x]
    assert loads
    compared = f"icmp sge <{LANES} x i64>"
    full = kernel.llvm.split(loads[0])[1].split("store")[0]
    assert compared not in full
    given = {"w": np.arange(37, dtype=np.float32), "at": np.int32([0, 3, 8, 36, 37, 2**29])}
    expected = ps.Schedule.default(shifted()).compile()(**given)
    assert_same(as_tuple(kernel(**given)), as_tuple(expected))
