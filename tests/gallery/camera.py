"""What a camera does in integers: pixels of one colour each become a picture; a median of 25."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.ndimage

import polysched as ps

from .case import Arguments, Array, Case, integers

DIGITS = 8
"""Of the coefficients behind the point."""
LEVELS = 1024
"""That a sensor tells apart."""
CORRECTION = ((471, -163, -52), (-77, 401, -68), (6, -190, 440))
"""What red, green and blue of the sensor add to those of the picture; each row adds up to 1."""


# sorting networks -------------------------------------------------------------------------------
def _sorted(values: Sequence[Any], smaller: Any, larger: Any) -> list[Any]:
    """Batcher's odd-even merge sort of any number of values; who needs some of them only computes
    no others."""
    found, count = [*values], len(values)
    block = 1
    while block < count:
        distance = block
        while distance:
            for low in range(distance % block, count - distance, 2 * distance):
                for k in range(low, min(low + distance, count - distance)):
                    if k // (2 * block) == (k + distance) // (2 * block):
                        a, b = found[k], found[k + distance]
                        found[k], found[k + distance] = smaller(a, b), larger(a, b)
            distance //= 2
        block *= 2
    return found


def median_5x5() -> ps.Func:
    """The median of 5 by 5 pixels. Columns are sorted once for all neighbours, then what is first,
    second, ... in its column; the median is that of the 13 that may still be it: no more than 12
    are certainly smaller than those, and no more than 12 are larger."""
    h, w = ps.sizes("h w")
    y, x = ps.vars("y x")
    image = ps.boundary.repeat_edge(ps.Input("image", ps.uint8, (h, w)))

    def ordered(values: Sequence[ps.Expr]) -> list[ps.Expr]:
        return _sorted(values, ps.minimum, ps.maximum)

    columns = ps.Func("columns")
    columns[y, x] = tuple(ordered([image[y + d, x] for d in range(-2, 3)]))
    ranks = [ordered([columns[y, x + d][rank] for d in range(-2, 3)]) for rank in range(5)]
    left = [
        value
        for r, row in enumerate(ranks, 1)
        for c, value in enumerate(row, 1)
        if r * c <= 13 and (6 - r) * (6 - c) <= 13
    ]
    f = ps.Func("median", (h, w))
    f[y, x] = ordered(left)[len(left) // 2]
    return f


# a camera ---------------------------------------------------------------------------------------
def camera_pipe() -> tuple[ps.Func, ...]:
    """Three planes from a sensor whose pixels are green and red in even rows, blue and green in odd
    ones: hot pixels are limited, colours interpolated and corrected, and a curve applied."""
    h, w = ps.sizes("h w")
    y, x = ps.vars("y x")
    sensor = ps.Input("sensor", ps.uint16, (h, w), range=(0, LEVELS))
    curve = ps.Input("curve", ps.uint8, (LEVELS,))
    raw = ps.boundary.mirror(sensor)  # which keeps odd from even

    clean = ps.Func("clean")
    near = [raw[y - 2, x], raw[y + 2, x], raw[y, x - 2], raw[y, x + 2]]
    limit = ps.maximum(ps.maximum(near[0], near[1]), ps.maximum(near[2], near[3]))
    clean[y, x] = ps.minimum(raw[y, x], limit)

    across = ps.rounding_halving_add(clean[y, x - 1], clean[y, x + 1])
    along = ps.rounding_halving_add(clean[y - 1, x], clean[y + 1, x])
    corners = [clean[y + d, x + e] for d in (-1, 1) for e in (-1, 1)]
    beside = [clean[y, x - 1], clean[y, x + 1], clean[y - 1, x], clean[y + 1, x]]

    def mean(four: list[ps.Expr]) -> ps.Expr:
        return ps.rounding_shift_right(sum(four[1:], four[0]), 2)

    even_row, even = y % 2 == 0, x % 2 == 0
    here = clean[y, x]
    red, green, blue = (ps.Func(name) for name in ("red", "green", "blue"))
    green[y, x] = ps.select((y + x) % 2 == 0, here, mean(beside))
    red[y, x] = ps.select(
        even_row, ps.select(even, across, here), ps.select(even, mean(corners), along)
    )
    blue[y, x] = ps.select(
        even_row, ps.select(even, along, mean(corners)), ps.select(even, here, across)
    )
    planes = []
    for name, row in zip("RGB", CORRECTION, strict=True):
        terms = [
            ps.cast(ps.int32, f[y, x]) * k for f, k in zip((red, green, blue), row, strict=True)
        ]
        level = ps.rounding_shift_right(terms[0] + terms[1] + terms[2], DIGITS)
        f = ps.Func(name, (h, w))
        f[y, x] = curve[ps.clip(level, 0, LEVELS - 1)]
        planes.append(f)
    return tuple(planes)


def _make_sensor(rng: np.random.Generator, h: int, w: int) -> Arguments:
    levels = np.linspace(0, 1, LEVELS) ** (1 / 2.2)
    return {
        "sensor": integers(rng, np.uint16, h, w, below=LEVELS),
        "curve": np.round(255 * levels).astype(np.uint8),
    }


def _camera(sensor: Array, curve: Array) -> tuple[Array, ...]:
    """Colours by weighted sums of what a colour has, in a frame of zeros for the others."""
    h, w = sensor.shape
    raw = np.pad(sensor.astype(np.int64), 4, "reflect")
    shifted = [np.roll(raw, d, axis) for axis in (0, 1) for d in (-2, 2)]
    clean = np.minimum(raw, np.max(shifted, axis=0))
    y, x = np.indices(clean.shape)
    of_green = (y + x) % 2 == 0
    of_red, of_blue = ~of_green & (y % 2 == 0), ~of_green & (y % 2 == 1)
    colours = []
    for mask in (of_red, of_green, of_blue):
        taps = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]])
        if mask is of_green:
            taps = np.array([[0, 1, 0], [1, 4, 1], [0, 1, 0]])
        total = scipy.ndimage.convolve(np.where(mask, clean, 0), taps, mode="constant")
        weight = scipy.ndimage.convolve(mask.astype(np.int64), taps, mode="constant")
        # Of 4 at the pixel itself, 2 or 4 elsewhere; halves are rounded upwards.
        colours.append((2 * total + weight) // (2 * np.maximum(weight, 1)))
    inside = [c[4 : 4 + h, 4 : 4 + w] for c in colours]
    return tuple(
        curve[np.clip((sum(k * c for k, c in zip(row, inside, strict=True)) + 128) >> 8, 0, 1023)]
        for row in CORRECTION
    )


CASES = (
    Case(
        name="median_5x5",
        build=median_5x5,
        sizes="h w",
        make=lambda rng, h, w: {"image": integers(rng, np.uint8, h, w)},
        reference=lambda image: scipy.ndimage.median_filter(image, 5, mode="nearest"),
        tags="integer stencil boundary tuple",
    ),
    Case(
        name="camera_pipe",
        build=camera_pipe,
        sizes="h w",
        make=_make_sensor,
        reference=_camera,
        tags="integer stencil boundary gather multiple",
    ),
)
