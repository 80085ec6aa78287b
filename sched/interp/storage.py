"""Storage of the interpreter: dicts from points to values.

The dict of a Func has exactly the points of its region, so a read of a point that was never
computed fails at once. A Func with several components has a tuple at each point.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..lang.arithmetic.scalar import as_value
from ..lang.errors.errors import InternalError
from ..lang.nodes.dtypes import DType, bfloat16

Point = tuple[int, ...]


class Values(dict[Point, Any]):
    """The values of a Func, by point."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def __missing__(self, point: Point) -> Any:
        raise InternalError(f"{self.name}{list(point)} is read but was never computed")


def elements(array: NDArray[Any], dtype: DType) -> NDArray[Any]:
    """The array, or of bfloat16, which NumPy may not know, its bits."""
    return array.view(np.uint16) if dtype is bfloat16 else array


def element(array: NDArray[Any], point: Point, dtype: DType) -> Any:
    """The value at a point of what `elements` gives."""
    found = array[point]
    return dtype.of_bits(found) if dtype is bfloat16 else as_value(found, dtype)


def held(value: Any, dtype: DType) -> Any:
    """What `elements` has of a value."""
    return dtype.bits_of(value) if dtype is bfloat16 else value


class ArrayValues(Values):
    """The values of an array, taken from it when they are first read."""

    def __init__(self, name: str, array: NDArray[Any], dtype: DType) -> None:
        super().__init__(name)
        self.array = elements(array, dtype)
        self.dtype = dtype

    def __missing__(self, point: Point) -> Any:
        if not all(0 <= i < n for i, n in zip(point, self.array.shape, strict=True)):
            raise InternalError(f"{self.name}{list(point)} is outside its bounds")
        value = self[point] = element(self.array, point, self.dtype)
        return value


def to_arrays(
    values: Values, shape: tuple[int, ...], dtypes: tuple[DType, ...]
) -> tuple[NDArray[Any], ...]:
    """The values of a Func over its box, as one array a component."""
    arrays = tuple(np.empty(shape, t.numpy) for t in dtypes)
    views = tuple(map(elements, arrays, dtypes))
    for point, value in values.items():
        each = value if len(dtypes) > 1 else (value,)
        for view, component, t in zip(views, each, dtypes, strict=True):
            view[point] = held(component, t)
    return arrays


def region_array(
    values: Values, axes: Sequence[range], dtypes: tuple[DType, ...]
) -> tuple[NDArray[Any], ...]:
    """The values of a part of a tensor as read-only arrays, one a component."""
    arrays = tuple(np.empty(tuple(map(len, axes)), t.numpy) for t in dtypes)
    views = tuple(map(elements, arrays, dtypes))
    for at in np.ndindex(*map(len, axes)):
        value = values[tuple(axis[k] for axis, k in zip(axes, at, strict=True))]
        each = value if len(dtypes) > 1 else (value,)
        for view, component, t in zip(views, each, dtypes, strict=True):
            view[at] = held(component, t)
    for array in arrays:
        array.flags.writeable = False
    return arrays
