"""exp2, expm1, sinh, cosh, log2, log10, log1p and hypot, computed in float64.

Those of float32 are in `math_single` and `math_single_powers`. Where arguments are large or small,
expm1, sinh, cosh and hypot of float32 take these formulas, with fewer coefficients, and round once,
at the end: numbers of float32, denormals too, are normal numbers there. Of float64 the parts that
decide the error are sums of two numbers.

The coefficients are Taylor's where they are written as fractions, and otherwise those of `exp`
and `log`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, inf

from ..nodes.dtypes import DType, float32, float64
from . import math_single, math_single_powers
from .math_exp import exp_coefficients, power_within
from .math_log import (
    ONE_64,
    SERIES_64,
    TWO_52,
    is_outside,
    log64,
    quotient64,
    rest64,
    usually_normal,
    with_limits,
)
from .math_terms import (
    Term,
    absolute,
    apply,
    at_least,
    at_most,
    bits,
    cast,
    constant,
    estrin_behind_first,
    fma,
    for_type,
    from_bits,
    polynomial,
    power_of_two,
    rarely,
    select,
)

_LN2 = (0.6931471805599453, 2.3190468138462996e-17)
_LOG2_E = (1.4426950408889634, 2.0355273740931033e-17)
_LOG10_E = (0.4342944819032518, 1.098319650216765e-17)
#: log10(2). The first part has 40 bits, so that its product with an exponent is exact.
_LOG10_2 = (0.301029995663157, 8.241712586023572e-13)

_BIAS = float64.format.bias
_SHIFTER = 1.5 * 2.0**float64.format.mantissa
#: c of 2**r = 1 + r (c[0] + c[1] r + ...), |r| <= 1/2.
_EXP2 = (
    0.6931471805599453, 0.24022650695910172, 0.055504108664824574, 0.009618129107577079,
    0.0013333558145567491, 0.00015403530478845363, 1.5252734738020837e-05, 1.3215424485916032e-06,
    1.0177656044220719e-07, 7.075616600992557e-09, 4.5193253189536284e-10,
)  # fmt: skip
#: c of log(1 + f) = f - s (f - R), s = f / (2 + f), R = -s**2 (c[0] + c[1] s**2 + ...), as those of
#: `log` but for f up to 1/2.
_SERIES_1P = (
    -0.666666666666666, -0.4000000000005666, -0.2857142855583199, -0.22222224296131216,
    -0.18181665888986687, -0.15391111758381112, -0.13173598443665013, -0.1384307095942239,
)  # fmt: skip
#: Just above 3/4 and 3/2, where exponents of 1 + x begin.
_THREE_QUARTERS = 0x3FE8000000000001
_EXP = {
    float32: tuple(1 / factorial(k) for k in range(2, 9)),
    float64: exp_coefficients(float64),
}
_SINH = {
    float32: tuple(1 / factorial(k) for k in range(3, 11, 2)),
    float64: tuple(1 / factorial(k) for k in range(3, 15, 2)),
}
_COSH = {
    float32: tuple(1 / factorial(k) for k in range(2, 10, 2)),
    float64: tuple(1 / factorial(k) for k in range(2, 14, 2)),
}
#: Below it the functions of which it is said are their arguments.
_SMALL = 2.0**-54

Function = Callable[..., Term]


def in_float64(of: Callable[..., Term]) -> Function:
    """A function of float32 and float64, from one of the type and of arguments in float64."""

    def function(*arguments: Term) -> Term:
        dtype = arguments[0].dtype
        return cast_to(of(dtype, *(cast_to(x, float64) for x in arguments)), dtype)

    return function


def cast_to(x: Term, to: DType) -> Term:
    return x if x.dtype == to else cast(x, to)


# powers -------------------------------------------------------------------------------------------
def _exp2(dtype: DType, x: Term) -> Term:
    """2**n 2**r, n being the nearest integer; r is exact. It is computed as 2**(n + 1) times a
    half: the bias and one make an even number, by which a tie goes to an even n."""
    n, r = _split(x, 1.0, _BIAS + 1, x)
    p = fma(estrin_behind_first(r, [c / 2 for c in _EXP2]), r, 0.5)
    return power_within(x, (-1080.0, 1025.0, 1020.0), p, n)


def _split(x: Term, scale: float, offset: int, of: Term) -> tuple[Term, Term]:
    """The integer n nearest to `scale x`, plus `offset`, as bits, and `of - n`."""
    shifter = _SHIFTER + offset
    shifted = fma(x, scale, shifter)
    return bits(shifted), of - (shifted - shifter)


def _reduced(x: Term, less: int) -> tuple[Term, Term, Term]:
    """n - less as the bits of an exponent, and r in two parts, where x = n log(2) + r."""
    shifter = _SHIFTER + _BIAS - less
    shifted = fma(x, _LOG2_E[0], shifter)
    n = shifted - shifter
    return bits(shifted), fma(n, -_LN2[0], x), n * -_LN2[1]


def _scaled_exp(dtype: DType, x: Term, less: int) -> tuple[Term, Term, Term]:
    """s = 2**(n - less), and s r and s (e**r - 1 - r), where e**x = 2**n e**r.

    The second is exact, and the rest of the reduction is in the third.
    """
    n, high, low = _reduced(x, less)
    r = high + low
    s = power_of_two(n)
    return s, s * high, s * fma(r * r, polynomial(r, _EXP[dtype]), low)


def _expm1(dtype: DType, x: Term) -> Term:
    """2 (s - 1/2 + s r + s (e**r - 1 - r)), s being half of 2**n; what the sum of the first two
    rounds off is added to the last one."""
    s, middle, rest = _scaled_exp(dtype, at_least(at_most(x, 710.0), -40.0), 1)
    total, off = _fast_sum(s - 0.5, middle)
    return select(absolute(x) < _SMALL, x, 2.0 * (total + (rest + off)))


def _sinh(dtype: DType, x: Term) -> Term:
    """a sinh r and b cosh r, where |x| = n log(2) + r, a = (2**n + 2**-n) / 2 and
    b = (2**n - 2**-n) / 2. Where n is 0 it is sinh r alone: nothing cancels."""
    a = absolute(x)
    if dtype == float32:
        size = _sinh_parts(dtype, at_most(a, 100.0), 1)
    else:
        large = 2.0**8 * _sinh_parts(dtype, at_most(a, 712.0), 9)
        size = rarely(a > 707.0, large, _sinh_parts(dtype, a, 1))
    return from_bits(bits(size) | (bits(x) & float64.format.sign))


def _sinh_parts(dtype: DType, x: Term, less: int) -> Term:
    """sinh x / 2**(less - 1) for x >= 0."""
    n, high, low = _reduced(x, less)
    r = high + low
    up = power_of_two(n)
    # 2**(-n - less), whose exponent is what this one's lacks to a constant.
    down = from_bits((2 * (_BIAS - less) << float64.format.mantissa) - bits(up))
    if less > 1:
        down = constant(0.0, float64)  # next to 2**1000
    of_cosh, of_sinh = up - down, up + down
    low_of_cosh = (up - of_cosh) - down
    total = fma(of_sinh, high, of_cosh)
    off = fma(of_sinh, high, of_cosh - total)
    square = r * r
    sinh = fma(r * square, polynomial(square, _SINH[dtype]), low)  # without `high`
    cosh = square * polynomial(square, _COSH[dtype])  # without 1
    return total + fma(of_cosh, cosh, fma(of_sinh, sinh, off + low_of_cosh))


def _cosh(dtype: DType, x: Term) -> Term:
    """The half of e**a + 1 / e**a, a = |x|, which are both above zero."""
    s, middle, rest = _scaled_exp(dtype, at_most(absolute(x), 710.6), 2)
    up = s + (middle + rest)
    return 2.0 * (up + 0.0625 / up)


def _fast_sum(a: Term, b: Term) -> tuple[Term, Term]:
    """a + b and what that rounds off, for |a| >= |b| or a = 0 (Dekker)."""
    total = a + b
    return total, (a - total) + b


# logarithms ---------------------------------------------------------------------------------------
def _logarithm(in_one: tuple[float, float], in_n: tuple[float, float]) -> Callable[..., Term]:
    """log(x) times a number `in_one`, of which `in_n` is the product with log(2)."""

    series = [c * in_one[0] for c in SERIES_64]

    def logarithm(x: Term, lift: Term | None) -> Term:
        n, f, minus_s = quotient64(x, lift)
        product = f * in_one[0]
        low = fma(f, in_one[1], fma(f, in_one[0], -1.0 * product))
        total, off = _fast_sum(n * in_n[0], product)
        low = off + (fma(n, in_n[1], low) if in_n[1] else low)
        return total + rest64(product, minus_s, series, low)

    return lambda dtype, x: usually_normal(x, logarithm)


def _log1p(dtype: DType, x: Term) -> Term:
    """n log(2) + log(1 + f), where 1 + x = 2**n (1 + f), n is taken from the rounded 1 + x, and f
    is exact, as in `math_single.log1p`. All is so written that zeros keep their signs."""
    u = 1.0 + x
    mantissa, bias = dtype.format.mantissa, dtype.format.bias
    exponent = (_THREE_QUARTERS + (1 << mantissa) - 1 - bits(u)) & 0xFFF0000000000000
    shifted = exponent + ONE_64
    power = from_bits(shifted)
    f = fma(x, power, -1.0 * (1.0 - power))
    minus_n = from_bits((shifted >> mantissa) | TWO_52) - (2.0**52 + bias)
    minus_s = f / (-2.0 - f)
    low = rest64(f, minus_s, _SERIES_1P, minus_n * -_LN2[1])
    found = fma(minus_n, -_LN2[0], f + low)
    return rarely(is_outside(u, 2.0**-1022, 2.0**1000), with_limits(u, log64(u, None)), found)


# two arguments ------------------------------------------------------------------------------------
def _hypot(dtype: DType, x: Term, y: Term) -> Term:
    """sqrt(x**2 + y**2), without overflow: both are first brought into the middle of the range."""
    a, b = absolute(x), absolute(y)
    large = select(a > b, a, b)
    up = select(large > 2.0**500, constant(2.0**-600, float64), 1.0)
    scale = select(large < 2.0**-450, constant(2.0**600, float64), up)
    back = select(large < 2.0**-450, constant(2.0**-600, float64), 1.0)
    back = select(large > 2.0**500, constant(2.0**600, float64), back)
    u, v = a * scale, b * scale
    found = apply("sqrt", fma(u, u, v * v)) * back
    is_infinite = apply("or", a.equals(inf), b.equals(inf))
    return select(is_infinite, constant(inf, float64), found)


def _by_type(single: Function, of: Callable[..., Term]) -> Function:
    """A function of float32 by a formula of its own, and of float64."""
    formulas = {float32: single, float64: in_float64(of)}
    return lambda *x: for_type(formulas, x[0].dtype)(*x)


def _by_branch(single: Function, of: Callable[..., Term]) -> Function:
    """The same, where that of float32 takes the wider one for arguments that are rare."""
    wide = in_float64(of)
    return _by_type(lambda *x: single(*x, wide), of)


FUNCTIONS: dict[str, Function] = {
    "exp2": _by_type(math_single.exp2, _exp2),
    "expm1": _by_branch(math_single_powers.expm1, _expm1),
    "sinh": _by_branch(math_single_powers.sinh, _sinh),
    "cosh": _by_branch(math_single_powers.cosh, _cosh),
    "log2": _by_type(math_single.log2, _logarithm(_LOG2_E, (1.0, 0.0))),
    "log10": _by_type(math_single.log10, _logarithm(_LOG10_E, _LOG10_2)),
    "log1p": _by_type(math_single.log1p, _log1p),
    "hypot": _by_branch(math_single_powers.hypot, _hypot),
}
