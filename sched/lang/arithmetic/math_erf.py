"""The error function and its complement, both of which compute in float64.

Of float32, erf x = x p(x**2) / q(x**2), and erfc a = e**-a**2 p(a) / q(a) for a >= 0. Of float64,
erf a is a series for a < 1/2, whose first term is a sum of two numbers, and beyond

    erfc a = e**-a**2 P(t) / (1 + 2 a),    t = (a - 4) / (a + 4),

in which all but P, less its constant, is computed with what its roundings leave out.

The coefficients are of minimax polynomials for the relative error.
"""

from __future__ import annotations

from ..nodes.dtypes import DType, float32, float64
from .math_doubles import Double, exp_of, exp_parts, fast_sum, limited
from .math_terms import (
    Term,
    absolute,
    at_least,
    at_most,
    bits,
    constant,
    fma,
    from_bits,
    polynomial,
    select,
)
from .math_wide import in_float64

_ERF_32 = (
    (
        1.1283791669600707, 0.30461601523091303, 0.07415561698143973, 0.00980383368551451,
        0.0008189050438395485, 5.351863886621047e-05, 9.387088573746571e-07,
    ),
    (
        1.0, 0.6032922418205554, 0.1668161697156849, 0.027773942600181793, 0.0030368607181200263,
        0.00021838729965224741, 9.34583552233623e-06, 4.0137457352557375e-08,
    ),
)  # fmt: skip
_ERFC_32 = (
    (
        1.0000000000010825, 1.6147804999044473, 1.2814569784270415, 0.6120187730164943,
        0.18362571430916094, 0.03288630499144537, 0.002793855940148505,
    ),
    (
        1.0, 2.7431596671869936, 3.376781193625817, 2.4314014926784737, 1.1139364541285959,
        0.3279430349394333, 0.05828949881259486, 0.004951980001861633,
    ),
)  # fmt: skip
#: 2 / sqrt(pi), and c[k] of erf x = x (2 / sqrt(pi) + x**2 (c[0] + c[1] x**2 + ...)), |x| < 1/2.
_FIRST = (1.1283791670955126, 1.533545961316588e-17)
_SMALL = (
    -0.3761263890318375, 0.1128379167095453, -0.0268661706448406, 0.005223977618499289,
    -0.0008548326085573422, 0.00012055256476439658, -1.4921803935678477e-05,
    1.6345313698713497e-06, -1.4388681766094242e-07,
)  # fmt: skip
#: P(0), and c[k] of P(t) = P(0) + t (c[0] + c[1] t + ...), for 1/2 <= a <= 28.
_AT_4 = (1.2329951186255526, -4.625318921008717e-17)
_TAIL = (
    -0.1396211168405625, 0.015379652102619264, 0.06809705425469026, -0.10103906603625928,
    0.09373283499845601, -0.06633036581357674, 0.037167515535336614, -0.016197734037911107,
    0.005031970002101581, -0.0007577734544156387, -0.00019925686126983345, 0.00015062252889671448,
    -2.4398466484175455e-05, -1.122483807850165e-05, 5.707498502055288e-06, 2.997446394698246e-07,
    -8.210057916089701e-07, 6.684934486294631e-08, 1.0449783997718346e-07,
    -1.2155987426343457e-08, -1.0090514210865472e-08,
)  # fmt: skip
#: Where the series ends.
_HALF = 0.5


def _erf(dtype: DType, x: Term) -> Term:
    if dtype == float32:
        x = at_least(at_most(x, 3.94), -3.94)
        square = x * x
        return x * polynomial(square, _ERF_32[0]) / polynomial(square, _ERF_32[1])
    a = absolute(x)
    found = select(a < _HALF, _near_zero(a).high, _less(1.0, _beyond(a)))
    return from_bits(bits(found) | (bits(x) & float64.format.sign))


def _erfc(dtype: DType, x: Term) -> Term:
    if dtype == float32:
        a = at_most(absolute(x), 10.2)
        p, q = (polynomial(a, c) for c in _ERFC_32)
        found = exp_of(dtype, Double(a * a * -1.0)) * p / q
        return select(x < 0.0, 2.0 - found, found)
    small, beyond = _near_zero(x), _beyond(absolute(x))
    near = _less(1.0, small)
    far = select(x < 0.0, _less(2.0, beyond), beyond.high)
    return select(absolute(x) < _HALF, near, far)


def _less(whole: float, x: Double) -> Term:
    """whole - x, rounded once but for what is lost in the low part."""
    total = whole - x.high
    return total + (((whole - total) - x.high) - x.rest)


def _near_zero(x: Term) -> Double:
    """erf x for |x| < 1/2, whose high part is the nearest number."""
    square = x * x
    tail = x * square * polynomial(square, _SMALL)
    first = x * _FIRST[0]
    low = fma(x, _FIRST[1], fma(x, _FIRST[0], -1.0 * first))
    return fast_sum(first, tail + low)


def _beyond(a: Term) -> Double:
    """erfc a for a >= 1/2."""
    a = at_most(a, 28.0)
    minus_square = a * a * -1.0
    n, e = exp_parts(float64, limited(Double(minus_square, fma(-1.0 * a, a, -1.0 * minus_square))))
    t = (a - 4.0) / (a + 4.0)
    p = fast_sum(constant(_AT_4[0], float64), t * polynomial(t, _TAIL)).with_more(_AT_4[1])
    twice = fast_sum(2.0 * a, constant(1.0, float64))
    found = e * p / twice
    return found.scaled(n)


FUNCTIONS = {"erf": in_float64(_erf), "erfc": in_float64(_erfc)}
