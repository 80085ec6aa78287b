"""bfloat16 without a type of NumPy's: a scalar is a np.float32 that bfloat16 can hold.

Its bits are the upper half of those of the float32. Sums, products, quotients and square roots of
two such numbers, computed in float32 and rounded again, are rounded once: 24 bits of a significand
are at least twice 8 and two more, and no result is a tie only because it was rounded before.
"""

from __future__ import annotations

import math
import sys
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

_MANTISSA, _LEAST = 7, -133


def nearest(number: Any) -> Any:
    """The bfloat16 nearest to a number, ties to even. A NaN keeps the bits that there is room for,
    and is quiet."""
    if number != number:
        single = np.float32(number)
        return of_bits((int(single.view(np.uint32)) >> 16) | 0x40)
    x = float(number)
    if math.isinf(x) or x == 0:
        return np.float32(x)
    unit = max(math.frexp(x)[1] - 1 - _MANTISSA, _LEAST)
    digits = round(math.ldexp(x, -unit))  # Python rounds half to even
    with np.errstate(over="ignore"):
        return np.float32(math.copysign(math.ldexp(abs(digits), unit), x))


def of_bits(bits: Any) -> Any:
    """The bfloat16 that has these bits."""
    return np.uint32((int(bits) & 0xFFFF) << 16).view(np.float32)


def bits_of(value: Any) -> int:
    """The bits of a bfloat16."""
    return int(np.float32(value).view(np.uint32)) >> 16


def rounded(numbers: Any) -> np.ndarray[tuple[Any, ...], np.dtype[np.uint16]]:
    """The bits of the bfloat16 nearest to each element of an array of float32, as uint16."""
    words = np.asarray(numbers, np.float32).view(np.uint32)
    nearest = (words + np.uint32(0x7FFF) + ((words >> np.uint32(16)) & np.uint32(1))) >> 16
    quiet = (words >> np.uint32(16)) | np.uint32(0x40)
    is_nan = (words & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    return np.where(is_nan, quiet, nearest).astype(np.uint16)


@cache
def numpy_type() -> np.dtype[Any]:
    """The type of arrays: that of the package ml_dtypes where it is installed, else a record of
    one field, the bits."""
    try:
        found: np.dtype[Any] = np.dtype(import_module("ml_dtypes").bfloat16)
    except ImportError:
        found = np.dtype([("bfloat16", np.uint16)])
    return found


def of_torch(given: Any) -> np.ndarray[tuple[Any, ...], np.dtype[Any]] | None:
    """The array of a tensor of PyTorch's bfloat16, by its bits; None of anything else, and where
    a gradient would be lost."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(given, torch.Tensor):
        return None
    if given.dtype != torch.bfloat16 or given.requires_grad:
        return None
    found: np.ndarray[tuple[Any, ...], np.dtype[Any]]
    found = given.view(torch.int16).numpy().view(numpy_type())
    return found
