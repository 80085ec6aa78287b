"""The cube root."""

from __future__ import annotations

from math import inf

from .math_inverse_tables import CUBE_ROOT
from .math_log import is_special
from .math_sums import two_product
from .math_terms import (
    Term,
    absolute,
    apply,
    bits,
    constant,
    fma,
    from_bits,
    polynomial,
    power_of_two,
    rarely,
    select,
)

#: Denormals are multiplied by 2**54, which makes them normal, and their roots divided by 2**18.
_LIFT = 54


def cbrt(x: Term) -> Term:
    a = absolute(x)
    tiny = a < 2.0 ** (1 - x.dtype.format.bias)
    raised = _size(
        select(tiny, a * 2.0**_LIFT, a), select(tiny, constant(-_LIFT / 3, x.dtype), 0.0)
    )
    # Zeros, infinities and NaN are their own roots.
    rare = select(apply("and", a > 0.0, a < inf), raised, a)
    size = rarely(is_special(a), rare, _size(a, None))
    return from_bits(bits(size) | (bits(x) & x.dtype.format.sign))


def _size(a: Term, lift: Term | None) -> Term:
    """The root of a normal number above zero, times 2**lift.

    a = 2**(3 k) t with 1 <= t < 8. An approximation r of t**(-1/3) is made better once, by a step
    of third order; then t r**2 is nearly the cube root, and a step of Newton's gives its last
    digits.
    """
    f = a.dtype.format
    m = from_bits((bits(a) & ((1 << f.mantissa) - 1)) | (f.bias << f.mantissa))
    # The exponent becomes a float as the lowest bits of a power of two.
    unit = 2.0**f.mantissa
    shifter = 1.5 * unit
    exponent = from_bits((bits(a) >> f.mantissa) | ((f.bias + f.mantissa) << f.mantissa))
    exponent = exponent - (unit + f.bias)
    third = fma(exponent - 1.0, 1 / 3, shifter) - shifter
    left = fma(third, -3.0, exponent)  # 0, 1 or 2
    t = m * power_of_two(bits(left + (shifter + f.bias)))
    start = select(left < 0.5, constant(1.0, a.dtype), 2 ** (-1 / 3))
    start = select(left > 1.5, constant(2 ** (-2 / 3), a.dtype), start)
    r = start * polynomial(m, CUBE_ROOT)
    h = fma(-1.0 * (t * r), r * r, 1.0)
    r = fma(r * h, fma(h, 2 / 9, 1 / 3), r)
    y = t * (r * r)
    square, rest = two_product(y, y)
    off = fma(rest, y, fma(square, y, -1.0 * t))
    y = fma(off * (-1 / 3), r * r, y)
    back = third if lift is None else third + lift
    return y * power_of_two(bits(back + (shifter + f.bias)))
