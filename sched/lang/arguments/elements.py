"""Whether all elements of an array lie in a range."""

from __future__ import annotations

import numpy as np

from ..arithmetic.evaluate import Scalar
from ..nodes.dtypes import Array


def are_within(array: Array, lo: Scalar, hi: Scalar) -> bool:
    """Whether all elements are in [lo, hi). One pass over them is enough where the range begins
    with 0 and they are integers: read as unsigned ones, negative ones are above all others."""
    if array.size == 0:
        return True
    if array.dtype.kind == "i" and lo == 0 and hi <= 1 << (8 * array.itemsize - 1):
        return bool(array.view(np.dtype(f"u{array.itemsize}")).max() < hi)
    if array.dtype.kind == "u" and lo <= 0:
        return bool(array.max() < hi)
    return bool(array.min() >= lo and array.max() < hi)
