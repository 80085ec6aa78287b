"""Layers of convolutional networks, four images at a time."""

from __future__ import annotations

from typing import Any

from case import Case
from gallery.convolution import channels_last, conv_layer, pointwise_conv2d
from gallery.registry import find

import polysched as ps

#: Of layers, for which kernels are compiled, as they are in other libraries: what pixels and
#: channels are apart is then part of an instruction. Images are as many as a call brings.
LAYER = {"c": 64, "f": 64, "h": 56, "w": 56}
POINTWISE = {"c": 256, "f": 256, "h": 28, "w": 28}


#: From channels last to first.
FIRST = (0, 3, 1, 2)


def copied(s: ps.Schedule, u: Any, *layout: str) -> None:
    """Weights for all images, a panel of filters after the other, in storage that begins at a line
    of the cache: an array of a caller may begin anywhere, and then each second vector of it, or
    each one, lies in two lines."""
    w = s[u.stage("weight", at="b", layout=layout)].compute_root()
    w.vectorize(layout[-1], ps.native)


def relu_tiles(s: ps.Schedule, pixels: int = 3, depth: int = 4) -> None:
    """A tile of filters by pixels of some rows in registers, and what is done with it follows at
    once. An image with its border is in the second cache. Images on threads. Two rows with three
    pixels each leave less over at the borders of layers than three rows with two.

    Args:
        depth: channels in one iteration, which moves the addresses of all pixels once.
    """
    f, o, u = s["relu"], s["O"], s["O"].update(0)
    u.split("k", ps.tile_columns, names=("ko", "k"))
    copied(s, u, "ko", "ry", "rx", "rc", "k")
    f.split("k", ps.tile_columns, names=("ko", "k"))
    f.split("y", ps.tile_rows // pixels, names=("yo", "y"))
    f.split("x", pixels, names=("xo", "x"))
    f.reorder("b", "ko", "yo", "xo", "y", "x", "k").parallel("b")
    o.compute_at(f, "xo").reorder("b", "y", "x", "k")
    u.reorder("ko", "ry", "rx", "rc", "b", "y", "x", "k")
    for stage in (f, o, u):
        stage.vectorize("k", ps.native).unroll("k").unroll("x").unroll("y")
    u.unroll("rc", depth)
    s["image_constant"].compute_at(f, "b").vectorize("b3", ps.native)


def pixel_tiles(s: ps.Schedule, pixels: int = 2, depth: int = 4) -> None:
    """The same of each pixel by itself: a panel of filters stays in the first cache, and meets all
    pixels of some rows. It has three vectors at least, where registers are few, and two rows at
    most, which leave none over in layers of even height: a tile of less at a border costs more than
    a larger one saves."""
    o, u = s["O"], s["O"].update(0)
    filters = ps.tile_columns.at_least(3 * ps.native)
    rows = (ps.tile_rows * ps.tile_columns // filters // pixels).at_most(2)
    u.split("k", filters, names=("ko", "k"))
    u.split("y", rows, names=("yo", "y"))
    u.split("x", pixels, names=("xo", "x"))
    u.reorder("b", "yo", "ko", "xo", "rc", "y", "x", "k").parallel("b")
    o.compute_at(u, "xo").reorder("b", "y", "x", "k")
    u.accumulate_at("xo")
    copied(s, u, "ko", "rc", "k")
    for stage in (o, u):
        stage.vectorize("k", ps.native).unroll("k").unroll("x").unroll("y")
    u.unroll("rc", depth)


def channels(s: ps.Schedule, rows: int = 7) -> None:
    """A channel after the other; some rows of it by a vector at a time in registers. Zeros beyond
    an edge are looked up only there."""
    o, u = s["O"], s["O"].update(0)
    u.split("y", rows, names=("yo", "y"))
    lanes = ps.native.at_most(8)
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
        sizes={"n": 4} | LAYER,
        tiny={"n": 1} | LAYER,
        known=LAYER,
        build=conv_layer,
        given=channels_last,
        result=FIRST,
        flops=_products,
    ),
    _convolution(
        "conv 1x1",
        "conv2d_pointwise",
        "4 x 256-256 x 28 x 28",
        kernel="pointwise",
        schedule=pixel_tiles,
        sizes={"n": 4} | POINTWISE,
        tiny={"n": 1} | POINTWISE,
        known=POINTWISE,
        build=pointwise_conv2d,
        given=channels_last,
        result=FIRST,
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
