"""The inverses of sin, cos, tan, sinh, cosh and tanh, and the cube root: all compute in float64.

Of float32 they take fewer coefficients and round once, at the end. Of float64 the sum that gives
the result keeps what it rounds off where that counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan

from ..nodes.dtypes import DType, float32, float64
from .math_inverse_tables import ARCSIN, ARCSINH, ARCTAN, ARCTANH, CUBE_ROOT
from .math_log import SERIES_64, log64_parts
from .math_sums import fast_two_sum, two_product, two_sum
from .math_terms import (
    Term,
    absolute,
    apply,
    at_least,
    at_most,
    bits,
    constant,
    fma,
    from_bits,
    polynomial,
    power_of_two,
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


# of sin, cos and tan ------------------------------------------------------------------------------
def _turned(base: Sequence[Term], t: Term, rest: Term) -> Term:
    """base + t + rest, where base is 0 or larger than t."""
    total, off = fast_two_sum(base[0], t)
    return total + (off + (rest + base[1]))


def _chosen(condition: Term, a: Sequence[Term | float], b: Sequence[Term | float]) -> list[Term]:
    """Two numbers, of which the first are floats or Terms."""
    pairs = zip(a, b, strict=True)
    return [select(condition, _term(x), _term(y)) for x, y in pairs]


def _term(x: Term | float) -> Term:
    return x if isinstance(x, Term) else constant(x, float64)


def _parts_of_arcsin(dtype: DType, a: Term) -> tuple[Term, Term, Term]:
    """Whether a = |x| is above 1/2, and s and the rest of arcsin(s), where s is a, or then the
    square root of (1 - a) / 2: the sine of half of what is missing to a right angle."""
    is_large = a > 0.5
    square = select(is_large, fma(a, -0.5, 0.5), a * a)
    s = select(is_large, apply("sqrt", square), a)
    return is_large, s, s * square * polynomial(square, ARCSIN[dtype])


def _arcsin(dtype: DType, x: Term) -> Term:
    is_large, s, rest = _parts_of_arcsin(dtype, absolute(x))
    base = _chosen(is_large, [p / 2 for p in _PI], (0.0, 0.0))
    factor = select(is_large, constant(-2.0, float64), 1.0)
    return _with_sign(_turned(base, factor * s, factor * rest), x)


def _arccos(dtype: DType, x: Term) -> Term:
    """pi/2 - arcsin(x); above 1/2 twice the arcsine of s, below -1/2 what it lacks to pi."""
    is_large, s, rest = _parts_of_arcsin(dtype, absolute(x))
    is_below = x < 0.0
    far = _chosen(is_below, _PI, (0.0, 0.0))
    base = _chosen(is_large, far, [p / 2 for p in _PI])
    of_large = select(is_below, constant(-2.0, float64), 2.0)
    of_small = select(is_below, constant(1.0, float64), -1.0)
    factor = select(is_large, of_large, of_small)
    return _turned(base, factor * s, factor * rest)


def _angle(dtype: DType, a: Term, b: Term, mirrored: Term | None = None) -> Term:
    """arctan(a / b) for a, b >= 0, or what is missing of that to pi where it is mirrored.

    It is arctan t, or pi/4 or pi/2 and the arctangent of another t, so that |t| is at most 9/16.
    """
    is_high, is_middle = a * 0.5 > b, a > b * 0.5625
    above = select(is_high, -1.0 * b, select(is_middle, a - b, a))
    below = select(is_high, a, select(is_middle, a + b, b))
    middle = _chosen(is_middle, [p / 4 for p in _PI], (0.0, 0.0))
    base = _chosen(is_high, [p / 2 for p in _PI], middle)
    below = select(below.equals(0.0), constant(1.0, float64), below)
    t, off = above / below, constant(0.0, float64)
    if mirrored is not None and dtype == float64:
        inverse = 1.0 / below
        t = above * inverse
        off = fma(-1.0 * t, below, above) * inverse
    if mirrored is not None:
        other_middle = _chosen(is_middle, [p * 0.75 for p in _PI], _PI)
        other = _chosen(is_high, [p / 2 for p in _PI], other_middle)
        base = _chosen(mirrored, other, base)
        t, off = select(mirrored, -1.0 * t, t), select(mirrored, -1.0 * off, off)
    square = t * t
    return _turned(base, t, fma(t * square, polynomial(square, ARCTAN[dtype]), off))


def _arctan(dtype: DType, x: Term) -> Term:
    a = at_most(absolute(x), 2.0**64)
    return _with_sign(_angle(dtype, a, constant(1.0, float64)), x)


def _arctan2(dtype: DType, y: Term, x: Term) -> Term:
    """The angle of the point (x, y). Where both are tiny, or one is huge, their quotient is that of
    others: next to an infinity what is finite is 0, and two infinities are the same number."""
    a, b = absolute(y), absolute(x)
    scale = constant(1.0, float64)
    if dtype == float64:
        large = select(a > b, a, b)
        scale = select(large > 2.0**1000, constant(2.0**-8, float64), scale)
        scale = select(large < 2.0**-450, constant(2.0**600, float64), scale)
    a, b = (
        at_most(p * select(apply("and", q.equals(inf), p < inf), 0.0, scale), 2.0**1020)
        for p, q in ((a, b), (b, a))
    )
    mirrored = apply("ne", bits(x) & _SIGN, 0)
    return _with_sign(_angle(dtype, a, b, mirrored), y)


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
    missing = fma(-1.0 * s, s, square[0]) + square[1]  # twice the product with s is missing
    total, off = fast_two_sum(s, a) if swapped else fast_two_sum(a, s)
    twice = 2.0 * s
    more = fma(twice, off, missing) / at_least(twice * total, 2.0**-1000)
    found = _logarithm(dtype, select(is_large, a, total), select(is_large, 0.0, more), is_large)
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
    v = above / below
    missing = fma(-1.0 * v, below, above) + fma(-1.0 * v, below_off, above_off)
    found = 0.5 * _logarithm(dtype, v, missing / above)
    large = select(a < 1.0, found, select(a.equals(1.0), constant(inf, float64), nan))
    square = a * a
    small = fma(a * square, polynomial(square, ARCTANH[dtype]), a)
    # A NaN is below nothing: it goes the way of what is small.
    return _with_sign(select(a > 0.1715, large, small), x)


# the cube root ------------------------------------------------------------------------------------
def _cbrt(dtype: DType, x: Term) -> Term:
    """x = 2**(3 k) t with 1 <= t < 8. An approximation r of t**(-1/3) is made better once, of third
    order, then t r**2 is the cube root, to which float64 needs one step of Newton's."""
    a = absolute(x)
    tiny = a < 2.0 ** (1 - _BIAS)
    raised = select(tiny, a * 2.0**54, a) if dtype == float64 else a
    lift = select(tiny, constant(-18.0, float64), 0.0) if dtype == float64 else 0.0
    fraction = (bits(raised) & ((1 << _MANTISSA) - 1)) | (_BIAS << _MANTISSA)
    # The exponent becomes a float as the lowest bits of 2**52.
    exponent = from_bits((bits(raised) >> _MANTISSA) | bits_of(2.0**52)) - (2.0**52 + _BIAS)
    third = fma(exponent - 1.0, 1 / 3, _SHIFTER) - _SHIFTER
    left = fma(third, -3.0, exponent)
    m = from_bits(fraction)
    t = m * power_of_two(bits(left + (_SHIFTER + _BIAS)))
    start = select(left < 0.5, constant(1.0, float64), 2 ** (-1 / 3))
    start = select(left > 1.5, constant(2 ** (-2 / 3), float64), start)
    r = start * polynomial(m, CUBE_ROOT)
    h = fma(-1.0 * (t * r), r * r, 1.0)
    r = fma(r * h, fma(h, 2 / 9, 1 / 3), r)
    y = t * (r * r)
    if dtype == float64:
        square, rest = two_product(y, y)
        off = fma(rest, y, fma(square, y, -1.0 * t))
        y = fma(off * (-1 / 3), r * r, y)
    found = _with_sign(y * power_of_two(bits(third + lift + (_SHIFTER + _BIAS))), x)
    # Zeros, infinities and NaN are their own roots.
    return select(apply("and", a > 0.0, a < inf), found, x)


def bits_of(number: float) -> int:
    """The bits of a float64."""
    return float64.bits_of(float64.scalar(number))


FUNCTIONS: dict[str, Function] = {
    "arcsin": in_float64(_arcsin),
    "arccos": in_float64(_arccos),
    "arctan": in_float64(_arctan),
    "arctan2": in_float64(_arctan2),
    "arcsinh": in_float64(_arcsinh),
    "arccosh": in_float64(_arccosh),
    "arctanh": in_float64(_arctanh),
    "cbrt": in_float64(_cbrt),
}
