"""Schedules whose loops run on threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.runtime import pool as pools

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
Array = np.ndarray
COUNTS = (1, 2, 3, 8)


def made(threads: int) -> pools.Pool:
    pool = pools.pool(threads)
    assert pool is not None
    return pool


def scaled() -> tuple[ps.Func, ps.Schedule]:
    x = ps.Input("x", ps.float32, (n, m))
    f = ps.Func("f", (n, m))
    f[i, j] = ps.exp(x[i, j]) * 2 + i
    return f, ps.Schedule(f)


def outer() -> ps.Schedule:
    f, s = scaled()
    s[f].parallel(i)
    return s


def inner() -> ps.Schedule:
    f, s = scaled()
    s[f].parallel(j)
    return s


def nested() -> ps.Schedule:
    f, s = scaled()
    s[f].parallel(i)
    s[f].parallel(j)
    return s


def fused() -> ps.Schedule:
    f, s = scaled()
    s[f].split(i, 4, tail="guard")
    s[f].parallel(s[f].fuse("io", "ii"))
    return s


def strips() -> ps.Schedule:
    f, s = scaled()
    s[f].split(i, 3)
    s[f].parallel("io")
    return s


def mirrored() -> ps.Schedule:
    f, s = scaled()
    s[f].parallel(i, 4)
    s[f].parallel("ii")
    return s


def blur() -> tuple[ps.Func, ps.Func, ps.Schedule]:
    x = ps.Input("x", ps.float32, (n + 2, m + 2))
    across, down = ps.Func("across"), ps.Func("blur", (n, m))
    across[i, j] = (x[i, j] + x[i, j + 1] + x[i, j + 2]) / 3
    down[i, j] = (across[i, j] + across[i + 1, j] + across[i + 2, j]) / 3
    return across, down, ps.Schedule(down)


def rows_of_its_own() -> ps.Schedule:
    """Scratch inside of the loop whose size is not known when compiling: one copy a thread."""
    across, down, s = blur()
    s[across].compute_at(down, i)
    s[down].parallel(i)
    return s


def small_tiles() -> ps.Schedule:
    """Storage on the stack."""
    across, down, s = blur()
    s[down].tile(i, j, 2, 4)
    s[across].compute_at(down, "jo")
    s[down].parallel("io")
    return s


def large_tiles() -> ps.Schedule:
    """More than may lie on the stack: 66 times 2050 floats are half a megabyte."""
    across, down, s = blur()
    s[down].tile(i, j, 64, 2048)
    s[across].compute_at(down, "jo")
    s[down].parallel("io")
    return s


def tiles_at_two_levels() -> ps.Schedule:
    """Parallel loops inside of each other, with storage between them and inside of both."""
    across, down, s = blur()
    s[down].tile(i, j, 4, 5)
    s[across].compute_at(down, "jo")
    s[down].parallel("io")
    s[down].parallel("jo")
    return s


def blocks_of_a_histogram() -> ps.Schedule:
    x = ps.Input("x", ps.uint8, (n, m))
    r, c = ps.rdom("r c", (0, n), (0, m))
    h = ps.Func("h", (256,), ps.int32)
    h[i] = 0
    h[x[r, c]] += 1
    s = ps.Schedule(h)
    u = s[h].update(0)
    u.split(r, 3)
    partial = u.rfactor("ro")
    s[partial].update(0).parallel("ro")
    return s


def merged_in_parallel() -> ps.Schedule:
    s = blocks_of_a_histogram()
    s["h.update(0)"].parallel("i")
    return s


def atomic_histogram() -> ps.Schedule:
    x = ps.Input("x", ps.uint8, (n, m))
    r, c = ps.rdom("r c", (0, n), (0, m))
    h = ps.Func("h", (256,), ps.int32)
    h[i] = 0
    h[x[r, c]] += 1
    s = ps.Schedule(h)
    s[h].update(0).atomic().parallel(r)
    return s


def atomic_maximum() -> ps.Schedule:
    x = ps.Input("x", ps.float32, (n, m))
    r, c = ps.rdom("r c", (0, n), (0, m))
    h = ps.Func("h", (3,), ps.float32)
    h[i] = -1.0
    h[(r + c) % 3] = ps.maximum(h[(r + c) % 3], x[r, c])
    s = ps.Schedule(h)
    s[h].update(0).atomic().parallel(r)
    return s


def triangle() -> ps.Schedule:
    """An inner loop whose length depends on the parallel one, in steps of a recurrence."""
    x = ps.Input("x", ps.float64, (n, m))
    k = ps.RVar("k", 0, ps.minimum(i + 1, m))
    f = ps.Func("f", (n,), ps.float64)
    f[i] = 0.0
    f[i] += x[i, k]
    s = ps.Schedule(f)
    s[f].update(0).parallel(i)
    return s


SCHEDULES: dict[str, Callable[[], ps.Schedule]] = {
    f.__name__: f
    for f in (
        outer, inner, nested, fused, strips, mirrored, rows_of_its_own, small_tiles, large_tiles,
        tiles_at_two_levels, blocks_of_a_histogram, merged_in_parallel, atomic_histogram,
        atomic_maximum, triangle,
    )
}  # fmt: skip


def arguments(s: ps.Schedule, rows: int, columns: int) -> Array:
    (x,) = s.program.inputs
    shape = (rows + 2, columns + 2) if len(s.program.funcs) > 1 and "blur" in str(s) else None
    shape = shape or (rows, columns)
    rng = np.random.default_rng(rows)
    if x.dtypes[0] == ps.uint8:
        return rng.integers(0, 256, shape, dtype=np.uint8)
    return rng.standard_normal(shape).astype(x.dtypes[0].numpy)


def on(count: int, kernel: Any, *args: Any) -> Any:
    with ps.threads(count):
        return kernel(*args)


def joined(pool: pools.Pool, call: Callable[[], None], chunks: int = 10) -> None:
    """Calls until the workers have taken so many chunks; others may have the CPUs for a while."""
    before = sum(taken for taken, _ in pool.work_done())
    for _ in range(100_000):
        call()
        if sum(taken for taken, _ in pool.work_done()) - before >= chunks:
            return
        os.sched_yield()
    pytest.fail("no worker took a chunk")
