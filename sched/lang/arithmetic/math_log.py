"""The natural logarithm.

Method: x = 2**n m with sqrt(1/2) <= m < sqrt(2), taken from the bits of x, and
log x = n log(2) + log(1 + f), where f = m - 1 is exact. The small log(1 + f) is computed first:
its rounding then hardly counts next to n log(2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, nan

from ..nodes.dtypes import float32, float64, int32, int64
from .math_terms import (
    Term,
    bits,
    cast,
    constant,
    estrin,
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
SQRT_HALF_32 = 0x3F3504F3
#: The next one: so log2(1 + f) is not below -1/2, nor beyond 1/2.
ABOVE_SQRT_HALF_32 = 0x3F3504F4
#: 2**23 n times it is n.
UNIT_32 = 2.0**-23

SERIES_64 = (
    -0.6666666666666734, -0.39999999999416647, -0.2857142874202624, -0.22222198605298987,
    -0.18183562836985823, -0.1531408523867565, -0.1479562910556114,
)  # fmt: skip
_LN2_64 = (0.6931471805599453, 2.3190468138462996e-17)
SQRT_HALF_64 = 0x3FE6A09E667F3BCD
ONE_64 = 0x3FF0000000000000
TWO_52 = 0x4330000000000000
_SIGNED = {float32: int32, float64: int64}

#: A logarithm of a normal number above zero, and of what its exponent has been made more by,
#: negated: None where that is nothing.
Logarithm = Callable[[Term, Term | None], Term]


def log(x: Term) -> Term:
    """The natural logarithm: -inf at zeros, NaN below."""
    return usually_normal(x, for_type(_FINITE, x.dtype))


def usually_normal(x: Term, of: Logarithm) -> Term:
    """A logarithm that is known of normal numbers above zero."""
    tiny = x < 2.0 ** (1 - x.dtype.format.bias)
    lift = select(tiny, constant(-_LIFT, x.dtype), 0.0)
    rare = with_limits(x, of(select(tiny, x * 2.0**_LIFT, x), lift))
    return rarely(is_special(x), rare, of(x, None))


def is_special(x: Term) -> Term:
    """Whether x is no normal number above zero."""
    return is_outside(x, 2.0 ** (1 - x.dtype.format.bias), inf)


def is_outside(x: Term, least: float, end: float) -> Term:
    """Whether x is not in a range of normal numbers above zero, which does not have its end. The
    bits of those in it are between those of both: a comparison of signed integers once they begin
    with the least of these."""
    integer = for_type(_SIGNED, x.dtype)
    low, high, first = x.dtype.bits_of(least), x.dtype.bits_of(end), x.dtype.format.sign
    return cast(bits(x) + (first - low), integer) > high - low - first - 1


def with_limits(x: Term, found: Term) -> Term:
    """A logarithm, where that of what is finite and above zero is known."""
    above = select(x < inf, found, x)
    return select(x > 0.0, above, select(x.equals(0.0), constant(-inf, x.dtype), nan))


def log32_parts(x: Term, lift: Term | None, least: int = SQRT_HALF_32) -> tuple[Term, Term]:
    """2**23 n and f, where x = 2**(n - lift) (1 + f) is a normal float32 and f is exact.

    Args:
        least: the bits of the least 1 + f.
    """
    exponent = (bits(x) - least) & 0xFF800000
    f = from_bits(bits(x) - exponent) - 1.0
    scaled = cast(cast(exponent, int32), float32)
    return scaled if lift is None else fma(lift, 1 / UNIT_32, scaled), f


def log32(x: Term, lift: Term | None) -> Term:
    """log(1 + f) = f + f**2 (c[0] + c[1] f + ...)."""
    scaled, f = log32_parts(x, lift)
    return fma(scaled, _LN2_32 * UNIT_32, fma(f * f, polynomial(f, SERIES_32), f))


def log64(x: Term, lift: Term | None) -> Term:
    """log(1 + f) = f - s (f - R), where s = f / (2 + f) and R = s**2 (c[0] + c[1] s**2 + ...).

    For log(1 + f) = 2 artanh(s) = 2 s + s R, and 2 s = f - s f. It needs half the coefficients of
    a series in f, for one division. (`SERIES_64` is -c.)
    """
    n, f, minus_s, rest = log64_parts(x, lift, SERIES_64)
    return fma(n, _LN2_64[0], f + fma(minus_s, rest, n * _LN2_64[1]))


def log64_parts(
    x: Term, lift: Term | None, series: Sequence[float]
) -> tuple[Term, Term, Term, Term]:
    """n, f, and two factors of log(1 + f) - f, where x = 2**(n - lift) (1 + f) is a normal float64.

    Args:
        series: -c, as `SERIES_64` is.
    """
    n, f, minus_s = quotient64(x, lift)
    square = minus_s * minus_s
    return n, f, minus_s, fma(square, polynomial(square, series), f)


def quotient64(x: Term, lift: Term | None) -> tuple[Term, Term, Term]:
    """n, f and -s, where x = 2**(n - lift) (1 + f) is a normal float64 and s = f / (2 + f)."""
    n, m = split64(x, lift)
    f = m - 1.0
    return n, f, f / (-1.0 - m)


def split64(x: Term, lift: Term | None) -> tuple[Term, Term]:
    """n and m, where x = 2**(n - lift) m is a normal float64; m - 1 is exact."""
    mantissa, bias = x.dtype.format.mantissa, x.dtype.format.bias
    shifted = bits(x) + (ONE_64 - SQRT_HALF_64)
    m = from_bits((shifted & ((1 << mantissa) - 1)) + SQRT_HALF_64)
    # n + bias becomes a float as the lowest bits of 2**52 + n + bias: there is no instruction to
    # convert 64-bit integers before AVX-512.
    n = from_bits((shifted >> mantissa) | TWO_52) - (2.0**52 + bias)
    return n if lift is None else n + lift, m


def rest64(f: Term, minus_s: Term, series: Sequence[float], more: Term) -> Term:
    """-s (f - R) and something more, for s = f / (2 + f). R comes late: in chains that are short,
    and is added last.

    Args:
        series: -c, as `SERIES_64` is; all of it and f may have a common factor.
    """
    square = minus_s * minus_s
    return fma(minus_s * square, estrin(square, series), fma(minus_s, f, more))


_FINITE = {float32: log32, float64: log64}
