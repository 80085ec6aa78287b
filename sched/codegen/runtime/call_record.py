"""A checked call as a record: what the native entry compares arguments with, and what it does.

See `llvm/layout.py` for the fields, and `llvm/call_entry.py` for what reads them.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...lang.nodes.dtypes import Array, float32, float64, int64
from ...lang.nodes.nodes import ParamInfo
from ...records import dataclass
from ..llvm.calls.call_entry import (
    ABSENT,
    ALIGNED,
    ARRAY_KIND,
    ASKS_THREADS,
    FLOAT,
    FLOAT32,
    FLOAT64,
    INTEGER,
    RELEASES,
    SAME,
    WRITEABLE,
)
from ..llvm.text.layout import MADE, RECORD, SLOT
from .arguments import alignment
from .call_cache import CachedCall, float_bits, given_to
from .pool import INLINE, Pool, pool
from .python_api import word_of
from .variant import Variant

_FREE = {float64: FLOAT64, float32: FLOAT32}
"""Kinds of the slots of Params that may have any value, of types that the entry of calls takes
from Python's floats; the calls of others are checked each time."""

RELEASING = 10e3
"""Nanoseconds of estimated work from which other threads of Python may run meanwhile."""

Words = ctypes.Array[ctypes.c_int64]


class Memory:
    """Lists of words that stay where they are."""

    def __init__(self) -> None:
        self._kept: list[object] = []

    def address(self, words: Sequence[int]) -> int:
        """Where the words are from now on."""
        kept = (ctypes.c_int64 * max(len(words), 1))(*words)
        self._kept.append(kept)
        return ctypes.addressof(kept)

    def listed(
        self, lengths: str, name: str, words: Sequence[int], size: int = 1
    ) -> dict[str, int]:
        """The two fields of a list: how many elements of so many words there are, and where."""
        return {lengths: len(words) // size, name: self.address(words)}


def words_of(layout: Mapping[str, int], values: Mapping[str, int]) -> Words:
    """The memory of one thing that is laid out."""
    words = (ctypes.c_int64 * (max(layout.values()) // 8 + 1))()
    for name, value in values.items():
        words[layout[name] // 8] = value
    return words


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a kernel: the slot of each, Params among them, and how many arrays `out=`
    takes."""

    names: Mapping[str, int]
    params: Mapping[str, ParamInfo]
    outputs: int

    @property
    def count(self) -> int:
        """How many slots there are."""
        return len(self.names) + self.outputs


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of a call as they were passed."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    out: Any

    @property
    def values(self) -> tuple[Any, ...]:
        """All of them, in the order of the key of a call."""
        return given_to(self.args, self.kwargs, self.out)

    def slots(self, signature: Signature) -> list[int]:
        """The slot of each."""
        found = [*range(len(self.args)), *(signature.names[name] for name in self.kwargs)]
        outputs = range(len(signature.names), signature.count)
        return found if self.out is None else [*found, *outputs]


@dataclass(slots=True)
class Record:
    """A record, and all that it points to; only `left` changes.

    Attributes:
        words: its fields.
        variant: the code that it runs.
        kept: what else it points to.
        scratch: bytes that it needs for intermediate results.
        asks: whether it is for some number of threads.
    """

    words: Words
    variant: Variant
    kept: tuple[object, ...]
    scratch: int
    asks: bool

    @property
    def left(self) -> int:
        """For how many calls it still is; negative for any number."""
        return self.words[RECORD["left"] // 8]

    @left.setter
    def left(self, calls: int) -> None:
        self.words[RECORD["left"] // 8] = calls


class RecordMaker:
    """Makes the record of one call."""

    def __init__(self, signature: Signature, call: CachedCall, given: Given) -> None:
        self.signature, self.call = signature, call
        self.time = call.variant.time(call.prepared.values)
        self.slots = given.slots(signature)
        self.arguments = dict(zip(self.slots, given.values, strict=True))
        self.memory = Memory()

    @property
    def has_small_integers(self) -> bool:
        """Whether 64 bits hold all integers that were passed; a larger one would be taken for
        another number."""
        given = self.arguments.values()
        return all(int64.min <= x <= int64.max for x in given if type(x) is int)

    def record(self, threads: int, left: int) -> Record | None:
        """The record; None where there is no pool of threads for it now.

        Args:
            threads: that the call may use.
            left: for how many calls it is; negative for any number.
        """
        variant, prepared = self.call.variant, self.call.prepared
        asks = variant.is_threaded and self.time > INLINE
        there = pool(threads) if asks and threads > 1 else None
        if asks and threads > 1 and there is None:
            return None
        patches, described = self._patches(), self._described()
        offsets, scratch = variant.planned(prepared, threads if asks else 1)
        places = [x for place in zip(variant.places, offsets, strict=True) for x in place]
        mades = [x for _, made in self.call.made for x in self._made(*made)]
        listed = self.memory.listed
        words = words_of(RECORD, {
            "flags": (RELEASES if self.time > RELEASING else 0) | (ASKS_THREADS if asks else 0),
            "code": variant.address,
            "scratch": scratch,
            "slots": self.memory.address(described),
            "left": left,
            "asked": threads,
            **listed("words", "word", prepared.words),
            **listed("patches", "patch", patches, 2),
            **listed("places", "place", places, 2),
            **listed("mades", "made", mades, MADE["size"] // 8),
            **listed("results", "result", [self._place(k) for k in self.call.places]),
            **listed("pairs", "pair", self._pairs(), 2),
            **_threads(there, threads),
        })  # fmt: skip
        return Record(words, variant, (self.memory, there), scratch, asks)

    def _place(self, k: int) -> int:
        """Where the native entry has an argument, or what is made."""
        given = len(self.slots)
        return self.slots[k] if k < given else self.signature.count + k - given

    def _patches(self) -> list[int]:
        """Words that are others in each call, each with where it comes from."""
        call, found = self.call, [x for w, k in self.call.words for x in (w, self.slots[k])]
        for name, slot in self.signature.names.items():
            at = call.variant.scalar_word(name) if self._is_free(name, slot) else None
            found += [] if at is None else (at, slot)
        for k, (word, _) in enumerate(call.made):
            found += (word, self.signature.count + k)
        return found

    def _is_free(self, name: str, slot: int) -> bool:
        """Whether an argument is a float that may have any value."""
        info = self.signature.params.get(name)
        return (
            type(self.arguments.get(slot)) is float
            and name in self.call.free
            and info is not None
            and info.dtype in _FREE
        )

    def _described(self) -> list[int]:
        """The words of all slots."""
        names = {slot: name for name, slot in self.signature.names.items()}
        written = {self.slots[k] for _, k in self.call.outputs}
        found: list[int] = []
        for slot in range(self.signature.count):
            name, value = names.get(slot, ""), self.arguments.get(slot)
            if slot not in self.arguments:
                fields = {"kind": ABSENT}
            elif type(value) is np.ndarray:
                fields = self._array(value, slot in written)
            elif self._is_free(name, slot):
                fields = {"kind": _FREE[self.signature.params[name].dtype]}
            else:
                fields = _scalar(value)
            found += words_of(SLOT, fields)[: SLOT["size"] // 8]
        return found

    def _array(self, array: Array, is_written: bool) -> dict[str, int]:
        reach = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
        is_empty = array.size == 0
        return {
            "kind": ARRAY_KIND,
            "value": word_of(array.dtype),
            "rank": array.ndim,
            "flags": ALIGNED | (WRITEABLE if is_written else 0),
            "layout": self.memory.address((*array.shape, *array.strides)),
            "lo": 0 if is_empty else sum(min(x, 0) for x in reach),
            "hi": 0 if is_empty else sum(max(x, 0) for x in reach) + array.itemsize,
        }

    def _made(self, name: str, shape: tuple[int, ...], dtype: Any) -> Sequence[int]:
        """The words of a new array."""
        size = math.prod(shape) * dtype.itemsize
        aligned = alignment(size)
        fields = {
            "dtype": id(dtype.numpy),
            "rank": len(shape),
            "shape": self.memory.address(shape),
            "bytes": size + aligned,
            "alignment": aligned,
        }
        return words_of(MADE, fields)[: MADE["size"] // 8]

    def _pairs(self) -> list[int]:
        """Arguments that must not overlap."""
        outputs = [self.slots[k] for _, k in self.call.outputs]
        inputs = [self.slots[k] for _, k in self.call.inputs]
        pairs = (
            (a, b) for k, a in enumerate(outputs) for b in (*inputs, *outputs[k + 1 :]) if a != b
        )
        return [x for pair in pairs for x in pair]


def _scalar(value: Any) -> dict[str, int]:
    """The slot of a scalar that must be the same."""
    if type(value) is bool:
        return {"kind": SAME, "value": id(value)}
    if type(value) is int:
        return {"kind": INTEGER, "value": value}
    return {"kind": FLOAT, "value": float_bits(value)}


def _threads(there: Pool | None, threads: int) -> dict[str, int]:
    """What the code is told of threads."""
    if there is None:
        return {}
    return {"threads": threads, "run": there.native.run, "pool": there.address}
