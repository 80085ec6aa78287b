"""sin, cos and tan.

Method: a = |x| is n pi/2 + r with |r| <= pi/4, where r is the sum of two numbers, so that it has
all its digits also where x is next to a multiple of pi/2. Both sin r and cos r are such sums too;
n says which of them is the result, and its sign.

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
    limit: above it the usual reduction is not good enough.
    """

    half_pi: tuple[float, float, float]
    sin: tuple[float, ...]
    cos: tuple[float, ...]
    limit: float


_CONSTANTS: dict[DType, _Constants] = {
    float32: _Constants(
        half_pi=(1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
        sin=(-0.16666655242443085, 0.008332187309861183, -0.00019517897453624755),
        cos=(0.04166664555668831, -0.0013887309469282627, 2.4432327336398885e-05),
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
        limit=2.0**20,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Parts:
    """What is left of an argument: r has the sine `sin[0] + sin[1]` and the cosine
    `cos[0] + cos[1]`, and the lowest bits of `quadrant` are those of n."""

    quadrant: Term
    sin: tuple[Term, Term]
    cos: tuple[Term, Term]

    @property
    def is_odd(self) -> Term:
        """Whether sine and cosine of the argument are those of r in the opposite order."""
        return apply("ne", self.quadrant & 1, 0)


_Found = Callable[[_Parts, Term], tuple[Term, Term]]


def sin(x: Term) -> Term:
    return _of_parts(x, _sine)


def cos(x: Term) -> Term:
    return _of_parts(x, _cosine)


def tan(x: Term) -> Term:
    return _of_parts(x, _tangent)


def _of_parts(x: Term, found: _Found) -> Term:
    """A function by the parts of |x|, usually and rarely. What sine and cosine of one argument have
    in common is computed once.

    Args:
        found: from the parts and x, the value, and an integer whose highest bit changes its sign.
    """
    c, a, full = for_type(_CONSTANTS, x.dtype), absolute(x), found is _tangent

    def signed(parts: _Parts) -> Term:
        value, flips = found(parts, x)
        return from_bits((flips & x.dtype.format.sign) ^ bits(value))

    usual = signed(_parts(*_reduced(a), full))
    return rarely(a > c.limit, signed(_parts(*reduced_large(a), full)), usual)


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


def _parts(quadrant: Term, r: Term, low: Term, full: bool) -> _Parts:
    """
    Args:
        full: also for a quotient, in which the errors of both add up.
    """
    c = for_type(_CONSTANTS, r.dtype)
    square = r * r
    # The rest of the cosine is added to what 1 - square / 2 rounds off.
    near = fma(square, -0.5, 1.0)
    off = fma(square, -0.5, 1.0 - near)
    of_low = low
    if full:
        of_low = low * near
        off = fma(fma(r, r, -1.0 * square), -0.5, off)
    rest = fma(square * square, polynomial(square, c.cos), off)
    sine_rest = fma(r * square, polynomial(square, c.sin), of_low)
    return _Parts(quadrant, (r, sine_rest), (near, fma(low, -1.0 * r, rest)))


def _sine(p: _Parts, x: Term) -> tuple[Term, Term]:
    value = select(p.is_odd, p.cos[0] + p.cos[1], p.sin[0] + p.sin[1])
    return value, (p.quadrant << (p.quadrant.dtype.bits - 2)) ^ bits(x)


def _cosine(p: _Parts, x: Term) -> tuple[Term, Term]:
    """The sine a quarter of a turn further on, without the sign of x."""
    value = select(p.is_odd, p.sin[0] + p.sin[1], p.cos[0] + p.cos[1])
    return value, (p.quadrant + 1) << (p.quadrant.dtype.bits - 2)


def _tangent(p: _Parts, x: Term) -> tuple[Term, Term]:
    """The quotient of sine and cosine, or of cosine and -sine, with the rest of the division."""
    sine, cosine = fast_two_sum(*p.sin), fast_two_sum(*p.cos)
    above, below = (
        tuple(select(p.is_odd, c, s) for s, c in zip(first, second, strict=True))
        for first, second in ((sine, cosine), (cosine, sine))
    )
    inverse = 1.0 / below[0]
    quotient = above[0] * inverse
    rest = fma(-1.0 * quotient, below[0], above[0]) + fma(-1.0 * quotient, below[1], above[1])
    return fma(rest, inverse, quotient), (p.quadrant << (p.quadrant.dtype.bits - 1)) ^ bits(x)


FUNCTIONS: dict[str, Callable[[Term], Term]] = {"sin": sin, "cos": cos, "tan": tan}
