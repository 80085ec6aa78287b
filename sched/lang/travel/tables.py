"""The elements of embedded tables as text, and back: base64 of their bytes, little-endian."""

from __future__ import annotations

import base64
import binascii
import math
from typing import Any

import numpy as np

from ..errors.errors import LanguageError
from ..nodes.dtypes import Array, DType


def text_of(array: Array) -> str:
    """The elements as text."""
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return base64.b64encode(little.tobytes()).decode("ascii")


def array_of(text: Any, dtype: DType, shape: tuple[int, ...]) -> Array:
    """The elements that `text_of` wrote.

    Raises:
        LanguageError: it is no such text, or has another number of elements.
    """
    if not isinstance(text, str):
        raise LanguageError(f"the elements of a table are text in base64, and not {text!r:.60}")
    try:
        data = base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error) as error:
        raise LanguageError(f"the elements of a table are no base64: {error}") from None
    wanted = math.prod(shape) * dtype.itemsize
    if len(data) != wanted:
        raise LanguageError(
            f"a table of {dtype}{list(shape)} has {wanted} bytes, and {len(data)} are given"
        )
    if dtype.is_bool:
        return np.frombuffer(data, np.uint8).astype(np.bool_).reshape(shape)
    found: Array = np.frombuffer(data, dtype.numpy.newbyteorder("<")).reshape(shape)
    return found
