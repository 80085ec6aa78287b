"""Layers of convolutional networks; images are [batch, channel, row, column]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import polysched as ps

from .case import Arguments, Array, Case, integers, normal

Extent = ps.Expr | int


def output_extent(n: Extent, kernel: int, stride: int, padding: int, dilation: int = 1) -> Extent:
    """At how many places a kernel fits into n padded elements: (n - lost) / stride, rounded up."""
    lost = dilation * (kernel - 1) - 2 * padding
    return n - lost if stride == 1 else (n + (stride - 1 - lost)) // stride


def conv2d(
    kernel: tuple[int, int] = (3, 3), stride: int = 1, padding: int = 0, dilation: int = 1
) -> ps.Func:
    """O[b, k] = bias[k] + sum over c of I[b, c] correlated with W[k, c]."""
    n, c, f, h, w = ps.sizes("n c f h w")
    image = ps.Input("image", ps.float32, (n, c, h, w))
    weight = ps.Input("weight", ps.float32, (f, c, *kernel))
    bias = ps.Input("bias", ps.float32, (f,))
    b, k, y, x = ps.vars("b k y x")
    rc, ry, rx = ps.rdom("rc ry rx", (0, c), (0, kernel[0]), (0, kernel[1]))

    padded = ps.boundary.constant(image, 0.0, axes=(2, 3)) if padding else image
    rows = output_extent(h, kernel[0], stride, padding, dilation)
    columns = output_extent(w, kernel[1], stride, padding, dilation)
    O = ps.Func("O", (n, f, rows, columns))
    O[b, k, y, x] = bias[k]
    O[b, k, y, x] += (
        weight[k, rc, ry, rx]
        * (
            padded[
                b, rc, stride * y + dilation * ry - padding, stride * x + dilation * rx - padding
            ]
        )
    )
    return O


def conv_layer(kernel: int = 3) -> ps.Func:
    """The same with channels last, images [batch, row, column, channel] and weights [row, column,
    channel, filter]; same size, and what of it is positive."""
    n, c, f, h, w = ps.sizes("n c f h w")
    image = ps.Input("image", ps.float32, (n, h, w, c))
    weight = ps.Input("weight", ps.float32, (kernel, kernel, c, f))
    bias = ps.Input("bias", ps.float32, (f,))
    b, y, x, k = ps.vars("b y x k")
    ry, rx, rc = ps.rdom("ry rx rc", (0, kernel), (0, kernel), (0, c))

    edge = kernel // 2
    padded = ps.boundary.constant(image, 0.0, axes=(1, 2))
    O = ps.Func("O")
    O[b, y, x, k] = bias[k]
    O[b, y, x, k] += weight[ry, rx, rc, k] * padded[b, y + ry - edge, x + rx - edge, rc]
    relu = ps.Func("relu", (n, h, w, f))
    relu[b, y, x, k] = ps.maximum(O[b, y, x, k], 0.0)
    return relu


def pointwise_conv2d() -> ps.Func:
    """Channels last, too: each pixel by itself."""
    n, c, f, h, w = ps.sizes("n c f h w")
    image = ps.Input("image", ps.float32, (n, h, w, c))
    weight = ps.Input("weight", ps.float32, (c, f))
    bias = ps.Input("bias", ps.float32, (f,))
    b, y, x, k = ps.vars("b y x k")
    rc = ps.RVar("rc", 0, c)

    O = ps.Func("O", (n, h, w, f))
    O[b, y, x, k] = bias[k]
    O[b, y, x, k] += weight[rc, k] * image[b, y, x, rc]
    return O


def grouped_conv2d(groups: int = 2, channels: int = 4, filters: int = 6) -> ps.Func:
    """Each group of filters sees its own group of channels only; 3 by 3, same size."""
    n, h, w = ps.sizes("n h w")
    inner, outer = channels // groups, filters // groups
    image = ps.Input("image", ps.float32, (n, channels, h, w))
    weight = ps.Input("weight", ps.float32, (filters, inner, 3, 3))
    b, k, y, x = ps.vars("b k y x")
    rc, ry, rx = ps.rdom("rc ry rx", (0, inner), (0, 3), (0, 3))

    padded = ps.boundary.constant(image, 0.0, axes=(2, 3))
    O = ps.Func("O", (n, filters, h, w))
    O[b, k, y, x] = 0.0
    O[b, k, y, x] += (
        weight[k, rc, ry, rx] * (padded[b, k // outer * inner + rc, y + ry - 1, x + rx - 1])
    )
    return O


def depthwise_conv2d() -> ps.Func:
    """A filter of 3 by 3 of its own for each channel, same size."""
    n, c, h, w = ps.sizes("n c h w")
    image = ps.Input("image", ps.float32, (n, c, h, w))
    weight = ps.Input("weight", ps.float32, (c, 3, 3))
    b, k, y, x = ps.vars("b k y x")
    ry, rx = ps.rdom("ry rx", (0, 3), (0, 3))

    padded = ps.boundary.constant(image, 0.0, axes=(2, 3))
    O = ps.Func("O", (n, c, h, w))
    O[b, k, y, x] = 0.0
    O[b, k, y, x] += weight[k, ry, rx] * padded[b, k, y + ry - 1, x + rx - 1]
    return O


def max_pool(kernel: int = 3, stride: int = 2, padding: int = 1) -> ps.Func:
    """The largest value in each window; what lies beyond the edge does not count."""
    h, w = ps.sizes("h w")
    n, c = ps.sizes("n c")
    image = ps.Input("image", ps.float32, (n, c, h, w))
    b, k, y, x = ps.vars("b k y x")
    ry, rx = ps.rdom("ry rx", (0, kernel), (0, kernel))

    padded = ps.boundary.constant(image, -np.inf, axes=(2, 3))
    rows, columns = (output_extent(extent, kernel, stride, padding) for extent in (h, w))
    largest = ps.Func("largest", (n, c, rows, columns), ps.float32)
    here = padded[b, k, stride * y + ry - padding, stride * x + rx - padding]
    largest[b, k, y, x] = -np.inf
    largest[b, k, y, x] = ps.maximum(largest[b, k, y, x], here)
    return largest


def average_pool(kernel: int = 2) -> ps.Func:
    """The mean of each `kernel` by `kernel` block; rows and columns left over are not used."""
    h, w = ps.sizes("h w")
    n, c = ps.sizes("n c")
    image = ps.Input("image", ps.float32, (n, c, h, w))
    b, k, y, x = ps.vars("b k y x")
    ry, rx = ps.rdom("ry rx", (0, kernel), (0, kernel))

    total = ps.Func("total")
    total[b, k, y, x] = 0.0
    total[b, k, y, x] += image[b, k, kernel * y + ry, kernel * x + rx]
    mean = ps.Func("mean", (n, c, h // kernel, w // kernel))
    mean[b, k, y, x] = total[b, k, y, x] / float(kernel * kernel)
    return mean


def conv1d_full() -> ps.Func:
    """The full convolution of two sequences, as a product of polynomials: only where both are."""
    n, m = ps.sizes("n m")
    a = ps.Input("a", ps.int64, (n + 1,))
    b = ps.Input("b", ps.int64, (m + 1,))
    i = ps.vars("i")
    r = ps.RVar("r", ps.maximum(0, i - m), ps.minimum(i, n) + 1)

    product = ps.Func("product", (n + m + 1,))
    product[i] = 0
    product[i] += a[r] * b[i - r]
    return product


# arguments and references ---------------------------------------------------------------------

Legal = Callable[[int], int]


def _correlate(
    image: Array, weight: Array, stride: int, padding: int, dilation: int, groups: int
) -> Array:
    """All windows at once, then one product of matrices a group."""
    border = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    padded = np.pad(image.astype(np.float64), border)
    span = [dilation * (k - 1) + 1 for k in weight.shape[2:]]
    windows = sliding_window_view(padded, span, axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride, ::dilation, ::dilation]
    parts = zip(np.split(windows, groups, axis=1), np.split(weight, groups), strict=True)
    return np.concatenate([np.einsum("bcyxij,kcij->bkyx", i, w) for i, w in parts], axis=1)


def _conv_case(name: str, stride: int, padding: int, dilation: int, kernel: int = 3) -> Case:
    missing = max(dilation * (kernel - 1) - 2 * padding, 0)

    def make(rng: np.random.Generator, n: int, c: int, f: int, h: int, w: int) -> Arguments:
        return {
            "image": normal(rng, n, c, h + missing, w + missing),
            "weight": normal(rng, f, c, kernel, kernel),
            "bias": normal(rng, f),
        }

    def reference(image: Array, weight: Array, bias: Array) -> Array:
        product = _correlate(image, weight, stride, padding, dilation, groups=1)
        return product + bias[:, None, None]

    return Case(
        name=name,
        build=lambda: conv2d((kernel, kernel), stride, padding, dilation),
        sizes="n c f h w",
        make=make,
        reference=reference,
        tolerance=1e-5,
        tags="float reduction stencil slow" + (" boundary" if padding else ""),
        large={"n": 2, "c": 5, "f": 7, "h": 101, "w": 111},
        limits={"n": 2, "c": 3, "f": 2, "h": 17},
    )


def channels_last(image: Array, weight: Array, bias: Array) -> Arguments:
    """Arguments of a convolution for programs with channels last."""
    size = weight.shape[2:]
    taps = weight.transpose(2, 3, 1, 0) if size != (1, 1) else weight[:, :, 0, 0].T
    return {
        "image": np.ascontiguousarray(image.transpose(0, 2, 3, 1)),
        "weight": np.ascontiguousarray(taps),
        "bias": bias,
    }


def _last(case: Case, name: str, build: Callable[[], ps.Func], *, relu: bool) -> Case:
    """A case whose program has channels last."""

    def reference(image: Array, weight: Array, bias: Array) -> Array:
        taps = weight if weight.ndim == 4 else weight[None, None]
        found = case.reference(image.transpose(0, 3, 1, 2), taps.transpose(3, 2, 0, 1), bias)
        assert isinstance(found, np.ndarray)
        found = found.transpose(0, 2, 3, 1)
        return np.maximum(found, 0) if relu else found

    return replace(
        case,
        name=name,
        build=build,
        make=lambda rng, **sizes: channels_last(**case.make(rng, **sizes)),
        reference=reference,
    )


def _max_pool_reference(image: Array) -> Array:
    border = ((0, 0), (0, 0), (1, 1), (1, 1))
    padded = np.pad(image, border, constant_values=-np.inf)
    return sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2, ::2].max(axis=(-1, -2))


def _average_pool_reference(image: Array) -> Array:
    n, c, h, w = image.shape
    h, w = h // 2, w // 2
    blocks = image[:, :, : 2 * h, : 2 * w].reshape(n, c, h, 2, w, 2)
    return blocks.mean(axis=(3, 5), dtype=np.float64)


_LARGE = {"n": 2, "c": 5, "h": 151, "w": 201}
_LIMITS = {"n": 2, "c": 3}

CASES = (
    _conv_case("conv2d", stride=1, padding=0, dilation=1),
    _conv_case("conv2d_same", stride=1, padding=1, dilation=1),
    _conv_case("conv2d_strided", stride=2, padding=1, dilation=1),
    _conv_case("conv2d_dilated", stride=1, padding=1, dilation=2),
    _conv_case("conv2d_strided_dilated", stride=3, padding=2, dilation=2),
    _conv_case("conv2d_pointwise", stride=1, padding=0, dilation=1, kernel=1),
    _last(_conv_case("", 1, 1, 1), "conv_layer", conv_layer, relu=True),
    _last(_conv_case("", 1, 0, 1, kernel=1), "pointwise_conv2d", pointwise_conv2d, relu=False),
    Case(
        name="grouped_conv2d",
        build=grouped_conv2d,
        sizes="n h w",
        make=lambda rng, n, h, w: {
            "image": normal(rng, n, 4, h, w),
            "weight": normal(rng, 6, 2, 3, 3),
        },
        reference=lambda image, weight: _correlate(image, weight, 1, 1, 1, groups=2),
        tolerance=1e-5,
        tags="float reduction stencil boundary slow",
        large={"n": 3, "h": 101, "w": 111},
        limits={"n": 1},
    ),
    Case(
        name="depthwise_conv2d",
        build=depthwise_conv2d,
        sizes="n c h w",
        make=lambda rng, n, c, h, w: {
            "image": normal(rng, n, c, h, w),
            "weight": normal(rng, c, 3, 3),
        },
        reference=lambda image, weight: _correlate(
            image, weight[:, None], 1, 1, 1, groups=len(weight)
        ),
        tolerance=1e-5,
        tags="float reduction stencil boundary slow",
        large=_LARGE,
        limits=_LIMITS,
    ),
    Case(
        name="max_pool",
        build=max_pool,
        sizes="n c h w",
        make=lambda rng, n, c, h, w: {"image": normal(rng, n, c, h, w)},
        reference=_max_pool_reference,
        tags="float reduction stencil boundary",
        large=_LARGE,
        limits=_LIMITS,
    ),
    Case(
        name="average_pool",
        build=average_pool,
        sizes="n c h w",
        make=lambda rng, n, c, h, w: {"image": normal(rng, n, c, h, w)},
        reference=_average_pool_reference,
        tolerance=1e-6,
        tags="float reduction",
        large=_LARGE,
        limits=_LIMITS,
    ),
    Case(
        name="conv1d_full",
        build=conv1d_full,
        sizes="n m",
        make=lambda rng, n, m: {
            "a": integers(rng, np.int64, n + 1),
            "b": integers(rng, np.int64, m + 1),
        },
        reference=lambda a, b: np.convolve(a, b),
        tags="integer reduction triangular",
        large=501,
    ),
)
