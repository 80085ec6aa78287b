"""Products of matrices of several shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
from case import Arguments, Case
from gallery.linear_algebra import matmul

import polysched as ps


def tiles(s: ps.Schedule) -> None:
    """Not tuned: a tile of registers, and rows of tiles on threads."""
    u = s["C"].update(0)
    io, jo, ii, ji = u.tile("i", "j", 6, 64)
    u.reorder(io, jo, "k", ii, ji).vectorize(ji, 16).unroll(ii).parallel(io)


def _product(n: int, m: int, l: int, dtype: Any = np.float32) -> Case:
    kind = {np.float32: "s", np.float64: "d"}[dtype]

    def make(rng: np.random.Generator, n: int, m: int, l: int) -> Arguments:
        return {"A": rng.standard_normal((n, l), dtype), "B": rng.standard_normal((l, m), dtype)}

    return Case(
        name=f"{kind}gemm {n}x{m}x{l}" if (n, n) != (m, l) else f"{kind}gemm {n}",
        size=f"{n} x {m} x {l}",
        kernel="matmul",
        peers="numpy torch halide numba",
        build=lambda: matmul(dtype={"s": ps.float32, "d": ps.float64}[kind]),
        schedule=tiles,
        make=make,
        reference=lambda A, B: A.astype(np.float64) @ B,
        sizes={"n": n, "m": m, "l": l},
        tiny={"n": 13, "m": 67, "l": 5},
        flops=lambda n, m, l: 2.0 * n * m * l,
        dtype={"s": "f32", "d": "f64"}[kind],
        tolerance={"s": 1e-5, "d": 1e-13}[kind],
    )


CASES = (
    *(_product(n, n, n) for n in (256, 512, 1024, 2048)),
    _product(1024, 1024, 1024, np.float64),
    _product(1, 4096, 4096),
    _product(4096, 64, 64),
    _product(1023, 1025, 511),
)
