"""What the demo's programs compute, once more: by NumPy's slices, written apart from them."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float32]]


def unsharp_mask(image: Array, amount: float = 1.0) -> Array:
    """See `demo_programs.unsharp_mask`."""
    h, w, _ = image.shape
    padded = np.pad(image, ((2, 2), (2, 2), (0, 0)), "edge")
    weights = np.array([1, 4, 6, 4, 1], np.float32) / 16
    across = _weighted([padded[:, d : d + w] for d in range(5)], weights)
    blurred = _weighted([across[d : d + h] for d in range(5)], weights)
    sharp: Array = np.clip(image + np.float32(amount) * (image - blurred), 0, 1)
    return sharp


def local_contrast(
    image: Array, gain: float = 2.0, faint: float = 0.1, levels: int = 6
) -> Array:
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
    padded = np.pad(image, 4, "edge")
    across = _weighted([padded[d : d + h + 6] for d in range(3)], 2 * _BLUR)
    gx = (across[:, 2:] - across[:, :-2]) / 4
    along = _weighted([padded[:, d : d + w + 6] for d in range(3)], 2 * _BLUR)
    gy = (along[2:] - along[:-2]) / 4

    xx, xy, yy = (_box(gx * gx), _box(gx * gy), _box(gy * gy))
    response: Array = xx * yy - xy**2 - np.float32(0.05) * (xx + yy) ** 2
    return response
