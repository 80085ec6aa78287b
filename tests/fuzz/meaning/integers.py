"""Functions of integers, said once more: by digits, and by divisions of exact numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .types import bits, limits


def saturated(x: Any, t: str) -> int:
    """The nearest value of an integer type; 0 for NaN."""
    lo, hi = limits(t)
    if x != x:
        return 0
    if not isinstance(x, int | Fraction):
        x = float(x)  # compared exactly; NumPy would round the limits to the type of `x`
    return lo if x < lo else hi if x > hi else int(x)


def _digits(x: int, t: str) -> list[int]:
    """The bits, the lowest first."""
    return [x // 2**k % 2 for k in range(bits(t))]


def _number(digits: list[int], t: str) -> int:
    found = sum(d * 2**k for k, d in enumerate(digits))
    return found if found <= limits(t)[1] else found - 2 ** bits(t)


def _turned(x: int, by: int, t: str) -> int:
    """The bit at k comes from the place `by` below it."""
    digits = _digits(x, t)
    return _number([digits[(k - by) % bits(t)] for k in range(bits(t))], t)


def _zeros(digits: list[int]) -> int:
    return digits.index(1) if 1 in digits else len(digits)


def _divided(x: int, count: int, half: bool) -> int:
    if count < 0:
        return 0 if half or x >= 0 else -1
    exact = Fraction(x) / Fraction(2) ** min(count, 500)
    return math.floor(exact + Fraction(1, 2) if half else exact)


def _swapped(x: int, t: str) -> int:
    digits = _digits(x, t)
    return _number([digits[bits(t) - 8 - k // 8 * 8 + k % 8] for k in range(bits(t))], t)


COUNTED = (
    "rotate_left", "rotate_right", "rounding_shift_right", "mul_shift_right",
    "rounding_mul_shift_right",
)  # fmt: skip
"""Functions whose last operand is a count."""

OF_INTEGERS: dict[str, Callable[..., int]] = {
    "saturating_add": lambda t, a, b: saturated(a + b, t),
    "saturating_sub": lambda t, a, b: saturated(a - b, t),
    "saturating_mul": lambda t, a, b: saturated(a * b, t),
    "widening_add": lambda t, a, b: a + b,
    "widening_mul": lambda t, a, b: a * b,
    "halving_add": lambda t, a, b: _divided(a + b, 1, False),
    "rounding_halving_add": lambda t, a, b: _divided(a + b, 1, True),
    "rounding_shift_right": lambda t, a, k: _divided(a, k, True),
    "mul_shift_right": lambda t, a, b, k: saturated(_divided(a * b, k, False), t),
    "rounding_mul_shift_right": lambda t, a, b, k: saturated(_divided(a * b, k, True), t),
    "popcount": lambda t, a: sum(_digits(a, t)),
    "clz": lambda t, a: _zeros(_digits(a, t)[::-1]),
    "ctz": lambda t, a: _zeros(_digits(a, t)),
    "rotate_left": lambda t, a, k: _turned(a, k, t),
    "rotate_right": lambda t, a, k: _turned(a, -k, t),
    "bit_reverse": lambda t, a: _number(_digits(a, t)[::-1], t),
    "byte_swap": lambda t, a: _swapped(a, t),
}
"""Functions of a type, which is that of the result, and of operands."""
