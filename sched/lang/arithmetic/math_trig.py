"""sin, cos and tan.

Method: a = |x| is n pi/2 + r with |r| <= pi/4, where r is the sum of two numbers, so that it has
all its digits also where x is next to a multiple of pi/2. Both sin r and cos r are such sums too;
n says which of them is the result, and its sign; and whether it is tan r or -1 / tan r.

The usual reduction takes pi/2 in three parts (Cody and Waite). That is right as long as n has few
digits. What is larger takes `math_reduction`, on a branch of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from ...records import dataclass
from ..nodes.dtypes import DType, float32, float64
from .math_reduction import TWO_OVER_PI, reduced_large
from .math_sums import fast_two_sum, two_product
from .math_terms import (
    Term,
    absolute,
    apply,
    bits,
    constant,
    fma,
    for_type,
    from_bits,
    interleaved,
    polynomial,
    rarely,
    select,
)


@dataclass(frozen=True, slots=True)
class _Constants:
    """The constants in one float type.

    half_pi: pi/2 as the sum of three numbers.
    sin: c[k] of sin r = r + r**3 (c[0] + c[1] r**2 + ...), |r| <= pi/4.
    cos: c[k] of cos r = 1 - r**2 / 2 + r**4 (c[0] + c[1] r**2 + ...).
    tan: c[k] of tan r = r + r**3 (c[0] + c[1] r**2 + ...).
    limit: above it the usual reduction is not good enough.
    """

    half_pi: tuple[float, float, float]
    sin: tuple[float, ...]
    cos: tuple[float, ...]
    tan: tuple[float, ...]
    limit: float


_CONSTANTS: dict[DType, _Constants] = {
    float32: _Constants(
        half_pi=(1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
        sin=(-0.16666655242443085, 0.008332187309861183, -0.00019517897453624755),
        cos=(0.04166664555668831, -0.0013887309469282627, 2.4432327336398885e-05),
        tan=(
            0.33333349227905273, 0.1333267241716385, 0.05405944585800171, 0.021282769739627838,
            0.010837703943252563, 8.385910768993199e-05, 0.00438036909326911,
        ),
        limit=2.0**17,
    ),
    float64: _Constants(
        half_pi=(1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
        sin=(
            -0.1666666666666663, 0.008333333333321842, -0.0001984126982936133,
            2.755731354001105e-06, -2.5050734715449315e-08, 1.5895458286854331e-10,
        ),
        cos=(
            0.041666666666666595, -0.0013888888888873307, 2.4801587288965196e-05,
            -2.7557314203064045e-07, 2.087570313738298e-09, -1.1358616913839189e-11,
        ),
        tan=(
            0.3333333333333276, 0.13333333333417108, 0.05396825392547971, 0.02186948963751316,
            0.008863218762083147, 0.0035922927126199474, 0.0014547358523830315,
            0.0005951579828464391, 0.00022210424001646177, 0.00013709465840531796,
            -2.7190521551514266e-05, 9.019361041690909e-05, -4.527783071669169e-05,
            2.0960028845057344e-05,
        ),
        limit=2.0**20,
    ),
}  # fmt: skip


#: From the bits of n, the two parts of r, and x: the value, and an integer whose highest bit
#: changes its sign.
_Found = Callable[[Term, Term, Term, Term], tuple[Term, Term]]


def sin(x: Term) -> Term:
    return _of_parts(x, _sine)


def cos(x: Term) -> Term:
    return _of_parts(x, _cosine)


def tan(x: Term) -> Term:
    return _of_parts(x, _tangent)


def _of_parts(x: Term, found: _Found) -> Term:
    """A function by the parts of |x|, usually and rarely. What sine and cosine of one argument have
    in common is computed once."""
    c, a = for_type(_CONSTANTS, x.dtype), absolute(x)

    def signed(quadrant: Term, r: Term, low: Term) -> Term:
        value, flips = found(quadrant, r, low, x)
        return from_bits((flips & x.dtype.format.sign) ^ bits(value))

    return rarely(a > c.limit, signed(*reduced_large(a)), signed(*_reduced(a)))


def _reduced(a: Term) -> tuple[Term, Term, Term]:
    """The bits of n, and r as the sum of two numbers, for a up to the limit.

    a - n half_pi[0] is exact. The product with half_pi[1] and its difference to that are sums of
    two numbers; where the product is the larger one, the second number is nearly right, and the
    first does not cancel.
    """
    c = for_type(_CONSTANTS, a.dtype)
    shifter = 1.5 * 2.0**a.dtype.format.mantissa
    shifted = fma(a, TWO_OVER_PI, shifter)
    n = shifted - shifter
    first = fma(n, -c.half_pi[0], a)
    product, rest = two_product(n, constant(c.half_pi[1], a.dtype))
    r, low = fast_two_sum(first, -1.0 * product)
    return bits(shifted), r, fma(n, -c.half_pi[2], low - rest)


def _is_odd(quadrant: Term) -> Term:
    """Whether sine and cosine of the argument are those of r in the opposite order."""
    return apply("ne", quadrant & 1, 0)


def _sine_and_cosine(r: Term, low: Term) -> tuple[Term, Term]:
    c = for_type(_CONSTANTS, r.dtype)
    square = r * r
    # The rest of the cosine is added to what 1 - square / 2 rounds off.
    near = fma(square, -0.5, 1.0)
    off = fma(square, -0.5, 1.0 - near)
    rest = fma(square * square, polynomial(square, c.cos), off)
    sine = r + fma(r * square, polynomial(square, c.sin), low)
    return sine, near + fma(low, -1.0 * r, rest)


def _sine(quadrant: Term, r: Term, low: Term, x: Term) -> tuple[Term, Term]:
    sine, cosine = _sine_and_cosine(r, low)
    value = select(_is_odd(quadrant), cosine, sine)
    return value, (quadrant << (quadrant.dtype.bits - 2)) ^ bits(x)


def _cosine(quadrant: Term, r: Term, low: Term, x: Term) -> tuple[Term, Term]:
    """The sine a quarter of a turn further on, without the sign of x."""
    sine, cosine = _sine_and_cosine(r, low)
    value = select(_is_odd(quadrant), sine, cosine)
    return value, (quadrant + 1) << (quadrant.dtype.bits - 2)


def _tangent(quadrant: Term, r: Term, low: Term, x: Term) -> tuple[Term, Term]:
    """That of r, or its inverse with the rest of the division. The low part of r counts as often as
    the tangent's slope says, which is 1 + 1.5 r**2, nearly."""
    square = r * r
    series = interleaved(square, for_type(_CONSTANTS, r.dtype).tan)
    low = fma(low * square, 1.5, low)
    if r.dtype == float32:
        # What the square rounds off, times the slope of tan(r) / r in it, where that counts.
        low = fma(fma(r, r, -1.0 * square) * r, 0.55, low)
    total, off = fast_two_sum(r, fma(r * square, series, low))
    inverse = 1.0 / total
    rest = fma(-1.0 * inverse, off, fma(-1.0 * inverse, total, 1.0))
    value = select(_is_odd(quadrant), fma(rest, inverse, inverse), total)
    return value, (quadrant << (quadrant.dtype.bits - 1)) ^ bits(x)


FUNCTIONS: dict[str, Callable[[Term], Term]] = {"sin": sin, "cos": cos, "tan": tan}
