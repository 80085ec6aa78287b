"""The same values in other layouts, and other values of the same types."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .case import Arguments, Array


def strided(array: Array) -> Array:
    """Every second element of an array twice as long along each axis, then some."""
    wide = np.zeros([2 * n + 1 for n in array.shape], array.dtype)
    view = wide[tuple(slice(1, 2 * n + 1, 2) for n in array.shape)]
    view[...] = array
    return view


def transposed(array: Array) -> Array:
    """A view of an array with its axes in opposite order."""
    return np.ascontiguousarray(array.T).T


def reversed_(array: Array) -> Array:
    """A view with negative strides."""
    backwards = (slice(None, None, -1),) * array.ndim
    return np.ascontiguousarray(array[backwards])[backwards]


def offset(array: Array) -> Array:
    """A contiguous view that starts one element into its buffer, so at no round address."""
    flat = np.empty(array.size + 1, array.dtype)[1:]
    flat[:] = array.ravel()
    return flat.reshape(array.shape)


def read_only(array: Array) -> Array:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


VIEWS: dict[str, Callable[[Array], Array]] = {
    "contiguous": np.ascontiguousarray,
    "strided": strided,
    "transposed": transposed,
    "reversed": reversed_,
    "offset": offset,
    "read-only": read_only,
}

_UNUSUAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 1e38, 0.5, 2.0**31)


def with_unusual_floats(arguments: Arguments, rng: np.random.Generator) -> Arguments:
    """Infinities, NaNs, signed zeros, denormals and huge values in place of some elements."""
    return {name: _sprinkle(value, rng) for name, value in arguments.items()}


def _sprinkle(value: object, rng: np.random.Generator) -> object:
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    unusual = rng.choice(np.array(_UNUSUAL, value.dtype), value.shape)
    return np.where(rng.random(value.shape) < 0.2, unusual, value)
