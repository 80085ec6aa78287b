"""Multiplication by a power of two."""

from __future__ import annotations

from ..nodes.dtypes import float32, float64
from .math_terms import (
    Term,
    absolute,
    at_least,
    at_most,
    bits,
    cast,
    fma,
    for_type,
    power_of_two,
    rarely,
)

_SHIFTER = 1.5 * 2.0**52


def ldexp(x: Term, e: Term) -> Term:
    """x * 2**e, rounded once; e is an integer as a float, -2200 <= e <= 2200. As long as 2**e is a
    normal number one product is all: it rounds once, also to a denormal."""
    f = x.dtype.format
    shifter = 1.5 * 2.0**f.mantissa
    usual = x * power_of_two(bits(e + (shifter + f.bias)))
    return rarely(absolute(e) > f.bias - 1.0, for_type(_SCALED, x.dtype)(x, e), usual)


def _scaled32(x: Term, e: Term) -> Term:
    """ldexp of float32 by way of float64, in which the product is exact."""
    e = at_least(at_most(cast(e, float64), 400.0), -400.0)
    return cast(cast(x, float64) * _power(e), float32)


def _scaled64(x: Term, e: Term) -> Term:
    """ldexp of float64. Where e is beyond the exponents of normal numbers, x is first multiplied by
    powers of two for the `rest`: a product that is not exact there ends as 0 or as inf. Only the
    last factor rounds, also to a denormal (the order is that of musl's scalbn)."""
    last = at_least(at_most(e, 1023.0), -1022.0)
    rest = e - last
    half = fma(rest, 0.5, _SHIFTER) - _SHIFTER
    return x * _power(half) * _power(rest - half) * _power(last)


_SCALED = {float32: _scaled32, float64: _scaled64}


def _power(e: Term) -> Term:
    """2**e in float64, -1022 <= e <= 1023."""
    return power_of_two(bits(e + (_SHIFTER + float64.format.bias)))
