"""The natural logarithm.

Method: x = 2**n m with sqrt(1/2) <= m < sqrt(2), taken from the bits of x, and
log x = n log(2) + log(1 + f), where f = m - 1 is exact. The small log(1 + f) is computed first:
its rounding then hardly counts next to n log(2).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan

from ..nodes.dtypes import float32, float64, int32
from .math_terms import Term, bits, cast, constant, fma, for_type, from_bits, polynomial, select

#: Denormals are multiplied by 2**_LIFT, which makes them normal, before their bits are split.
_LIFT = 54

SERIES_32 = (
    -0.49999988079071045, 0.33333325386047363, -0.25001609325408936, 0.20002004504203796,
    -0.16608411073684692, 0.14180853962898254, -0.1324806958436966, 0.12912945449352264,
    -0.0761905387043953,
)  # fmt: skip
_LN2_32 = 0.6931471824645996
SQRT_HALF_32 = 0x3F3504F3

SERIES_64 = (
    -0.6666666666666734, -0.39999999999416647, -0.2857142874202624, -0.22222198605298987,
    -0.18183562836985823, -0.1531408523867565, -0.1479562910556114,
)  # fmt: skip
_LN2_64 = (0.6931471805599453, 2.3190468138462996e-17)
_SQRT_HALF_64 = 0x3FE6A09E667F3BCD
_ONE_64 = 0x3FF0000000000000
_TWO_52 = 0x4330000000000000


def log(x: Term) -> Term:
    """The natural logarithm: -inf at zeros, NaN below."""
    tiny = x < 2.0 ** (1 - x.dtype.format.bias)
    lifted = select(tiny, x * 2.0**_LIFT, x)
    lift = select(tiny, constant(-_LIFT, x.dtype), 0.0)
    finite = for_type(_FINITE, x.dtype)(lifted, lift)
    above = select(x < inf, finite, x)
    return select(x > 0.0, above, select(x.equals(0.0), constant(-inf, x.dtype), nan))


def _log32(x: Term, lift: Term) -> Term:
    """log(1 + f) = f + f**2 (c[0] + c[1] f + ...)."""
    exponent = (bits(x) - SQRT_HALF_32) & 0xFF800000
    f = from_bits(bits(x) - exponent) - 1.0
    n = fma(cast(cast(exponent, int32), float32), 2.0**-23, lift)
    return fma(n, _LN2_32, fma(f * f, polynomial(f, SERIES_32), f))


def _log64(x: Term, lift: Term) -> Term:
    """log(1 + f) = f - s (f - R), where s = f / (2 + f) and R = s**2 (c[0] + c[1] s**2 + ...).

    For log(1 + f) = 2 artanh(s) = 2 s + s R, and 2 s = f - s f. It needs half the coefficients of
    a series in f, for one division. (`SERIES_64` is -c.)
    """
    n, f, minus_s, rest = log64_parts(x, lift, SERIES_64)
    return fma(n, _LN2_64[0], f + fma(minus_s, rest, n * _LN2_64[1]))


def log64_parts(
    x: Term, lift: Term | float, series: Sequence[float]
) -> tuple[Term, Term, Term, Term]:
    """n, f, and two factors of log(1 + f) - f, where x = 2**(n - lift) (1 + f) is a normal float64.

    Args:
        series: -c, as `SERIES_64` is.
    """
    mantissa, bias = x.dtype.format.mantissa, x.dtype.format.bias
    shifted = bits(x) + (_ONE_64 - _SQRT_HALF_64)
    f = from_bits((shifted & ((1 << mantissa) - 1)) + _SQRT_HALF_64) - 1.0
    # n + bias becomes a float as the lowest bits of 2**52 + n + bias: there is no instruction to
    # convert 64-bit integers before AVX-512.
    n = from_bits((shifted >> mantissa) | _TWO_52) - (2.0**52 + bias) + lift
    minus_s = f / (-2.0 - f)
    square = minus_s * minus_s
    rest = fma(square, polynomial(square, series), f)
    return n, f, minus_s, rest


_FINITE = {float32: _log32, float64: _log64}
