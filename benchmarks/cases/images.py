"""Filters of images of 4 megapixels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from case import Case
from gallery.registry import find

import polysched as ps
from polysched.targets.words import Number


def blur_tiles(s: ps.Schedule, rows: Number = 8, columns: Number = ps.native) -> None:
    """A vector of columns of some rows: the sums across are in registers."""
    f = s["blurred"]
    yo, xo, y, x = f.tile("y", "x", rows, columns)
    f.reorder(yo, xo, y, x).parallel(yo).vectorize(x).unroll(y)
    s["across"].compute_at(f, xo).vectorize("x", columns).unroll("y")


def unsharp_strips(s: ps.Schedule, strip: int = 64, rows: int = 4) -> None:
    """A window of rows slides down each strip; pixels and colours are one row of numbers, a vector
    of some rows at once, which nobody reads soon."""
    f = s["sharp"].stream()
    yo, y = f.split("y", strip)
    f.parallel(yo)
    y, _, several, x = f.tile(y, f.fuse("x", "c"), rows, ps.native)
    f.vectorize(x).unroll(several)
    s["image_repeat_edge"].compute_inline()
    a = s["across"].compute_at(f, y).store_at(f, yo)
    a.vectorize(a.fuse("x", "c"), ps.native)


def harris_strips(s: ps.Schedule, strip: int = 64, rows: int = 3) -> None:
    """As above, with both gradients in one loop, as they read the same pixels. Sums of more rows
    need more registers than there are without AVX-512."""
    f = s["response"].stream()
    yo, y = f.split("y", strip)
    f.parallel(yo)
    y, _, several, x = f.tile(y, "x", rows, ps.native)
    f.vectorize(x).unroll(several)
    for name in ("xx", "xy", "yy", "image_repeat_edge"):
        s[name].compute_inline()
    for name in ("gx", "gy"):
        s[name].compute_at(f, y).store_at(f, yo).vectorize("x", ps.native)
    s["gy"].compute_with("gx", "x")


def _image(name: str, kernel: str, ours: Callable[[ps.Schedule], None], **more: Any) -> Case:
    """A case of the gallery, by name."""
    case = find(name)
    given: dict[str, Any] = {
        "name": name.replace("_", " "),
        "size": "1536 x 2560",
        "kernel": kernel,
        "peers": "numpy halide numba",
        "build": case.build,
        "schedule": ours,
        "make": case.make,
        "reference": case.reference,
        "sizes": {"h": 1536, "w": 2560},
        "tiny": {"h": 67, "w": 45},
    }
    return Case(**given | more)


CASES = (
    _image("blur", "blur", blur_tiles, tolerance=0.0, flops=lambda h, w: 6.0 * h * w),
    _image("unsharp_mask", "unsharp", unsharp_strips, flops=lambda h, w: 3 * 22.0 * h * w),
    _image("harris", "harris", harris_strips, flops=lambda h, w: 46.0 * h * w),
)
