"""Counts at places that the data choose, and tables made from them."""

from __future__ import annotations

import numpy as np

import polysched as ps

from .case import Arguments, Array, Case, integers, normal, uniform


def histogram() -> ps.Func:
    """How many pixels have each of the 256 values."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.uint8, (h, w))
    b = ps.vars("b")
    ry, rx = ps.rdom("ry rx", (0, h), (0, w))

    count = ps.Func("count", (256,), ps.int32)
    count[b] = 0
    count[image[ry, rx]] += 1
    return count


def equalize() -> ps.Func:
    """Each pixel becomes its rank among all pixels, scaled to 255."""
    h, w = ps.sizes("h w")
    image = ps.Input("image", ps.uint8, (h, w))
    b, y, x = ps.vars("b y x")
    ry, rx = ps.rdom("ry rx", (0, h), (0, w))
    r = ps.RVar("r", 1, 256)

    count = ps.Func("count", (256,), ps.int64)
    count[b] = 0
    count[image[ry, rx]] += 1

    below = ps.Func("below", (256,))
    below[b] = count[b]
    below[r] = below[r - 1] + count[r]

    equalized = ps.Func("equalized", (h, w))
    equalized[y, x] = ps.cast(ps.uint8, 255 * below[image[y, x]] // (h * w))
    return equalized


def joint_histogram(bins: int = 16) -> ps.Func:
    """How often each pair of values meets at the same pixel of two images, `bins` a side."""
    h, w = ps.sizes("h w")
    first = ps.Input("first", ps.uint8, (h, w))
    second = ps.Input("second", ps.uint8, (h, w))
    a, b = ps.vars("a b")
    ry, rx = ps.rdom("ry rx", (0, h), (0, w))

    width = 256 // bins
    count = ps.Func("count", (bins, bins), ps.uint32)
    count[a, b] = 0
    count[first[ry, rx] // width, second[ry, rx] // width] += 1
    return count


def segment_sums() -> ps.Func:
    """The sum of all values that carry each label; labels are known to be below `groups`."""
    n, groups = ps.sizes("n groups")
    label = ps.Input("label", ps.int32, (n,), range=(0, groups))
    value = ps.Input("value", ps.float32, (n,))
    g = ps.vars("g")
    r = ps.RVar("r", 0, n)

    total = ps.Func("total", (groups,))
    total[g] = 0.0
    total[label[r]] += value[r]
    return total


def peaks(bins: int = 32) -> ps.Func:
    """The largest value that falls into each bin of [0, 1); -inf where there is none."""
    n = ps.sizes("n")
    value = ps.Input("value", ps.float32, (n,))
    b = ps.vars("b")
    r = ps.RVar("r", 0, n)

    largest = ps.Func("largest", (bins,), ps.float32)
    bin_ = ps.clip(ps.cast(ps.int32, value[r] * bins), 0, bins - 1)
    largest[b] = -np.inf
    largest[bin_] = ps.maximum(largest[bin_], value[r])
    return largest


# arguments and references ---------------------------------------------------------------------


def _dark(rng: np.random.Generator, h: int, w: int) -> Array:
    """An image that uses dark values more than bright ones."""
    return np.floor(256 * uniform(rng, h, w) ** 2).astype(np.uint8)


def _equalize_reference(image: Array) -> Array:
    rank = np.searchsorted(np.sort(image, axis=None), image, side="right")
    return np.floor_divide(255 * rank, image.size).astype(np.uint8)


def _joint_reference(first: Array, second: Array) -> Array:
    edges = np.arange(0, 257, 16)
    return np.histogram2d(first.ravel(), second.ravel(), (edges, edges))[0].astype(np.uint32)


def _segment_arguments(rng: np.random.Generator, n: int, groups: int) -> Arguments:
    if groups == 0:
        n = 0  # there is no label to carry
    label = integers(rng, np.int32, n, below=max(groups, 1))
    return {"label": label, "value": normal(rng, n), "groups": groups}


def _peaks_reference(value: Array) -> Array:
    largest = np.full(32, -np.inf, np.float32)
    order = np.argsort(value)
    largest[(value[order] * 32).astype(int)] = value[order]  # of equal places the last one stays
    return largest


CASES = (
    Case(
        name="histogram",
        build=histogram,
        sizes="h w",
        make=lambda rng, h, w: {"image": _dark(rng, h, w)},
        reference=lambda image: np.bincount(image.ravel(), minlength=256).astype(np.int32),
        tags="integer scatter reduction",
    ),
    Case(
        name="equalize",
        build=equalize,
        sizes="h w",
        make=lambda rng, h, w: {"image": _dark(rng, h, w)},
        reference=_equalize_reference,
        tags="integer scatter gather recurrence",
    ),
    Case(
        name="joint_histogram",
        build=joint_histogram,
        sizes="h w",
        make=lambda rng, h, w: {"first": _dark(rng, h, w), "second": integers(rng, np.uint8, h, w)},
        reference=_joint_reference,
        tags="integer scatter reduction",
    ),
    Case(
        name="segment_sums",
        build=segment_sums,
        sizes="n groups",
        make=_segment_arguments,
        reference=lambda label, value, groups: np.bincount(label, value, groups),
        tolerance=1e-5,
        tags="float scatter reduction",
        large={"n": 9_999, "groups": 101},
    ),
    Case(
        name="peaks",
        build=peaks,
        sizes="n",
        make=lambda rng, n: {"value": uniform(rng, n)},
        reference=_peaks_reference,
        tags="float scatter reduction",
        large=9_999,
    ),
)
