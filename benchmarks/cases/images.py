"""Filters of images of 4 megapixels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from case import Case
from gallery.registry import find

import polysched as ps

LANES = 16


def blur_strips(s: ps.Schedule) -> None:
    """A window of rows slides down each strip."""
    f = s["blurred"]
    yo, y = f.split("y", 32)
    f.parallel(yo)
    for stage in (f, s["across"].compute_at(f, y).store_at(f, yo)):
        stage.vectorize("x", LANES).unroll("x", 8)


def unsharp_strips(s: ps.Schedule) -> None:
    """As above; pixels and colours are one row of numbers, which nobody reads soon."""
    f = s["sharp"].stream()
    yo, y = f.split("y", 32)
    f.parallel(yo).vectorize(f.fuse("x", "c"), LANES)
    s["image_repeat_edge"].compute_inline()
    a = s["across"].compute_at(f, y).store_at(f, yo)
    a.vectorize(a.fuse("x", "c"), LANES)


def harris_strips(s: ps.Schedule) -> None:
    """As above, with both gradients."""
    f = s["response"]
    yo, y = f.split("y", 32)
    f.parallel(yo).vectorize("x", LANES)
    for name in ("xx", "xy", "yy", "image_repeat_edge"):
        s[name].compute_inline()
    for name in ("gx", "gy"):
        s[name].compute_at(f, y).store_at(f, yo).vectorize("x", LANES)


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
    _image("blur", "blur", blur_strips, tolerance=0.0, flops=lambda h, w: 6.0 * h * w),
    _image("unsharp_mask", "unsharp", unsharp_strips, flops=lambda h, w: 3 * 22.0 * h * w),
    _image("harris", "harris", harris_strips, flops=lambda h, w: 46.0 * h * w),
)
