"""Matrices that are changed step by step."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from case import Array, Case
from gallery.registry import find
from polybench.solvers import lu_right_looking

import polysched as ps


def lu_blocks(s: ps.Schedule, block: int = 16) -> None:
    """Some columns, pivot by pivot; then what all these change in the columns behind them: first in
    the rows of the pivots, each of which needs those above, then in the rows below, which do not
    wait for each other."""
    j, k = ps.vars("j k")
    columns, behind = s["A.update(1)"].partition(j < (k // block + 1) * block)
    columns.fission("j").fission("i")
    s["A.update(0)"].split("k", block, names=("ko", "k"))
    columns.fission("k")
    behind.reorder("i", "k", "j").peel("i", first=block - 1)
    for stage in (columns, s[f"{behind.name}.first"], behind):
        stage.vectorize("j", 8)
    columns.parallel("i", 16)
    behind.parallel("i", 8)


def paths_rows(s: ps.Schedule) -> None:
    """The rows of each step."""
    s["d"].parallel("i").vectorize("j", 16)


def _dominant(rng: np.random.Generator, n: int) -> dict[str, Array]:
    """Pivots are on the diagonal, also where SciPy looks for others."""
    return {"A": rng.standard_normal((n, n)) + 4.0 * n * np.eye(n)}


def _factors(A: Array) -> Array:
    factors: Array = scipy.linalg.lu_factor(A)[0]
    return factors


_PATHS = find("floyd_warshall")

CASES = (
    Case(
        name="LU",
        size="1000 x 1000",
        kernel="lu",
        peers="scipy gcc numba",
        build=lu_right_looking,
        schedule=lu_blocks,
        make=_dominant,
        reference=_factors,
        sizes={"n": 1000},
        tiny={"n": 37},
        flops=lambda n: 2.0 / 3.0 * n**3,
        tolerance=1e-12,
        dtype="f64",
    ),
    Case(
        name="Floyd-Warshall",
        size="1000 x 1000",
        kernel="floyd_warshall",
        peers="gcc numba numpy scipy",
        build=_PATHS.build,
        schedule=paths_rows,
        make=_PATHS.make,
        reference=_PATHS.reference,
        sizes={"n": 1000},
        tiny={"n": 37},
        flops=lambda n: 2.0 * n**3,
        tolerance=0.0,
    ),
)
