"""arcsinh, arccosh and arctanh, all of which compute in float64.

Of float32 they take fewer coefficients, leave out what float64 has to spare, and round once, at the
end. Of float64 roots, quotients and sums come with what they round off.
"""

from __future__ import annotations

from math import inf, nan

from ..nodes.dtypes import DType, float32, float64
from .math_inverse_tables import ARCSINH, ARCTANH
from .math_log import SERIES_64, log64_parts
from .math_sums import fast_two_sum, two_product, two_sum
from .math_terms import (
    Term,
    absolute,
    apply,
    at_least,
    bits,
    constant,
    fma,
    from_bits,
    polynomial,
    select,
)
from .math_wide import Function, in_float64

_PI = (3.141592653589793, 1.2246467991473532e-16)
_LN2 = (0.6931471805599453, 2.3190468138462996e-17)
_SIGN = float64.format.sign
_BIAS = float64.format.bias
_MANTISSA = float64.format.mantissa
_SHIFTER = 1.5 * 2.0**_MANTISSA
#: The series of artanh, as far as the logarithms of float32 need it, as in `math_wide`.
_SHORT_LOG = tuple(-2 / (2 * k + 1) for k in range(1, 6))


def _with_sign(size: Term, x: Term) -> Term:
    """A number without a sign, with that of x."""
    return from_bits(bits(size) | (bits(x) & _SIGN))


# of sinh, cosh and tanh ---------------------------------------------------------------------------
def _logarithm(dtype: DType, v: Term, more: Term, doubled: Term | None = None) -> Term:
    """log(v) + more for v >= 1, or the logarithm of the double of v."""
    n, f, minus_s, rest = log64_parts(v, 0.0, _SHORT_LOG if dtype == float32 else SERIES_64)
    if doubled is not None:
        n = select(doubled, n + 1.0, n)
    low = fma(n, _LN2[1], fma(minus_s, rest, more))
    return fma(n, _LN2[0], f + low)


def _log_of_sum(dtype: DType, a: Term, square: tuple[Term, Term], swapped: bool) -> Term:
    """log(a + s), where s is the root of a square that has two parts; of 2 a where a is large.

    Args:
        swapped: s is larger than a, not smaller.
    """
    is_large = a > 2.0**30
    s = apply("sqrt", square[0])
    total, off = fast_two_sum(s, a) if swapped else fast_two_sum(a, s)
    more = constant(0.0, float64)
    if dtype == float64:
        missing = fma(-1.0 * s, s, square[0]) + square[1]  # twice the product with s is missing
        twice = 2.0 * s
        more = fma(twice, off, missing) / at_least(twice * total, 2.0**-1000)
        more = select(is_large, 0.0, more)
    found = _logarithm(dtype, select(is_large, a, total), more, is_large)
    return select(a < inf, found, a)


def _arcsinh(dtype: DType, x: Term) -> Term:
    a = absolute(x)
    square, rest = two_product(a, a)
    total, off = two_sum(square, constant(1.0, float64))
    large = _log_of_sum(dtype, a, (total, off + rest), True)
    small = fma(a * square, polynomial(square, ARCSINH), a)
    return _with_sign(select(a < 0.3, small, large), x)


def _arccosh(dtype: DType, x: Term) -> Term:
    square, rest = two_product(x, x)
    total, off = fast_two_sum(square, constant(-1.0, float64))
    found = _log_of_sum(dtype, x, (total, off + rest), False)
    return select(x < 1.0, constant(nan, float64), found)


def _arctanh(dtype: DType, x: Term) -> Term:
    """Half of the logarithm of (1 + a) / (1 - a), and a polynomial where a is small."""
    a = absolute(x)
    above, above_off = fast_two_sum(constant(1.0, float64), a)
    below, below_off = fast_two_sum(constant(1.0, float64), -1.0 * a)
    v, more = above / below, constant(0.0, float64)
    if dtype == float64:
        missing = fma(-1.0 * v, below, above) + fma(-1.0 * v, below_off, above_off)
        more = missing / above
    found = 0.5 * _logarithm(dtype, v, more)
    large = select(a < 1.0, found, select(a.equals(1.0), constant(inf, float64), nan))
    square = a * a
    small = fma(a * square, polynomial(square, ARCTANH[dtype]), a)
    # A NaN is above nothing: it goes the way of what is small.
    return _with_sign(select(a > 0.1715, large, small), x)


FUNCTIONS: dict[str, Function] = {
    "arcsinh": in_float64(_arcsinh),
    "arccosh": in_float64(_arccosh),
    "arctanh": in_float64(_arctanh),
}
