"""exp2, log2, log10 and log1p of float32, computed in float32.

In float64 they would be rounded but once, at a third of the speed: there are half as many lanes,
and conversions to and from them. What decides the error are sums of two numbers here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..nodes.dtypes import float32
from .math_exp import power_within
from .math_log import SERIES_32, UNIT_32, log32_parts, usually_normal, with_limits
from .math_terms import (
    Term,
    absolute,
    bits,
    fma,
    polynomial,
    select,
)

_FORMAT = float32.format
_EXP2 = (
    0.6931471824645996, 0.24022594094276428, 0.055503662675619125, 0.009625446051359177,
    0.0013387876097112894, 0.00013330811634659767,
)  # fmt: skip
#: Numbers in two parts. The first of those that an exponent is multiplied with have 16 bits, so
#: that the product is exact.
_LOG2_E = (1.4426950216293335, 1.925963033500011e-08)
_LOG10_E = (0.4342944920063019, -1.0103049952192578e-08)
_LOG10_2 = (0.30103302001953125, -3.024355464731343e-06)
_LN2 = (0.693145751953125, 1.428606765330187e-06)
#: c of log(1 + f) = f / log(base) + f**2 (c[0] + c[1] f + ...). That of base 2 is just below 1/2 at
#: f = sqrt(2) - 1, where units are small next to what is summed: it has one coefficient more.
_SERIES_2 = (
    -0.7213475108146667, 0.48089802265167236, -0.3606741428375244, 0.2885710299015045,
    -0.24046394228935242, 0.2051178365945816, -0.1789998859167099, 0.17169389128684998,
    -0.1684502363204956, 0.09702370315790176,
)  # fmt: skip
_SERIES_10 = (
    -0.21714718639850616, 0.14476479589939117, -0.10858049243688583, 0.08686746656894684,
    -0.07213234156370163, 0.06159093603491783, -0.05751349776983261, 0.056042902171611786,
    -0.033100713044404984,
)  # fmt: skip
#: Below it log(1 + x) is x.
_SMALL = 2.0**-26


def exp2(x: Term) -> Term:
    """2**n 2**r, n being the nearest integer; r is exact. It is computed as 2**(n + 1) times a
    half: the bias and one make an even number, by which a tie goes to an even n."""
    shifter = 1.5 * 2.0**_FORMAT.mantissa + _FORMAT.bias + 1
    shifted = x + shifter
    r = x - (shifted - shifter)
    p = fma(polynomial(r, [c / 2 for c in _EXP2]), r, 0.5)
    return power_within(x, (-151.0, 129.0, 126.0), p, bits(shifted))


def _logarithm(
    of_e: tuple[float, float], of_2: tuple[float, float], series: Sequence[float]
) -> Callable[[Term], Term]:
    """The logarithm of a base, of which `of_e` and `of_2` are those of e and 2."""

    def logarithm(x: Term, lift: Term | None) -> Term:
        return _sum(*log32_parts(x, lift), None, of_e, of_2, series)

    return lambda x: usually_normal(x, logarithm)


def log1p(x: Term) -> Term:
    """log(u + c) = log(u) + c / u, where u = 1 + x, and c is what that rounds off."""
    u = 1.0 + x
    of_x = u - 1.0
    c = (1.0 - (u - of_x)) + (x - of_x)
    found = _sum(*log32_parts(u, None), c / u, (1.0, 0.0), _LN2, SERIES_32)
    return select(absolute(x) < _SMALL, x, with_limits(u, found))


def _sum(
    scaled: Term,
    f: Term,
    more: Term | None,
    of_e: tuple[float, float],
    of_2: tuple[float, float],
    series: Sequence[float],
) -> Term:
    """n log(2) + log(1 + f) + `more`, from 2**23 n. What the product of f rounds off, and the sum
    of it and the first part of n log(2), is exact, and is added to what is much smaller."""
    product = f * of_e[0] if of_e[0] != 1 else f
    exact = scaled * (of_2[0] * UNIT_32)
    total = exact + product
    off = (exact - total) + product
    if of_e[0] != 1:
        off = off + fma(f, of_e[0], -1.0 * product)
    if of_2[1]:
        off = fma(scaled, of_2[1] * UNIT_32, off)
    if of_e[1]:
        off = fma(f, of_e[1], off)
    if more is not None:
        off = off + more
    return total + fma(f * f, polynomial(f, series), off)


log2 = _logarithm(_LOG2_E, (1.0, 0.0), _SERIES_2)
log10 = _logarithm(_LOG10_E, _LOG10_2, _SERIES_10)
