"""exp, sigmoid and tanh, from one reduction of the argument and one polynomial.

Method: Cody and Waite's reduction x = n log(2) + r with |r| <= log(2) / 2, then
e**x = 2**n e**r. The nearest integer n comes from the lowest bits of x / log(2) + 1.5 * 2**p, p
being the number of mantissa bits: there the sum's unit is 1. Shifted into the place of the
exponent, the same bits are 2**n.
"""

from __future__ import annotations

from math import inf

from ...records import dataclass
from ..nodes.dtypes import DType, float32, float64
from .math_terms import (
    Term,
    absolute,
    apply,
    at_least,
    at_most,
    bits,
    constant,
    fma,
    for_type,
    from_bits,
    polynomial,
    power_of_two,
    rarely,
    select,
)


@dataclass(frozen=True, slots=True)
class _Constants:
    """The constants of the functions in one float type.

    log2e: 1 / log(2).
    ln2: log(2) as the sum of two numbers. Both have full length: an fma makes x - n ln2[0] exact.
    exp: c[k] of e**r = 1 + r + r**2 (c[0] + c[1] r + ...), |r| <= log(2) / 2.
    least, most: e**x is 0 at and below `least`, inf at and above `most`.
    usual: e**x is a normal number for |x| up to it.
    tanh: t[k] of tanh x = x + x**3 (t[0] + t[1] x**2 + ...), |x| < small.
    small, one: tanh is computed by `tanh` below `small`, and is 1 from `one` on.
    large: 1 / (1 + e**-x) is 1 from it on.
    near: 1 + 2**n is exact for |x| up to it.
    """

    log2e: float
    ln2: tuple[float, float]
    exp: tuple[float, ...]
    least: float
    most: float
    usual: float
    small: float
    tanh: tuple[float, ...]
    one: float
    large: float
    near: float


_CONSTANTS: dict[DType, _Constants] = {
    float32: _Constants(
        log2e=1.4426950216293335,
        ln2=(0.6931471824645996, -1.9046542121259336e-09),
        exp=(
            0.4999999403953552, 0.1666652113199234, 0.041668254882097244, 0.008368662558495998,
            0.0013821469619870186,
        ),
        least=-104.0,
        most=89.0,
        usual=87.0,
        small=1.0,
        tanh=(
            -0.33333295583724976, 0.13332346081733704, -0.05387984588742256, 0.0214866753667593,
            -0.007946009747684002, 0.00230122241191566, -0.0003583947254810482,
        ),
        one=10.0,
        large=18.0,
        near=16.0,
    ),
    float64: _Constants(
        log2e=1.4426950408889634,
        ln2=(0.6931471805599453, 2.3190468138462996e-17),
        exp=(
            0.5000000000000011, 0.16666666666666466, 0.0416666666665288, 0.008333333333470161,
            0.0013888888943699405, 0.00019841269546382113, 2.480149317230808e-05,
            2.7557558352234417e-06, 2.763019423313307e-07, 2.5007256307494982e-08,
        ),
        least=-745.2,
        most=710.0,
        usual=708.0,
        small=0.7,
        tanh=(
            -0.3333333333333309, 0.13333333333298936, -0.053968253951456754, 0.021869488123795234,
            -0.008863229578896653, 0.0035920731270900168, -0.0014554945136712827,
            0.0005885790788195765, -0.00023483881647408714, 8.812562810638407e-05,
            -2.706816157648325e-05, 4.8005422480568156e-06,
        ),
        one=20.0,
        large=38.0,
        near=36.0,
    ),
}  # fmt: skip


def exp_coefficients(dtype: DType) -> tuple[float, ...]:
    """c[k] of e**r = 1 + r + r**2 (c[0] + c[1] r + ...), |r| <= log(2) / 2."""
    return for_type(_CONSTANTS, dtype).exp


def exp(x: Term) -> Term:
    """e**x."""
    c = for_type(_CONSTANTS, x.dtype)
    n, p = _reduce(x, 1.0, x.dtype.format.bias)
    return power_within(x, (c.least, c.most, c.usual), p, n)


def power_within(x: Term, limits: tuple[float, float, float], p: Term, n: Term) -> Term:
    """p 2**n, which is a power with the exponent x; n + bias is in the lowest bits of an integer.

    Args:
        limits: the power is 0 at and below the first, inf at and above the second, and 2**n and it
            are normal numbers as long as |x| is not above the third.
    """
    least, most, usual = limits
    # n reaches beyond the exponents of normal numbers, but its halves do not. Only the last of the
    # two products rounds, also where it is denormal.
    twice = n + x.dtype.format.bias
    half = twice >> 1
    found = p * power_of_two(half) * power_of_two(twice - half)
    end = select(x < 0.0, constant(0.0, x.dtype), inf)
    rare = select(apply("and", x > least, x < most), found, end)
    return rarely(absolute(x) > usual, rare, p * power_of_two(n))


def sigmoid(x: Term) -> Term:
    """1 / (1 + e**-x); where |x| is large, from numbers that are scaled and carry what is lost."""
    c, f = for_type(_CONSTANTS, x.dtype), x.dtype.format
    n, r, u = _reduced(x, -1.0, f.bias)
    power = power_of_two(n)
    base = power + 1.0
    factor = u * power
    d = fma(factor, r, base)
    usual = _reciprocal(d, fma(factor, r, base - d))
    return rarely(absolute(x) > c.near, _sigmoid_of_large(x), usual)


def _sigmoid_of_large(x: Term) -> Term:
    """1 / (1 + e**-x), times a power of two: nothing overflows, and what it is multiplied with in
    the end rounds denormal results only.

    With e**-x = 2**n (1 + u r) the sum is `base`, 1 + 2**n, and 2**n u r. Where `base` is not
    exact, 2**n less than it is 0, or nearly 1.
    """
    c, f = for_type(_CONSTANTS, x.dtype), x.dtype.format
    shift = (f.bias + 1) // 2
    one = 2.0**-shift
    n, r, u = _reduced(at_most(at_least(x, c.least), c.large), -1.0, f.bias - shift)
    power = power_of_two(n)
    base = power + one
    factor = u * power
    d = fma(factor, r, base)
    return _reciprocal(d, fma(factor, r, base - d) + (one - (base - power))) * one


def _reciprocal(d: Term, d_low: Term) -> Term:
    """1 / (d + d_low), where the second number is what roundings have left out of the first. So is
    the rounding of the quotient: nearly all of the error is that of the last operation."""
    y = 1.0 / d
    minus_y = -1.0 * y
    return fma(y, fma(minus_y, d_low, fma(minus_y, d, 1.0)), y)


def tanh(x: Term) -> Term:
    """The hyperbolic tangent: of a = |x|, with the sign of x.

    It is 1 - 2 / (e**(2 a) + 1), and a polynomial of its own where that would cancel.
    """
    c, f = for_type(_CONSTANTS, x.dtype), x.dtype.format
    a = absolute(x)
    n, p = _reduce(at_most(a, c.one), 2.0, f.bias, fine=False)
    large = 1.0 - 2.0 / fma(p, power_of_two(n), 1.0)
    square = a * a
    small = fma(a * square, polynomial(square, c.tanh), a)
    return from_bits(bits(select(a < c.small, small, large)) | (bits(x) & f.sign))


def _reduce(x: Term, scale: float, offset: int, fine: bool = True) -> tuple[Term, Term]:
    """n and p such that e**(scale x) = 2**n p, with n + offset in the lowest bits of an integer.

    `scale` is a power of two or its negative, so that it is folded into the constants. Without
    `fine` the second part of log(2) is left out: an error of up to n / 5 ULP, for results in which
    a factor 2**-n makes it negligible.
    """
    n, r, u = _reduced(x, scale, offset, fine)
    return n, fma(u, r, 1.0)


def _reduced(x: Term, scale: float, offset: int, fine: bool = True) -> tuple[Term, Term, Term]:
    """n, r and u such that e**(scale x) = 2**n (1 + u r)."""
    c, f = for_type(_CONSTANTS, x.dtype), x.dtype.format
    shifter = 1.5 * 2.0**f.mantissa + offset
    shifted = fma(x, scale * c.log2e, shifter)
    n = shifted - shifter
    r = fma(n, -c.ln2[0] / scale, x)
    if fine:
        r = fma(n, -c.ln2[1] / scale, r)
    q = polynomial(r, [ck * scale ** (k + 2) for k, ck in enumerate(c.exp)])
    return bits(shifted), r, fma(q, r, scale)
