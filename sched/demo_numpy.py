"""The demo's programs, written independently with NumPy's slices, to compare their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]  # float32 throughout

_BLUR = np.array([1, 2, 1], np.float32) / 4


def unsharp_mask(image: Array, amount: float = 1.0) -> Array:
    """See `demo_programs.unsharp_mask`."""
    h, w, _ = image.shape
    padded = np.pad(image, ((2, 2), (2, 2), (0, 0)), "edge")
    weights = np.array([1, 4, 6, 4, 1], np.float32) / 16
    across = _weighted([padded[:, d : d + w] for d in range(5)], weights)
    blurred = _weighted([across[d : d + h] for d in range(5)], weights)
    sharp: Array = np.clip(image + np.float32(amount) * (image - blurred), 0, 1)
    return sharp


def local_contrast(image: Array, gain: float = 2.0, faint: float = 0.1, levels: int = 6) -> Array:
    """See `demo_programs.local_contrast`."""
    light = image @ np.array([0.299, 0.587, 0.114], np.float32)
    pyramid = [light]
    for _ in range(levels):
        pyramid.append(_smaller(pyramid[-1]))

    result = pyramid[-1]
    for k in reversed(range(levels)):
        detail = pyramid[k] - _larger(pyramid[k + 1], pyramid[k])
        strength = 1 + np.float32(gain) * np.exp(-np.square(detail / np.float32(faint)))
        result = _larger(result, pyramid[k]) + strength * detail

    clear: Array = np.clip(image * result[..., None] / (light[..., None] + np.float32(1e-3)), 0, 1)
    return clear


def _smaller(image: Array) -> Array:
    """Blurred by (1, 2, 1) / 4 along both axes; then every second row and column."""
    padded = np.pad(image, 1, "edge")
    rows = _weighted([padded[d : d + image.shape[0] : 2] for d in range(3)], _BLUR)
    return _weighted([rows[:, d : d + image.shape[1] : 2] for d in range(3)], _BLUR)


def _larger(image: Array, like: Array) -> Array:
    """Linear interpolation to the shape of `like`, beyond the last row and column the edge."""
    padded = np.pad(image, (0, 1), "edge")
    rows = np.repeat(padded, 2, axis=0)[: like.shape[0] + 1]
    rows = (rows[:-1] + rows[1:]) / 2
    columns = np.repeat(rows, 2, axis=1)[:, : like.shape[1] + 1]
    double: Array = (columns[:, :-1] + columns[:, 1:]) / 2
    return double


def harris(image: Array) -> Array:
    """See `demo_programs.harris`."""
    h, w = image.shape
    padded = np.pad(image, 3, "edge")
    right, down = padded[:, 2:] - padded[:, :-2], padded[2:] - padded[:-2]
    gx = _weighted([right[d : d + h + 4] for d in range(3)], _BLUR / 2)
    gy = _weighted([down[:, d : d + w + 4] for d in range(3)], _BLUR / 2)

    xx, xy, yy = _box(gx * gx), _box(gx * gy), _box(gy * gy)
    response: Array = xx * yy - xy * xy - np.float32(0.05) * (xx + yy) ** 2
    return response


def _box(values: Array) -> Array:
    """Sums over 5 by 5 elements, from differences of running sums in float64."""
    sums = np.pad(values, ((1, 0), (1, 0))).astype(np.float64).cumsum(0).cumsum(1)
    box: Array = sums[5:, 5:] - sums[5:, :-5] - sums[:-5, 5:] + sums[:-5, :-5]
    return box.astype(np.float32)


def matrix_product(A: Array, B: Array) -> Array:
    """See `demo_programs.matrix_product`."""
    product: Array = A @ B
    return product


def _weighted(parts: Sequence[Array], weights: Array) -> Array:
    """The sum of the parts, each times its weight."""
    total: Array = parts[0] * weights[0]
    for part, weight in zip(parts[1:], weights[1:], strict=True):
        total += part * weight
    return total
