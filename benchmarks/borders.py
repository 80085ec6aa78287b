"""What a tile at a border costs, in full tiles, for products of matrices that are tiled by hand.

    python -P benchmarks/borders.py                      # for this machine
    POLYSCHED_TARGET=v3 python -P benchmarks/borders.py  # for less than it has

There is a line for each type, way of tiling and tail; vectors have as many lanes as a register,
unless a line says otherwise. First come columns beyond the last full tile:
1, a vector less one, a vector, a tile less one; then rows: 1, and a tile less one. 1.0 is what a
full row or column of tiles takes. Products of narrow types add up in 32 bits. One thread; the best
of many calls. `shift` and `pad` are not there: they are refused where a tile adds to an output,
twice or beyond its end.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import polysched as ps

TILES = 8  # full ones, along both axes
DEPTH = 480
TRIES = 25
TYPES = (
    (ps.float32, ps.float32),
    (ps.float64, ps.float64),
    (ps.float16, ps.float32),
    (ps.bfloat16, ps.float32),
    (ps.int16, ps.int32),
    (ps.uint8, ps.int32),
)
"""Of the operands, and of what adds up."""
WAYS = (
    "accumulate_at",
    "accumulate_at, stage",
    "accumulate_at, half the lanes",
    "accumulate_at, twice the lanes",
    "accumulate_at, not unrolled",
    "compute_at",
    "no accumulator",
)
TAILS = ("auto", "guard", "mask")


def scheduled(dtype: Any, total: Any, way: str, tail: str) -> ps.Schedule:
    """A product of matrices in tiles of registers, which adds up in a type of its own."""
    n, m, l, width = ps.sizes("n m l width")
    i, j, k = *ps.vars("i j"), ps.RVar("k", 0, l)
    # Rows of B are as long for all borders: where vectors cross lines of the cache, and which of
    # its sets they take, is the same.
    A, B = ps.Input("A", dtype, (n, l)), ps.Input("B", dtype, (l, width))
    C = ps.Func("C", (n, m), dtype=total)
    ps.require(width >= m, "B has all columns of C", C)
    C[i, j] = 0
    C[i, j] += ps.cast(total, A[i, k]) * ps.cast(total, B[k, j])
    s = ps.Schedule(C)
    u = s[C].update(0)
    rows, columns = s.target.tile(total)
    lanes = s.target.lanes(total)
    if "half" in way:
        lanes //= 2
    elif "twice" in way:
        lanes *= 2
    u.split("i", rows, names=("io", "ii"), tail=tail)
    u.split("j", columns, names=("jo", "ji"), tail=tail)
    u.reorder("jo", "io", "k", "ii", "ji")
    if way == "compute_at":
        s["C"].compute_at(u, "io").vectorize("j", ps.native).unroll("j").unroll("i")
    if way != "no accumulator":
        u.accumulate_at("io")
    if way.endswith("stage"):
        panel = s[u.stage("B", at="jo", layout=("k", "ji"))]
        panel.vectorize("ji", ps.native).unroll("ji")
    u.vectorize("ji", lanes)
    if not way.endswith("not unrolled"):
        u.unroll("ii")
        if lanes < columns:
            u.unroll("ji")
    return s


def costs(s: ps.Schedule, dtype: Any, total: Any) -> Iterator[float]:
    """Of each border, in full tiles."""
    kernel = s.compile()
    rows, columns = s.target.tile(total)
    lanes = s.target.lanes(total)
    n, m = TILES * rows, TILES * columns
    sizes = [(n, m + x) for x in (0, 1, lanes - 1, lanes, columns - 1)]
    sizes += [(n + x, m) for x in (1, rows - 1)]
    # All have their operands at the same places of memory, or these would make the difference.
    rng = np.random.default_rng(0)
    a = rng.integers(0, 9, (n + rows, DEPTH)).astype(dtype.numpy)
    b = rng.integers(0, 9, (DEPTH, m + columns)).astype(dtype.numpy)
    out = np.empty((n + rows) * (m + columns), total.numpy)
    calls = []
    for height, width in sizes:
        c = out[: height * width].reshape(height, width)
        calls.append(partial(kernel, a[:height], b, out=c))
    times = best(calls)
    for seconds in times[1:]:
        yield (seconds - times[0]) / (times[0] / TILES)


def best(calls: list[Callable[[], object]]) -> list[float]:
    """Seconds of each, in turns, so that a busy moment of the machine hits all alike."""
    found = [float("inf")] * len(calls)
    for _ in range(TRIES):
        for k, call in enumerate(calls):
            start = time.perf_counter()
            call()
            found[k] = min(found[k], time.perf_counter() - start)
    return found


def main() -> None:
    """Prints the table."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    ps.set_num_threads(1)
    print(f"{ps.machine().target.name}: a border in full tiles")
    print(f"{'':50}" + "".join(f"{x:>8}" for x in ("1", "v - 1", "v", "c - 1", "1 row", "r - 1")))
    for (dtype, total), way, tail in product(TYPES, WAYS, TAILS):
        found = costs(scheduled(dtype, total, way, tail), dtype, total)
        print(f"{f'{dtype.name}, {way}, {tail}':50}" + "".join(f"{x:8.1f}" for x in found))


if __name__ == "__main__":
    main()
