"""Interval arithmetic: ranges of integer expressions whose values depend on data.

An interval `(lo, hi)` contains both ends; a condition has an interval of 0 and 1. Where the exact
result may leave its type it may wrap, and the interval is that of the entire type. Each node is
bounded by itself: correlations between operands are ignored, and conditions narrow no range.
"""

from __future__ import annotations

from collections.abc import Callable

from ..lang.arithmetic.integer_ranges import RANGES, integer_range
from ..lang.nodes.dtypes import DType

Interval = tuple[int, int]
UNKNOWN: Interval = (0, 1)


NONE: Interval = (1, 0)
"""The empty interval, such as that of an Input whose range is empty at the sizes of a call."""


def full(t: DType) -> Interval:
    """All values of a bool or integer type."""
    return (t.min, t.max)


def operator_interval(op: str, result: DType, args: tuple[Interval, ...]) -> Interval:
    """The values that `op` can give on integers or bools in `args`, as values of `result`."""
    whole = full(result)
    if op == "not":
        mirror = whole[0] + whole[1]  # ~x is max - x, or -1 - x: both are min + max - x
        return (mirror - args[0][1], mirror - args[0][0])
    if op in RANGES:
        return integer_range(op, result, args)[0]
    rule = _RULES.get(op)
    found = rule(*args) if rule is not None else None
    if found is None or found[0] < whole[0] or found[1] > whole[1]:
        return whole
    return found


def select_interval(condition: Interval, yes: Interval, no: Interval) -> Interval:
    """The interval of the chosen arm, or the hull of both arms if the condition is not known."""
    if condition == (1, 1):
        return yes
    if condition == (0, 0):
        return no
    return (min(yes[0], no[0]), max(yes[1], no[1]))


def cast_interval(source: Interval, target: DType) -> Interval:
    """The interval of an integer or bool after conversion to another type."""
    if target.is_bool:
        return _not(_eq(source, (0, 0)))
    whole = full(target)
    return source if whole[0] <= source[0] and source[1] <= whole[1] else whole


# arithmetic -----------------------------------------------------------------------------------
def _corners(f: Callable[[int, int], int], a: Interval, b: Interval) -> Interval:
    values = [f(x, y) for x in a for y in b]
    return min(values), max(values)


def _mul(a: Interval, b: Interval) -> Interval:
    return _corners(lambda x, y: x * y, a, b)


def _abs(a: Interval) -> Interval:
    lo, hi = sorted((abs(a[0]), abs(a[1])))
    return (0 if a[0] <= 0 <= a[1] else lo, hi)


def _floordiv(a: Interval, b: Interval) -> Interval:
    """The interval of `a // b`. A division by zero gives 0. Over divisors of one sign the quotient
    is monotone in each operand."""
    parts = [p for p in (_clip(b, None, -1), _clip(b, 1, None)) if p is not None]
    found = [_corners(lambda x, y: x // y, a, p) for p in parts]
    if b[0] <= 0 <= b[1]:
        found.append((0, 0))
    if not found:
        return NONE
    return (min(lo for lo, _ in found), max(hi for _, hi in found))


def _clip(a: Interval, lo: int | None, hi: int | None) -> Interval | None:
    low = a[0] if lo is None else max(a[0], lo)
    high = a[1] if hi is None else min(a[1], hi)
    return (low, high) if low <= high else None


def _mod(a: Interval, b: Interval) -> Interval:
    """The interval of `a % b`: 0 for the divisor zero, else from 0 to the divisor, exclusive."""
    if b[0] == b[1] != 0 and a[0] // b[0] == a[1] // b[0]:
        return (a[0] % b[0], a[1] % b[0])  # within one period
    return (min(b[0] + 1, 0), max(b[1] - 1, 0))


def _shl(a: Interval, b: Interval) -> Interval | None:
    if b[0] > b[1]:
        return NONE
    return None if b[0] < 0 or b[1] > 63 else _corners(lambda x, y: x << y, a, b)


def _shr(a: Interval, b: Interval) -> Interval:
    """The interval of `a >> b`. A count that is negative, or not below the width, leaves 0 or the
    sign, as a count of 64 does."""
    counts = (64, 64) if b[1] < 0 else (max(b[0], 0), 64 if b[0] < 0 else min(b[1], 64))
    return _corners(lambda x, y: x >> y, a, counts)


def _and(a: Interval, b: Interval) -> Interval | None:
    if a[0] >= 0 and b[0] >= 0:
        return (1, 1) if a == b == (1, 1) else (0, min(a[1], b[1]))
    if a[0] >= 0 or b[0] >= 0:
        return (0, a[1] if a[0] >= 0 else b[1])
    return None


def _or(a: Interval, b: Interval) -> Interval | None:
    if a[0] < 0 or b[0] < 0:
        return None
    return (max(a[0], b[0]), (1 << max(a[1].bit_length(), b[1].bit_length())) - 1)


def _xor(a: Interval, b: Interval) -> Interval | None:
    if a[0] < 0 or b[0] < 0:
        return None
    if a[0] == a[1] and b[0] == b[1]:
        return (a[0] ^ b[0], a[0] ^ b[0])
    return (0, (1 << max(a[1].bit_length(), b[1].bit_length())) - 1)


# conditions -----------------------------------------------------------------------------------
def _lt(a: Interval, b: Interval) -> Interval:
    return (int(a[1] < b[0]), int(a[0] < b[1]))


def _eq(a: Interval, b: Interval) -> Interval:
    return (int(a[0] == a[1] == b[0] == b[1]), int(a[0] <= b[1] and b[0] <= a[1]))


def _not(a: Interval) -> Interval:
    return (1 - a[1], 1 - a[0])


_RULES: dict[str, Callable[..., Interval | None]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": _mul,
    "neg": lambda a: (-a[1], -a[0]),
    "abs": _abs,
    "absd": lambda a, b: _abs((a[0] - b[1], a[1] - b[0])),
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "floordiv": _floordiv,
    "mod": _mod,
    "shl": _shl,
    "shr": _shr,
    "and": _and,
    "or": _or,
    "xor": _xor,
    "lt": _lt,
    "le": lambda a, b: _not(_lt(b, a)),
    "gt": lambda a, b: _lt(b, a),
    "ge": lambda a, b: _not(_lt(a, b)),
    "eq": _eq,
    "ne": lambda a, b: _not(_eq(a, b)),
    "strict": lambda a: a,
}
