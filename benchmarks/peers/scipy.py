"""SciPy: LAPACK of its OpenBLAS, and its filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
import scipy.linalg
import scipy.ndimage
import scipy.signal
from case import Array
from scipy.sparse import csgraph

VERSION = scipy.__version__
Call = Callable[[], Any]


def lu(A: Array) -> Call:
    """LAPACK looks for pivots, which the others do not; here it finds them on the diagonal."""
    work = np.empty_like(A, order="F")

    def call() -> Array:
        work[...] = A
        return scipy.linalg.lu_factor(work, overwrite_a=True, check_finite=False)[0]

    return call


def floyd_warshall(weight: Array) -> Call:
    return lambda: csgraph.floyd_warshall(weight).astype(weight.dtype)


def median_5x5(image: Array) -> Call:
    out = np.empty_like(image)
    return lambda: scipy.ndimage.median_filter(image, 5, mode="nearest", output=out)


def smooth_image(image: Array, a: float) -> Call:
    gain, feedback = np.float32([a]), np.float32([1, a - 1])

    def along(x: Array, axis: int) -> Array:
        for _ in range(2):  # forth, and back
            state = (1 - np.float32(a)) * np.take(x, [0], axis)
            x = np.flip(scipy.signal.lfilter(gain, feedback, x, axis=axis, zi=state)[0], axis)
        return x

    return lambda: along(along(image, 0), 1)
