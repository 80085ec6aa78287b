"""Arrays compared to the bit, but that all NaNs are equal: of every type, also of bfloat16, which
NumPy does not know as a float."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import bfloat
from .dtypes import Array

Flags = npt.NDArray[np.bool_]


def differing(found: Array, wanted: Array) -> Flags:
    """Which elements of two arrays of one type and shape differ."""
    differs: Flags = _words(found) != _words(wanted)
    return differs & ~(_are_nan(found) & _are_nan(wanted))


def numbers(array: Array) -> Array:
    """The same numbers, in a type that NumPy computes with: those of bfloat16 as float32."""
    if array.dtype != bfloat.numpy_type():
        return array
    return (_words(array).astype(np.uint32) << 16).view(np.float32)


def _words(array: Array) -> npt.NDArray[Any]:
    """The bits of each element, as an integer."""
    contiguous = np.ascontiguousarray(array).reshape(array.shape)
    return contiguous.view(f"u{array.itemsize}")


def _are_nan(array: Array) -> Flags:
    """Which elements are NaN."""
    if array.dtype == bfloat.numpy_type():
        return (_words(array) & 0x7FFF) > 0x7F80
    if array.dtype.kind == "f":
        return np.isnan(array)
    return np.zeros(array.shape, np.bool_)
