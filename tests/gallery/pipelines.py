"""Pipelines of many stages, such as schedules with `compute_at` are for (after Halide's apps)."""

from __future__ import annotations

from itertools import pairwise
from math import isqrt

import numpy as np
import scipy.ndimage

import polysched as ps

from .case import Array, Case, integers, normal, uniform
from .convolution import CASES as CONVOLUTIONS, conv2d
from .pyramids import downsample, expanded, gaussian, laplacian, level_shape, upsample

#: Rows and columns of the sensor around the image that a demosaiced pixel may need.
BORDER = 4
#: Colour correction of the camera pipeline, in 1/256.
MATRIX = ((400, -120, -24), (-60, 380, -64), (-20, -140, 416))


def demosaic() -> ps.Func:
    """A colour image of 8 bits from a sensor's Bayer pattern (G R over B G) of 10 bits.

    The four kinds of pixels are planes of a quarter of the resolution. Green is filled in along
    the direction that changes less; red and blue by their difference from green; then the planes
    are interleaved, corrected and clamped.
    """
    h, w = ps.sizes("h w")
    raw = ps.Input("raw", ps.uint16, (h + 2 * BORDER, w + 2 * BORDER))
    y, x, c = ps.vars("y x c")

    def kind(name: str, dy: int, dx: int) -> ps.Func:
        f = ps.Func(name)
        f[y, x] = ps.cast(ps.int32, raw[2 * y + dy + BORDER, 2 * x + dx + BORDER])
        return f

    g_gr, r_r = kind("g_gr", 0, 0), kind("r_r", 0, 1)
    b_b, g_gb = kind("b_b", 1, 0), kind("g_gb", 1, 1)

    def plane(name: str, value: ps.Expr) -> ps.Func:
        f = ps.Func(name)
        f[y, x] = value
        return f

    def mean(*values: ps.Expr) -> ps.Expr:
        return (sum(values[1:], values[0]) + len(values) // 2) // len(values)

    def smoother(a: ps.Expr, b: ps.Expr, c: ps.Expr, d: ps.Expr) -> ps.Expr:
        """The mean of a and b or that of c and d, whichever two differ less."""
        return ps.select(abs(a - b) < abs(c - d), mean(a, b), mean(c, d))

    g_r = plane("g_r", smoother(g_gr[y, x], g_gr[y, x + 1], g_gb[y - 1, x], g_gb[y, x]))
    g_b = plane("g_b", smoother(g_gb[y, x - 1], g_gb[y, x], g_gr[y, x], g_gr[y + 1, x]))

    def filled(name: str, here: ps.Expr, f: ps.Func, g: ps.Func, *at: tuple[int, int]) -> ps.Func:
        """The mean of f at some neighbours, moved as green moves: `here`, and g at those."""
        own, green = (mean(*(p[y + dy, x + dx] for dy, dx in at)) for p in (f, g))
        return plane(name, own + here - green)

    r_gr = filled("r_gr", g_gr[y, x], r_r, g_r, (0, -1), (0, 0))
    r_gb = filled("r_gb", g_gb[y, x], r_r, g_r, (0, 0), (1, 0))
    r_b = filled("r_b", g_b[y, x], r_r, g_r, (0, -1), (0, 0), (1, -1), (1, 0))
    b_gr = filled("b_gr", g_gr[y, x], b_b, g_b, (-1, 0), (0, 0))
    b_gb = filled("b_gb", g_gb[y, x], b_b, g_b, (0, 0), (0, 1))
    b_r = filled("b_r", g_r[y, x], b_b, g_b, (-1, 0), (-1, 1), (0, 0), (0, 1))

    def interleaved(name: str, gr: ps.Func, r: ps.Func, b: ps.Func, gb: ps.Func) -> ps.Func:
        first, second = (
            ps.select(x % 2 == 0, even[y // 2, x // 2], odd[y // 2, x // 2])
            for even, odd in ((gr, r), (b, gb))
        )
        return plane(name, ps.select(y % 2 == 0, first, second))

    colours = (
        interleaved("red", r_gr, r_r, r_b, r_gb),
        interleaved("green", g_gr, g_r, g_b, g_gb),
        interleaved("blue", b_gr, b_r, b_b, b_gb),
    )
    corrected = [
        sum(m * f[y, x] for m, f in zip(row, colours, strict=True)) >> 10 for row in MATRIX
    ]
    image = ps.Func("image", (h, w, 3))
    image[y, x, c] = ps.cast(ps.uint8, ps.clip(ps.mux(c, corrected), 0, 255))
    return image


def max_filter(radius: int = 6) -> ps.Func:
    """The largest value within a disc, by columns of power-of-two heights that double."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.float32, (h, w))
    y, x = ps.vars("y x")
    tall = [ps.boundary.repeat_edge(image)]  # tall[k][y]: the maximum over [y, y + 2**k)
    while 2 ** len(tall) <= 2 * radius + 1:
        f, below = ps.Func(f"tall{len(tall)}"), tall[-1]
        f[y, x] = ps.maximum(below[y, x], below[y + 2 ** (len(tall) - 1), x])
        tall.append(f)

    def column(reach: int) -> ps.Func:
        """The maximum over rows y - reach to y + reach."""
        k = (2 * reach + 1).bit_length() - 1
        f = ps.Func(f"column{reach}")
        f[y, x] = ps.maximum(tall[k][y - reach, x], tall[k][y + reach + 1 - 2**k, x])
        return f

    reaches = {dx: isqrt(radius**2 - dx**2) for dx in range(-radius, radius + 1)}
    columns = {reach: column(reach) for reach in sorted(set(reaches.values()))}
    largest = ps.Func("largest", (h, w))
    parts = [columns[reach][y, x + dx] for dx, reach in reaches.items()]
    while len(parts) > 1:
        parts = [ps.maximum(*parts[:2]), *parts[2:]]
    largest[y, x] = parts[0]
    return largest


def nl_means(patch: int = 1, search: int = 2) -> ps.Func:
    """Each pixel as the mean of those around it whose surroundings are like its own."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.float32, (h, w))
    strength = ps.Param("strength", ps.float32, default=10.0)
    y, x, dy, dx = ps.vars("y x dy dx")
    f = ps.boundary.repeat_edge(image)
    sy, sx = ps.rdom("sy sx", (-search, search + 1), (-search, search + 1))

    taps = range(-patch, patch + 1)
    difference, rows, distance = ps.Func("difference"), ps.Func("rows"), ps.Func("distance")
    difference[dy, dx, y, x] = (f[y, x] - f[y + dy, x + dx]) ** 2
    rows[dy, dx, y, x] = sum(difference[dy, dx, y + k, x] for k in taps)
    distance[dy, dx, y, x] = sum(rows[dy, dx, y, x + k] for k in taps)

    weight = ps.exp(-strength * distance[sy, sx, y, x])
    total = ps.Func("total", dtype=(ps.float32, ps.float32))
    value, norm = total[y, x]
    total[y, x] = (0.0, 0.0)
    total[y, x] = (value + weight * f[y + sy, x + sx], norm + weight)

    smooth = ps.Func("smooth", (h, w))
    smooth[y, x] = total[y, x][0] / total[y, x][1]
    return smooth


def interpolate(levels: int = 4) -> ps.Func:
    """Fills in where a colour image (red, green, blue, alpha) is transparent, by a pyramid."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.float32, (4, h, w))
    c, y, x = ps.vars("c y x")

    down = [ps.Func("down0", (4, h, w))]
    down[0][c, y, x] = ps.select(c < 3, image[c, y, x] * image[3, y, x], image[3, y, x])
    for k in range(1, levels):
        down.append(downsample(f"down{k}", down[-1], level_shape(h, w, k), (c,)))

    filled = down[-1]
    for k, fine in reversed(list(enumerate(down[:-1]))):
        coarse = upsample(f"up{k}", filled, (c,))
        filled = ps.Func(f"filled{k}", fine.shape)
        filled[c, y, x] = fine[c, y, x] + (1.0 - fine[3, y, x]) * coarse[c, y, x]

    result = ps.Func("result", (3, h, w))
    result[c, y, x] = filled[c, y, x] / filled[3, y, x]
    return result


def local_laplacian(levels: int = 4, shades: int = 6) -> ps.Func:
    """Local contrast without halos (Paris and others, 2011; Aubry and others, 2014).

    A pyramid for each of some shades, which is enhanced around that shade; each pixel of each
    level of the result is read between the two pyramids whose shades are nearest to it.
    """
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.float32, (h, w))
    alpha = ps.Param("alpha", ps.float32, default=0.2)
    k, y, x = ps.vars("k y x")

    shade = ps.cast(ps.float32, k) / (shades - 1)
    enhanced = ps.Func("enhanced", (shades, h, w))
    away = (image[y, x] - shade) * float(shades - 1)
    enhanced[k, y, x] = image[y, x] + alpha * away * ps.exp(-away * away / 2)

    pyramids, plain = [enhanced], [image]
    for j in range(1, levels):
        shape = level_shape(h, w, j)
        pyramids.append(downsample(f"g{j}", pyramids[-1], shape, (k,)))
        plain.append(downsample(f"plain{j}", plain[-1], shape))
    details = []
    for j, (fine, coarse) in enumerate(pairwise(pyramids)):
        detail = ps.Func(f"detail{j}", fine.shape)
        detail[k, y, x] = fine[k, y, x] - upsample(f"up{j}", coarse, (k,))[k, y, x]
        details.append(detail)

    result = None
    for j, (f, own) in reversed(list(enumerate(zip((*details, pyramids[-1]), plain, strict=True)))):
        height = own[y, x] * float(shades - 1)
        below = ps.clip(ps.cast(ps.int32, height), 0, shades - 2)
        t = height - ps.cast(ps.float32, below)
        value = (1.0 - t) * f[below, y, x] + t * f[below + 1, y, x]
        finer = ps.Func(f"out{j}", own.shape)
        finer[y, x] = value if result is None else value + upsample(f"out_up{j}", result)[y, x]
        result = finer
    assert result is not None
    return result


def conv_relu() -> ps.Func:
    """A convolution with bias, and what of it is positive."""
    O = conv2d(padding=1)
    b, k, y, x = ps.vars("b k y x")
    relu = ps.Func("relu", O.shape)
    relu[b, k, y, x] = ps.maximum(O[b, k, y, x], 0.0)
    return relu


# arguments and references ---------------------------------------------------------------------


def _demosaic_reference(raw: Array) -> Array:
    """On whole planes, whose ends are wrong as far as the border reaches."""
    h, w = (n - 2 * BORDER for n in raw.shape)
    even = np.pad(raw.astype(np.int32), [(0, n % 2) for n in raw.shape])
    g_gr, r_r, b_b, g_gb = (even[dy::2, dx::2] for dy in (0, 1) for dx in (0, 1))

    def at(plane: Array, dy: int, dx: int) -> Array:
        return np.roll(plane, (-dy, -dx), (0, 1))

    def mean(plane: Array, *places: tuple[int, int]) -> Array:
        return (sum(at(plane, *p) for p in places) + len(places) // 2) // len(places)

    def smoother(a: Array, b: Array, c: Array, d: Array) -> Array:
        return np.where(abs(a - b) < abs(c - d), (a + b + 1) // 2, (c + d + 1) // 2)

    g_r = smoother(g_gr, at(g_gr, 0, 1), at(g_gb, -1, 0), g_gb)
    g_b = smoother(at(g_gb, 0, -1), g_gb, g_gr, at(g_gr, 1, 0))
    left, right, up, down = (0, -1), (0, 1), (-1, 0), (1, 0)
    here = (0, 0)
    mosaics = []
    for f, g, places in (
        (r_r, g_r, {0: (left, here), 2: (left, here, (1, -1), down), 3: (here, down)}),
        (b_b, g_b, {0: (up, here), 1: (up, (-1, 1), here, right), 3: (here, right)}),
    ):
        own = [g_gr, g_r, g_b, g_gb]
        mosaics.append(
            [own[k] + mean(f, *p) - mean(g, *p) if (p := places.get(k)) else f for k in range(4)]
        )
    colours = []
    for parts in (mosaics[0], [g_gr, g_r, g_b, g_gb], mosaics[1]):
        full = np.empty_like(even)
        for k, part in enumerate(parts):
            full[k // 2 :: 2, k % 2 :: 2] = part
        colours.append(full[BORDER : BORDER + h, BORDER : BORDER + w])
    corrected = np.einsum("pc,cyx->yxp", np.array(MATRIX, np.int32), np.stack(colours)) >> 10
    return np.clip(corrected, 0, 255).astype(np.uint8)


def _max_reference(image: Array, radius: int = 6) -> Array:
    y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    disc = y * y + x * x <= radius * radius
    return scipy.ndimage.maximum_filter(image, footprint=disc, mode="nearest")


def _nl_means_reference(image: Array, strength: float, patch: int = 1, search: int = 2) -> Array:
    h, w = image.shape
    padded = np.pad(image.astype(np.float64), patch + search, mode="edge")
    value, norm = np.zeros((h, w)), np.zeros((h, w))

    def around(dy: int, dx: int, margin: int) -> Array:
        y, x = dy + patch + search - margin, dx + patch + search - margin
        return padded[y : y + h + 2 * margin, x : x + w + 2 * margin]

    for dy in range(-search, search + 1):
        for dx in range(-search, search + 1):
            difference = (around(0, 0, patch) - around(dy, dx, patch)) ** 2
            size = 2 * patch + 1
            distance = sum(
                difference[a : a + h, b : b + w] for a in range(size) for b in range(size)
            )
            weight = np.exp(-strength * distance)
            value += weight * around(dy, dx, 0)
            norm += weight
    return value / norm


def _interpolate_reference(image: Array, levels: int = 4) -> Array:
    top = image.astype(np.float64)
    top[:3] *= top[3]
    down = [gaussian(channel, levels) for channel in top]
    filled = [channel[-1] for channel in down]
    for k in reversed(range(levels - 1)):
        clear = 1 - down[3][k]
        filled = [
            channel[k] + clear * expanded(f, clear.shape)
            for channel, f in zip(down, filled, strict=True)
        ]
    return np.stack(filled[:3]) / filled[3]


def _local_reference(image: Array, alpha: float, levels: int = 4, shades: int = 6) -> Array:
    image = image.astype(np.float64)
    pyramids = []
    for k in range(shades):
        away = image * (shades - 1) - k
        pyramids.append(laplacian(image + alpha * away * np.exp(-away * away / 2), levels))
    result = None
    for j, plain in reversed(list(enumerate(gaussian(image, levels)))):
        height = plain * (shades - 1)
        below = np.clip(height.astype(int), 0, shades - 2)
        stack = np.stack([pyramid[j] for pyramid in pyramids])
        a, b = (np.take_along_axis(stack, (below + d)[None], axis=0)[0] for d in (0, 1))
        value = a + (height - below) * (b - a)
        result = value if result is None else value + expanded(result, value.shape)
    assert result is not None
    return result


(_SAME,) = (case for case in CONVOLUTIONS if case.name == "conv2d_same")

CASES = (
    Case(
        name="demosaic",
        build=demosaic,
        sizes="h w",
        make=lambda rng, h, w: {
            "raw": integers(rng, np.uint16, h + 2 * BORDER, w + 2 * BORDER, below=1024)
        },
        reference=_demosaic_reference,
        tags="integer stencil",
    ),
    Case(
        name="max_filter",
        build=max_filter,
        sizes="h w",
        make=lambda rng, h, w: {"image": normal(rng, h, w)},
        reference=_max_reference,
        tags="float stencil boundary",
    ),
    Case(
        name="nl_means",
        build=nl_means,
        sizes="h w",
        make=lambda rng, h, w: {"image": uniform(rng, h, w), "strength": 5.0},
        reference=_nl_means_reference,
        tolerance=1e-5,
        tags="float stencil params boundary reduction tuple slow",
    ),
    Case(
        name="interpolate",
        build=interpolate,
        sizes="h w",
        make=lambda rng, h, w: {"image": uniform(rng, 4, h, w)},
        reference=_interpolate_reference,
        tolerance=1e-5,
        tags="float stencil boundary",
    ),
    Case(
        name="local_laplacian",
        build=local_laplacian,
        sizes="h w",
        make=lambda rng, h, w: {"image": uniform(rng, h, w), "alpha": 0.3},
        reference=_local_reference,
        tolerance=1e-5,
        tags="float stencil gather params boundary",
    ),
    Case(
        name="conv_relu",
        build=conv_relu,
        sizes=_SAME.sizes,
        make=_SAME.make,
        reference=lambda **given: np.maximum(_SAME.reference(**given), 0),
        tolerance=_SAME.tolerance,
        tags=_SAME.tags,
        large=_SAME.large,
        limits=_SAME.limits,
    ),
)
