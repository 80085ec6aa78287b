"""Measures what this machine can do, by kernels of polysched's own."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from ..codegen.runtime.kernel import Kernel
from ..codegen.runtime.threads import get_num_threads, threads
from ..lang.expr.symbols import RVar, sizes, vars
from ..lang.nodes.dtypes import DType, float32, float64
from ..lang.tensors.tensors import Func, Input
from ..poly.schedule.schedule import Schedule
from ..targets.facts import Machine, Measured, save
from ..targets.host import default_target
from ..targets.target import Cache, Target
from ..targets.words import native

CHAINS = 12
"""Multiply-adds that do not wait for each other: more than latency times throughput of any core,
fewer than the vector registers of any."""

STREAMS = 8
"""Vectors that are read and added at a time."""

SECONDS = 0.003
"""How long one call is to take: long beside a call, short beside a turn of the scheduler."""

EACH, BUSY = 8, 1 << 15
"""Iterations for each thread, and additions of each of them, where it is measured how soon threads
work: all together they take longer than that."""

TRIES = 15
BEYOND = 4.0
"""Memory is read from arrays that are so many times as large as the last cache."""


def calibrate(say: Callable[[str], None] = lambda line: None) -> Machine:
    """Measures the default target on this machine and keeps what was found: some seconds.

    Args:
        say: is told each number.

    Raises:
        PolyschedError: what was found cannot be kept.
    """
    target = default_target()
    peak = {}
    for dtype in (float32, float64):
        peak[dtype.name] = _peak(target, dtype)
        say(f"peak         {peak[dtype.name] / 1e9:.0f} GFLOP/s a core in {dtype.name}")
    bandwidth = []
    for name, count in _working_sets(target):
        bandwidth.append(_bandwidth(target, count))
        say(f"bandwidth    {bandwidth[-1] / 1e9:.0f} GB/s a core of {name}")
    wake = _wake(target)
    say(f"wake-up      {wake * 1e6:.1f} us until sleeping threads work")
    found = Measured(datetime.date.today().isoformat(), peak, tuple(bandwidth), wake)
    say(f"kept in      {save(target, found)}")
    return Machine(target, found)


def _working_sets(target: Target) -> list[tuple[str, int]]:
    """What is read, in bytes: one half of each cache, or of the core's share of it; and memory."""
    found = [(f"cache {c.level}", _share(c) // 2) for c in target.caches]
    # Larger than the one before, or it would be read from there.
    for k in range(1, len(found)):
        found[k] = found[k][0], max(found[k][1], 2 * target.caches[k - 1].bytes)
    return [*found, ("memory", int(BEYOND * target.caches[-1].bytes))]


def _share(cache: Cache) -> int:
    return cache.bytes // cache.shared_by


def _peak(target: Target, dtype: DType) -> float:
    """Operations a second."""
    kernel, lanes = peak_kernel(target, dtype), target.lanes(dtype)
    ones = np.ones(lanes, dtype.numpy)
    return 2 * CHAINS * lanes * _rate(lambda count: kernel(ones, steps=count))


def peak_kernel(target: Target, dtype: DType) -> Kernel:
    """Sums of products in registers."""
    steps, (o, c, j) = sizes("steps"), vars("o c j")
    lanes = target.lanes(dtype)
    r = RVar("r", 0, steps)
    x = Input("x", dtype, (lanes,))
    f = Func("f", (1, CHAINS, lanes), dtype)
    f[o, c, j] = 0
    f[o, c, j] += x[j + 0 * r] * x[j]
    s = Schedule(f, target=target)
    u = s["f.update(0)"]
    u.reorder("o", "r", "c", "j")
    u.accumulate_at("o").unroll("c").vectorize("j", native)
    return Kernel(s)


def _bandwidth(target: Target, nbytes: int) -> float:
    """Bytes a second that one core reads of so many bytes, again and again."""
    (rounds, blocks), (o, c, j) = sizes("rounds blocks"), vars("o c j")
    lanes = target.lanes(float32)
    r, q = RVar("r", 0, rounds), RVar("q", 0, blocks)
    a = Input("a", float32, (blocks, STREAMS, lanes))
    f = Func("f", (1, STREAMS, lanes), float32)
    f[o, c, j] = 0
    f[o, c, j] += a[q + 0 * r, c, j]
    s = Schedule(f, target=target)
    u = s["f.update(0)"]
    u.reorder("o", "r", "q", "c", "j")
    u.accumulate_at("o").unroll("c").vectorize("j", native)
    kernel = Kernel(s)
    block = 4 * STREAMS * lanes
    data = np.zeros((max(nbytes // block, 1), STREAMS, lanes), np.float32)
    data += 1  # else all of it may be one page of zeros
    return float(data.nbytes) * _rate(lambda count: kernel(data, rounds=count))


def _rate(work: Callable[[int], object]) -> float:
    """How much work is done a second, the best of many: each time for long enough."""
    work(1)  # what is made when it is first needed does not count
    count, taken = 1, _seconds(work, 1)
    while taken < SECONDS / 2:
        count = max(2 * count, int(count * SECONDS / max(taken, 1e-7) / 2))
        taken = _seconds(work, count)
    return count / min(_seconds(work, count) for _ in range(TRIES))


def _seconds(work: Callable[[int], object], count: int) -> float:
    start = time.perf_counter()
    work(count)
    return time.perf_counter() - start


def _wake(target: Target) -> float:
    """Seconds that a parallel loop takes longer on threads that sleep than its share of what one
    thread takes. Its work is large enough for threads to be asked: a little one never is."""
    count = max(2, get_num_threads())
    kernel = wake_kernel(target)
    out = np.zeros(EACH * count, np.float32)

    def once(number: int) -> float:
        with threads(number):
            time.sleep(0.002)  # what a pool spins before it sleeps is far less
            return _seconds(lambda steps: kernel(steps=steps, out=out), BUSY)

    # One after the other, as clocks change; and where the system lets a thread begin does, too.
    return max(median(once(count) - once(1) / count for _ in range(4 * TRIES)), 1e-7)


def wake_kernel(target: Target) -> Kernel:
    """A parallel loop, of which each iteration is enough work for a thread, in registers: memory
    that another core has written would count as well."""
    (n, steps), i = sizes("n steps"), vars("i")
    r = RVar("r", 0, steps)
    f = Func("f", (n,), float32)
    f[i] = 0
    f[i] += r
    s = Schedule(f, target=target)
    s["f.update(0)"].accumulate_at("i").parallel("i")
    return Kernel(s)
