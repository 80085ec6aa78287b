"""What kernels call back: traces that print, and extern stages."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..lang.dtypes import Array, DType, int32, int64
from ..lang.nodes import Node, Op
from ..lang.opaque import Extern, trace_text
from .ir import Buffer, Callback, dtype_of

Arrays = Callable[[Buffer], tuple[Array, tuple[int, ...]]]
"""The array of a buffer, and the index of its first element."""
_FLOATS = {4: ("<i", "<f"), 8: ("<q", "<d")}
_BITS = {32: int32, 64: int64}


_NATIVE = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64))


class Dispatcher:
    """The function that one run of a kernel calls back; what it raises is kept for the end."""

    def __init__(self, callbacks: Sequence[Callback], arrays: Arrays) -> None:
        self.error: BaseException | None = None

        def dispatch(number: int, words: Any) -> None:
            if self.error is not None:
                return  # the kernel runs to its end, which cannot be told to stop
            try:
                callbacks[number](words, arrays)
            except BaseException as error:
                self.error = error

        self._native = _NATIVE(dispatch)

    @property
    def address(self) -> int:
        """Where native code finds it."""
        return ctypes.cast(self._native, ctypes.c_void_p).value or 0


def as_word(value: Node) -> Node:
    """A value as an int64; of a float, the bits."""
    dtype = dtype_of(value)
    if dtype.is_float:
        value = Op("bitcast", (value,), _BITS[dtype.bits])
    return value if dtype == int64 else Op("cast", (value,), int64)


def from_word(word: int, dtype: DType) -> Any:
    """The value of a word."""
    if dtype.is_float:
        bits, number = _FLOATS[dtype.itemsize]
        return struct.unpack(number, struct.pack(bits, word))[0]
    return word % (1 << 64) if dtype.kind == "u" else word


@dataclass(frozen=True)
class PrintTrace:
    """Prints a value at a point; the words are the value and the point."""

    label: str
    dtype: DType
    stage: str
    names: tuple[str, ...]

    def __call__(self, words: Sequence[int], arrays: Arrays, /) -> None:
        point = dict(zip(self.names, words[1 : 1 + len(self.names)], strict=True))
        value = from_word(words[0], self.dtype)
        print(trace_text(self.label, value, self.dtype, self.stage, point))


@dataclass(frozen=True)
class RunExtern:
    """Runs an extern stage; the words are the bounds of what it reads, axis by axis."""

    stage: Extern
    sources: tuple[Buffer, ...]
    targets: tuple[Buffer, ...]

    def __call__(self, words: Sequence[int], arrays: Arrays, /) -> None:
        at = 0
        regions = []
        for source in self.sources:
            rank = source.ndim
            lows, ends = words[at : at + rank], words[at + rank : at + 2 * rank]
            at += 2 * rank
            array, origin = arrays(source)
            first = [max(lo - o, 0) for lo, o in zip(lows, origin, strict=True)]
            last = [max(hi - o, 0) for hi, o in zip(ends, origin, strict=True)]
            view = array[tuple(map(slice, first, last))]
            view.flags.writeable = False
            regions.append(view)
        self.stage.run(regions, [arrays(t)[0] for t in self.targets])
