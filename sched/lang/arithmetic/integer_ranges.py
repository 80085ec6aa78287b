"""Ranges of functions of integers: the values that they can give on operands in intervals.

An interval `(lo, hi)` contains both ends.
"""

from __future__ import annotations

from collections.abc import Callable

from ..nodes.dtypes import DType
from .integers import limited, shifted

Interval = tuple[int, int]
_NONE: Interval = (1, 0)


def integer_range(op: str, t: DType, args: tuple[Interval, ...]) -> tuple[Interval, bool]:
    """The values of type `t` that an operator of `RANGES` can give, and whether none of them has
    been limited."""
    if any(lo > hi for lo, hi in args):
        return _NONE, True
    lo, hi = RANGES[op](t, *args)
    return (limited(lo, t), limited(hi, t)), t.min <= lo and hi <= t.max


def _products(a: Interval, b: Interval) -> Interval:
    values = [x * y for x in a for y in b]
    return min(values), max(values)


def _shifted(a: Interval, count: Interval, rounds: bool) -> Interval:
    """Shifts move values towards 0, or to -1 where they round down, the more the larger the count;
    a count below 0 is the largest one."""
    counts = [max(count[0], 0), count[1], *([-1] if count[0] < 0 else [])]
    values = [shifted(x, k, rounds) for x in a for k in counts]
    return min(values), max(values)


def _all(t: DType, *_: Interval) -> Interval:
    return t.min, t.max


def _ones(t: DType, a: Interval) -> Interval:
    """No number has more ones than digits, and only 0 has none."""
    return int(not a[0] <= 0 <= a[1]), a[1].bit_length() if a[0] >= 0 else t.bits


def _leading(t: DType, a: Interval) -> Interval:
    if a[0] < 0:
        return 0, 0 if a[1] < 0 else t.bits
    return t.bits - a[1].bit_length(), t.bits - a[0].bit_length()


def _trailing(t: DType, a: Interval) -> Interval:
    most = max(abs(a[0]), abs(a[1])).bit_length() - 1
    return 0, t.bits if a[0] <= 0 <= a[1] else most


RANGES: dict[str, Callable[..., Interval]] = {
    "saturating_add": lambda t, a, b: (a[0] + b[0], a[1] + b[1]),
    "saturating_sub": lambda t, a, b: (a[0] - b[1], a[1] - b[0]),
    "saturating_mul": lambda t, a, b: _products(a, b),
    "halving_add": lambda t, a, b: ((a[0] + b[0]) >> 1, (a[1] + b[1]) >> 1),
    "rounding_halving_add": lambda t, a, b: ((a[0] + b[0] + 1) >> 1, (a[1] + b[1] + 1) >> 1),
    "rounding_shift_right": lambda t, a, k: _shifted(a, k, True),
    "mul_shift_right": lambda t, a, b, k: _shifted(_products(a, b), k, False),
    "rounding_mul_shift_right": lambda t, a, b, k: _shifted(_products(a, b), k, True),
    "popcount": _ones,
    "clz": _leading,
    "ctz": _trailing,
    "rotate_left": _all,
    "rotate_right": _all,
    "bit_reverse": _all,
    "byte_swap": _all,
}
"""The range of each function before it is limited to the type, from the ranges of its operands."""
