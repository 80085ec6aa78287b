"""expm1, sinh, cosh and hypot of float32, computed in float32 but where arguments are large.

As in `math_wide`, |x| or x is n log(2) + r, where r has two parts, and what decides the error is
the sum of 2**n, or of powers like it, and a multiple of r, with what that sum rounds off. Where it
would overflow, a formula in float64 is computed instead, behind a branch.
"""

from __future__ import annotations

from collections.abc import Callable

from ..nodes.dtypes import float32
from .math_log import is_outside
from .math_terms import (
    Term,
    absolute,
    apply,
    bits,
    estrin,
    fma,
    from_bits,
    polynomial,
    power_of_two,
    rarely,
)

#: A function of float32 by its formula in float64.
Wide = Callable[..., Term]

_FORMAT = float32.format
_LOG2_E = 1.4426950216293335
_LN2 = (0.6931471824645996, -1.9046542121259336e-09)
#: c of e**r - 1 = r + r**2 (1/2 + r (c[0] + c[1] r + ...)).
_EXPM1 = (
    0.1666666567325592, 0.041666362434625626, 0.008333389647305012, 0.0013940626522526145,
    0.00019845887436531484,
)  # fmt: skip
#: c of sinh r = r + r**3 (c[0] + c[1] r**2 + ...) and cosh r = 1 + r**2 (c[0] + ...).
_SINH = (0.1666666716337204, 0.00833317544311285, 0.00019974089809693396)
_COSH = (0.5, 0.041666459292173386, 0.0013935453025624156)
#: Up to it 2**n is a number.
_USUAL = 87.0
#: Between the square roots of these no square counts that is denormal, or overflows.
_LEAST_SQUARE, _END_SQUARE = 2.0**-78, 2.0**120
#: What the bits of a number are taken from for those of about half of its inverse, off by 5%.
_HALF_INVERSE = 0x7E7311C7


def _reduced(x: Term, less: int) -> tuple[Term, Term, Term]:
    """2**(n - less), and r and l so that e**x is 2**n e**r (1 + l)."""
    shifter = 1.5 * 2.0**_FORMAT.mantissa + _FORMAT.bias - less
    shifted = fma(x, _LOG2_E, shifter)
    n = shifted - shifter
    return power_of_two(bits(shifted)), fma(n, -_LN2[0], x), n * -_LN2[1]


def _sum(a: Term, factor: Term, high: Term) -> tuple[Term, Term]:
    """a + factor high and what that rounds off, where a is 0 or the larger one."""
    total = fma(factor, high, a)
    return total, fma(factor, high, a - total)


def _with_sign(size: Term, x: Term) -> Term:
    return from_bits(bits(size) | (bits(x) & _FORMAT.sign))


def expm1(x: Term, wide: Wide) -> Term:
    """s - 1 + s r + s (e**r - 1 - r), where s is 2**n."""
    s, r, low = _reduced(x, 0)
    less = s - 1.0
    total, off = _sum(less, s, r)
    off = off + ((s - less) - 1.0)
    square = r * r
    half = fma(square, 0.5, fma(low, r, low))
    rest = fma(r * square, estrin(r, _EXPM1), half)
    return rarely(absolute(x) > _USUAL, wide(x), _with_sign(total + fma(s, rest, off), x))


def _parts(a: Term) -> tuple[Term, Term, Term, Term, Term]:
    """2**(n - 1) and 2**(-n - 1), the first part of r, and sinh r less that and cosh r less 1,
    where a = n log(2) + r."""
    up, r, low = _reduced(a, 1)
    # The exponent of the other power is what this one's lacks to a constant.
    down = from_bits((2 * (_FORMAT.bias - 1) << _FORMAT.mantissa) - bits(up))
    square = r * r
    sinh = fma(r * square, polynomial(square, _SINH), fma(low, r, low))
    return up, down, r, sinh, square * polynomial(square, _COSH)


def sinh(x: Term, wide: Wide) -> Term:
    """a sinh r + b cosh r, where |x| = n log(2) + r, a = (2**n + 2**-n) / 2 and
    b = (2**n - 2**-n) / 2. Where n is 0 it is sinh r alone: nothing cancels."""
    size = absolute(x)
    up, down, r, sinh, cosh = _parts(size)
    a, b = up + down, up - down
    total, off = _sum(b, a, r)
    found = total + fma(b, cosh, fma(a, sinh, off))
    return rarely(size > _USUAL, wide(x), _with_sign(found, x))


def cosh(x: Term, wide: Wide) -> Term:
    """a cosh r + b sinh r, as in `sinh`. The smaller part of a is added to what is small: where the
    other one is some thousand times as large, their sum rounds."""
    size = absolute(x)
    up, down, r, sinh, cosh = _parts(size)
    a, b = up + down, up - down
    total, off = _sum(up, b, r)
    found = total + fma(a, cosh, fma(b, sinh, off + down))
    return rarely(size > _USUAL, wide(x), found)


def hypot(x: Term, y: Term, wide: Wide) -> Term:
    """A root of x**2 + y**2, better by what it and the square of y lack, over twice the root."""
    square = y * y
    low = fma(y, y, -1.0 * square)
    total = fma(x, x, square)
    root = apply("sqrt", total)
    missing = fma(-1.0 * root, root, total) + low
    is_zero = apply("eq", (bits(x) | bits(y)) << 1, 0)
    rare = apply("and", is_outside(total, _LEAST_SQUARE, _END_SQUARE), apply("not", is_zero))
    return rarely(rare, wide(x, y), fma(missing, half_inverse(root), root))


def half_inverse(x: Term) -> Term:
    """1 / (2 x) for normal numbers above zero, off by 5%; a large number for 0."""
    return from_bits(_HALF_INVERSE - bits(x))
