"""Functions that only look at bits and compare: all of them are exact.

The sign and the payload of a NaN are no part of the language, so nothing here depends on them.
"""

from __future__ import annotations

from math import inf, nan

from .math_terms import Term, absolute, apply, bits, cast, constant, from_bits, select


def isnan(x: Term) -> Term:
    return apply("ne", x, x)


def isinf(x: Term) -> Term:
    return absolute(x).equals(inf)


def isfinite(x: Term) -> Term:
    return absolute(x) < inf


def signbit(x: Term) -> Term:
    """Whether the sign is set, also of -0.0; a NaN has none. With the sign all bits are a negative
    integer, the larger the larger a number's size is; those of NaNs are beyond that of infinity."""
    dtype = x.dtype
    beyond = dtype.bits_of(inf) + 1 - dtype.format.sign
    return cast(bits(x), dtype.signed) < beyond


def copysign(x: Term, y: Term) -> Term:
    """The size of x with the sign of y; a NaN counts as positive."""
    sign = x.dtype.format.sign
    size = bits(absolute(x))
    return from_bits(size | select(apply("eq", y, y), bits(y) & sign, 0))


def sign(x: Term) -> Term:
    """-1, 0 or 1, and NaN of NaN."""
    above = select(x > 0.0, constant(1.0, x.dtype), select(isnan(x), x, 0.0))
    return select(x < 0.0, constant(-1.0, x.dtype), above)


def heaviside(x: Term, at_zero: Term) -> Term:
    """0 below zero, 1 above it, `at_zero` there, and NaN of NaN."""
    above = select(x > 0.0, constant(1.0, x.dtype), select(x.equals(0.0), at_zero, x))
    return select(x < 0.0, constant(0.0, x.dtype), above)


def nextafter(x: Term, towards: Term) -> Term:
    """The float next to x on the way to another one.

    Floats of one sign are ordered as their bits are.
    """
    grows = apply("eq", x < towards, x > 0.0)
    steps = from_bits(select(grows, bits(x) + 1, bits(x) - 1), x.dtype)
    least = select(towards > 0.0, constant(1, bits(x).dtype), 1 | x.dtype.format.sign)
    moved = select(x.equals(0.0), from_bits(least, x.dtype), steps)
    same = select(apply("eq", x, towards), towards, moved)
    has_nan = apply("or", isnan(x), isnan(towards))
    return select(has_nan, constant(nan, x.dtype), same)


def fmod(x: Term, y: Term) -> Term:
    """The remainder of the division that truncates: exact, with the sign of x."""
    sign = x.dtype.format.sign
    size = apply("mod", absolute(x), absolute(y))  # of numbers that are not negative, % truncates
    return from_bits(bits(size) | (bits(x) & sign))
