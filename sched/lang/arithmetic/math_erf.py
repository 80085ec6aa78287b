"""The error function and its complement.

Of float32, erf x = x p(x**2) / q(x**2), which is computed in float64. Of float64 it is
x + x p(x**2 - c) for |x| < 1.3, and beyond 1 - p(|x| - c)**-8: there are no powers of e, and what
a power multiplies an error with is made up for by how small erfc is. Both are polynomials around a
place c in the interval, so that their first coefficients decide, and hardly anything cancels.

The complement has to be exact however small it is. For a = |x|, with G(a) = e**a**2 erfc a,

    erfc a = e**-a**2 q P(v),    q = 1 / (a + c),    v = place - c q.

Of q only so many digits are taken that v is exact. Then `off`, what is missing from q relatively,
is exact, too, and is made up for: it changes log G by K(v) off, where K = -(a + c) G'(a) / G(a).
That is added to what the square of a rounds off, so that one formula has all digits from 0 on.

The coefficients are of minimax polynomials for the relative error.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..nodes.dtypes import DType, float32, float64
from .math_exp import exp_coefficients
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
        centre: c.
        dropped: how many of the lowest bits of q are not taken.
        most: erfc is 0 from here on.
        place: c q where v is 0.
        first, rest: c[0] and c[1], c[2], ... of P. The first has fewer digits than its type.
        slope: the coefficients of K.
        margin: the exponent that is added at first, so that the product with 2**n is normal.
    """

    centre: float
    dropped: int
    most: float
    place: float
    first: float
    rest: tuple[float, ...]
    slope: tuple[float, ...]
    margin: int


_TAILS: dict[DType, _Tail] = {
    float32: _Tail(
        centre=3.0,
        dropped=3,
        most=10.2,
        place=0.565185546875,
        first=1.1999313831329346,
        rest=(
            -2.108440637588501, 2.8977291584014893, -3.018195867538452, 2.1834208965301514,
            -0.7913906574249268, -0.2690434157848358, 0.43295133113861084, -0.026695694774389267,
            -0.16617253422737122,
        ),
        slope=(1.9990112781524658, -2.7526614665985107, 1.5298633575439453, 1.0944957733154297),
        margin=32,
    ),
    float64: _Tail(
        centre=4.0,
        dropped=2,
        most=27.3,
        place=0.513427734375,
        first=1.1227896356547293,
        rest=(
            -2.0385496051212613, 3.272997408583202, -4.621436777812004, 5.680987638274537,
            -5.975185293937537, 5.213606998607272, -3.5442428184314956, 1.578145008617885,
            -0.07768598597064827, -0.5195276660530541, 0.36227404330204543, 0.013290049325644255,
            -0.16801929484201522, 0.06631838247247016, 0.05835967401933669, -0.05219847419628494,
            -0.018148187289017667, 0.03144849916712589, 0.006110711076125859, -0.01524678353946545,
            -0.0026156021368950945, 0.003578710598527102,
        ),
        slope=(1.938383821497382, -3.185528716669522, 3.6033845494247, -1.6687233316375394),
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
    """Of P the sum has two parts, and so have the products; they are rounded once."""
    c = for_type(_TAILS, x.dtype)
    a = at_most(absolute(x), c.most)
    kept = x.dtype.unsigned.max - ((1 << c.dropped) - 1)
    q = from_bits(bits(1.0 / (a + c.centre)) & kept)
    v = fma(q, -c.centre, c.place)
    off = fma(-1.0 * q, a, fma(q, -c.centre, 1.0))
    scale, r, more = _reduced(a, c.margin)
    more = fma(off, polynomial(v, c.slope), more)
    above = interleaved(v, c.rest[4:])
    for coefficient in c.rest[3:0:-1]:
        above = fma(v, above, coefficient)
    rest = fma(v, above, c.rest[0])
    p = fma(v, rest, c.first)
    p_low = fma(v, fma(v, above, c.rest[0] - rest), fma(v, rest, c.first - p))
    m = q * p
    m_low = fma(q, p_low, fma(q, p, -1.0 * m))
    found = _times_power(m, m_low, r, more) * scale * 2.0**-c.margin
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


def _times_power(m: Term, m_low: Term, r: Term, more: Term) -> Term:
    """(m + m_low) e**(r + more), rounded once."""
    e = 1.0 + r
    e_low = fma(r * r, interleaved(r, exp_coefficients(r.dtype)), (1.0 - e) + r)
    power = e + e_low
    e_low = fma(more, power, e_low)
    return fma(m, e, fma(m, e_low, m_low * power))


FUNCTIONS = {"erf": in_float64(_erf), "erfc": _erfc}
