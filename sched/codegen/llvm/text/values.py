"""How types and constants are written in LLVM IR, and what a value is.

A value has an element type and a number of lanes: `float` is (float32, 1), `<8 x float>` is
(float32, 8). A bool is `i1` in registers and `i8` in memory; integers carry no sign, the
instructions do.
"""

from __future__ import annotations

import struct
from functools import cache, lru_cache

import numpy as np

from ....lang.nodes.dtypes import DType
from ....records import dataclass

Number = bool | int | float


@cache
def type_name(dtype: DType, lanes: int = 1) -> str:
    """The type of a value in registers: `float`, `i1`, `<8 x i32>`."""
    element = dtype.format.llvm if dtype.is_float else f"i{dtype.bits}"
    return element if lanes == 1 else f"<{lanes} x {element}>"


@cache
def memory_type_name(dtype: DType, lanes: int = 1) -> str:
    """The type of a value in memory, where a bool takes a byte."""
    if not dtype.is_bool:
        return type_name(dtype, lanes)
    return "i8" if lanes == 1 else f"<{lanes} x i8>"


@cache
def suffix(dtype: DType, lanes: int = 1) -> str:
    """How the name of an overloaded intrinsic spells a type: `f32`, `v8i16`."""
    element = dtype.format.suffix if dtype.is_float else f"i{dtype.bits}"
    return element if lanes == 1 else f"v{lanes}{element}"


def memory_suffix(dtype: DType, lanes: int = 1) -> str:
    """How the name of an overloaded intrinsic spells the type of a value in memory."""
    return suffix(dtype.unsigned if dtype.is_bool else dtype, lanes)


@dataclass(frozen=True, slots=True)
class Value:
    """An operand: an SSA name or a constant, whose `number` is then known."""

    text: str
    dtype: DType
    lanes: int = 1
    number: Number | None = None

    @property
    def type(self) -> str:
        return type_name(self.dtype, self.lanes)

    @property
    def typed(self) -> str:
        """The value with its type, as the operand of a call or a store."""
        return f"{type_name(self.dtype, self.lanes)} {self.text}"


def constant(number: Number, dtype: DType, lanes: int = 1) -> Value:
    """A literal; integers wrap into the type, floats are rounded to it."""
    if type(number) is float:
        return _of_bits(struct.pack("<d", number), dtype, lanes)
    return _constant(number, dtype, lanes)


@lru_cache(256)
def _of_bits(number: bytes, dtype: DType, lanes: int) -> Value:
    """A literal that is written as a float: 0.0 and -0.0 are equal as keys."""
    (value,) = struct.unpack("<d", number)
    return _constant(value, dtype, lanes)


def _constant(number: Number, dtype: DType, lanes: int) -> Value:
    number = _in_type(number, dtype)
    text = literal(number, dtype)
    if lanes > 1:
        text = f"splat ({type_name(dtype)} {text})"
    return Value(text, dtype, lanes, number)


def literal(number: Number, dtype: DType) -> str:
    """How LLVM writes a scalar. Both float types are written by the bits of a double."""
    if dtype.is_narrow:
        word = dtype.bits_of(dtype.scalar(number))
        return str(word - (1 << dtype.bits) if word >> (dtype.bits - 1) else word)
    if dtype.is_float:
        return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
    if dtype.is_bool:
        return "true" if number else "false"
    return str(number)


def _in_type(number: Number, dtype: DType) -> Number:
    if dtype.is_float:
        with np.errstate(over="ignore"):
            return float(dtype.scalar(number))
    if dtype.is_bool:
        return bool(number)
    wrapped = int(number) & ((1 << dtype.bits) - 1)
    return wrapped - (1 << dtype.bits) if wrapped > dtype.max else wrapped
