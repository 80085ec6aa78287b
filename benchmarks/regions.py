"""What it costs to hand a parallel loop to a second thread that waits for one."""

from __future__ import annotations

import os
import timeit
from collections.abc import Iterable

import numpy as np

import polysched as ps

LIMIT = 3000.0
"""Nanoseconds that a loop may take beside its iterations."""

LENGTH, LOOPS, REPEATS = 32_000, 50, 40
"""Elements of a row (some microseconds of work, just enough for two threads to share), parallel
loops of a call, and calls."""


def region_line() -> Iterable[bool]:
    """Prints the least of what a parallel loop takes on two threads beyond half of what it takes on
    one; gives whether that is quick enough. Nothing where there is one processor."""
    if len(os.sched_getaffinity(0)) < 2:
        return
    n, t = ps.sizes("n t")
    i, j, k = ps.vars("i j k")
    x, f = ps.Input("x", ps.float32, (2, n)), ps.Func("f", (t, 2, n), dtype=ps.float32)
    f[k, i, j] = x[i, j] * 2 + 1
    s = ps.Schedule(f)
    s[f].vectorize(j, ps.native)
    s[f].parallel(i)
    kernel = s.compile()
    rows = np.ones((2, LENGTH), "f4")
    out = np.empty((LOOPS, 2, LENGTH), "f4")
    best = {1: float("inf"), 2: float("inf")}
    for _ in range(REPEATS):  # in turns, so that both have the machine alike
        for threads in best:
            with ps.threads(threads):
                kernel(rows, t=LOOPS, out=out)
                once = timeit.timeit(lambda: kernel(rows, t=LOOPS, out=out), number=1)
            best[threads] = min(best[threads], once)
    beside = max(0.0, (best[2] - best[1] / 2) / LOOPS * 1e9)
    slow = beside > LIMIT
    print(f"A parallel loop takes {beside:.0f} ns beside its iterations, on two threads")
    print("  TOO SLOW\n" if slow else "")
    yield not slow
