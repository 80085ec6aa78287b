"""Layers of convolutional networks, four images at a time."""

from __future__ import annotations

from typing import Any

from case import Case
from gallery.registry import find

import polysched as ps

SIZES = {"n": 4, "c": 64, "f": 64, "h": 56, "w": 56}
TINY = {"n": 2, "c": 3, "f": 9, "h": 17, "w": 33}


LANES = 16


def relu_tiles(s: ps.Schedule, filters: int = 32, width: int = 14) -> None:
    """A tile of filters by pixels of a row in registers, filters in the lanes; rows of the padded
    image slide along, and what is done with the tile follows at once. Images on threads."""
    f, o, u = s["relu"], s["O"], s["O"].update(0)
    weights = s[u.stage("weight", at="b", layout=("rc", "ry", "rx", "k"))].compute_root()
    f.split("k", filters, names=("ko", "k"))
    f.split("x", width, names=("xo", "x"))
    f.reorder("b", "y", "ko", "xo", "x", "k").parallel("b")
    o.compute_at(f, "xo").reorder_storage(0, 2, 3, 1).reorder("b", "y", "x", "k")
    u.reorder("rc", "ry", "rx", "b", "y", "x", "k")
    for stage in (f, o, u):
        stage.vectorize("k", LANES).unroll("k").unroll("x")
    s["image_constant"].compute_at(f, "y").store_at(f, "b").vectorize("b3", LANES)
    weights.vectorize("k", LANES)


def pixel_tiles(s: ps.Schedule, filters: int = 3, rows: int = 4, width: int = 28) -> None:
    """A product of matrices: filters by channels, and channels by pixels, of which `rows` rows are
    one tile, copied to lie together. Images on threads."""
    o, u = s["O"], s["O"].update(0)
    with s.batch():
        u.split("k", filters, names=("ko", "ki"))
        u.split("rc", 256, names=("ro", "ri"))
        for stage in (o, u):
            tail = "pad" if stage is u else "auto"
            stage.split("y", rows, tail=tail, names=("yo", "yi"))
            stage.split("x", width, tail=tail, names=("xo", "xi"))
        o.reorder("b", "k", "yo", "xo", "yi", "xi")
        u.reorder("b", "ro", "yo", "xo", "ko", "ri", "ry", "rx", "ki", "yi", "xi")
        for stage in (o, u):
            stage.fuse("yi", "xi", name="p")
        o.compute_at(u, "ko")
        u.accumulate_at("ko")
        image = s[u.stage("image", at="ro", layout=("yo", "xo", "ri", "p"), pad=True)]
    for stage in (o, u, image):
        stage.vectorize("p", LANES).unroll("p")
    u.unroll("ki").parallel("b")
    o.unroll("k")


def channels(s: ps.Schedule, rows: int = 7, lanes: int = 8) -> None:
    """A channel after the other; some rows of it by a vector at a time in registers. Zeros beyond
    an edge are looked up only there."""
    o, u = s["O"], s["O"].update(0)
    u.split("y", rows, names=("yo", "y"))
    u.vectorize("x", lanes)
    u.reorder("b", "k", "yo", "x", "ry", "rx", "y").parallel("b")
    o.compute_at(u, "x")
    u.accumulate_at("x")
    u.unroll("ry").unroll("rx").unroll("y")
    o.vectorize("x", lanes).unroll("y")
    s["image_constant"].compute_inline()


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
        schedule=pixel_tiles,
        sizes=SIZES | {"c": 256, "f": 256, "h": 28, "w": 28},
        tiny=TINY | {"w": 28},
        known={"w": 28},
        flops=lambda **sizes: _products(**sizes, taps=1),
    ),
    _convolution(
        "depthwise 3x3",
        "depthwise_conv2d",
        "4 x 128 x 56 x 56",
        kernel="depthwise",
        peers="torch halide",
        schedule=channels,
        sizes={"n": 4, "c": 128, "h": 56, "w": 56},
        tiny={"n": 2, "c": 3, "h": 56, "w": 56},
        known={"h": 56, "w": 56},
        flops=lambda n, c, h, w: _products(n, c, 1, h, w),
    ),
)
