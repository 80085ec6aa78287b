"""The preconditions of native code on arrays: layout, alignment, writability, overlap."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...lang.errors.errors import CallValueError
from ...lang.nodes.dtypes import Array, DType

#: How hard to look for a shared element before two arrays count as overlapping.
_OVERLAP_WORK = 10_000


#: What large outputs are aligned to. A line of the cache, so that no vector reaches into two; the
#: largest, a page: a load waits for a store a little before it modulo a page, and what NumPy
#: allocates begins a little behind one.
_ALIGNMENTS = ((1 << 16, 1 << 12), (1 << 12, 1 << 6))


def alignment(size: int) -> int:
    """What a new output of so many bytes is aligned to; 0 where NumPy's own alignment will do."""
    return next((a for least, a in _ALIGNMENTS if size >= least), 0)


def allocate(name: str, shape: tuple[int, ...], dtype: DType) -> Array:
    """A new array for an output."""
    size = math.prod(shape) * dtype.itemsize
    try:
        aligned = alignment(size)
        if not aligned:
            return np.empty(shape, dtype.numpy)
        block = np.empty(size + aligned, np.uint8)
        start = -block.ctypes.data % aligned
        return block[start : start + size].view(dtype.numpy).reshape(shape)
    except (MemoryError, ValueError) as error:
        raise CallValueError(
            f"the output {name} of shape {shape} does not fit into memory: {error}",
            argument=name,
            hint="ask for smaller sizes, or pass out= with a memory-mapped array",
        ) from None


def check_aligned(name: str, array: Array) -> None:
    """Every element must lie at a multiple of its size."""
    if not array.flags.aligned:
        raise CallValueError(
            f"{name} is not aligned to its element size of {array.itemsize} bytes",
            argument=name,
            hint="copy it: np.require(..., requirements='A')",
        )


def check_distinct(name: str, array: Array) -> None:
    """An output must own each of its elements."""
    if _overlaps_itself(array):
        raise CallValueError(
            f"several elements of {name} lie at one address "
            f"(shape {array.shape}, strides {array.strides})",
            argument=name,
            hint="pass an array that owns each of its elements",
        )


def _overlaps_itself(array: Array) -> bool:
    """Whether two indices share memory, as far as that can be told."""
    if array.size <= 1 or _is_nested(array):
        return False
    # Where elements lie is a sum over the axes. So of two at one address there are two of which one
    # is at 0 along the first axis where they differ, and along those before it.
    rest = np.asarray(array)
    for extent in array.shape:
        if extent > 1 and _share(rest[:1], rest[1:]):
            return True
        rest = rest[0]
    return False


def _is_nested(array: Array) -> bool:
    """Whether each stride reaches past all that axes of smaller ones do, as in almost all arrays:
    then no two elements share memory."""
    reach = array.itemsize
    axes = [(abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1]
    for stride, extent in sorted(axes):
        if stride < reach:
            return False
        reach = stride * (extent - 1) + reach
    return True


def check_overlap(outputs: Mapping[str, Array], inputs: Mapping[str, Array]) -> None:
    """No output may share memory with an input or with another output."""
    names = list(outputs)
    for k, name in enumerate(names):
        others = {**inputs, **{n: outputs[n] for n in names[k + 1 :]}}
        for other, array in others.items():
            if np.may_share_memory(outputs[name], array) and _share(outputs[name], array):
                raise CallValueError(
                    f"{name}, which is written, shares memory with {other}: results would depend "
                    "on the order in which elements are computed",
                    argument=name,
                    hint=f"pass a copy: {other}.copy()",
                )


def _share(a: Array, b: Array) -> bool:
    try:
        return bool(np.shares_memory(a, b, max_work=_OVERLAP_WORK))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def is_contiguous(array: Array) -> bool:
    """Whether elements lie in C order without gaps; strides of empty arrays do not matter."""
    return array.flags.c_contiguous


def bits(value: Any, dtype: DType) -> int:
    """A scalar as the 64-bit word that a kernel's slot holds."""
    if dtype.is_float:
        return dtype.bits_of(value)  # floats lie in the low end of their slot
    number = int(value)
    return number - (1 << 64) if number >= 1 << 63 else number
