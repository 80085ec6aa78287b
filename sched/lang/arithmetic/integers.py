"""What functions of integers mean, to the bit: on Python's integers, which are exact.

Each is a function of a type and of operands within it. A count is an operand of that type too: one
below 0 is one beyond all bits.
"""

from __future__ import annotations

from collections.abc import Callable

from ..nodes.dtypes import DType


def limited(x: int, t: DType) -> int:
    """The value of the type that is nearest to an integer."""
    return min(max(x, t.min), t.max)


def _bits(x: int, t: DType) -> int:
    """The bits of a value, as a number from 0 to 2**bits - 1."""
    return x & ((1 << t.bits) - 1)


def _signed(bits: int, t: DType) -> int:
    """The value that has these bits."""
    return bits if bits <= t.max else bits - (1 << t.bits)


def _rotated(t: DType, x: int, count: int) -> int:
    """Bits moved to the left, those that leave there coming in on the right."""
    count %= t.bits
    bits = _bits(x, t)
    return _signed(_bits((bits << count) | (bits >> (t.bits - count)), t), t)


def shifted(x: int, count: int, rounds: bool) -> int:
    """`x / 2**count`, rounded down or to the nearest integer, ties upwards; `x` is any integer that
    has at most 128 bits."""
    count = count if 0 <= count <= _BEYOND else _BEYOND
    half = (1 << count) >> 1 if rounds else 0
    return (x + half) >> count


_BEYOND = 130
"""A count beyond all bits of a product of 64-bit integers."""


def _trailing_zeros(t: DType, x: int) -> int:
    return (x & -x).bit_length() - 1 if x else t.bits


INTEGER: dict[str, Callable[..., int]] = {
    "saturating_add": lambda t, a, b: limited(a + b, t),
    "saturating_sub": lambda t, a, b: limited(a - b, t),
    "saturating_mul": lambda t, a, b: limited(a * b, t),
    "halving_add": lambda t, a, b: (a + b) >> 1,
    "rounding_halving_add": lambda t, a, b: (a + b + 1) >> 1,
    "rounding_shift_right": lambda t, a, k: shifted(a, k, True),
    "mul_shift_right": lambda t, a, b, k: limited(shifted(a * b, k, False), t),
    "rounding_mul_shift_right": lambda t, a, b, k: limited(shifted(a * b, k, True), t),
    "popcount": lambda t, a: _bits(a, t).bit_count(),
    "clz": lambda t, a: t.bits - _bits(a, t).bit_length(),
    "ctz": _trailing_zeros,
    "rotate_left": _rotated,
    "rotate_right": lambda t, a, k: _rotated(t, a, -k),
    "bit_reverse": lambda t, a: _signed(int(f"{_bits(a, t):0{t.bits}b}"[::-1], 2), t),
    "byte_swap": lambda t, a: _signed(
        int.from_bytes(_bits(a, t).to_bytes(t.itemsize, "little"), "big"), t
    ),
}
"""The functions by the names of their operators; the first argument is the type."""
