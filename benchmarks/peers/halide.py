"""Halide: just-in-time code for this machine, schedules by hand after Halide's own apps.

Axes are named as in the programs, and given in Halide's order: x before y.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

import halide as hl
import numpy as np
from case import Array

from . import faster

VERSION = version("halide")
TARGET = hl.get_host_target()
Call = Callable[[], Any]
Expr = Any
TYPES = {"f": hl.Float, "u": hl.UInt, "i": hl.Int}


def vector(dtype: Any) -> int:
    """Elements of a type in a register."""
    widest = 64 if TARGET.has_feature(hl.TargetFeature.AVX512_Skylake) else 32
    return widest // np.dtype(dtype).itemsize


def param(array: Array, name: str) -> Any:
    """The input that stands for an array."""
    kind = TYPES[array.dtype.kind](8 * array.itemsize)
    return hl.ImageParam(kind, array.ndim, name)


def compiled(
    output: Any, inputs: Sequence[tuple[Any, Array]], shape: Sequence[int], dtype: Any
) -> Call:
    """A call that fills one output array of this shape."""
    compute = hl.Pipeline(output).compile_to_callable([p for p, _ in inputs], TARGET)
    result = np.empty(shape, dtype)
    buffers = [hl.Buffer(array) for _, array in inputs]
    buffers.append(hl.Buffer(result))

    def call() -> Array:
        compute(*buffers)
        return result

    return call


def matmul(A: Array, B: Array) -> Call:
    return faster(*(_matmul(A, B, *tile) for tile in ((8, 3), (6, 4), (12, 2))))


def _matmul(A: Array, B: Array, rows: int, vectors: int) -> Call:
    """Tiles of `rows` by `vectors` registers, and a panel of B packed for many of them."""
    (n, l), m = A.shape, B.shape[1]
    lanes = vector(A.dtype)
    rows, width = min(rows, n), min(vectors * lanes, m)
    tall = min(max(n // 4, rows) // rows * rows, n)
    a, b = param(A, "A"), param(B, "B")
    x, y, xi, yi, yii, xy = (hl.Var(v) for v in ("x", "y", "xi", "yi", "yii", "xy"))
    k = hl.RDom([(0, l)], "k")

    product, C = hl.Func("product"), hl.Func("C")
    product[x, y] = hl.cast(TYPES["f"](8 * A.itemsize), 0)
    product[x, y] += a[k.x, y] * b[x, k.x]
    C[x, y] = product[x, y]

    C.tile(x, y, xi, yi, width, tall).split(yi, yi, yii, rows)
    C.vectorize(xi, lanes).unroll(xi).unroll(yii).fuse(x, y, xy).parallel(xy)
    product.compute_at(C, yi).vectorize(x, lanes).unroll(x).unroll(y)
    update = product.update(0).reorder(x, y, k.x).vectorize(x, lanes).unroll(x).unroll(y)
    if n > 1:
        panel = b.in_()
        panel.compute_at(C, xy).vectorize(panel.args()[0], lanes)
        update.unroll(k.x, 2)
    return compiled(C, [(a, A), (b, B)], (n, m), A.dtype)
