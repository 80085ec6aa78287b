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
        1.128379166961399, 0.30455325542260053, 0.0741450368181513, 0.009800716530275378,
        0.0008186716909646647, 5.349428324913893e-05, 9.382668766482498e-07,
    ),
    (
        1.0, 0.6032366224163863, 0.16678825332971198, 0.027767436985681248,
        0.0030359521472515887, 0.0002183067793654161, 9.341339429803908e-06,
        4.0119506019676614e-08,
    ),
)  # fmt: skip
_ERFC_32 = (
    (
        1.0000000000010745, 1.6147273276910958, 1.2813785671934474, 0.6119627518987979,
        0.18360257369710684, 0.03288078936147429, 0.002793232148612509,
    ),
    (
        1.0, 2.7431064949738566, 3.3766427839761626, 2.4312424651453424, 1.1138322813400334,
        0.32790146570341505, 0.05827972264582996, 0.004950874359508096,
    ),
)  # fmt: skip
#: 2 / sqrt(pi), and c[k] of erf x = x (2 / sqrt(pi) + x**2 (c[0] + c[1] x**2 + ...)), |x| < 1/2.
_FIRST = (1.1283791670955126, 1.533545961316588e-17)
_SMALL = (
    -0.3761263890318375, 0.1128379167095453, -0.026866170644840582, 0.005223977618498626,
    -0.0008548326085470223, 0.000120552564681107, -1.49218035676995e-05,
    1.6345305246728819e-06, -1.4388602751589589e-07,
)  # fmt: skip
#: P(0), and c[k] of P(t) = P(0) + t (c[0] + c[1] t + ...), for 1/2 <= a <= 28.
_AT_4 = (1.2329951186255526, -4.625318921008717e-17)
_TAIL = (
    -0.1396211168405625, 0.015379652102619264, 0.06809705425469025, -0.10103906603625928,
    0.0937328349984567, -0.0663303658135768, 0.03716751553532351, -0.016197734037909396,
    0.005031970002235146, -0.0007577734544327526, -0.00019925686207837833,
    0.00015062252898739156, -2.4398463428367166e-05, -1.1224838354206483e-05,
    5.707491213308827e-06, 2.997451219484449e-07, -8.209951215325125e-07, 6.684889360279804e-08,
    1.0448908291601128e-07, -1.2155812281248174e-08, -1.0087428222830649e-08,
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
