"""Numba: loops in Python, with fast maths and parallel outer loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from case import Array
from numba import prange

VERSION = numba.__version__
Call = Callable[[], Any]
jit = numba.njit(fastmath=True, parallel=True, nogil=True)


@jit
def _matmul(A, B, C):
    rows = 4
    for block in prange((A.shape[0] + rows - 1) // rows):
        low, high = block * rows, min(block * rows + rows, A.shape[0])
        C[low:high] = 0
        for k in range(A.shape[1]):
            for i in range(low, high):
                a = A[i, k]
                for j in range(B.shape[1]):
                    C[i, j] += a * B[k, j]


def matmul(A: Array, B: Array) -> Call:
    C = np.empty((len(A), B.shape[1]), A.dtype)

    def call() -> Array:
        _matmul(A, B, C)
        return C

    return call
