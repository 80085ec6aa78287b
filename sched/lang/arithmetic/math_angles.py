"""arcsin, arccos, arctan and arctan2.

Each result is a multiple of pi/4 and a series in what is left, added so that what the sum rounds
off is kept. Quotients and square roots come with the rest of their division where it counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from ...records import dataclass
from ..nodes.dtypes import DType, float32, float64
from .math_inverse_tables import ARCSIN, ARCTAN
from .math_single_powers import half_inverse
from .math_sums import fast_two_sum
from .math_terms import (
    Term,
    absolute,
    apply,
    at_most,
    bits,
    constant,
    fma,
    for_type,
    from_bits,
    polynomial,
    rarely,
    select,
    series_of,
)


@dataclass(frozen=True, slots=True)
class _Constants:
    """The constants in one float type.

    pi: the sum of two numbers.
    low, high: points whose larger coordinate is not above `low` are moved `up`, those above `high`
        down by 2**-8, so that no quotient loses digits and no sum overflows.
    most: more than coordinates are then.
    """

    pi: tuple[float, float]
    low: float
    high: float
    up: float
    most: float


_CONSTANTS: dict[DType, _Constants] = {
    float32: _Constants(
        pi=(3.1415927410125732, -8.742277657347586e-08),
        low=2.0**20,
        high=2.0**120,
        up=2.0**100,
        most=2.0**124,
    ),
    float64: _Constants(
        pi=(3.141592653589793, 1.2246467991473532e-16),
        low=2.0**200,
        high=2.0**1000,
        up=2.0**800,
        most=2.0**1020,
    ),
}


def arcsin(x: Term) -> Term:
    dtype = x.dtype
    is_large, s, rest = _parts_of_arcsin(absolute(x))
    base = select(is_large, constant(0.5 * for_type(_CONSTANTS, dtype).pi[0], dtype), 0.0)
    factor = select(is_large, constant(-2.0, dtype), 1.0)
    return _with_sign(_less_or_more(base, factor, s, rest), x)


def arccos(x: Term) -> Term:
    """pi/2 - arcsin(x); above 1/2 twice the arcsine of s, below -1/2 what it lacks to pi."""
    dtype = x.dtype
    is_large, s, rest = _parts_of_arcsin(absolute(x))
    pi = for_type(_CONSTANTS, dtype).pi[0]
    base = select(is_large, select(x < 0.0, constant(pi, dtype), 0.0), 0.5 * pi)
    factor = select(is_large, constant(2.0, dtype), -1.0)
    factor = from_bits(bits(factor) ^ (bits(x) & dtype.format.sign))
    return _less_or_more(base, factor, s, rest)


def _parts_of_arcsin(a: Term) -> tuple[Term, Term, Term]:
    """Whether a = |x| is above 1/2, and s and arcsin(s) - s. Up to 1/2 s is a; above it is the root
    of (1 - a) / 2, the sine of half of what a's angle lacks to a right one. Of float32 the rest has
    what the root lacks, too."""
    is_large = a > 0.5
    square = select(is_large, fma(a, -0.5, 0.5), a * a)
    root = apply("sqrt", square)
    s = select(is_large, root, a)
    series = polynomial(square, for_type(ARCSIN, a.dtype))
    if a.dtype != float32:
        return is_large, s, s * square * series
    missing = fma(-1.0 * root, root, square)
    inverse = select(is_large, half_inverse(root), 0.0)
    return is_large, s, fma(s * square, series, missing * inverse)


def _less_or_more(base: Term, factor: Term, s: Term, rest: Term) -> Term:
    """base + factor (s + rest), where base is the first part of a multiple of pi, and not less than
    the product with s, which is exact, or 0."""
    high, low = for_type(_CONSTANTS, s.dtype).pi
    total = fma(factor, s, base)
    off = fma(base, low / high, fma(factor, s, base - total))
    return total + fma(factor, rest, off)


def arctan(x: Term) -> Term:
    a = at_most(absolute(x), 2.0**64)
    return _with_sign(_angle(a, constant(1.0, x.dtype)), x)


def arctan2(y: Term, x: Term) -> Term:
    """The angle of the point (x, y). Next to an infinity what is finite is 0, and two infinities
    are the same number."""
    c, dtype = for_type(_CONSTANTS, x.dtype), x.dtype
    a, b = absolute(y), absolute(x)
    mirrored = apply("ne", bits(x) & dtype.format.sign, 0)
    usual = _angle(a * c.up, b * c.up, mirrored)
    large = select(a > b, a, b)
    scale = select(large > c.high, constant(2.0**-8, dtype), 1.0)
    a, b = (
        at_most(p * select(apply("and", q.equals(inf), p < inf), 0.0, scale), c.most)
        for p, q in ((a, b), (b, a))
    )
    return _with_sign(rarely(large > c.low, _angle(a, b, mirrored), usual), y)


def _angle(a: Term, b: Term, mirrored: Term | None = None) -> Term:
    """arctan(a / b) for a, b >= 0, or what that lacks to pi where it is mirrored.

    It is arctan t, or pi/4 or pi/2 and the arctangent of another t, so that |t| is at most 9/16.
    """
    dtype = a.dtype
    is_high, is_middle = a * 0.5 > b, a > b * 0.5625
    above = select(is_high, -1.0 * b, select(is_middle, a - b, a))
    below = select(is_high, a, select(is_middle, a + b, b))
    base = _either(is_high, _pi(dtype, 0.5), _parts_of_pi(dtype, is_middle, 0.25, 0.0))
    if mirrored is None:
        t, off = above / below, constant(0.0, dtype)
    else:
        inverse = 1.0 / select(below.equals(0.0), constant(1.0, dtype), below)
        t = above * inverse
        off = fma(-1.0 * t, below, above) * inverse
        other = _either(is_high, _pi(dtype, 0.5), _parts_of_pi(dtype, is_middle, 0.75, 1.0))
        base = _either(mirrored, other, base)
        t, off = select(mirrored, -1.0 * t, t), select(mirrored, -1.0 * off, off)
    square = t * t
    turned = fma(off, -1.0 * square, off)  # off / (1 + t**2), nearly
    rest = fma(t * square, series_of(square, for_type(ARCTAN, dtype)), turned)
    return _turned(base, t, rest)


# angles as sums -----------------------------------------------------------------------------------
def _turned(base: Sequence[Term], t: Term, rest: Term) -> Term:
    """base + t + rest, where base is 0 or larger than t."""
    total, off = fast_two_sum(base[0], t)
    return total + (off + (rest + base[1]))


def _pi(dtype: DType, factor: float) -> list[Term]:
    """A multiple of pi as the sum of two numbers; the factor has one or two digits."""
    return [constant(factor * part, dtype) for part in for_type(_CONSTANTS, dtype).pi]


def _parts_of_pi(dtype: DType, condition: Term, first: float, second: float) -> list[Term]:
    """One multiple of pi where a condition holds, else another."""
    return _either(condition, _pi(dtype, first), _pi(dtype, second))


def _either(condition: Term, a: Sequence[Term], b: Sequence[Term]) -> list[Term]:
    """The one sum of two numbers or the other."""
    return [select(condition, x, y) for x, y in zip(a, b, strict=True)]


def _with_sign(size: Term, x: Term) -> Term:
    """A number without a sign, with that of x."""
    return from_bits(bits(size) | (bits(x) & x.dtype.format.sign))


FUNCTIONS: dict[str, Callable[..., Term]] = {
    "arcsin": arcsin,
    "arccos": arccos,
    "arctan": arctan,
    "arctan2": arctan2,
}
