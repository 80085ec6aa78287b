"""Products of matrices of several shapes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from case import Arguments, Case
from gallery.linear_algebra import matmul

import polysched as ps
from polysched.targets.words import Number


def packed(
    s: ps.Schedule,
    rows: Number = ps.tile_rows,
    columns: Number = ps.tile_columns,
    panels: Number = 1,
    tiles: Number | None = None,
    depth: int = 4,
) -> None:
    """Panels of B for each thread, padded to full tiles, that stay in its second cache, and a tile
    of C in registers. Columns on threads, which do not wait for each other.

    Args:
        panels: that share a pass over A.
        tiles: of rows of A that the second cache holds, and all panels meet one after the other;
            for None each tile of rows meets all panels.
        depth: steps of k in one iteration, which moves the addresses of all rows once.
    """
    c, u = s["C"], s["C"].update(0)
    with s.batch():
        u.split("i", rows, names=("io", "ii"))
        u.split("j", columns, tail="pad", names=("jt", "ji"))
        u.split("jt", panels, names=("jb", "jo"))
        loops = ("io", "jo")
        if tiles is not None:
            u.split("io", tiles, names=("ib", "io"))
            loops = ("ib", "jo", "io")
        u.reorder("jb", *loops, "k", "ii", "ji")
        c.compute_at(u, loops[-1])
        u.accumulate_at(loops[-1])
        b = s[u.stage("B", at="jb", layout=("jo", "k", "ji"), pad=True)]
        b.reorder("k", "jo", "ji")  # along rows of B, as far as the panels of a pass go
        for stage, lane in ((u, "ji"), (b, "ji"), (c, "j")):
            stage.vectorize(lane, ps.native).unroll(lane)
        u.unroll("ii").unroll("k", depth).parallel("jb")
        c.unroll("i")


def tall(s: ps.Schedule) -> None:
    """A tile of C in registers; operands as they are: B is small. Rows on threads."""
    c, u = s["C"], s["C"].update(0)
    u.split("i", ps.tile_rows, names=("io", "ii"))
    u.split("j", ps.tile_columns, names=("jo", "ji"))
    u.reorder("io", "jo", "k", "ii", "ji")
    c.compute_at(u, "jo")
    u.accumulate_at("jo")
    u.vectorize("ji", ps.native).unroll("ji").unroll("ii").parallel("io")
    c.vectorize("j", ps.native).unroll("j").unroll("i")


def wide(s: ps.Schedule, columns: int = 4096, depth: int = 8) -> None:
    """Rows of B as they lie in memory, some at a time. All threads read the same rows, each its
    part of the columns: rows of its own for each took a fifth longer."""
    c, u = s["C"], s["C"].update(0)
    u.split("j", -(-columns // ps.get_num_threads()), names=("jt", "j"))
    u.split("k", depth, names=("ko", "ki"))
    u.reorder("jt", "i", "ko", "j", "ki").unroll("ki").parallel("jt")
    for stage in (c, u):
        stage.vectorize("j", ps.native)


def _product(n: int, m: int, l: int, dtype: Any = np.float32, schedule: Any = packed) -> Case:
    kind = {np.float32: "s", np.float64: "d"}[dtype]

    def make(rng: np.random.Generator, n: int, m: int, l: int) -> Arguments:
        return {"A": rng.standard_normal((n, l), dtype), "B": rng.standard_normal((l, m), dtype)}

    return Case(
        name=f"{kind}gemm {n}x{m}x{l}" if (n, n) != (m, l) else f"{kind}gemm {n}",
        size=f"{n} x {m} x {l}",
        kernel="matmul",
        peers="numpy torch halide numba",
        build=lambda: matmul(dtype={"s": ps.float32, "d": ps.float64}[kind]),
        schedule=schedule,
        make=make,
        reference=lambda A, B: A.astype(np.float64) @ B,
        sizes={"n": n, "m": m, "l": l},
        tiny={"n": 13, "m": 67, "l": 5},
        flops=lambda n, m, l: 2.0 * n * m * l,
        dtype={"s": "f32", "d": "f64"}[kind],
        tolerance={"s": 1e-5, "d": 1e-13}[kind],
    )


def _together(columns: int, tiles: int | None = None) -> Any:
    """The schedule with panels of so many columns in each pass over A."""
    return partial(packed, panels=(columns // ps.tile_columns).at_least(1), tiles=tiles)


CASES = (
    *(_product(n, n, n) for n in (256, 512)),
    # A is in no cache next to the core: each pass over it is for several panels.
    _product(1024, 1024, 1024, schedule=_together(128, 32)),
    _product(2048, 2048, 2048, schedule=_together(256, 16)),
    _product(1024, 1024, 1024, np.float64, _together(64)),
    _product(1, 4096, 4096, schedule=wide),
    _product(4096, 64, 64, schedule=tall),
    _product(1023, 1025, 511, schedule=_together(256)),
)
