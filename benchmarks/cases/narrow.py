"""Storage in 16 bits, arithmetic in float32 or integers: what half of the memory costs and saves.

Each program of 16-bit floats is there in float32 as well, from the same definition.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from case import Arguments, Array, Case
from gallery.registry import find

import polysched as ps

from .products import packed

TYPES = {"f32": ps.float32, "f16": ps.float16, "bf16": ps.bfloat16}
THIRD = 1 / 3


def single(x: ps.Expr) -> ps.Expr:
    return ps.cast(ps.float32, x)


# filters ----------------------------------------------------------------------------------------
def mean(dtype: ps.DType) -> ps.Func:
    """The mean of 3 by 3 pixels: pixels have the type, sums do not."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", dtype, (h + 2, w + 2))
    y, x = ps.vars("y x")
    across = ps.Func("across")
    across[y, x] = sum((single(image[y, x + d]) for d in (1, 2)), single(image[y, x])) * THIRD
    blurred = ps.Func("blurred", (h, w), dtype)
    total = across[y, x] + across[y + 1, x] + across[y + 2, x]
    blurred[y, x] = ps.cast(dtype, total * THIRD)
    return blurred


def mean_rows(s: ps.Schedule, rows: int = 8, columns: ps.Number = 2 * ps.native) -> None:
    """Some columns of some rows, one row after the other: the sums across slide along in registers,
    three rows at a time. More rows than eight have less in common with others, but more than one
    core reads ahead of: beyond the caches, and where pages are small, they take several times as
    long."""
    f = s["blurred"]
    with s.batch():
        yo, xo, y, x = f.tile("y", "x", rows, columns)
        s["across"].compute_at(f, y).store_at(f, xo).vectorize("x", columns)
        f.parallel(yo).vectorize(x).unroll(y)


WIDTH, BEYOND = 2560, 3


def rows_beyond_caches() -> int:
    """Of images whose pixels of 16 bits are, as argument and result together, so many times as
    large as the last cache of this machine."""
    last = ps.machine("native").target.caches[-1].bytes
    return -(-BEYOND * last // (2 * WIDTH * ps.float16.itemsize * 8)) * 8


def _mean(name: str, height: int, about: str = "") -> Case:
    dtype = TYPES[name]

    def make(rng: np.random.Generator, h: int, w: int) -> Arguments:
        return {"image": dtype.array(rng.random((h + 2, w + 2), np.float32))}

    def reference(image: Array) -> Array:
        wide = image.astype(np.float64)
        across = wide[:, :-2] + wide[:, 1:-1] + wide[:, 2:]
        found: Array = (across[:-2] + across[1:-1] + across[2:]) / 9
        return found

    return Case(
        name=f"mean {name}{about}",
        size=f"{height} x {WIDTH}",
        kernel="mean",
        peers="numpy",
        build=partial(mean, dtype),
        schedule=mean_rows,
        make=make,
        reference=reference,
        sizes={"h": height, "w": WIDTH},
        tiny={"h": 67, "w": 45},
        check={"h": 1536, "w": WIDTH} if about else {},
        flops=lambda h, w: 6.0 * h * w,
        tolerance=2.0**-dtype.format.precision + 1e-6,
    )


# products ---------------------------------------------------------------------------------------
def product(dtype: ps.DType) -> ps.Func:
    """C = A B: operands have the type, C is float32."""
    n, m, l = ps.sizes("n m l")
    A, B = ps.Input("A", dtype, (n, l)), ps.Input("B", dtype, (l, m))
    i, j, q = ps.vars("i j q")
    k = ps.RVar("k", 0, l)
    A_wide, B_wide = ps.Func("A_wide", (n, l)), ps.Func("B_wide", (l, m))
    A_wide[i, q] = single(A[i, q])
    B_wide[q, j] = single(B[q, j])
    C = ps.Func("C", (n, m))
    C[i, j] = 0.0
    C[i, j] += A_wide[i, k] * B_wide[k, j]
    return C


def panels(s: ps.Schedule) -> None:
    """Each element of an operand becomes a float32 once: all of A, and panels of B for each thread,
    which stay in its second cache. A tile of C is in registers."""
    c, u = s["C"], s["C"].update(0)
    with s.batch():
        u.split("i", ps.tile_rows, names=("io", "ii"))
        u.split("j", ps.tile_columns, tail="guard", names=("jb", "ji"))
        u.reorder("jb", "io", "k", "ii", "ji")
        c.compute_at(u, "io")
        u.accumulate_at("io")
        s["B_wide"].compute_at(u, "jb").vectorize("j", ps.native).unroll("j")
    for stage, lane in ((u, "ji"), (c, "j")):
        stage.vectorize(lane, ps.native).unroll(lane)
    u.unroll("ii").unroll("k", 4).parallel("jb")
    c.unroll("i")
    s["A_wide"].compute_root().vectorize("q", ps.native).parallel("i")


def panels_of_singles(s: ps.Schedule) -> None:
    """Operands are read as they are, as in `sgemm 1024`."""
    for name in ("A_wide", "B_wide"):
        s[name].compute_inline()
    packed(s, panels=(128 // ps.tile_columns).at_least(1), tiles=32)


def _product(name: str) -> Case:
    dtype = TYPES[name]

    def make(rng: np.random.Generator, n: int, m: int, l: int) -> Arguments:
        shapes = {"A": (n, l), "B": (l, m)}
        return {k: dtype.array(rng.standard_normal(s, np.float32)) for k, s in shapes.items()}

    return Case(
        name=f"product of {name}",
        size="1024 x 1024 x 1024",
        kernel="half_matmul",
        peers="torch",
        build=partial(product, dtype),
        schedule=panels if dtype.is_narrow else panels_of_singles,
        make=make,
        reference=lambda A, B: A.astype(np.float64) @ B.astype(np.float64),
        sizes={"n": 1024, "m": 1024, "l": 1024},
        tiny={"n": 13, "m": 67, "l": 5},
        flops=lambda n, m, l: 2.0 * n * m * l,
        tolerance=1e-2,  # PyTorch's C has the type of the operands
    )


# integers ---------------------------------------------------------------------------------------
def yuv_rows(s: ps.Schedule) -> None:
    for name in "RGB":
        s[name].parallel("y").vectorize("x", 2 * ps.native)


def median_strips(s: ps.Schedule, rows: int = 16) -> None:
    """Columns of some rows are sorted once for all pixels beside them."""
    f = s["median"]
    strip, _ = f.split("y", rows)
    f.parallel(strip).vectorize("x", ps.native)
    s["columns"].compute_at(f, strip).vectorize("x", ps.native)
    s["image_repeat_edge"].compute_inline()


def _pixels(name: str, kernel: str, peers: str, schedule: Any, operations: float) -> Case:
    case = find(name)
    return Case(
        name=name.replace("_", " "),
        size="1536 x 2560",
        kernel=kernel,
        peers=peers,
        build=case.build,
        schedule=schedule,
        make=case.make,
        reference=case.reference,
        sizes={"h": 1536, "w": 2560},
        tiny={"h": 67, "w": 45},
        flops=lambda h, w: operations * h * w,
        tolerance=0.0,
    )


CASES = (
    *(_mean(name, 1536) for name in TYPES),
    *(_mean(name, rows_beyond_caches(), ", large") for name in TYPES),
    *(_product(name) for name in TYPES),
    _pixels("yuv_to_rgb", "yuv_to_rgb", "numpy", yuv_rows, 20.0),
    _pixels("median_5x5", "median_5x5", "scipy", median_strips, 180.0),
)
