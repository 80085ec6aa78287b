"""Layers of convolutional networks, four images at a time."""

from __future__ import annotations

from typing import Any

from case import Case
from gallery.registry import find

import polysched as ps

SIZES = {"n": 4, "c": 64, "f": 64, "h": 56, "w": 56}
TINY = {"n": 2, "c": 3, "f": 9, "h": 17, "w": 33}


def relu_tiles(s: ps.Schedule, filters: int = 4, width: int = 56, lanes: int = 8) -> None:
    """A tile of some filters by a row of pixels in registers, then what is done with it."""
    f, o, u = s["relu"], s["O"], s["O"].update(0)
    f.split("k", filters, names=("ko", "k"))
    f.split("x", width, names=("xo", "x"))
    f.reorder("b", "ko", "y", "xo", "k", "x").parallel("b")
    o.compute_at(f, "xo")
    u.reorder("rc", "ry", "rx", "k", "y", "x").unroll("rx")
    for stage in (f, o, u):
        stage.vectorize("x", lanes).unroll("x").unroll("k")


def tiles(s: ps.Schedule) -> None:
    """Not tuned: four filters by a row of 16 pixels."""
    u = s["O"].update(0)
    ko, k = u.split("k", 4)
    xo, x = u.split("x", 16)
    u.reorder("b", ko, "y", xo, "rc", "ry", "rx", k, x).vectorize(x).unroll(k).parallel("b")


def rows(s: ps.Schedule) -> None:
    """Not tuned: vectors along rows."""
    s["O"].update(0).reorder("b", "k", "y", "ry", "rx", "x").vectorize("x", 16).parallel("b")


def _convolution(name: str, gallery: str, size: str, **more: Any) -> Case:
    case = find(gallery)
    given: dict[str, Any] = {
        "name": name,
        "size": size,
        "peers": "torch halide numpy",
        "build": case.build,
        "make": case.make,
        "reference": case.reference,
    }
    return Case(**given | more)


def _products(n: int, c: int, f: int, h: int, w: int, taps: int = 9) -> float:
    return 2.0 * n * c * f * h * w * taps


CASES = (
    _convolution(
        "conv 3x3 ReLU",
        "conv_relu",
        "4 x 64-64 x 56 x 56",
        kernel="convolution",
        schedule=relu_tiles,
        sizes=SIZES,
        tiny=TINY,
        flops=_products,
    ),
    _convolution(
        "conv 1x1",
        "conv2d_pointwise",
        "4 x 256-256 x 28 x 28",
        kernel="pointwise",
        schedule=tiles,
        sizes=SIZES | {"c": 256, "f": 256, "h": 28, "w": 28},
        tiny=TINY,
        flops=lambda **sizes: _products(**sizes, taps=1),
    ),
    _convolution(
        "depthwise 3x3",
        "depthwise_conv2d",
        "4 x 128 x 56 x 56",
        kernel="depthwise",
        peers="torch halide",
        schedule=rows,
        sizes={"n": 4, "c": 128, "h": 56, "w": 56},
        tiny={"n": 2, "c": 3, "h": 17, "w": 33},
        flops=lambda n, c, h, w: _products(n, c, 1, h, w),
    ),
)
