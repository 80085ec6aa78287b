"""Steps in time over a grid, in float64."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from case import Case
from gallery.registry import find
from gallery.timesteps import fdtd_2d, heat_3d, jacobi_2d

import polysched as ps


def skewed(s: ps.Schedule, steps: int, **sides: int) -> None:
    """Tiles of some steps, each a row behind the one before, by some rows (or rows and columns),
    which stay in the caches; those on a diagonal run on threads."""
    s["f.piece(0)"].fission("t")
    f, inner = s["f.piece(1)"], [x.name for x in s["last"].loops]
    for axis, side in sides.items():
        f.skew("t", axis, 1)
        f.split(axis, side, names=(f"{axis}o", axis))
    f.split("t", steps, names=("to", "ti"))
    f.reorder("to", *(f"{axis}o" for axis in sides), "ti", *inner)
    _, tile = f.wavefront("to", "io")
    f.parallel(tile)
    for stage in (s["f.piece(0)"].parallel("i"), f, s["last"].parallel("i")):
        stage.vectorize(inner[-1], ps.native)


def fields(s: ps.Schedule, steps: int = 16, rows: int = 16) -> None:
    """The same for fields that drive each other: a row of hz follows two rows behind those of ex
    and ey."""
    names = ("ex", "ey", "hz")
    with s.batch():
        for stage in (*(f"{name}.piece(0)" for name in names), "ex.piece(1)", "ey.piece(1)"):
            s[stage].fission("t")
        hz = s["hz.piece(1)"]
        hz.shift("i", 2)
        for name in ("ey", "ex"):
            s[f"{name}.piece(1)"].compute_with(hz, "i")
    hz.skew("t", "i", 2)
    hz.split("t", steps, names=("to", "ti"))
    hz.split("i", rows, names=("io", "i"))
    hz.reorder("to", "io", "ti", "i")
    _, tile = hz.wavefront("to", "io")
    hz.parallel(tile)
    for name in names:
        s[f"{name}.piece(1)"].vectorize("j", ps.native)
        for stage in (f"{name}.piece(0)", f"{name}_last"):
            s[stage].parallel("i").vectorize("j", ps.native)


def waves(s: ps.Schedule, steps: int = 7, rows: int = 128) -> None:
    """Some steps at once, each two rows behind the one before, so that their chains of additions
    overlap; tiles of steps by rows, of which those on a diagonal run on threads."""
    s["f.piece(0)"].fission("t")
    f = s["f.piece(1)"]
    f.skew("t", "i", 2)
    f.split("t", steps, names=("to", "ti"))
    f.split("i", rows, names=("io", "i"))
    f.reorder("to", "io", "i", "j", "ti")
    _, tile = f.wavefront("to", "io")
    f.parallel(tile).unroll("ti")
    s["last"].parallel("i").vectorize("j", ps.native)


def _stencil(
    name: str,
    gallery: str,
    size: str,
    sizes: Mapping[str, int],
    check: Mapping[str, int],
    **more: Any,
) -> Case:
    """A case of the gallery, with its arguments in float64."""
    case = find(gallery)

    def make(rng: np.random.Generator, **sizes: int) -> dict[str, Any]:
        given = case.make(rng, **sizes)
        return {k: v.astype(np.float64) if k != "T" else v for k, v in given.items()}

    given: dict[str, Any] = {
        "name": name,
        "size": size,
        "kernel": gallery,
        "peers": "gcc numba",
        "build": case.build,
        "make": make,
        "reference": case.reference,
        "sizes": sizes,
        "check": check,
        "tiny": check,
        "tolerance": 1e-10,
        "dtype": "f64",
    }
    return Case(**given | more)


CASES = (
    _stencil(
        "Jacobi-2d",
        "jacobi_2d",
        "2000 x 2000, 100 steps",
        {"n": 2000, "m": 2000, "T": 100},
        {"n": 53, "m": 47, "T": 9},
        build=lambda: jacobi_2d(ps.float64),
        schedule=partial(skewed, steps=16, i=16),
        flops=lambda n, m, T: 5.0 * n * m * T,
    ),
    _stencil(
        "heat-3d",
        "heat_3d",
        "250^3, 40 steps",
        {"n": 250, "m": 250, "l": 250, "T": 40},
        {"n": 23, "m": 21, "l": 19, "T": 7},
        build=lambda: heat_3d(ps.float64),
        schedule=partial(skewed, steps=10, i=20, j=20),
        flops=lambda n, m, l, T: 9.0 * n * m * l * T,
    ),
    _stencil(
        "Seidel-2d",
        "seidel_2d",
        "1000 x 1000, 20 steps",
        {"n": 1000, "m": 1000, "T": 20},
        {"n": 35, "m": 33, "T": 5},
        schedule=waves,
        flops=lambda n, m, T: 9.0 * n * m * T,
    ),
    _stencil(
        "FDTD-2d",
        "fdtd_2d",
        "1000 x 1000, 100 steps",
        {"n": 1000, "m": 1000, "T": 100},
        {"n": 53, "m": 47, "T": 9},
        build=lambda: fdtd_2d(ps.float64),
        schedule=fields,
        flops=lambda n, m, T: 11.0 * n * m * T,
    ),
)
