"""exp2, log2, log10 and log1p of float32, computed in float32.

In float64 they would be rounded but once, at a third of the speed: there are half as many lanes,
and conversions to and from them. Here the first product of a logarithm is fused into the last sum,
or what that sum rounds off is computed.
"""

from __future__ import annotations

from ..nodes.dtypes import float32, int32
from .math_exp import power_within
from .math_log import (
    ABOVE_SQRT_HALF_32,
    UNIT_32,
    is_outside,
    log32,
    log32_parts,
    usually_normal,
    with_limits,
)
from .math_terms import (
    Term,
    bits,
    cast,
    fma,
    from_bits,
    interleaved,
    polynomial,
    rarely,
)

_FORMAT = float32.format
_EXP2 = (
    0.6931471824645996, 0.24022594094276428, 0.055503662675619125, 0.009625446051359177,
    0.0013387876097112894, 0.00013330811634659767,
)  # fmt: skip
#: A short factor near to log2(e): what it lacks is small for every f, and rounds little.
_FACTOR_2 = 1.453125
#: c of log2(1 + f) = f (1.453125 + c[0] + c[1] f + ...).
_SERIES_2 = (
    -0.010429958812892437, -0.7213473320007324, 0.48089808225631714, -0.3606984615325928,
    0.2885790765285492, -0.23958347737789154, 0.20432846248149872, -0.19104987382888794,
    0.1880771815776825, -0.11248747259378433,
)  # fmt: skip
#: The same of log10. Its factor is below (log10(2) - 1/8) / (sqrt(2) - 1), see `log10`.
_FACTOR_10 = 0.421875
_SERIES_10 = (
    0.012419481761753559, -0.21714718639850616, 0.14476484060287476, -0.10858085751533508,
    0.08686523884534836, -0.07212308049201965, 0.061621084809303284, -0.05760703235864639,
    0.05592810735106468, -0.03278947249054909,
)  # fmt: skip
#: Numbers in two parts. The first one has 16 bits: its product with an exponent is exact.
_LOG10_2 = (0.30103302001953125, -3.024355464731343e-06)
_LN2 = (0.693145751953125, 1.428606765330187e-06)
#: c of log(1 + f) = f + f**2 (c[0] + c[1] f + ...), -1/4 <= f <= 1/2.
_SERIES_1P = (
    -0.4999999701976776, 0.3333333134651184, -0.2500044107437134, 0.20000731945037842,
    -0.1664932817220688, 0.14240477979183197, -0.1272672861814499, 0.11998457461595535,
    -0.09744784981012344, 0.04169910028576851,
)  # fmt: skip
#: Just above 3/4 and 3/2, where exponents of 1 + x begin: log1p of x >= 1/2 has an f below 0.
_THREE_QUARTERS = 0x3F400001
_ONE = 0x3F800000
#: Numbers between have a 2**-n that is a normal number. Beyond, 1 does not count next to x.
_LEAST, _END = 2.0**-126, 2.0**126


def exp2(x: Term) -> Term:
    """2**n 2**r, n being the nearest integer; r is exact. It is computed as 2**(n + 1) times a
    half: the bias and one make an even number, by which a tie goes to an even n."""
    shifter = 1.5 * 2.0**_FORMAT.mantissa + _FORMAT.bias + 1
    shifted = x + shifter
    r = x - (shifted - shifter)
    p = fma(polynomial(r, [c / 2 for c in _EXP2]), r, 0.5)
    return power_within(x, (-151.0, 129.0, 126.0), p, bits(shifted))


def log2(x: Term) -> Term:
    """n + log2(1 + f): the sum rounds n = 0 but once. |log2(1 + f)| is at most 1/2, so that it is
    exact to half a unit of the sum where n is not 0."""

    def logarithm(x: Term, lift: Term | None) -> Term:
        scaled, f = log32_parts(x, lift, ABOVE_SQRT_HALF_32)
        rest = f * polynomial(f, _SERIES_2)
        return fma(scaled, UNIT_32, fma(f, _FACTOR_2, rest))

    return usually_normal(x, logarithm)


def log10(x: Term) -> Term:
    """n log10(2) + log10(1 + f). What the sum of the first parts rounds off is exact: where n is -1
    the sum is not below 1/8 in size, so that n log10(2) less it has no digit that is too small."""

    def logarithm(x: Term, lift: Term | None) -> Term:
        scaled, f = log32_parts(x, lift)
        exact = scaled * (_LOG10_2[0] * UNIT_32)
        total = fma(f, _FACTOR_10, exact)
        off = fma(f, _FACTOR_10, exact - total)
        off = fma(scaled, _LOG10_2[1] * UNIT_32, off)
        # Two chains, but for the first and largest sums: their roundings count.
        first, second, *rest = _SERIES_10
        series = fma(fma(interleaved(f, rest, 4), f, second), f, first)
        return total + fma(f, series, off)

    return usually_normal(x, logarithm)


def log1p(x: Term) -> Term:
    """n log(2) + log(1 + f), where 1 + x = 2**n (1 + f), and n is taken from the rounded 1 + x.

    f = 2**-n x - (1 - 2**-n) is exact: of the two one is at most twice the other, or n is 0, or
    nothing of 2**-n counts. All is so written that zeros keep their signs.
    """
    u = 1.0 + x
    # The least number that rounds up to the same exponent, less u: -n where it is rounded down.
    exponent = (_THREE_QUARTERS + (1 << _FORMAT.mantissa) - 1 - bits(u)) & 0xFF800000
    power = from_bits(exponent + _ONE)
    f = fma(x, power, -1.0 * (1.0 - power))
    scaled = cast(cast(exponent, int32), float32)
    exact = scaled * (-_LN2[0] * UNIT_32)
    total = exact + f
    off = fma(scaled, -_LN2[1] * UNIT_32, f - (total - exact))
    found = total + fma(f * f, polynomial(f, _SERIES_1P), off)
    return rarely(is_outside(u, _LEAST, _END), with_limits(u, log32(u, None)), found)
