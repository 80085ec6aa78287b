"""What each operator means, on one Python number at a time: the oracle of the code generator.

Written from the rules of the language ("types and arithmetic"), with exact integers and fractions;
float `//` and `%`, division and square roots are NumPy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from polysched.lang.nodes.dtypes import ALL, DType, bool_

Number = bool | int | float


def wrap(value: int, dtype: DType) -> int:
    """The representative of `value` modulo 2**bits."""
    return (value - dtype.min) % (1 << dtype.bits) + dtype.min


#: Bits of the significand, exponents of the smallest denormal and of the largest numbers.
_FORMATS = {
    "float16": (11, -24, 15), "bfloat16": (8, -133, 127),
    "float32": (24, -149, 127), "float64": (53, -1074, 1023),
}  # fmt: skip


def scalar(a: Number, dtype: DType) -> Any:
    """A number as NumPy's; for bfloat16, which NumPy does not have, as a float32."""
    return (np.float32 if dtype.name == "bfloat16" else dtype.numpy.type)(a)


def within(value: Any, dtype: DType) -> float:
    """What `scalar` computes with, in the type itself."""
    if dtype.name != "bfloat16" or not math.isfinite(value) or value == 0:
        return float(value)
    return rounded(Fraction(float(value)), dtype)


def rounded(exact: Fraction, dtype: DType, sign: float = 1.0) -> float:
    """The nearest float, ties to even; `sign` is that of an exact zero."""
    if exact == 0:
        return math.copysign(0.0, sign)
    precision, low, high = _FORMATS[dtype.name]
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    quantum = Fraction(2) ** max(exponent - precision + 1, low)
    value = round(size / quantum) * quantum  # Python rounds fractions half to even
    result = math.inf if value >= Fraction(2) ** (high + 1) else float(value)
    return math.copysign(result, 1 if exact > 0 else -1)


def fma(a: float, b: float, c: float, dtype: DType) -> float:
    """a*b + c, rounded once."""
    if math.isfinite(a) and math.isfinite(b) and not math.isfinite(c):
        return c  # however large the product
    if not math.isfinite(a) or not math.isfinite(b):
        with np.errstate(all="ignore"):
            return float(np.float64(a) * np.float64(b) + np.float64(c))
    sign = math.copysign(1, a) * math.copysign(1, b)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    both = c == 0 and (a == 0 or b == 0) and sign == math.copysign(1, c)
    return rounded(exact, dtype, sign if both else 1.0)


def result(op: str, dtype: DType) -> DType:
    """The type of what an operator gives on operands of type `dtype`."""
    if op in _COMPARE:
        return bool_
    return next(t for t in ALL if t.name == f"uint{dtype.bits}") if op == "absd" else dtype


def binary(op: str, a: Number, b: Number, dtype: DType) -> Number:
    """An operator of two operands of type `dtype`."""
    if op in _COMPARE:
        return _COMPARE[op](a, b)
    if op in ("min", "max"):
        return _lattice(op, a, b)
    if dtype.is_float:
        with np.errstate(all="ignore"):
            result = _FLOAT[op](scalar(a, dtype), scalar(b, dtype))
        return within(result, dtype)
    if dtype.is_bool:
        return _BOOL[op](bool(a), bool(b))
    if op == "absd":
        return max(int(a), int(b)) - min(int(a), int(b))
    if op in _NOT_WRAPPED:
        return _nearest(_NOT_WRAPPED[op](int(a), int(b)), dtype)
    if op in ("rotate_left", "rotate_right"):
        return _rotated(int(a), int(b) if op == "rotate_left" else -int(b), dtype)
    if op == "rounding_shift_right":
        return _rounded_down(Fraction(int(a), 1), int(b), Fraction(1, 2))
    return wrap(_INT[op](int(a), int(b), dtype), dtype)


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}


def _lattice(op: str, a: Number, b: Number) -> Number:
    if a != a or b != b:
        return math.nan
    if a == b == 0 and isinstance(a, float):
        key = {"min": min, "max": max}[op]
        return 0.0 if key(math.copysign(1, a), math.copysign(1, b)) > 0 else -0.0
    return min(a, b) if op == "min" else max(a, b)


_FLOAT: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
}
_BOOL: dict[str, Callable[[bool, bool], bool]] = {
    "add": lambda a, b: a | b,
    "mul": lambda a, b: a & b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
_INT: dict[str, Callable[[int, int, DType], int]] = {
    "add": lambda a, b, t: a + b,
    "sub": lambda a, b, t: a - b,
    "mul": lambda a, b, t: a * b,
    "floordiv": lambda a, b, t: a // b if b else 0,
    "mod": lambda a, b, t: a % b if b else 0,
    "and": lambda a, b, t: a & b,
    "or": lambda a, b, t: a | b,
    "xor": lambda a, b, t: a ^ b,
    "shl": lambda a, b, t: a << b if 0 <= b < t.bits else 0,
    "shr": lambda a, b, t: a >> b if 0 <= b < t.bits else (-1 if a < 0 else 0),
}


_NOT_WRAPPED: dict[str, Callable[[int, int], Fraction | int]] = {
    "saturating_add": lambda a, b: a + b,
    "saturating_sub": lambda a, b: a - b,
    "saturating_mul": lambda a, b: a * b,
    "halving_add": lambda a, b: math.floor(Fraction(a + b, 2)),
    "rounding_halving_add": lambda a, b: math.floor(Fraction(a + b, 2) + Fraction(1, 2)),
}


def _nearest(value: Fraction | int, dtype: DType) -> int:
    """The value of a type nearest to an integer."""
    return int(sorted((dtype.min, value, dtype.max))[1])


def _rounded_down(value: Fraction, count: int, before: Fraction) -> int:
    """`value / 2**count + before`, rounded down; a negative count is a very large one."""
    return math.floor(value / 2 ** (count if 0 <= count < 1000 else 1000) + before)


def _digits(a: int, dtype: DType) -> str:
    """The bits of a value, the highest first."""
    return "".join(str(a >> at & 1) for at in reversed(range(dtype.bits)))


def _rotated(a: int, count: int, dtype: DType) -> int:
    digits, count = _digits(a, dtype), count % dtype.bits
    return wrap(int(digits[count:] + digits[:count], 2), dtype)


def ternary(op: str, a: Number, b: Number, count: Number, dtype: DType) -> Number:
    """An operator of three operands of type `dtype`."""
    half = Fraction(1, 2) if op.startswith("rounding") else Fraction(0)
    return _nearest(_rounded_down(Fraction(int(a) * int(b)), int(count), half), dtype)


def _of_bits(op: str, a: int, dtype: DType) -> int:
    """A function of the bits of a value."""
    digits = _digits(a, dtype)
    match op:
        case "popcount":
            return digits.count("1")
        case "clz":
            return len(digits) - len(digits.lstrip("0"))
        case "ctz":
            return len(digits) - len(digits.rstrip("0"))
        case "bit_reverse":
            return wrap(int(digits[::-1], 2), dtype)
    octets = [digits[at : at + 8] for at in range(0, len(digits), 8)]
    return wrap(int("".join(reversed(octets)), 2), dtype)


OF_BITS = ("popcount", "clz", "ctz", "bit_reverse", "byte_swap")
"""Operators of one integer that is taken as bits."""

ROUNDINGS = {"floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc}


def unary(op: str, a: Number, dtype: DType) -> Number:
    """An operator of one operand of type `dtype`."""
    if op == "strict":
        return a
    if op == "not":
        return not a if dtype.is_bool else wrap(~int(a), dtype)
    if dtype.is_bool:
        return a
    if op in OF_BITS:
        return _of_bits(op, int(a), dtype)
    if not dtype.is_float:
        return wrap({"neg": -a, "abs": abs(a)}.get(op, a), dtype)
    if op in ROUNDINGS:
        return within(ROUNDINGS[op](scalar(a, dtype)), dtype)
    if op == "sqrt":
        with np.errstate(all="ignore"):
            return within(np.sqrt(scalar(a, dtype)), dtype)
    return -a if op == "neg" else math.fabs(a)


def cast(a: Number, source: DType, to: DType) -> Number:
    """`a`, a `source`, as a `to`."""
    if to.is_bool:
        return a != 0
    if to.is_float:
        if source.is_float:
            if not math.isfinite(a) or a == 0:
                return a
            return rounded(Fraction(a), to)
        return rounded(Fraction(int(a)), to)
    if not source.is_float:
        return wrap(int(a), to)
    if a != a:
        return 0
    return to.max if a >= to.max else to.min if a <= to.min else math.trunc(a)


def samples(dtype: DType) -> list[Number]:
    """Values at which implementations differ: extremes, signs, halves, neighbours of powers."""
    if dtype.is_bool:
        return [False, True]
    if dtype.is_float:
        return _float_samples(dtype)
    near = [0, 1, 2, 3, 5, 7, 10, dtype.bits - 1, dtype.bits, dtype.bits + 1, 100]
    signed = [*near, *(-x for x in near)] if dtype.kind == "i" else near
    middle = 1 << (dtype.bits - 1)
    ends = [dtype.min, dtype.min + 1, dtype.min + 2, dtype.max // 2, dtype.max // 3]
    ends += [dtype.max - 2, dtype.max - 1, dtype.max, (middle - 1) % (dtype.max + 1)]
    return sorted({x for x in [*signed, *ends] if dtype.min <= x <= dtype.max})


def _float_samples(dtype: DType) -> list[Number]:
    precision, low, high = _FORMATS[dtype.name]
    tiny, eps = 2.0**low, 2.0 ** (1 - precision)
    huge, normal = (2 - eps) * 2.0**high, 2.0 ** (low + precision - 1)
    positive = [0.0, tiny, 3 * tiny, normal, eps, 0.1, 0.3, 0.5]
    positive += [1 - eps / 2, 1.0, 1 + eps, 1.5, 2.5, 3.0, 7.0, 1e10 / 3]
    positive += [127.5, 255.5, 32767.5, 65535.5, 2.0**31, 2.0**32, 2.0**63, 2.0**64, 2.0**24 + 2]
    positive += [2.0**e * (1 - eps / 2) for e in (7, 31, 32, 63, 64)]
    positive += [huge / 2, huge, math.inf]
    exact = [x if math.isinf(x) else rounded(Fraction(x), dtype) for x in positive]
    return [*exact, *(-x for x in exact), math.nan]
