"""Indices and bounds read from data: their type says how large they can be, never how much runs
or is stored."""

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps
from polysched.checking.examine import check
from polysched.codegen.ir.text import module_text

n, m = ps.sizes("n m")
i, j = ps.vars("i j")

INDICES = [ps.int8, ps.int16, ps.int32, ps.int64, ps.uint8, ps.uint16, ps.uint32, ps.uint64]


def _counted(dtype: ps.DType) -> ps.Func:
    """A scatter into a Func whose region is that of the index, and a wedge."""
    at = ps.Input("at", dtype, (m,), range=(0, n))
    f = ps.Func("f")
    f[i, j] = 1
    f[i, at[0]] += 1
    g = ps.Func("g", (m, m))
    g[i, j] = f[i, i - i // 2]
    return g


@pytest.mark.parametrize("dtype", INDICES, ids=str)
def test_no_loop_ends_by_a_type(dtype: ps.DType) -> None:
    g = _counted(dtype)
    s = ps.Schedule(g)
    end = "n" if dtype.bits >= 32 else f"min(n, {dtype.max + 1})"
    assert f"for j in [min(-(-i // 2), 0), max({end}, (i + 1) // 2 + 1)):" in str(s)
    given = {"at": np.zeros(2, dtype.numpy), "n": 2}
    np.testing.assert_array_equal(s.compile()(**given), ps.interpret(g, **given))
    check(s, **given)


def _rows(dtype: ps.DType, least: int) -> ps.Func:
    lo, hi = (ps.Input(x, dtype, (n,), range=(least, m + 1)) for x in ("lo", "hi"))
    y, k = ps.Input("y", ps.int32, (m,)), ps.RVar("k", ps.maximum(lo[i], 0), hi[i])
    f = ps.Func("f", (n,), ps.int32)
    f[i] = 0
    f[i] += y[k]
    return f


@pytest.mark.parametrize("least", [0, -5])
@pytest.mark.parametrize("dtype", [ps.int16, ps.int32, ps.int64], ids=str)
def test_no_partial_sum_is_as_long_as_a_type(dtype: ps.DType, least: int) -> None:
    f = _rows(dtype, least)
    s = ps.Schedule(f)
    u = s[f].update(0)
    u.split("k", 1)
    u.rfactor("ko")
    kernel = s.compile()
    assert "scratch f.by.ko: int32[m, n]" in module_text(kernel._lowered.module)
    given = {
        "lo": np.arange(7).astype(dtype.numpy) % 4 + least,
        "hi": np.full(7, 5, dtype.numpy),
        "y": np.arange(5, dtype=np.int32),
    }
    np.testing.assert_array_equal(kernel(**given), ps.interpret(f, **given))


def test_lanes_of_a_tile_are_counted_by_a_constant() -> None:
    """They are few, however few rows there are."""
    f = _rows(ps.int16, 0)
    s = ps.Schedule(f)
    u = s[f].update(0)
    u.split("k", 8)
    u.rfactor("ki")
    assert "scratch f.by.ki: int32[8, n]" in module_text(s.compile()._lowered.module)


@pytest.mark.parametrize("dtype", [ps.uint8, ps.uint32, ps.uint64], ids=str)
def test_what_has_no_sign_is_not_below_zero(dtype: ps.DType) -> None:
    x, table = ps.Input("x", dtype, (m,)), ps.Input("table", ps.float32, (n,))
    g = ps.Func("g", (m,))
    at = ps.minimum(ps.cast(ps.uint32, x[i]), 1000) if dtype == ps.uint64 else x[i]
    g[i] = table[ps.minimum(at, n - 1)]
    given = {"x": np.array([200, 0, 3], dtype.numpy), "table": np.float32([1, 2, 3, 4])}
    np.testing.assert_array_equal(ps.Schedule(g).compile()(**given), np.float32([4, 1, 4]))


def test_refuses_to_clamp_a_signed_index_above_only() -> None:
    x, table = ps.Input("x", ps.int32, (m,)), ps.Input("table", ps.float32, (n,))
    g = ps.Func("g", (m,))
    g[i] = table[ps.minimum(x[i], n - 1)]
    with pytest.raises(ps.LanguageError, match="nothing but its type bounds"):
        ps.Schedule(g)


@pytest.mark.parametrize("kind", ["rows", "ends only", "clamped"])
@pytest.mark.parametrize("dtype", [ps.int32, ps.uint32, ps.int64], ids=str)
def test_refuses_to_fuse_what_only_sizes_bound(dtype: ps.DType, kind: str) -> None:
    start = ps.Input("start", dtype, (n + 1,), range=(0, m + 1))
    y = ps.Input("y", ps.float32, (m,))
    lo, hi = {
        "rows": (start[i], start[i + 1]),
        "ends only": (0, start[i]),
        "clamped": (ps.maximum(start[i], 1), start[i + 1]),
    }[kind]
    k = ps.RVar("k", lo, hi)
    f = ps.Func("f", (n,))
    f[i] = 0.0
    f[i] += y[k]
    s = ps.Schedule(f)
    with pytest.raises(ps.ScheduleError, match="the loop k has no constant extent"):
        s[f].update(0).fuse(i, k)


def _histogram(dtype: ps.DType) -> ps.Func:
    """Its index is checked at the call: no range is declared."""
    bins, k = ps.Input("bins", dtype, (n,)), ps.RVar("k", 0, n)
    count = ps.Func("count", (m,), ps.int32)
    count[i] = 0
    count[bins[k]] += 1
    f = ps.Func("f", (n,))
    f[j] = count[0] * j
    return f


@pytest.mark.parametrize("dtype", [ps.int8, ps.int32, ps.int64, ps.uint64], ids=str)
def test_a_histogram_at_a_loop_is_as_long_as_it_says(dtype: ps.DType) -> None:
    f = _histogram(dtype)
    s = ps.Schedule(f)
    s["count"].compute_at("f", "j")
    # No more than what a small type can reach, and no more than there is.
    assert f"store count[{'128' if dtype == ps.int8 else 'm'}]:" in str(s)
    kernel, bins = s.compile(), np.array([0, 2, 0, 1], dtype.numpy)
    np.testing.assert_array_equal(kernel(bins, m=3), ps.interpret(f, bins, m=3))
    check(s, bins, m=3)
    with pytest.raises(ps.CallError, match="bins"):
        kernel(bins, m=2)


@pytest.mark.parametrize("verb", ["written", "read"])
def test_refuses_updates_that_data_spread_without_bounds(verb: str) -> None:
    """An InternalError was raised: the last update made the region of the first one endless."""
    r = ps.RVar("r", 0, n)
    at = ps.Input("at", ps.uint64, (n,))
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i, j] = i + j
    f[i, j] *= 3
    if verb == "written":
        f[at[r], r] += 1
    else:
        f[r, n] += f[at[r], r]
    g[i] = f[i, i]
    with pytest.raises(ps.LanguageError, match=rf"f\[at\[r\], r\] is {verb} at .* no declared"):
        ps.Schedule(g)
