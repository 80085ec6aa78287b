"""arcsinh, arccosh and arctanh: logarithms of numbers that come with what they round off."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

from ..nodes.dtypes import float32, float64
from .math_inverse_tables import ARCSINH, ARCTANH
from .math_log import (
    SERIES_32,
    SERIES_64,
    UNIT_32,
    is_outside,
    log32_parts,
    rest64,
    split64,
)
from .math_sums import fast_two_sum, two_product, two_sum
from .math_terms import (
    Term,
    absolute,
    apply,
    at_least,
    bits,
    constant,
    fma,
    for_type,
    from_bits,
    polynomial,
    rarely,
    select,
    series_of,
)

#: log(2) as the sum of two numbers. The first is short: its product with n is exact.
_LN2 = {
    float32: (0.693145751953125, 1.428606765330187e-06),
    float64: (0.6931471805598903, 5.497923018708371e-14),
}
#: Above it a square has no digit of 1.
_LARGE = 2.0**30


def arcsinh(x: Term) -> Term:
    """The logarithm of a + sqrt(a**2 + 1), a = |x|. Where a is small, what the sum rounds off has
    nearly all; float32 takes a polynomial there, which has nothing but its own rounding."""
    a = absolute(x)
    square, rest = two_product(a, a)
    total, off = two_sum(square, constant(1.0, x.dtype))
    found = _log_of_sum(a, (total, off + rest), True)
    size = rarely(a > _LARGE, _log_of_twice(a), found)
    if x.dtype == float32:
        size = select(a < 0.3, fma(a * square, polynomial(square, ARCSINH), a), size)
    return _with_sign(size, x)


def arccosh(x: Term) -> Term:
    square, rest = two_product(x, x)
    total, off = fast_two_sum(square, constant(-1.0, x.dtype))
    found = _log_of_sum(x, (total, off + rest), False)
    rare = select(x < 1.0, constant(nan, x.dtype), _log_of_twice(x))
    return rarely(is_outside(x, 1.0, _LARGE), rare, found)


def arctanh(x: Term) -> Term:
    """Half of the logarithm of u / w, where u = 1 + a and w = 1 - a: for v = w 2**n, which is near
    to u, it is n log(2) / 2 + artanh(s), where s = (u - v) / (u + v). Both u and w have two parts.
    Where a is small, n is 0 and s is a, of which the second part then has nearly all."""
    dtype, a, one = x.dtype, absolute(x), constant(1.0, x.dtype)
    u, u_off = fast_two_sum(one, a)
    w, w_off = fast_two_sum(one, -1.0 * a)
    power, n = _power_between(u, w)
    v, v_off = power * w, power * w_off
    above, below = u - v, u + v
    below_off = ((u - below) + v) + (u_off + v_off)
    inverse = 1.0 / below
    s = above * inverse
    missing = fma(-1.0 * s, below, above) + fma(-1.0 * s, below_off, u_off - v_off)
    square = s * s
    high, low = (0.5 * part for part in for_type(_LN2, dtype))
    total, off = fast_two_sum(n * high, s)
    tail = s * square * series_of(square, for_type(ARCTANH, dtype))
    usual = total + (off + fma(n, low, fma(missing, inverse, tail)))
    end = select(a.equals(1.0), constant(inf, dtype), nan)
    return _with_sign(rarely(apply("not", a < 1.0), end, usual), x)


def _power_between(u: Term, w: Term) -> tuple[Term, Term]:
    """2**n and n, so that u and w 2**n differ by a factor of 1.502 at most, 1 <= u < 2 and
    0 < w <= 1. The bits of a number are nearly its logarithm; where they are between those of two
    powers of two it is larger, by 0.087 at most."""
    f = u.dtype.format
    one = f.bias << f.mantissa
    rounded = (bits(u) - bits(w)) + (one + (1 << (f.mantissa - 1)))
    power = from_bits(rounded & ((2 * f.bias + 1) << f.mantissa))
    # A number of 2**p is n, the lowest bits of which have the place of its exponent.
    unit = 2.0**f.mantissa
    biased = from_bits((rounded >> f.mantissa) | ((f.bias + f.mantissa) << f.mantissa))
    return power, biased - (unit + f.bias)


def _log_of_sum(a: Term, square: tuple[Term, Term], swapped: bool) -> Term:
    """log(a + s), where s is the root of a square that has two parts.

    Args:
        swapped: s is larger than a, not smaller.
    """
    s = apply("sqrt", square[0])
    missing = fma(-1.0 * s, s, square[0]) + square[1]  # twice the product with s is missing
    total, off = fast_two_sum(s, a) if swapped else fast_two_sum(a, s)
    twice = 2.0 * s
    more = fma(twice, off, missing), at_least(twice * total, 2.0**-120)
    return for_type(_LOGARITHMS, a.dtype)(total, more)


def _log_of_twice(a: Term) -> Term:
    """log(2 a) for large numbers."""
    found = for_type(_LOGARITHMS, a.dtype)(a, None, 1.0)
    return select(a < inf, found, a)


#: The logarithm of a number that is at least 1, more by a quotient, n being more by a number.
_Quotient = tuple[Term, Term] | None


def _log32(v: Term, more: _Quotient, n_more: float = 0.0) -> Term:
    scaled, f = log32_parts(v, None)
    n = scaled * UNIT_32 + n_more if n_more else scaled * UNIT_32
    rest = f * f * polynomial(f, SERIES_32)
    return _summed(n, f, rest if more is None else rest + more[0] / more[1])


def _log64(v: Term, more: _Quotient, n_more: float = 0.0) -> Term:
    n, m = split64(v, None)
    n, f, below = n + n_more if n_more else n, m - 1.0, -1.0 - m
    if more is None:
        minus_s = f / below
        return _summed(n, f, rest64(f, minus_s, SERIES_64, constant(0.0, float64)))
    # Both quotients come of one division. What the first lacks for it is added.
    both = 1.0 / (below * more[1])
    inverse = more[1] * both
    minus_s = f * inverse
    minus_s = fma(fma(-1.0 * minus_s, below, f), inverse, minus_s)
    of_more = more[0] * (below * both)
    return _summed(n, f, rest64(f, minus_s, SERIES_64, of_more))


def _summed(n: Term, f: Term, rest: Term) -> Term:
    high, low = for_type(_LN2, f.dtype)
    total, off = fast_two_sum(n * high, f)
    return total + (off + fma(n, low, rest))


_LOGARITHMS = {float32: _log32, float64: _log64}


def _with_sign(size: Term, x: Term) -> Term:
    """A number without a sign, with that of x."""
    return from_bits(bits(size) | (bits(x) & x.dtype.format.sign))


FUNCTIONS: dict[str, Callable[[Term], Term]] = {
    "arcsinh": arcsinh,
    "arccosh": arccosh,
    "arctanh": arctanh,
}
