"""Arrays that end, or begin, where a page begins that may not be touched.

A read or write out of bounds then is a crash instead of a wrong number, or of nothing at all. An
array lies in memory of its own, in any layout; the bytes between its elements hold a pattern, by
which it is seen whether something was written there.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

PAGE = mmap.PAGESIZE
#: No number that programs like to meet; bool, integers and floats differ from 0 and 1 by it.
PATTERN = 0xA7
_READ, _ALL = mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE
_protect = ctypes.CDLL(None, use_errno=True).mprotect
_protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class Pages:
    """Some whole pages of memory between two that may not be touched."""

    def __init__(self, count: int) -> None:
        self._area = mmap.mmap(-1, (count + 2) * PAGE)
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(self._area))
        self.bytes = np.frombuffer(self._area, np.uint8, count * PAGE, PAGE)
        self.bytes[:] = PATTERN
        self._protect(self._start, PAGE, 0)
        self._protect(self._start + (count + 1) * PAGE, PAGE, 0)

    def _protect(self, address: int, size: int, mode: int) -> None:
        if _protect(address, size, mode) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")

    def wall(self, page: int) -> None:
        """From now on no page between the first and the last may be touched either."""
        self._protect(self._start + (1 + page) * PAGE, PAGE, 0)

    def freeze(self) -> None:
        """From now on a write is a crash."""
        if self.bytes.size:
            self._protect(self._start + PAGE, self.bytes.size, _READ)

    def view(self, dtype: np.dtype[Any], shape: Sequence[int], offset: int,
             strides: Sequence[int]) -> Array:  # fmt: skip
        """An array that starts `offset` bytes into the pages."""
        return np.ndarray(shape, dtype, self._area, PAGE + offset, tuple(strides))


@dataclass(frozen=True)
class Layout:
    """How an array lies in memory.

    Attributes:
        order: its axes from the outermost to the innermost.
        steps: for each axis, how many elements further the next one lies; below 0 backwards.
        at_end: whether its last byte, or its first one, is next to the forbidden page.
    """

    order: tuple[int, ...]
    steps: tuple[int, ...]
    at_end: bool = True


def random_layout(rng: np.random.Generator, rank: int) -> Layout:
    """Most often contiguous: strided arguments are another variant of a kernel."""
    at_end = bool(rng.integers(2))
    plain = Layout(tuple(range(rank)), (1,) * rank, at_end)
    if rng.random() < 0.5:
        return plain
    order = tuple(int(k) for k in rng.permutation(rank)) if rng.random() < 0.5 else plain.order
    steps = (1,) * rank if rng.random() < 0.4 else tuple(rng.choice([1, 1, -1, 2, -2, 3], rank))
    return Layout(order, tuple(map(int, steps)), at_end)


class Walled:
    """An array in memory of its own."""

    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...], layout: Layout) -> None:
        strides, reach = [0] * len(shape), 1
        for axis in reversed(layout.order):
            strides[axis] = reach * layout.steps[axis] * dtype.itemsize
            reach *= max(shape[axis], 1) * abs(layout.steps[axis])
        spans = [s * (n - 1) for s, n in zip(strides, shape, strict=True)]
        size = 0 if 0 in shape else sum(map(abs, spans)) + dtype.itemsize
        count = max(1, -(-size // PAGE))
        self.pages = Pages(count)
        start = count * PAGE - size if layout.at_end else 0
        first = 0 if 0 in shape else -sum(s for s in spans if s < 0)
        if 0 in shape:
            strides = [abs(s) for s in strides]
        self.array = self.pages.view(dtype, shape, start + first, strides)

    def is_intact(self) -> bool:
        """Whether nothing was written beside the elements."""
        words = self.array.view(f"u{self.array.itemsize}")
        kept = words.copy()
        words[...] = np.frombuffer(bytes([PATTERN]) * words.itemsize, words.dtype)[0]
        intact = bool((self.pages.bytes == PATTERN).all())
        words[...] = kept
        return intact


def walled_input(values: Array, layout: Layout, writable: bool = False) -> Walled:
    """The values in walled memory that may not be written, or may."""
    made = Walled(values.dtype, values.shape, layout)
    made.array[...] = values
    if not writable:
        made.pages.freeze()
    return made
