"""NumPy, as one writes it with care, and OpenBLAS through it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from case import Array

VERSION = np.__version__
Call = Callable[[], Array]


def matmul(A: Array, B: Array) -> Call:
    C = np.empty((len(A), B.shape[1]), A.dtype)
    return lambda: np.matmul(A, B, out=C)
