"""What is computed from an image point by point, through a table, or along its rows."""

from __future__ import annotations

import numpy as np
import scipy  # `scipy.signal` takes a second to import: where it is used first
import scipy.ndimage

import polysched as ps

from .case import Arguments, Array, Case, integers, uniform


def rgb_to_yuv() -> tuple[ps.Func, ps.Func, ps.Func]:
    """Three planes from a colour image, in fixed point with 8 bits (BT.601, studio range)."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.uint8, (h, w, 3))
    y, x = ps.vars("y x")
    r, g, b = (ps.cast(ps.int32, image[y, x, c]) for c in range(3))

    def plane(name: str, value: ps.Expr) -> ps.Func:
        f = ps.Func(name, (h, w))
        f[y, x] = ps.cast(ps.uint8, ps.clip(value, 0, 255))
        return f

    return (
        plane("Y", ((66 * r + 129 * g + 25 * b + 128) >> 8) + 16),
        plane("U", ((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128),
        plane("V", ((112 * r - 94 * g - 18 * b + 128) >> 8) + 128),
    )


def average() -> ps.Func:
    """The mean of two 8-bit images, rounded half up: the sum needs 9 bits."""
    h, w = ps.sizes("h w")
    a = ps.Input("a", ps.uint8, (h, w))
    b = ps.Input("b", ps.uint8, (h, w))
    y, x = ps.vars("y x")

    mean = ps.Func("mean", (h, w))
    mean[y, x] = (ps.cast(ps.uint16, a[y, x]) + ps.cast(ps.uint16, b[y, x]) + 1) >> 1
    return mean


def lookup() -> ps.Func:
    """Each pixel through a table that the caller gives."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.uint8, (h, w))
    table = ps.Input("table", ps.float32, (256,))
    y, x = ps.vars("y x")

    mapped = ps.Func("mapped", (h, w))
    mapped[y, x] = table[image[y, x]]
    return mapped


def gamma(exponent: float = 1 / 2.2) -> ps.Func:
    """Each pixel through a table that is part of the program."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.uint8, (h, w))
    levels = np.arange(256) / 255
    curve = ps.Const("curve", np.rint(255 * levels**exponent).astype(np.uint8))
    y, x = ps.vars("y x")

    corrected = ps.Func("corrected", (h, w))
    corrected[y, x] = curve[image[y, x]]
    return corrected


def integral_image() -> ps.Func:
    """The sum of all pixels above and to the left: along rows, then along columns."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.uint8, (h, w))
    y, x = ps.vars("y x")
    ry, rx = ps.RVar("ry", 1, h), ps.RVar("rx", 1, w)

    total = ps.Func("total", (h, w), ps.uint32)
    total[y, x] = image[y, x]
    total[y, rx] += total[y, rx - 1]
    total[ry, x] += total[ry - 1, x]
    return total


def recursive_blur() -> ps.Func:
    """Exponential smoothing along rows, forth and then back."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.float32, (h, w))
    alpha = ps.Param("alpha", ps.float32, default=0.25, min=0.0, max=1.0)
    y, x = ps.vars("y x")
    r = ps.RVar("r", 1, w)

    smooth = ps.Func("smooth", (h, w))
    smooth[y, x] = image[y, x]
    smooth[y, r] += (1 - alpha) * (smooth[y, r - 1] - smooth[y, r])
    smooth[y, w - 1 - r] += (1 - alpha) * (smooth[y, w - r] - smooth[y, w - 1 - r])
    return smooth


def rotate() -> ps.Func:
    """The image turned around its centre, with bilinear interpolation between clamped pixels."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.float32, (h, w))
    cos = ps.Param("cos", ps.float32)
    sin = ps.Param("sin", ps.float32)
    y, x = ps.vars("y x")

    v, u = y - ps.cast(ps.float32, h - 1) / 2, x - ps.cast(ps.float32, w - 1) / 2
    source_y = ps.clip(cos * v + sin * u + ps.cast(ps.float32, h - 1) / 2, 0.0, h - 1)
    source_x = ps.clip(cos * u - sin * v + ps.cast(ps.float32, w - 1) / 2, 0.0, w - 1)
    y0 = ps.clip(ps.cast(ps.int32, ps.floor(source_y)), 0, h - 1)
    x0 = ps.clip(ps.cast(ps.int32, ps.floor(source_x)), 0, w - 1)
    y1, x1 = ps.minimum(y0 + 1, h - 1), ps.minimum(x0 + 1, w - 1)
    fy, fx = source_y - ps.cast(ps.float32, y0), source_x - ps.cast(ps.float32, x0)

    turned = ps.Func("turned", (h, w))
    above = image[y0, x0] + fx * (image[y0, x1] - image[y0, x0])
    below = image[y1, x0] + fx * (image[y1, x1] - image[y1, x0])
    turned[y, x] = above + fy * (below - above)
    return turned


# arguments and references ---------------------------------------------------------------------


def _grey(rng: np.random.Generator, h: int, w: int) -> Arguments:
    return {"image": uniform(rng, h, w)}


def _bytes(rng: np.random.Generator, h: int, w: int) -> Arguments:
    return {"image": integers(rng, np.uint8, h, w)}


def _yuv_reference(image: Array) -> tuple[Array, Array, Array]:
    matrix = np.array([[66, 129, 25], [-38, -74, 112], [112, -94, -18]])
    scaled = np.floor(np.einsum("pc,yxc->pyx", matrix, image) / 256 + 0.5)
    planes = np.clip(scaled + np.array([16, 128, 128])[:, None, None], 0, 255).astype(np.uint8)
    return planes[0], planes[1], planes[2]


def _recursive_reference(image: Array, alpha: float) -> Array:
    def smooth(rows: Array) -> Array:
        state = (1 - alpha) * rows[:, :1]
        return scipy.signal.lfilter([alpha], [1, alpha - 1], rows, axis=1, zi=state)[0]

    return smooth(smooth(image.astype(np.float64))[:, ::-1])[:, ::-1]


def _rotate_reference(image: Array, cos: float, sin: float) -> Array:
    h, w = image.shape
    centre = np.array([(h - 1) / 2, (w - 1) / 2])[:, None, None]
    v, u = np.indices(image.shape) - centre
    source = np.stack([cos * v + sin * u, cos * u - sin * v]) + centre
    return scipy.ndimage.map_coordinates(image.astype(np.float64), source, order=1, mode="nearest")


CASES = (
    Case(
        name="rgb_to_yuv",
        build=rgb_to_yuv,
        sizes="h w",
        make=lambda rng, h, w: {"image": integers(rng, np.uint8, h, w, 3)},
        reference=_yuv_reference,
        tags="integer multiple",
    ),
    Case(
        name="average",
        build=average,
        sizes="h w",
        make=lambda rng, h, w: {
            "a": integers(rng, np.uint8, h, w),
            "b": integers(rng, np.uint8, h, w),
        },
        reference=lambda a, b: np.floor((a / 2 + b / 2) + 0.5).astype(np.uint16),
        tags="integer",
    ),
    Case(
        name="lookup",
        build=lookup,
        sizes="h w",
        make=lambda rng, h, w: {**_bytes(rng, h, w), "table": uniform(rng, 256)},
        reference=lambda image, table: np.take(table, image),
        tags="float gather",
    ),
    Case(
        name="gamma",
        build=gamma,
        sizes="h w",
        make=_bytes,
        reference=lambda image: np.rint(255 * (image / 255) ** (1 / 2.2)).astype(np.uint8),
        tags="integer gather",
    ),
    Case(
        name="integral_image",
        build=integral_image,
        sizes="h w",
        make=_bytes,
        reference=lambda image: image.cumsum(0).cumsum(1).astype(np.uint32),
        tags="integer recurrence",
    ),
    Case(
        name="recursive_blur",
        build=recursive_blur,
        sizes="h w",
        make=lambda rng, h, w: {"image": uniform(rng, h, w), "alpha": 0.25},
        reference=_recursive_reference,
        tolerance=1e-6,
        tags="float recurrence params",
    ),
    Case(
        name="rotate",
        build=rotate,
        sizes="h w",
        make=lambda rng, h, w: {**_grey(rng, h, w), "cos": 0.8, "sin": 0.6},
        reference=_rotate_reference,
        tolerance=2e-4,
        tags="float gather params",
    ),
)
