"""arcsinh, arccosh and arctanh: logarithms of numbers that come with what they round off, and
polynomials where these logarithms would cancel."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

from ..nodes.dtypes import float32, float64, int32
from .math_inverse_tables import ARCSINH, ARCTANH
from .math_log import SERIES_32, SERIES_64, SQRT_HALF_32, log64_parts
from .math_sums import fast_two_sum, two_product, two_sum
from .math_terms import (
    Term,
    absolute,
    apply,
    at_least,
    bits,
    cast,
    constant,
    fma,
    for_type,
    from_bits,
    polynomial,
    select,
)

#: log(2) as the sum of two numbers. The first is short: its product with n is exact.
_LN2 = {
    float32: (0.693145751953125, 1.428606765330187e-06),
    float64: (0.6931471805598903, 5.497923018708371e-14),
}


def arcsinh(x: Term) -> Term:
    a = absolute(x)
    square, rest = two_product(a, a)
    total, off = two_sum(square, constant(1.0, x.dtype))
    large = _log_of_sum(a, (total, off + rest), True)
    small = fma(a * square, polynomial(square, for_type(ARCSINH, x.dtype)), a)
    return _with_sign(select(a < 0.3, small, large), x)


def arccosh(x: Term) -> Term:
    square, rest = two_product(x, x)
    total, off = fast_two_sum(square, constant(-1.0, x.dtype))
    found = _log_of_sum(x, (total, off + rest), False)
    return select(x < 1.0, constant(nan, x.dtype), found)


def arctanh(x: Term) -> Term:
    """Half of the logarithm of (1 + a) / (1 - a), and a polynomial where a is small."""
    a, one = absolute(x), constant(1.0, x.dtype)
    above, above_off = fast_two_sum(one, a)
    below, below_off = fast_two_sum(one, -1.0 * a)
    v = above / below
    missing = fma(-1.0 * v, below, above) + fma(-1.0 * v, below_off, above_off)
    found = 0.5 * _logarithm(v, missing / above)
    large = select(a < 1.0, found, select(a.equals(1.0), constant(inf, x.dtype), nan))
    square = a * a
    small = fma(a * square, polynomial(square, for_type(ARCTANH, x.dtype)), a)
    # A NaN is above nothing: it goes the way of what is small.
    return _with_sign(select(a > 0.1715, large, small), x)


def _log_of_sum(a: Term, square: tuple[Term, Term], swapped: bool) -> Term:
    """log(a + s), where s is the root of a square that has two parts; of 2 a where a is large.

    Args:
        swapped: s is larger than a, not smaller.
    """
    is_large = a > 2.0**30
    s = apply("sqrt", square[0])
    missing = fma(-1.0 * s, s, square[0]) + square[1]  # twice the product with s is missing
    total, off = fast_two_sum(s, a) if swapped else fast_two_sum(a, s)
    twice = 2.0 * s
    more = fma(twice, off, missing) / at_least(twice * total, 2.0**-120)
    found = _logarithm(select(is_large, a, total), select(is_large, 0.0, more), is_large)
    return select(a < inf, found, a)


def _logarithm(v: Term, more: Term, doubled: Term | None = None) -> Term:
    """log(v) + more for v >= 1, or where it is doubled log(2 v)."""
    n, f, rest = for_type(_PARTS, v.dtype)(v)
    if doubled is not None:
        n = select(doubled, n + 1.0, n)
    high, low = for_type(_LN2, v.dtype)
    total, off = fast_two_sum(n * high, f)
    return total + (off + fma(n, low, rest + more))


def _parts32(v: Term) -> tuple[Term, Term, Term]:
    """n, f and log(1 + f) - f, where v = 2**n (1 + f)."""
    exponent = (bits(v) - SQRT_HALF_32) & 0xFF800000
    f = from_bits(bits(v) - exponent) - 1.0
    n = cast(cast(exponent, int32), float32) * 2.0**-23
    return n, f, f * f * polynomial(f, SERIES_32)


def _parts64(v: Term) -> tuple[Term, Term, Term]:
    n, f, minus_s, rest = log64_parts(v, None, SERIES_64)
    return n, f, minus_s * rest


def _with_sign(size: Term, x: Term) -> Term:
    """A number without a sign, with that of x."""
    return from_bits(bits(size) | (bits(x) & x.dtype.format.sign))


_PARTS = {float32: _parts32, float64: _parts64}
FUNCTIONS: dict[str, Callable[[Term], Term]] = {
    "arcsinh": arcsinh,
    "arccosh": arccosh,
    "arctanh": arctanh,
}
