"""Filters of images that read the neighbours of each pixel, with every boundary condition."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.ndimage
from numpy.lib.stride_tricks import sliding_window_view

import polysched as ps

from .case import Arguments, Array, Case, integers, uniform


def blur() -> ps.Func:
    """The mean of 3 by 3 pixels of 14 bits, first along rows, then along columns."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.uint16, (h + 2, w + 2))
    y, x = ps.vars("y x")

    across = ps.Func("across")
    across[y, x] = (image[y, x] + image[y, x + 1] + image[y, x + 2]) // 3
    blurred = ps.Func("blurred", (h, w))
    blurred[y, x] = (across[y, x] + across[y + 1, x] + across[y + 2, x]) // 3
    return blurred


def unsharp_mask() -> ps.Func:
    """A colour image plus `amount` times its difference from a Gaussian blur of it."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.float32, (h, w, 3))
    amount = ps.Param("amount", ps.float32, default=1.0, min=0.0)
    y, x, c = ps.vars("y x c")
    taps = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)

    padded = ps.boundary.repeat_edge(image, axes=(0, 1))
    across = ps.Func("across")
    across[y, x, c] = sum(t * padded[y, x + d, c] for d, t in enumerate(taps, -2))
    smooth = ps.Func("smooth")
    smooth[y, x, c] = sum(t * across[y + d, x, c] for d, t in enumerate(taps, -2))

    sharp = ps.Func("sharp", (h, w, 3))
    detail = image[y, x, c] - smooth[y, x, c]
    sharp[y, x, c] = ps.clip(image[y, x, c] + amount * detail, 0.0, 1.0)
    return sharp


def harris() -> ps.Func:
    """The corner response of Harris and Stephens: det(M) - k trace(M)^2 at each pixel."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.float32, (h, w))
    k = ps.Param("k", ps.float32, default=0.04)
    y, x = ps.vars("y x")

    f = ps.boundary.repeat_edge(image)
    gx, gy = ps.Func("gx"), ps.Func("gy")
    gx[y, x] = sum(t * (f[y + d, x + 1] - f[y + d, x - 1]) for d, t in enumerate((1, 2, 1), -1))
    gy[y, x] = sum(t * (f[y + 1, x + d] - f[y - 1, x + d]) for d, t in enumerate((1, 2, 1), -1))

    def box(name: str, a: ps.Func, b: ps.Func) -> ps.Func:
        """The sum of a * b over 3 by 3 pixels."""
        product, total = ps.Func(name), ps.Func(f"sum_{name}")
        product[y, x] = a[y, x] * b[y, x]
        total[y, x] = sum(product[y + dy, x + dx] for dy in (-1, 0, 1) for dx in (-1, 0, 1))
        return total

    xx, xy, yy = box("xx", gx, gx), box("xy", gx, gy), box("yy", gy, gy)
    response = ps.Func("response", (h, w))
    trace = xx[y, x] + yy[y, x]
    response[y, x] = xx[y, x] * yy[y, x] - xy[y, x] * xy[y, x] - k * trace * trace
    return response


def sobel(extend: Callable[[ps.Input], ps.Func]) -> ps.Func:
    """|gx| + |gy| of an 8-bit image that `extend` continues beyond its edges."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.uint8, (h, w))
    y, x = ps.vars("y x")
    f = extend(image)

    def at(dy: int, dx: int) -> ps.Expr:
        return ps.cast(ps.int16, f[y + dy, x + dx])

    gx = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1)
    gy = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1)
    edges = ps.Func("edges", (h, w))
    edges[y, x] = abs(gx) + abs(gy)
    return edges


def median() -> ps.Func:
    """The median of 3 by 3 pixels: of the largest minimum, the median median and the smallest
    maximum of the three columns."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.uint8, (h, w))
    y, x = ps.vars("y x")
    f = ps.boundary.repeat_edge(image)

    def mid(a: ps.Expr, b: ps.Expr, c: ps.Expr) -> ps.Expr:
        return ps.maximum(ps.minimum(a, b), ps.minimum(ps.maximum(a, b), c))

    columns = ps.Func("columns", dtype=(ps.uint8, ps.uint8, ps.uint8))
    a, b, c = f[y - 1, x], f[y, x], f[y + 1, x]
    columns[y, x] = (
        ps.minimum(ps.minimum(a, b), c),
        mid(a, b, c),
        ps.maximum(ps.maximum(a, b), c),
    )
    low, middle, high = zip(*(columns[y, x + d] for d in (-1, 0, 1)), strict=True)
    filtered = ps.Func("filtered", (h, w))
    filtered[y, x] = mid(
        ps.maximum(ps.maximum(low[0], low[1]), low[2]),
        mid(*middle),
        ps.minimum(ps.minimum(high[0], high[1]), high[2]),
    )
    return filtered


# arguments and references ---------------------------------------------------------------------


def _bytes(rng: np.random.Generator, h: int, w: int) -> Arguments:
    return {"image": integers(rng, np.uint8, h, w)}


def _blur_reference(image: Array) -> Array:
    across = sliding_window_view(image.astype(np.int64), 3, axis=1).sum(axis=-1) // 3
    return (sliding_window_view(across, 3, axis=0).sum(axis=-1) // 3).astype(np.uint16)


def _unsharp_reference(image: Array, amount: float) -> Array:
    image = image.astype(np.float64)
    taps = np.array([1, 4, 6, 4, 1]) / 16
    smooth = scipy.ndimage.convolve1d(image, taps, axis=0, mode="nearest")
    smooth = scipy.ndimage.convolve1d(smooth, taps, axis=1, mode="nearest")
    return np.clip(image + amount * (image - smooth), 0, 1)


def _harris_reference(image: Array, k: float) -> Array:
    """Pads once by what both stencils need, as the program extends the image only."""
    padded = np.pad(image.astype(np.float64), 3, mode="edge")
    gy, gx = scipy.ndimage.sobel(padded, axis=0), scipy.ndimage.sobel(padded, axis=1)
    box = np.ones((3, 3))
    xx, xy, yy = (scipy.ndimage.correlate(p, box) for p in (gx * gx, gx * gy, gy * gy))
    return (xx * yy - xy**2 - k * (xx + yy) ** 2)[3:-3, 3:-3]


def _sobel_case(name: str, extend: Callable[[ps.Input], ps.Func], mode: str, **pad: int) -> Case:
    """`mode` and `pad` say the same as `extend` to `np.pad`."""

    def reference(image: Array) -> Array:
        padded = np.pad(image.astype(np.int16), 1, mode, **pad)
        gy, gx = scipy.ndimage.sobel(padded, axis=0), scipy.ndimage.sobel(padded, axis=1)
        return (np.abs(gx) + np.abs(gy))[1:-1, 1:-1]

    return Case(
        name=f"sobel_{name}",
        build=lambda: sobel(extend),
        sizes="h w",
        make=_bytes,
        reference=reference,
        tags="integer stencil boundary",
    )


CASES = (
    Case(
        name="blur",
        build=blur,
        sizes="h w",
        make=lambda rng, h, w: {"image": integers(rng, np.uint16, h + 2, w + 2, below=1 << 14)},
        reference=_blur_reference,
        tags="integer stencil",
    ),
    Case(
        name="unsharp_mask",
        build=unsharp_mask,
        sizes="h w",
        make=lambda rng, h, w: {"image": uniform(rng, h, w, 3), "amount": 1.5},
        reference=_unsharp_reference,
        tolerance=1e-6,
        tags="float stencil params boundary",
    ),
    Case(
        name="harris",
        build=harris,
        sizes="h w",
        make=lambda rng, h, w: {"image": uniform(rng, h, w), "k": 0.05},
        reference=_harris_reference,
        tolerance=1e-5,
        tags="float stencil params boundary",
    ),
    _sobel_case(
        "constant", lambda image: ps.boundary.constant(image, 7), "constant", constant_values=7
    ),
    _sobel_case("repeat_edge", ps.boundary.repeat_edge, "edge"),
    _sobel_case("reflect", ps.boundary.reflect, "symmetric"),
    _sobel_case("mirror", ps.boundary.mirror, "reflect"),
    _sobel_case("wrap", ps.boundary.wrap, "wrap"),
    Case(
        name="median",
        build=median,
        sizes="h w",
        make=_bytes,
        reference=lambda image: scipy.ndimage.median_filter(image, 3, mode="nearest"),
        tags="integer stencil boundary tuple",
    ),
)
