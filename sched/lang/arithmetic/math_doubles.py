"""Numbers as sums of two float64, and logarithms and powers of e of them.

Where a function multiplies an error, as a power does, float64 is not enough for results of
float64: there numbers are `Double`s, of which `low` is what `high` has rounded off. For results of
float32 there are the same formulas without `low`. (The sums and products are Dekker's, with fused
multiply-adds for what a product rounds off.)
"""

from __future__ import annotations

from ...records import dataclass
from ..nodes.dtypes import DType, float32, float64
from .math_log import SERIES_64, log64_parts
from .math_terms import (
    Term,
    apply,
    at_least,
    at_most,
    bits,
    constant,
    fma,
    polynomial,
    select,
)

_BIAS = float64.format.bias
_SHIFTER = 1.5 * 2.0**float64.format.mantissa
_LOG2_E = 1.4426950408889634
LN2 = (0.6931471805599453, 2.3190468138462996e-17)
#: log(2) once more. The first part has 41 bits, so that its product with an exponent is exact.
_LN2_SHORT = (0.693147180559663, 2.8235290563031577e-13)
#: c[k] of 2 artanh(s) / s = 2 + 2/3 z + z**2 (c[0] + c[1] z + ...), z = s**2.
_ARTANH = (
    0.4000000000000226, 0.28571428570096885, 0.22222222520414323, 0.1818178432314786,
    0.15386759400048516, 0.13256768616967826, 0.13196793100589949,
)  # fmt: skip
_TWO_THIRDS = (0.6666666666666666, 3.700743415417188e-17)
#: c[k] of e**r = 1 + r + r**2 (c[0] + c[1] r + ...), |r| <= log(2) / 2: for float32, float64.
_EXP_32 = (
    0.5, 0.16666666666666666, 0.041666666666666664, 0.008333333333333333,
    0.001388888888888889, 0.0001984126984126984, 2.48015873015873e-05,
)  # fmt: skip
_EXP_64 = (
    0.5, 0.16666666666666688, 0.041666666666666824, 0.008333333333313894, 0.0013888888888778012,
    0.00019841269903369011, 2.480158755878733e-05, 2.7557228679641604e-06, 2.7557068442757113e-07,
    2.5113934583155044e-08, 2.097739641104792e-09,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Double:
    """high + low; without `low` where nobody needs it."""

    high: Term
    low: Term | None = None

    @property
    def rest(self) -> Term | float:
        return 0.0 if self.low is None else self.low

    def __mul__(self, other: Double) -> Double:
        high = self.high * other.high
        if self.low is None or other.low is None:
            return Double(high)
        crossed = fma(self.high, other.low, self.low * other.high)
        return Double(high, fma(self.high, other.high, -1.0 * high) + crossed)

    def __add__(self, other: Double) -> Double:
        """The sum, whatever the sizes are."""
        if self.low is None or other.low is None:
            return Double(self.high + other.high)
        total = self.high + other.high
        of_other = total - self.high
        off = (self.high - (total - of_other)) + (other.high - of_other)
        return fast_sum(total, off + (self.low + other.low))

    def __truediv__(self, other: Double) -> Double:
        if self.low is None or other.low is None:
            return Double(self.high / other.high)
        inverse = 1.0 / other.high
        found = self.high * inverse
        minus = -1.0 * found
        missing = fma(minus, other.low, fma(minus, other.high, self.high) + self.low)
        return fast_sum(found, missing * inverse)

    def with_more(self, low: Term | float) -> Double:
        """The sum with something as small as the low part."""
        return self if self.low is None else Double(self.high, self.low + low)

    def times(self, factor: float) -> Double:
        """The product with a power of two, or with any number where there is no low part."""
        return Double(self.high * factor, None if self.low is None else self.low * factor)

    def negated(self) -> Double:
        return self.times(-1.0)


def whole(x: Term, dtype: DType) -> Double:
    """A number without a low part, for results of a type."""
    return Double(x, None if dtype == float32 else constant(0.0, float64))


def number(high: float, low: float, dtype: DType) -> Double:
    return Double(constant(high, float64), None if dtype == float32 else constant(low, float64))


def fast_sum(a: Term, b: Term) -> Double:
    """a + b for |a| >= |b| or a = 0."""
    total = a + b
    return Double(total, (a - total) + b)


def chosen(condition: Term, a: Double, b: Double) -> Double:
    low = None if a.low is None or b.low is None else select(condition, a.low, b.low)
    return Double(select(condition, a.high, b.high), low)


# logarithms ---------------------------------------------------------------------------------------
def log_double(dtype: DType, x: Term, low: Term | None = None) -> Double:
    """The natural logarithm of x + low, for a result of `dtype`; x is positive and finite, and for
    float32 it is normal."""
    if dtype == float32:
        n, f, minus_s, rest = log64_parts(x, None, SERIES_64)
        return Double(fma(n, LN2[0], f + fma(minus_s, rest, n * LN2[1])))
    tiny = x < 2.0 ** (1 - _BIAS)
    lift = select(tiny, constant(-54.0, float64), 0.0)
    n, f, _, _ = log64_parts(select(tiny, x * 2.0**54, x), lift, SERIES_64)
    found = _log_near_one(f)
    total = fast_sum(n * _LN2_SHORT[0], found.high)
    rest = fma(n, _LN2_SHORT[1], found.rest + total.rest)
    if low is not None:
        rest = rest + low / x
    return fast_sum(total.high, rest)


def _log_near_one(f: Term) -> Double:
    """log(1 + f) = s (2 + 2/3 z + z**2 ...), where s = f / (2 + f) and z = s**2."""
    base = fast_sum(constant(2.0, float64), f)
    inverse = 1.0 / base.high
    s = f * inverse
    missing = fma(-1.0 * s, base.rest, fma(-1.0 * s, base.high, f))
    of_s = Double(s, missing * inverse)
    z = of_s * of_s
    tail = z.high * polynomial(z.high, _ARTANH)
    more = z * fast_sum(constant(_TWO_THIRDS[0], float64), tail).with_more(_TWO_THIRDS[1])
    return of_s * fast_sum(constant(2.0, float64), more.high).with_more(more.rest)


# powers of e --------------------------------------------------------------------------------------
def exp_parts(dtype: DType, x: Double) -> tuple[Term, Double]:
    """n and p such that e**x = 2**n p, for |x| <= 1000; n + 2 bias are the lowest bits of an
    integer."""
    shifted = fma(x.high, _LOG2_E, _SHIFTER + 2 * _BIAS)
    n = shifted - (_SHIFTER + 2 * _BIAS)
    r = fma(n, -LN2[0], x.high)
    if x.low is None or dtype == float32:
        return bits(shifted), Double(fma(r * r, polynomial(r, _EXP_32), r) + 1.0)
    low = fma(n, -LN2[1], x.low)
    tail = r * r * polynomial(r, _EXP_64)
    high = fast_sum(constant(1.0, float64), r)
    small = fma(low, high.high + tail, tail)
    return bits(shifted), fast_sum(high.high, high.rest + small)


def limited(x: Double) -> Double:
    """An exponent of e with which the result has not yet ceased to be 0 or inf."""
    high = at_least(at_most(x.high, 1000.0), -800.0)
    if x.low is None:
        return Double(high)
    return Double(high, select(apply("eq", high, x.high), x.low, 0.0))
