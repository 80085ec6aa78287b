"""Functions with larger errors, for fewer instructions: their names begin with `fast_`.

There is no path for anything special: infinities, NaNs and what overflows come out of the same
few instructions, most of them as they should. Where results would be denormal they may be 0, and
arguments that are denormal count as 0 for `fast_log` and `fast_rsqrt`.

    fast_exp       0 where 2**n would not be a normal number, inf where n would be beyond
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
from .math_log import log64_parts
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
_SQRT_HALF_32 = 0x3F3504F3

#: c[k] of e**r = 1 + r + r**2 (c[0] + c[1] r + ...), |r| <= log(2) / 2.
_EXP: dict[DType, tuple[float, ...]] = {
    float32: (
        0.499992311000824, 0.1666899025440216, 0.04189328849315643, 0.008124064654111862,
    ),
    float64: (
        0.49999999999998324, 0.16666666666611515, 0.04166666666813685, 0.00833333337088973,
        0.0013888888516244008, 0.00019841185207734904, 2.480193159444531e-05,
        2.763500348413196e-06, 2.7476872974019516e-07,
    ),
}  # fmt: skip

#: c[k] of log(1 + f) = f + f**2 (c[0] + c[1] f + ...), as in `math_log`.
_LOG_32 = (
    -0.49999991059303284, 0.33333954215049744, -0.25001823902130127, 0.19961977005004883,
    -0.16568677127361298, 0.14916880428791046, -0.1432030200958252, 0.08754067122936249,
)  # fmt: skip
#: -c[k] of 2 artanh(s) = 2 s + s**3 (c[0] + c[1] s**2 + ...), as in `math_log`.
_LOG_64 = (
    -0.666666666665871, -0.4000000005232867, -0.28571417120299974, -0.22223372394471222,
    -0.18123618551251633, -0.1682012162753168,
)  # fmt: skip

#: Up to where, p and q of tanh x = x p(x**2) / q(x**2).
_TANH: dict[DType, tuple[float, tuple[float, ...], tuple[float, ...]]] = {
    float32: (
        9.01,
        (
            1.0, 0.13379713892936707, 0.00349403265863657, 2.0583433069987223e-05,
            1.331896903877805e-08,
        ),
        (
            1.0, 0.46713030338287354, 0.02587106265127659, 0.00032830884447321296,
            7.761996698718576e-07,
        ),
    ),
    float64: (
        19.2,
        (
            0.9999999999999999, 0.15180300687786114, 0.005974360884750118, 9.358961973064182e-05,
            6.828462262220613e-07, 2.4391378073051654e-09, 4.16682429650621e-12,
            3.058670002244419e-15, 7.395303475290232e-19, 2.492519095419802e-23,
        ),
        (
            1.0, 0.48513634021119345, 0.034353140955149845, 0.0008280452115404014,
            8.751804312422291e-06, 4.461389208459066e-08, 1.110308381966687e-10,
            1.2687757271682401e-13, 5.620185558610788e-17, 6.204633412825089e-21,
        ),
    ),
}  # fmt: skip

#: Up to where, p and q of erf x = x p(x**2) / q(x**2).
_ERF: dict[DType, tuple[float, tuple[float, ...], tuple[float, ...]]] = {
    float32: (
        3.925,
        (
            1.1283791065216064, 0.1907816082239151, 0.052789732813835144, 0.003779566613957286,
            0.0002848010917659849, 2.0421837234607665e-06,
        ),
        (
            1.0, 0.5024082660675049, 0.11425650119781494, 0.014997228048741817,
            0.001165189198218286, 3.800426566158421e-05,
        ),
    ),
    float64: (
        5.94,
        (
            1.1283791670955126, 0.2201622280958437, 0.06611973695859481, 0.006889003048138218,
            0.0008556093630492964, 5.6937516619347874e-05, 3.900074663332175e-06,
            1.6945931801317747e-07, 6.7592267071391384e-09, 1.7195976663032843e-10,
            3.3364300891442184e-12, 2.2270390851575687e-14, 1.5715356461894603e-17,
        ),
        (
            1.0, 0.5284470278395395, 0.13474610047643945, 0.02198540784166311,
            0.002564565750384996, 0.00022607625276496992, 1.5497130859396738e-05,
            8.349339413481346e-07, 3.5151513042483774e-08, 1.1244534642034424e-09,
            2.549217716422232e-11, 3.319283224753718e-13, 8.851970961820519e-16,
        ),
    ),
}  # fmt: skip

#: What minus half of a number's bits is taken from, for the bits of about 1 / sqrt.
_MAGIC: dict[DType, int] = {float32: 0x5F375A86, float64: 0x5FE6EB50C7B537A9}


def fast_exp(x: Term) -> Term:
    return _power(x, 1.0)


def _power(x: Term, sign: float) -> Term:
    """e**(sign x) = 2**n e**r. Where n is less than the exponents of normal numbers, the bits of
    2**n are those of 0, and where it is beyond them, those of inf."""
    f = x.dtype.format
    ends = sorted((-sign * f.bias * log(2.0), sign * (f.bias + 1) * log(2.0)))
    x = at_least(at_most(x, ends[1]), ends[0])
    shifter = 1.5 * 2.0**f.mantissa + f.bias
    shifted = fma(x, sign * _LOG2_E, shifter)
    n = shifted - shifter
    high, low = for_type(_LN2, x.dtype)
    r = fma(n, -sign * low, fma(n, -sign * high, x))
    q = polynomial(r, [c * sign**k for k, c in enumerate(for_type(_EXP, x.dtype))])
    return fma(fma(q, r, sign), r, 1.0) * power_of_two(bits(shifted))


def fast_sigmoid(x: Term) -> Term:
    return 1.0 / (1.0 + _power(x, -1.0))


def fast_log(x: Term) -> Term:
    found = select(x < inf, for_type(_LOGS, x.dtype)(x), x)
    below = select(x < 0.0, constant(nan, x.dtype), -inf)
    return select(x < _least(x), below, found)


def _least(x: Term) -> float:
    """The smallest normal number of the type."""
    return float(2.0 ** (1 - x.dtype.format.bias))


def _log32(x: Term) -> Term:
    exponent = (bits(x) - _SQRT_HALF_32) & 0xFF800000
    f = from_bits(bits(x) - exponent) - 1.0
    n = cast(cast(exponent, int32), float32)
    return fma(n, _LN2[float32][0] * 2.0**-23, fma(f * f, polynomial(f, _LOG_32), f))


def _log64(x: Term) -> Term:
    n, f, minus_s, rest = log64_parts(x, 0.0, _LOG_64)
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
    "fast_log": fast_log,
    "fast_tanh": _quotient(_TANH),
    "fast_sigmoid": fast_sigmoid,
    "fast_rsqrt": fast_rsqrt,
    "fast_erf": _quotient(_ERF),
}
