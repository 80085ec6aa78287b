"""The semantics of each operator on scalars of each type, to the bit.

Values: bools are Python bools; integers are Python ints within their type; floats are NumPy's
scalars, whose arithmetic is IEEE's with one rounding an operation, and bfloat16, which NumPy does
not have, is an np.float32 that bfloat16 holds. NumPy warns where IEEE signals: callers hold
`np.errstate(all="ignore")`.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ..nodes.dtypes import DType, bfloat16
from .fma import fma_function
from .integers import INTEGER

Value = Any
"""bool | int | np.float32 | np.float64"""
Meaning = Callable[..., Value]


def as_value(x: Any, t: DType) -> Value:
    """A Python or NumPy scalar that `t` can hold, in the representation of `t`."""
    if t.is_float:
        return t.scalar(x)
    return bool(x) if t.is_bool else int(x)


@cache
def wrapping(t: DType) -> Callable[[int], int]:
    """The function that brings an integer into the range of `t`, modulo 2**bits."""
    lo, hi, mask = t.min, t.max, (1 << t.bits) - 1
    return lambda v: v if lo <= v <= hi else ((v - lo) & mask) + lo


@cache
def meaning(op: str, result: DType, operand: DType) -> Meaning:
    """The function that `op` stands for, on operands of one type.

    Args:
        op: an operator of `ops.OPS` other than `select` (which is lazy) and the functions that
            are expanded.
        result: the type of the value.
        operand: the type of the operands: for a cast or a comparison not that of the result.
    """
    if op == "cast":
        return conversion(operand, result)
    if op == "bitcast":
        return _bitcast(operand, result)
    if op == "strict":
        return lambda a: a
    if op in COMPARE:
        compare = COMPARE[op]
        return lambda a, b: bool(compare(a, b))
    if result.is_float:
        return fma_function(result) if op == "fma" else _float(op, result)
    if result.is_bool:
        return _BOOL[op]
    return _integer(op, result)


# integers -------------------------------------------------------------------------------------
def _integer(op: str, t: DType) -> Meaning:
    wrap = wrapping(t)
    if op in ("shl", "shr"):
        return _shift(op, t)
    if op in INTEGER:
        return partial(INTEGER[op], t)
    exact = _INTEGER[op]
    if op in ("neg", "abs", "not"):
        return lambda a: wrap(exact(a))
    if op in ("add", "sub", "mul"):
        return _wrapped(exact, t)
    return lambda a, b: wrap(exact(a, b))


def _wrapped(exact: Callable[[int, int], int], t: DType) -> Meaning:
    """The same with one call less: nearly all that an interpretation does with indices."""
    wrap, lo, hi = wrapping(t), t.min, t.max

    def wrapped(a: int, b: int) -> int:
        v = exact(a, b)
        return v if lo <= v <= hi else wrap(v)

    return wrapped


def _shift(op: str, t: DType) -> Meaning:
    """A shift of integers. A count that is negative, or not below the width, shifts all bits
    out."""
    wrap, bits = wrapping(t), t.bits
    if op == "shl":
        return lambda a, b: wrap(a << b) if 0 <= b < bits else 0
    return lambda a, b: a >> b if 0 <= b < bits else (-1 if a < 0 else 0)


def _floordiv(a: int, b: int) -> int:
    return a // b if b else 0


def _mod(a: int, b: int) -> int:
    return a % b if b else 0


_INTEGER: dict[str, Callable[..., int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": _floordiv,
    "mod": _mod,
    "neg": operator.neg,
    "abs": abs,
    "absd": lambda a, b: abs(a - b),
    "min": min,
    "max": max,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "not": operator.invert,
}
_BOOL: dict[str, Meaning] = {
    "min": operator.and_,
    "max": operator.or_,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "not": operator.not_,
}
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}


# floats ---------------------------------------------------------------------------------------
def _minimum(a: Value, b: Value) -> Value:
    """IEEE 754-2019 minimum: NaN propagates and -0 is below +0."""
    if a != a or b != b:
        return a + b
    if a == b:
        return a if np.signbit(a) else b
    return a if a < b else b


def _maximum(a: Value, b: Value) -> Value:
    """IEEE 754-2019 maximum: NaN propagates and +0 is above -0."""
    if a != a or b != b:
        return a + b
    if a == b:
        return b if np.signbit(a) else a
    return a if a > b else b


_FLOAT: dict[str, Meaning] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "neg": operator.neg,
    "abs": abs,
    "min": _minimum,
    "max": _maximum,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "trunc": np.trunc,
}


def _float(op: str, t: DType) -> Meaning:
    """An operator of floats, rounded once; NumPy has none for bfloat16."""
    if t is not bfloat16:
        return _FLOAT[op]
    exact, rounded = _FLOAT[op], t.scalar
    return lambda *operands: rounded(exact(*operands))


# conversions ----------------------------------------------------------------------------------
def conversion(source: DType, target: DType) -> Meaning:
    """A cast: integers wrap, floats truncate and saturate, NaN is 0; one rounding at most."""
    if source == target:
        return lambda a: a
    if target.is_bool:
        return lambda a: bool(a != 0)
    if target.is_float:
        return integer_to_float(target) if source.is_int else target.scalar
    if source.is_float:
        return lambda a: _truncate(a, target)
    wrap = wrapping(target)
    return lambda a: wrap(int(a))


def _truncate(a: Value, target: DType) -> int:
    if math.isnan(a):
        return 0
    if math.isinf(a):
        return target.max if a > 0 else target.min
    return min(max(int(a), target.min), target.max)


@cache
def integer_to_float(t: DType) -> Meaning:
    """The function that gives the float of type `t` nearest to an integer, ties to even.

    Python's float of an integer is the nearest one. For a narrower type it would round twice.
    """
    make, precision = t.scalar, t.format.precision
    if precision >= sys.float_info.mant_dig:
        return make

    def rounded(a: int) -> Value:
        surplus = max(abs(a).bit_length() - precision, 0)
        digits = _round_half_even(abs(a), surplus) if surplus else abs(a)
        return make(math.copysign(math.ldexp(digits, surplus), a))

    return rounded


def _round_half_even(a: int, surplus: int) -> int:
    """`a / 2**surplus` rounded to the nearest integer, ties to even."""
    quotient, rest = divmod(a, 1 << surplus)
    half = 1 << (surplus - 1)
    return quotient + (rest > half or (rest == half and quotient % 2 == 1))


def _bitcast(source: DType, target: DType) -> Meaning:
    def cast(a: Value) -> Value:
        if source.is_float and target.is_float:
            return target.of_bits(source.bits_of(a))
        if source.is_float:
            return as_value(
                np.array(source.bits_of(a), source.unsigned.numpy).view(target.numpy)[()], target
            )
        if target.is_float:
            return target.of_bits(int(a) % (1 << target.bits))
        return as_value(np.array(a, source.numpy).view(target.numpy)[()], target)

    return cast
