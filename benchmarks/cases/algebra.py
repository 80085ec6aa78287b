"""Matrices that are changed step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from case import Array, Case
from gallery.dynamic import shortest_paths_in_place
from gallery.registry import find
from polybench.solvers import lu_right_looking

import polysched as ps


def lu_blocks(s: ps.Schedule, block: int = 8, large: int = 48) -> None:
    """Some columns, pivot by pivot, a vector of them at a time, whose mask is the same in all rows;
    then what all these change in the other columns of a larger block, and what the larger block
    changes in the columns behind it: so that these are loaded and stored less often. All but the
    pivots is on threads: below them, rows; in the rows of a block, columns."""
    j, k = ps.vars("j k")
    columns, behind = s["A.update(1)"].partition(j < (k // block + 1) * block)
    columns.fission("j").fission("i")
    near, far = behind.partition(j < (k // large + 1) * large)
    near.fission("j").fission("i")
    pivots = s["A.update(0)"]
    pivots.split("k", large, names=("ko", "k"))
    near.fission("k")
    pivots.split("k", block, names=("km", "k"))
    columns.fission("k")
    columns.split("j", ps.native, names=("j", "ji"))
    columns.reorder("j", "i", "ji").vectorize("ji")
    first = _changed(s, near, block)
    first.vectorize("j", ps.native)
    near.parallel("io")
    first = _changed(s, far, large)
    first.split("j", 8 * ps.native, names=("jo", "j"))
    first.reorder("jo", "i", "k", "j").accumulate_at("i")
    first.vectorize("j", ps.native).unroll("j").parallel("jo")
    far.parallel("io")


def _changed(s: ps.Schedule, behind: Any, block: int) -> Any:
    """What a block of pivots changes behind its columns: first in the rows of the pivots, each of
    which needs those above; then in the rows below, by tiles in registers. Gives the former."""
    behind.reorder("i", "k", "j").peel("i", first=block - 1)
    behind.tile("i", "j", ps.rows_beside(2).at_most(8), 2 * ps.native)
    behind.reorder("io", "jo", "k", "ii", "ji").accumulate_at("jo")
    behind.vectorize("ji", ps.native).unroll("ji").unroll("ii")
    return s[f"{behind.name}.first"]


def paths_blocks(s: ps.Schedule, block: int = 16) -> None:
    """Some steps for the rows that they go by; then for their columns, in all other rows; then for
    everything else, by tiles in registers."""
    k, q, r, c = ps.vars("k q r c")
    own, others = s["column.update(0)"].partition(q // block == k // block)
    pivots, rest = s["d.update(0)"].partition(r // block == k // block)
    own.fission("q")
    pivots.fission("c").fission("r")
    columns, rest = rest.partition(c // block == k // block)
    columns.fission("c").fission("r")
    pivots.compute_with(own, "q")
    columns.compute_with(others, "q")
    first = s["row.update(0)"]
    first.split("k", block, names=("ko", "k"))
    pivots.fission("k")
    columns.fission("k").reorder("q", "k")
    for stage, loop in ((first, "p"), (pivots, "c"), (columns, "c")):
        stage.vectorize(loop, ps.native)
    columns.parallel("q", 32)
    rest.tile("r", "c", 8, ps.native)
    rest.reorder("ro", "co", "k", "ri", "ci").accumulate_at("co")
    rest.vectorize("ci").unroll("ri").parallel("ro", 8)
    for name in ("d", "row", "column"):
        s[name].parallel("i").vectorize("j", ps.native)


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
        build=shortest_paths_in_place,
        schedule=paths_blocks,
        make=_PATHS.make,
        reference=_PATHS.reference,
        sizes={"n": 1000},
        tiny={"n": 37},
        flops=lambda n: 2.0 * n**3,
        tolerance=0.0,
    ),
)
