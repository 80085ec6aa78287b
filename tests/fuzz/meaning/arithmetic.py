"""What each operator does to scalars: Python's bools and integers, NumPy's floats."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .types import NARROW, bits, kind, limits, numpy_type

#: Binary digits, and the exponent of the smallest number.
_FORMATS = {
    "float32": (24, -149), "float64": (53, -1074), "float16": (11, -24), "bfloat16": (8, -133),
}  # fmt: skip


def rounded(x: Fraction, t: str) -> Any:
    """The nearest float, ties to even."""
    digits, lowest = _FORMATS[t]
    if x == 0:
        return numpy_type(t).type(0.0)
    size = abs(x.numerator).bit_length() - x.denominator.bit_length()
    if abs(x) < Fraction(2) ** size:
        size -= 1
    quantum = max(size - digits + 1, lowest)
    whole = round(x / Fraction(2) ** quantum)  # Python rounds ties to even
    try:
        found = math.ldexp(abs(whole), quantum)
    except OverflowError:
        found = math.inf
    with np.errstate(over="ignore"):
        return numpy_type(t).type(found if x > 0 else -found)


def wrapped(x: int, t: str) -> int:
    """The integer of the type with the same last bits."""
    lo, _ = limits(t)
    return (x - lo) % (1 << bits(t)) + lo


def fused(a: Any, b: Any, c: Any, t: str) -> Any:
    """a * b + c, rounded once."""
    if math.isfinite(a) and math.isfinite(b) and not math.isfinite(c):
        return c
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0 and (a == 0 or b == 0) and c == 0:
        return a * b + c  # the sign of the sum of two zeros
    return rounded(exact, t)


def converted(x: Any, source: str, target: str) -> Any:
    """A cast: integers wrap, floats truncate and saturate, NaN is 0."""
    if source == target:
        return x
    match kind(source), kind(target):
        case _, "b":
            return bool(x != 0)
        case "f", "f":
            if target in NARROW and math.isfinite(x) and x != 0:
                return rounded(Fraction(float(x)), target)
            return numpy_type(target).type(x)
        case _, "f":
            return rounded(Fraction(int(x)), target)
        case "f", _:
            lo, hi = limits(target)
            if math.isnan(x):
                return 0
            return (hi if x > 0 else lo) if math.isinf(x) else min(max(int(float(x)), lo), hi)
    return wrapped(int(x), target)


def bitcast(x: Any, source: str, target: str) -> Any:
    found = np.array(x, numpy_type(source)).view(numpy_type(target))[()]
    return found if kind(target) == "f" else found.item()


def scaled(x: Any, exponent: int, t: str) -> Any:
    """x * 2**exponent, rounded once."""
    if not math.isfinite(x) or x == 0:
        return x
    return rounded(Fraction(float(x)) * Fraction(2) ** max(-4000, min(exponent, 4000)), t)


def applied(op: str, t: str, *x: Any) -> Any:
    """An operator on operands of type `t`, whose result has that type or is a bool."""
    if op in _COMPARED:
        return bool(_COMPARED[op](*x))
    if t in NARROW:
        return converted(_FLOATS[op](*map(np.float32, x)), "float32", t)
    if kind(t) == "f":
        return _FLOATS[op](*x)
    if kind(t) == "b":
        return bool(_BOOLS[op](*x))
    if op in ("<<", ">>"):
        return _shifted(op, t, *x)
    return wrapped(_INTEGERS[op](*x), t)


def _shifted(op: str, t: str, a: int, count: int) -> int:
    if not 0 <= count < bits(t):
        return -1 if op == ">>" and a < 0 else 0
    return wrapped(a << count, t) if op == "<<" else a >> count


def _extreme(a: Any, b: Any, sign: int) -> Any:
    """The smaller one for sign = 1, the larger one for -1; NaN wins, and -0 is below 0."""
    if a != a or b != b:
        return a + b
    first = (a, not np.signbit(a)), (b, not np.signbit(b))
    return (min if sign > 0 else max)(first)[0]


_COMPARED = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip
_INTEGERS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "//": lambda a, b: a // b if b else 0, "%": lambda a, b: a % b if b else 0,
    "neg": lambda a: -a, "abs": abs, "min": min, "max": max, "not": lambda a: ~a,
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
}  # fmt: skip
_BOOLS = {
    "+": lambda a, b: a or b, "*": lambda a, b: a and b, "&": lambda a, b: a and b,
    "|": lambda a, b: a or b, "^": lambda a, b: a != b, "min": lambda a, b: a and b,
    "max": lambda a, b: a or b, "not": lambda a: not a, "abs": lambda a: a,
}  # fmt: skip
_FLOATS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: a / b, "//": np.floor_divide, "%": np.remainder, "neg": lambda a: -a,
    "abs": abs, "min": lambda a, b: _extreme(a, b, 1), "max": lambda a, b: _extreme(a, b, -1),
    "sqrt": np.sqrt, "floor": np.floor, "ceil": np.ceil, "round": np.rint, "trunc": np.trunc,
}  # fmt: skip
