"""The natural logarithm.

Method: x = 2**n m with sqrt(1/2) <= m < sqrt(2), taken from the bits of x, and
log x = n log(2) + log(1 + f), where f = m - 1 is exact. The small log(1 + f) is computed first:
its rounding then hardly counts next to n log(2).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan

from ..nodes.dtypes import float32, float64, int32
from .math_terms import (
    Term,
    bits,
    cast,
    constant,
    fma,
    for_type,
    from_bits,
    polynomial,
    rarely,
    select,
)

#: Denormals are multiplied by 2**_LIFT, which makes them normal, before their bits are split.
_LIFT = 54

SERIES_32 = (
    -0.49999988079071045, 0.33333325386047363, -0.25001609325408936, 0.20002004504203796,
    -0.16608411073684692, 0.14180853962898254, -0.1324806958436966, 0.12912945449352264,
    -0.0761905387043953,
)  # fmt: skip
_LN2_32 = 0.6931471824645996
SQRT_HALF_32, _LEAST_32, _INF_32 = 0x3F3504F3, 0x00800000, 0x7F800000

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
    found = with_limits(x, for_type(_FINITE, x.dtype)(*_lifted(x)))
    return rarely(_is_special32(x), found, _usual32(x)) if x.dtype == float32 else found


def _is_special32(x: Term) -> Term:
    """Whether x is no normal number above zero. Of a normal one the bits are between those of the
    smallest one and those of the infinity: a comparison of signed integers once they begin with the
    least of these."""
    first = cast(bits(x) + ((1 << 31) - _LEAST_32), int32)
    return first > _INF_32 - _LEAST_32 - (1 << 31) - 1


def _usual32(x: Term) -> Term:
    """The logarithm of a normal float32 above zero, with the bits of `_log32`."""
    scaled, f = _split32(x)
    return fma(scaled, _LN2_32 * 2.0**-23, _log1p32(f))


def with_limits(x: Term, found: Term) -> Term:
    """A logarithm, where that of what is finite and above zero is known."""
    above = select(x < inf, found, x)
    return select(x > 0.0, above, select(x.equals(0.0), constant(-inf, x.dtype), nan))


def _lifted(x: Term) -> tuple[Term, Term]:
    """x as a normal number, and the exponent that this adds, negated."""
    tiny = x < 2.0 ** (1 - x.dtype.format.bias)
    return select(tiny, x * 2.0**_LIFT, x), select(tiny, constant(-_LIFT, x.dtype), 0.0)


def exponent_and_fraction(x: Term, is_normal: bool = False) -> tuple[Term, Term]:
    """n and f, where x = 2**n (1 + f) is a float32 and f is exact.

    Args:
        is_normal: x is 0 or a normal number.
    """
    return _parts(x, constant(0.0, x.dtype)) if is_normal else _parts(*_lifted(x))


def _parts(x: Term, lift: Term) -> tuple[Term, Term]:
    scaled, f = _split32(x)
    return fma(scaled, 2.0**-23, lift), f


def _split32(x: Term) -> tuple[Term, Term]:
    """2**23 n and f, where x = 2**n (1 + f) is a normal float32 and f is exact."""
    exponent = (bits(x) - SQRT_HALF_32) & 0xFF800000
    f = from_bits(bits(x) - exponent) - 1.0
    return cast(cast(exponent, int32), float32), f


def _log32(x: Term, lift: Term) -> Term:
    n, f = _parts(x, lift)
    return fma(n, _LN2_32, _log1p32(f))


def _log1p32(f: Term) -> Term:
    """log(1 + f) = f + f**2 (c[0] + c[1] f + ...)."""
    return fma(f * f, polynomial(f, SERIES_32), f)


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
