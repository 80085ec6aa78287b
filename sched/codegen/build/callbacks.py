"""What kernels call back: traces that print, and extern stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...lang.nodes.dtypes import Array, DType, int64
from ...lang.nodes.nodes import Node, Op
from ...lang.tensors.extern import Extern
from ...lang.tensors.trace import trace_text
from ...records import dataclass
from ..ir.ir import Buffer, dtype_of

Arrays = Callable[[Buffer], tuple[Array, tuple[int, ...]]]
"""The array of a buffer, and the index of its first element."""


def as_word(value: Node) -> Node:
    """A value as an int64; of a float, the bits."""
    dtype = dtype_of(value)
    if dtype.is_float:
        value = Op("bitcast", (value,), dtype.signed)
    return value if dtype == int64 else Op("cast", (value,), int64)


def from_word(word: int, dtype: DType) -> Any:
    """The value of a word."""
    if dtype.is_float:
        return float(dtype.of_bits(word % (1 << dtype.bits)))
    return word % (1 << 64) if dtype.kind == "u" else word


@dataclass(frozen=True)
class PrintTrace:
    """Prints a value at a point; the words behind the number are the value and the point."""

    label: str
    dtype: DType
    stage: str
    names: tuple[str, ...]

    def __call__(self, words: Sequence[int], arrays: Arrays, /) -> None:
        point = dict(zip(self.names, words[2 : 2 + len(self.names)], strict=True))
        value = from_word(words[1], self.dtype)
        print(trace_text(self.label, value, self.dtype, self.stage, point))


@dataclass(frozen=True)
class RunExtern:
    """Runs an extern stage. The words behind the number are, for each buffer that it reads, the
    lower and the upper bounds of the region along each axis, then the extents of what it computes.
    """

    stage: Extern
    sources: tuple[Buffer, ...]
    targets: tuple[Buffer, ...]

    def __call__(self, words: Sequence[int], arrays: Arrays, /) -> None:
        at = 1
        regions = []
        for source in self.sources:
            rank = source.ndim
            lows, highs = words[at : at + rank], words[at + rank : at + 2 * rank]
            at += 2 * rank
            view = _part(*arrays(source), lows, highs)
            view.flags.writeable = False
            regions.append(view)
        extents = words[at : at + self.targets[0].ndim]
        lows = [0] * len(extents)
        self.stage.run(regions, [_part(*arrays(t), lows, extents) for t in self.targets])


def _part(array: Array, origin: Sequence[int], lows: Sequence[int], highs: Sequence[int]) -> Array:
    """A view of the elements from `lows` to `highs`; `origin` is the index of the first of all."""
    shape = tuple(max(hi - lo, 0) for lo, hi in zip(lows, highs, strict=True))
    if 0 in shape:
        return np.empty(shape, array.dtype)  # what is stored of nothing may have another shape
    first = [lo - o for lo, o in zip(lows, origin, strict=True)]
    index: list[Any] = [slice(k, k + n) for k, n in zip(first, shape, strict=True)]
    return array[*index, ...]  # without the dots, a scalar where there are no axes
