"""The error function and its complement.

Of float32, erf x = x p(x**2) / q(x**2), which is computed in float64. Of float64 it is
x + x p(x**2 - c) for |x| < 1.3, and beyond 1 - p(|x| - c)**-8: there are no powers of e, and what
a power multiplies an error with is made up for by how small erfc is. Both are polynomials around a
place c in the interval, so that their first coefficients decide, and hardly anything cancels.

The complement has to be exact however small it is. For a = |x|,

    erfc a = e**-a**2 q factor (1 + p(a) / d(a)),    q = 1 / (a + shift).

The two constants make the last quotient less than 1/11, so that its errors hardly count. What is
missing from q relatively, and what the square of a rounds off, are small changes of the exponent.
They are put to the quotient, so that one formula has all digits from 0 on.

The coefficients are of minimax polynomials and quotients for the relative error.
"""

from __future__ import annotations

from ...records import dataclass
from ..nodes.dtypes import DType, float32, float64
from .math_terms import (
    Term,
    absolute,
    at_least,
    at_most,
    bits,
    fma,
    for_type,
    from_bits,
    interleaved,
    polynomial,
    power_of_two,
    select,
)
from .math_wide import in_float64

_LOG2_E = 1.4426950408889634
#: log(2) as the sum of two numbers of each type.
_LN2: dict[DType, tuple[float, float]] = {
    float32: (0.6931471824645996, -1.9046542121259336e-09),
    float64: (0.6931471805599453, 2.3190468138462996e-17),
}

_ERF_32 = (
    (
        1.1283791669600707, 0.30461601523091303, 0.07415561698143973, 0.00980383368551451,
        0.0008189050438395485, 5.351863886621047e-05, 9.387088573746571e-07,
    ),
    (
        1.0, 0.6032922418205554, 0.1668161697156849, 0.027773942600181793, 0.0030368607181200263,
        0.00021838729965224741, 9.34583552233623e-06, 4.0137457352557375e-08,
    ),
)  # fmt: skip
#: Where the formula of float64 changes, and from where on it gives 1.
_LIMIT, _ONE = 1.3, 5.95
#: A place, and c[k] of erf x = x + x (c[0] + c[1] (x**2 - place) + ...), |x| < 1.3.
_NEAR = (
    0.87109375,
    (
        -0.12877191955905332, -0.22902738815711451, 0.06166464196172032, -0.01381663301464673,
        0.002584852830598745, -0.00041188058008104336, 5.697095207089928e-05,
        -6.950380403499013e-06, 7.577670720170173e-07, -7.463457370403872e-08,
        6.700600956342841e-09, -5.525172923363621e-10, 4.262009671660617e-11,
        -3.0722547521990046e-12,
    ),
)  # fmt: skip
#: A place, and c[k] of (erfc x)**(-1/8) = c[0] + c[1] (x - place) + ..., 1.3 <= x <= 5.95.
_ROOT = (
    1.22119140625,
    (
        1.3625730315627214, 0.5139680734586193, 0.24476539332536779, 0.07367273833400778,
        0.020476940424097277, 0.005227236555806742, 0.0011061081525571225, 0.00023996313019838318,
        4.541079629280439e-05, 7.868359589022724e-06, 1.3435446443408298e-06,
        3.7297772423562884e-07, -7.479876313895771e-08, 5.73341922770764e-08,
        -1.6330009573862444e-08, 3.889719303151093e-09, -5.083198599157527e-10,
        3.731856700810162e-11,
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Tail:
    """The constants of erfc in a float type.

    Attributes:
        most: erfc is 0 from here on.
        above, below: the coefficients of p and d.
        power: c[k] of e**r = 1 + r + r**2 (c[0] + c[1] r + ...), |r| <= log(2) / 2.
        margin: an exponent that is added to 2**n at first, so that it is a normal number.
    """

    most: float
    above: tuple[float, ...]
    below: tuple[float, ...]
    power: tuple[float, ...]
    margin: int


#: `shift` and `factor` of erfc. The first has so few digits that a sum less it is exact.
_SHIFT, _FACTOR = 0.5625, 0.6171875
_TAILS: dict[DType, _Tail] = {
    float32: _Tail(
        most=10.2,
        above=(
            -0.08860759437084198, 0.3786187469959259, 0.286724716424942, 0.07772208005189896,
            -0.0034192746970802546, -0.005832720547914505,
        ),
        below=(
            1.0, 2.406548500061035, 2.491133213043213, 1.409608006477356, 0.44640010595321655,
            0.06792977452278137,
        ),
        power=(
            0.4999999403953552, 0.16666516661643982, 0.04166810214519501, 0.008369192481040955,
            0.0013838912127539515,
        ),
        margin=32,
    ),
    float64: _Tail(
        most=27.3,
        above=(
            -0.08860759493670883, 0.2956787279569419, 0.6011188473982196, 0.5055371579866123,
            0.2459683946887721, 0.07197872095551251, 0.010205871381069195,
            -0.0008315476790384477, -0.0006933214261400459, -0.00013572139644011107,
            -1.082065613747691e-05,
        ),
        below=(
            1.0, 3.3425829229320017, 5.19531778811378, 4.957790056089657, 3.226997646603708,
            1.5027536841354596, 0.5094822759026123, 0.12494018534943209, 0.021386248952666467,
            0.0023351162507875708, 0.0001260120049386717,
        ),
        power=(
            0.5000000000000011, 0.16666666666666438, 0.04166666666652578, 0.008333333333473511,
            0.0013888888944868717, 0.00019841269561290056, 2.480149173890047e-05,
            2.7557529567514893e-06, 2.763075640696323e-07, 2.5020422600249058e-08,
        ),
        margin=60,
    ),
}  # fmt: skip


def _erf(dtype: DType, x: Term) -> Term:
    if dtype == float32:
        x = at_least(at_most(x, 3.94), -3.94)
        square = x * x
        return x * polynomial(square, _ERF_32[0]) / polynomial(square, _ERF_32[1])
    a = absolute(x)
    near = fma(a, interleaved(fma(a, a, -_NEAR[0]), _NEAR[1]), a)
    v = at_most(a, _ONE) - _ROOT[0]
    power = fma(v, interleaved(v, _ROOT[1][1:]), _ROOT[1][0])
    for _ in range(3):
        power = power * power
    found = select(a < _LIMIT, near, 1.0 - 1.0 / power)
    return from_bits(bits(found) | (bits(x) & float64.format.sign))


def _erfc(x: Term) -> Term:
    """The power of e has two parts, and with the quotient it is multiplied where that is small."""
    c = for_type(_TAILS, x.dtype)
    a = at_most(absolute(x), c.most)
    scale, r, more = _reduced(a, c.margin)
    total = a + _SHIFT
    total_low = a - (total - _SHIFT)
    q = 1.0 / total
    more = fma(-1.0 * q, total_low, more) + fma(-1.0 * q, total, 1.0)
    quotient = interleaved(a, c.above) / interleaved(a, c.below)
    e, e_low = _factor_times_power(r, c)
    e_low = fma(fma(more, quotient, more) + quotient, e + e_low, e_low)
    found = fma(q, e, q * e_low) * scale
    return select(x < 0.0, 2.0 - found, found)


def _reduced(a: Term, margin: int) -> tuple[Term, Term, Term]:
    """2**(n + margin), and two numbers the sum of which is -a**2 - n log(2)."""
    f, (ln2, ln2_low) = a.dtype.format, for_type(_LN2, a.dtype)
    square = a * a
    shifter = 1.5 * 2.0**f.mantissa + f.bias + margin
    shifted = fma(square, -_LOG2_E, shifter)
    n = shifted - shifter
    r = fma(n, -ln2, -1.0 * square)
    return power_of_two(bits(shifted)), r, fma(n, -ln2_low, fma(-1.0 * a, a, square))


def _factor_times_power(r: Term, c: _Tail) -> tuple[Term, Term]:
    """Two numbers the sum of which is 2**-margin factor e**r, the second less than 1/11 of it."""
    factor = _FACTOR * 2.0**-c.margin
    e = fma(r, factor, factor)
    missing = fma(r, factor, factor - e)
    return e, fma(r * r, interleaved(r, [factor * k for k in c.power]), missing)


FUNCTIONS = {"erf": in_float64(_erf), "erfc": _erfc}
