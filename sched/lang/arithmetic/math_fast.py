"""Functions with larger errors, for fewer instructions: their names begin with `fast_`.

There is no path for anything special: infinities, NaNs and what overflows come out of the same
few instructions, most of them as they should. Where results would be denormal they may be 0, and
arguments that are denormal count as 0 for `fast_log` and `fast_rsqrt`.

    fast_exp       0 where 2**n would not be a normal number, inf where n would be beyond
    fast_exp2      likewise
    fast_log       -inf below the smallest normal number, NaN below 0
    fast_rsqrt     inf below the smallest normal number, NaN below 0
    fast_sigmoid   by `fast_exp`
    fast_tanh      a quotient of polynomials, of an argument that is limited to where it is 1
    fast_erf       likewise

The polynomials are minimax ones for the relative error, rounded one coefficient after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log, nan

from ..nodes.dtypes import DType, float32, float64, int32
from .math_log import SQRT_HALF_32, log64_parts
from .math_terms import (
    Term,
    at_least,
    at_most,
    bits,
    cast,
    constant,
    fma,
    for_type,
    from_bits,
    polynomial,
    power_of_two,
    select,
)

_LOG2_E = 1.4426950408889634
#: log(2) as the sum of two numbers of each type.
_LN2: dict[DType, tuple[float, float]] = {
    float32: (0.6931471824645996, -1.9046542121259336e-09),
    float64: (0.6931471805599453, 2.3190468138462996e-17),
}

#: c[k] of e**r = 1 + r + r**2 (c[0] + c[1] r + ...), |r| <= log(2) / 2.
_EXP: dict[DType, tuple[float, ...]] = {
    float32: (
        0.499992311000824, 0.16667114198207855, 0.0418902151286602, 0.00831257738173008,
    ),
    float64: (
        0.49999999999998324, 0.1666666666661151, 0.04166666666813658, 0.008333333370893892,
        0.001388888851635904, 0.00019841185199878905, 2.480193142777956e-05,
        2.763500762660958e-06, 2.7476950714902134e-07,
    ),
}  # fmt: skip

#: c[k] of 2**r = 1 + r log(2) + r**2 (c[0] + c[1] r + ...), |r| <= 1/2.
_EXP2: dict[DType, tuple[float, ...]] = {
    float32: (
        0.24022281169891357, 0.055505599826574326, 0.009669739753007889, 0.0013300325954332948,
    ),
    float64: (
        0.24022650695909264, 0.05550410866463777, 0.009618129107968333, 0.001333355820655629,
        0.00015403529979543743, 1.5252668715474275e-05, 1.3215670481918395e-06,
        1.0206784373195399e-07, 7.034284140132287e-09,
    ),
}  # fmt: skip

#: c[k] of log(1 + f) = f + f**2 (c[0] + c[1] f + ...), as in `math_log`.
_LOG_32 = (
    -0.49999991059303284, 0.33333954215049744, -0.25001826882362366, 0.1996195912361145,
    -0.16568447649478912, 0.14916959404945374, -0.14323656260967255, 0.08759383112192154,
)  # fmt: skip
#: -c[k] of 2 artanh(s) = 2 s + s**3 (c[0] + c[1] s**2 + ...), as in `math_log`.
_LOG_64 = (
    -0.6666666666658712, -0.40000000052324663, -0.2857141712084483, -0.22223372361522814,
    -0.18123619437951388, -0.16820113027163763,
)  # fmt: skip

#: Up to where, p and q of tanh x = x p(x**2) / q(x**2).
_TANH: dict[DType, tuple[float, tuple[float, ...], tuple[float, ...]]] = {
    float32: (
        9.01,
        (
            1.0, 0.1337960660457611, 0.003493909491226077, 2.0581537683028728e-05,
            1.3316656222173151e-08,
        ),
        (
            1.0, 0.4671292304992676, 0.025870583951473236, 0.0003282892575953156,
            7.760979201520968e-07,
        ),
    ),
    float64: (
        19.2,
        (
            0.9999999999999999, 0.15179118577228007, 0.005972593081210855, 9.352295930742448e-05,
            6.818865123545527e-07, 2.433098637946982e-09, 4.149984816401728e-12,
            3.0396402737086313e-15, 7.327889154834561e-19, 2.4606648131905863e-23,
        ),
        (
            1.0, 0.48512451910561233, 0.03434743278308373, 0.000827651974505789,
            8.742890767742215e-06, 4.452972915880568e-08, 1.1067675168284598e-10,
            1.2623714479076375e-13, 5.577614119040094e-17, 6.13731152016162e-21,
        ),
    ),
}  # fmt: skip

#: Up to where, p and q of erf x = x p(x**2) / q(x**2).
_ERF: dict[DType, tuple[float, tuple[float, ...], tuple[float, ...]]] = {
    float32: (
        3.925,
        (
            1.1283791065216064, 0.1908007115125656, 0.052792128175497055, 0.003780339378863573,
            0.0002848102303687483, 2.041955667664297e-06,
        ),
        (
            1.0, 0.5024251937866211, 0.11426427215337753, 0.014998799189925194,
            0.0011653595138341188, 3.800228296313435e-05,
        ),
    ),
    float64: (
        5.94,
        (
            1.1283791670955126, 0.2203366424697155, 0.06615033712339831, 0.006898465098659289,
            0.0008564546616216176, 5.704357234565788e-05, 3.905698479305405e-06,
            1.6982552377303712e-07, 6.769330758291774e-09, 1.722716944320954e-10,
            3.334327945663947e-12, 2.218851051096783e-14, 1.56221484921817e-17,
        ),
        (
            1.0, 0.5286015985538505, 0.13482474273785053, 0.022004550381300676,
            0.0025675117522752575, 0.00022639481846044822, 1.5522492503324068e-05,
            8.36439288072632e-07, 3.521667266730856e-08, 1.1263210862868307e-09,
            2.5517026460649385e-11, 3.3117577496754436e-13, 8.808809847583015e-16,
        ),
    ),
}  # fmt: skip

#: What minus half of a number's bits is taken from, for the bits of about 1 / sqrt.
_MAGIC: dict[DType, int] = {float32: 0x5F375A86, float64: 0x5FE6EB50C7B537A9}


def fast_exp(x: Term) -> Term:
    p, scale = _power(x, 1.0)
    return p * scale


def _power(x: Term, sign: float) -> tuple[Term, Term]:
    """e**r and 2**n, whose product is e**(sign x). Where n is less than the exponents of normal
    numbers, the bits of 2**n are those of 0, and where it is beyond them, those of inf."""
    f = x.dtype.format
    ends = sorted((-sign * f.bias * log(2.0), sign * (f.bias + 1) * log(2.0)))
    x = at_least(at_most(x, ends[1]), ends[0])
    shifter = 1.5 * 2.0**f.mantissa + f.bias
    shifted = fma(x, sign * _LOG2_E, shifter)
    n = shifted - shifter
    high, low = for_type(_LN2, x.dtype)
    r = fma(n, -sign * low, fma(n, -sign * high, x))
    q = polynomial(r, [c * sign**k for k, c in enumerate(for_type(_EXP, x.dtype))])
    return fma(fma(q, r, sign), r, 1.0), power_of_two(bits(shifted))


def fast_exp2(x: Term) -> Term:
    """As `_power`, but that what is left of x beside n has no error."""
    f = x.dtype.format
    x = at_least(at_most(x, f.bias + 1.0), -f.bias)
    shifter = 1.5 * 2.0**f.mantissa + f.bias
    shifted = x + shifter
    r = x - (shifted - shifter)
    first, _ = for_type(_LN2, x.dtype)
    q = fma(polynomial(r, for_type(_EXP2, x.dtype)), r, first)
    return fma(q, r, 1.0) * power_of_two(bits(shifted))


def fast_sigmoid(x: Term) -> Term:
    p, scale = _power(x, -1.0)
    return 1.0 / fma(p, scale, 1.0)


def fast_log(x: Term) -> Term:
    found = select(x < inf, for_type(_LOGS, x.dtype)(x), x)
    below = select(x < 0.0, constant(nan, x.dtype), -inf)
    return select(x < _least(x), below, found)


def _least(x: Term) -> float:
    """The smallest normal number of the type."""
    return float(2.0 ** (1 - x.dtype.format.bias))


def _log32(x: Term) -> Term:
    exponent = (bits(x) - SQRT_HALF_32) & 0xFF800000
    f = from_bits(bits(x) - exponent) - 1.0
    n = cast(cast(exponent, int32), float32)
    return fma(n, _LN2[float32][0] * 2.0**-23, fma(f * f, polynomial(f, _LOG_32), f))


def _log64(x: Term) -> Term:
    n, f, minus_s, rest = log64_parts(x, None, _LOG_64)
    return fma(n, _LN2[float64][0], fma(minus_s, rest, f))


def fast_rsqrt(x: Term) -> Term:
    """From half of the exponent, by an iteration of third order (two for float64) and Newton's."""
    y = from_bits(constant(_MAGIC[x.dtype], x.dtype.unsigned) - (bits(x) >> 1))
    for _ in range(1 if x.dtype == float32 else 2):
        e = fma(x * y, -1.0 * y, 1.0)
        y = fma(y * e, fma(e, 0.375, 0.5), y)
    y = fma(0.5 * y, fma(x * y, -1.0 * y, 1.0), y)
    found = select(x.equals(inf), constant(0.0, x.dtype), y)
    below = select(x < 0.0, constant(nan, x.dtype), inf)
    return select(x < _least(x), below, found)


def _quotient(of: dict[DType, tuple[float, tuple[float, ...], tuple[float, ...]]]) -> Function:
    """An odd function that is 1 beyond a limit, as a quotient of polynomials."""

    def function(x: Term) -> Term:
        limit, p, q = for_type(of, x.dtype)
        x = at_least(at_most(x, limit), -limit)
        square = x * x
        found = x * polynomial(square, p) / polynomial(square, q)
        return at_least(at_most(found, 1.0), -1.0)

    return function


Function = Callable[[Term], Term]
_LOGS: dict[DType, Function] = {float32: _log32, float64: _log64}
FUNCTIONS: dict[str, Function] = {
    "fast_exp": fast_exp,
    "fast_exp2": fast_exp2,
    "fast_log": fast_log,
    "fast_tanh": _quotient(_TANH),
    "fast_sigmoid": fast_sigmoid,
    "fast_rsqrt": fast_rsqrt,
    "fast_erf": _quotient(_ERF),
}
