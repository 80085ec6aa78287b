"""Images at several resolutions: each level has half the rows and columns, rounded up."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.ndimage

import polysched as ps

from .case import Arguments, Array, Case, uniform

Shape = tuple[ps.Expr, ps.Expr]


def level_shape(h: ps.Expr, w: ps.Expr, level: int) -> Shape:
    """The extents of an image of h by w after `level` halvings."""
    scale = 2**level
    return (h + (scale - 1)) // scale, (w + (scale - 1)) // scale


def downsample(
    name: str, f: ps.Func | ps.Input, shape: Shape, lead: tuple[ps.Expr, ...] = ()
) -> ps.Func:
    """Every second pixel of `f` smoothed by (1, 3, 3, 1) / 8 along its last two axes; `lead` are
    Vars for the others."""
    y, x = ps.vars("y x")
    g = ps.boundary.repeat_edge(f, axes=(len(lead), len(lead) + 1))
    a, b, c, d = (g[*lead, 2 * y + k, x] for k in (-1, 0, 1, 2))
    down = ps.Func(f"{name}_rows")
    down[*lead, y, x] = (a + 3.0 * (b + c) + d) / 8.0
    a, b, c, d = (down[*lead, y, 2 * x + k] for k in (-1, 0, 1, 2))
    half = ps.Func(name, (*f.shape[: len(lead)], *shape))
    half[*lead, y, x] = (a + 3.0 * (b + c) + d) / 8.0
    return half


def upsample(name: str, f: ps.Func, lead: tuple[ps.Expr, ...] = ()) -> ps.Func:
    """Twice the resolution of `f`: of the two nearest pixels, 3/4 of the nearer and 1/4."""
    y, x = ps.vars("y x")
    g = ps.boundary.repeat_edge(f, axes=(len(lead), len(lead) + 1))
    up = ps.Func(f"{name}_rows")
    up[*lead, y, x] = 0.75 * g[*lead, y // 2, x] + 0.25 * g[*lead, y // 2 - 1 + 2 * (y % 2), x]
    twice = ps.Func(name)
    twice[*lead, y, x] = 0.75 * up[*lead, y, x // 2] + 0.25 * up[*lead, y, x // 2 - 1 + 2 * (x % 2)]
    return twice


def gaussian_pyramid(
    levels: int = 4, name: str = "image", prefix: str = "g"
) -> tuple[ps.Input | ps.Func, ...]:
    """The image and `levels` - 1 smaller ones."""
    h, w = ps.sizes("h w")
    pyramid: list[ps.Input | ps.Func] = [ps.Input(name, ps.float32, (h, w))]
    for k in range(1, levels):
        pyramid.append(downsample(f"{prefix}{k}", pyramid[-1], level_shape(h, w, k)))
    return tuple(pyramid)


def smaller_images(levels: int = 4) -> tuple[ps.Func, ...]:
    """The levels of a Gaussian pyramid below the image itself."""
    return gaussian_pyramid(levels)[1:]


def laplacian_pyramid(
    levels: int = 4, name: str = "image", prefix: str = ""
) -> tuple[ps.Func, ...]:
    """What each level of a Gaussian pyramid has beyond the next smaller one, and the smallest."""
    y, x = ps.vars("y x")
    gaussian = gaussian_pyramid(levels, name, f"{prefix}g")
    pyramid = []
    for k, (fine, coarse) in enumerate(pairwise(gaussian)):
        detail = ps.Func(f"{prefix}detail{k}", fine.shape)
        detail[y, x] = fine[y, x] - upsample(f"{prefix}up{k}", coarse)[y, x]
        pyramid.append(detail)
    return (*pyramid, gaussian[-1])


def collapse(pyramid: tuple[ps.Func, ...]) -> ps.Func:
    """The image of which `pyramid` is the Laplacian pyramid."""
    y, x = ps.vars("y x")
    *details, image = pyramid
    for k, detail in reversed(list(enumerate(details))):
        finer = ps.Func(f"out{k}", detail.shape)
        finer[y, x] = detail[y, x] + upsample(f"out_up{k}", image)[y, x]
        image = finer
    return image


def blend(levels: int = 4) -> ps.Func:
    """Two images joined along a mask without a seam (Burt and Adelson, 1983)."""
    y, x = ps.vars("y x")
    masks = gaussian_pyramid(levels, "mask", "m")
    first = laplacian_pyramid(levels, "first", "a_")
    second = laplacian_pyramid(levels, "second", "b_")
    mixed = []
    for k, (m, a, b) in enumerate(zip(masks, first, second, strict=True)):
        f = ps.Func(f"mixed{k}", m.shape)
        f[y, x] = b[y, x] + m[y, x] * (a[y, x] - b[y, x])
        mixed.append(f)
    return collapse(tuple(mixed))


def deep_pyramid(levels: int = 10) -> ps.Func:
    """The mean over all levels of a Gaussian pyramid, weights halved from level to level."""
    y, x = ps.vars("y x")
    *finer, image = gaussian_pyramid(levels)
    for k, f in reversed(list(enumerate(finer))):
        mean = ps.Func(f"mean{k}", f.shape)
        mean[y, x] = 0.5 * (f[y, x] + upsample(f"up{k}", image)[y, x])
        image = mean
    return image


# arguments and references ---------------------------------------------------------------------


def _grey(rng: np.random.Generator, h: int, w: int) -> Arguments:
    return {"image": uniform(rng, h, w)}


def _down(image: Array) -> Array:
    """An even kernel sits half a pixel before its place, hence the origin."""
    for axis in (0, 1):
        taps = np.array([1, 3, 3, 1]) / 8
        image = scipy.ndimage.correlate1d(image, taps, axis=axis, mode="nearest", origin=-1)
    return image[::2, ::2]


def expanded(image: Array, shape: tuple[int, ...]) -> Array:
    """Linear interpolation at a quarter of a pixel before and after each pixel."""
    at = [(np.arange(n) - 0.5) / 2 for n in shape]
    grid = np.stack(np.meshgrid(*at, indexing="ij"))
    return scipy.ndimage.map_coordinates(image, grid, order=1, mode="nearest")


def gaussian(image: Array, levels: int) -> list[Array]:
    pyramid = [image.astype(np.float64)]
    for _ in range(levels - 1):
        pyramid.append(_down(pyramid[-1]))
    return pyramid


def laplacian(image: Array, levels: int) -> list[Array]:
    g = gaussian(image, levels)
    return [fine - expanded(coarse, fine.shape) for fine, coarse in pairwise(g)] + [g[-1]]


def _blend(mask: Array, first: Array, second: Array, levels: int = 4) -> Array:
    pyramids = gaussian(mask, levels), laplacian(first, levels), laplacian(second, levels)
    *details, image = (m * a + (1 - m) * b for m, a, b in zip(*pyramids, strict=True))
    for detail in reversed(details):
        image = detail + expanded(image, detail.shape)
    return image


def _deep(image: Array, levels: int = 10) -> Array:
    *finer, mean = gaussian(image, levels)
    for f in reversed(finer):
        mean = (f + expanded(mean, f.shape)) / 2
    return mean


CASES = (
    Case(
        name="gaussian_pyramid",
        build=smaller_images,
        sizes="h w",
        make=_grey,
        reference=lambda image: tuple(gaussian(image, 4)[1:]),
        tolerance=1e-6,
        tags="float stencil multiple boundary",
    ),
    Case(
        name="laplacian_pyramid",
        build=laplacian_pyramid,
        sizes="h w",
        make=_grey,
        reference=lambda image: tuple(laplacian(image, 4)),
        tolerance=1e-5,
        tags="float stencil multiple boundary",
    ),
    Case(
        name="blend",
        build=blend,
        sizes="h w",
        make=lambda rng, h, w: {n: uniform(rng, h, w) for n in ("mask", "first", "second")},
        reference=_blend,
        tolerance=1e-5,
        tags="float stencil boundary",
    ),
    Case(
        name="deep_pyramid",
        build=deep_pyramid,
        sizes="h w",
        make=_grey,
        reference=_deep,
        tolerance=1e-5,
        tags="float stencil boundary deep",
    ),
)
