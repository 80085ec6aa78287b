"""The gamma function and its logarithm, both of which compute in float64.

Stirling's series gives log gamma w for w >= 10,

    S(w) = (w - 1/2) (log w - 1) + (log(2 pi) - 1) / 2 + 1 / (12 w) - 1 / (360 w**3) + ...,

as a sum of two numbers, of which no part overflows before the sum does. Arguments z in [1/2, 10)
are moved by gamma(z + 10) = Pi(z) gamma(z), with Pi(z) = z (z + 1) ... (z + 9), and those below 1/2
are reflected: gamma(x) sin(pi x) gamma(1 - x) = pi. Next to its zeros at 1 and 2, log gamma z is
(z - 1) (z - 2) R(z), where R is a constant and a small quotient of polynomials.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import factorial, inf, nan, pi

from ..nodes.dtypes import DType, float64
from .math_doubles import Double, chosen, exp_parts, limited, log_double, number, whole
from .math_terms import (
    Term,
    absolute,
    apply,
    constant,
    fma,
    polynomial,
    power_of_two,
    select,
)
from .math_wide import in_float64

#: (log(2 pi) - 1) / 2.
_CONSTANT = (0.4189385332046727, 1.6728209650585413e-17)
_LOG_PI = (1.1447298858494002, 1.0265951162707826e-17)
_PI = (3.141592653589793, 1.2246467991473532e-16)
#: -pi**3 / 6, and the rest of the series of sin(pi r) / r.
_CUBE = (-5.16771278004997, 2.2665622825789447e-16)
_SINE = tuple((-1) ** k * pi ** (2 * k + 1) / factorial(2 * k + 1) for k in range(2, 12))
#: B(2 k) / (2 k (2 k - 1)), with Bernoulli's numbers.
_STIRLING = tuple(
    float(Fraction(*of))
    for of in (
        (1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156),
        (-3617, 122400),
    )
)  # fmt: skip
#: A constant c near R, and p and q of R(1 + e) = c + p(e) / q(e), and of R(2 + e), 0 <= e <= 1.
#: No sum cancels but where p is small.
_NEAR_1, _NEAR_2 = 0.48, 0.385
_P_1 = (
    0.09721566490153288, 0.05561507929213169, -0.245171678751881, -0.3321858403904417,
    -0.15238759808181584, -0.027216943566602265, -0.001468474936173488, -9.103341691991346e-07,
)  # fmt: skip
_Q_1 = (
    1.0, 3.0948350568753717, 3.686716423711423, 2.1199210602153964, 0.602829086575218,
    0.07700037109687305, 0.003224160745349063,
)  # fmt: skip
_P_2 = (
    0.03778433509846713, -0.03905034650028076, -0.09110432771805389, -0.04951900694131441,
    -0.01111434028681812, -0.001038448924754578, -3.068849095660164e-05, -8.621157445841859e-09,
)  # fmt: skip
_Q_2 = (
    1.0, 1.6214908907199197, 1.0214355342438945, 0.3144264317737197, 0.04866200672578268,
    0.0034580059096653115, 8.288947710598815e-05,
)  # fmt: skip
#: Below it gamma x is 1 / x, whatever its sign is.
_TINY = 2.0**-80
#: The largest float64 whose log gamma is one, too.
_MOST = 2.5599833278516383e305


def _gamma(dtype: DType, x: Term) -> Term:
    given = whole(x, dtype)
    z = chosen(x < 0.5, given.negated() + number(1.0, 0.0, dtype), given)
    is_small = z.high < 10.0
    n, e = exp_parts(dtype, limited(_stirling(dtype, _moved(dtype, z, is_small))))
    steps = chosen(is_small, _steps(dtype, z), number(1.0, 0.0, dtype))
    is_reflected = x < 0.5
    sine = _sine(dtype, x)
    above = chosen(is_reflected, number(*_PI, dtype) * steps, e)
    below = chosen(is_reflected, sine * e, steps)
    quotient = (above / below).high
    n = select(is_reflected, constant(4 * float64.format.bias, n.dtype) - n, n)
    half = n >> 1
    found = quotient * power_of_two(half) * power_of_two(n - half)
    found = select(absolute(x) < _TINY, 1.0 / x, found)
    found = select(x > 200.0, constant(inf, float64), found)
    is_pole = apply("and", x < 0.0, apply("eq", apply("trunc", x), x))
    return select(is_pole, constant(nan, float64), found)


def _lgamma(dtype: DType, x: Term) -> Term:
    """Arguments in [0, 1) are moved by 1: log gamma x = log gamma(1 + x) - log x. So are those just
    below 0, of which sin(pi x) may be too small to have all digits."""
    is_negative, is_low = x < -_TINY, x < 1.0
    d = select(is_low, absolute(x), x - 1.0)  # z - 1 without a rounding, where z <= 3
    z = chosen(is_low, whole(d, dtype) + number(1.0, 0.0, dtype), whole(x, dtype))
    is_near, is_small = apply("le", d, 2.0), z.high < 10.0
    one = number(1.0, 0.0, dtype)
    steps = chosen(apply("and", is_small, d > 2.0), _steps(dtype, z), one)
    far = _stirling(dtype, _moved(dtype, z, is_small))
    found = chosen(is_near, _near(dtype, d), far)
    base = chosen(is_negative, number(*_LOG_PI, dtype) + found.negated(), found)
    sine = _sine(dtype, x)
    sine = chosen(sine.high < 0.0, sine.negated(), sine)
    low = chosen(is_negative, sine / steps, whole(absolute(x), dtype))
    factor = chosen(is_low, low, steps)
    value = (base + log_double(dtype, factor.high, factor.low).negated()).high
    is_pole = apply("and", apply("le", x, 0.0), apply("eq", apply("trunc", x), x))
    value = select(apply("or", is_pole, x > _MOST), constant(inf, float64), value)
    return value + 0.0  # the zeros are positive


def _moved(dtype: DType, z: Double, is_small: Term) -> Double:
    """z + 10, where z is less than 10."""
    return chosen(is_small, z + number(10.0, 0.0, dtype), z)


def _stirling(dtype: DType, w: Double) -> Double:
    """log gamma w for w >= 10."""
    inverse = 1.0 / w.high
    tail = inverse * polynomial(inverse * inverse, _STIRLING)
    factor = log_double(dtype, w.high, w.low) + number(-1.0, 0.0, dtype)
    rest = number(*_CONSTANT, dtype) + whole(tail, dtype)
    return (w + number(-0.5, 0.0, dtype)) * factor + rest


def _steps(dtype: DType, z: Double) -> Double:
    """z (z + 1) ... (z + 9), by v = z (z + 9): (z + k) (z + 9 - k) = v + k (9 - k)."""
    v = z * (z + number(9.0, 0.0, dtype))
    product = v
    for k in range(1, 5):
        product = product * (v + number(k * (9.0 - k), 0.0, dtype))
    return product


def _sine(dtype: DType, x: Term) -> Double:
    """sin(pi x), by what x is beyond the nearest integer."""
    nearest = apply("round", x)
    r, half = x - nearest, nearest * 0.5
    is_odd = apply("ne", apply("trunc", half), half)
    r = select(is_odd, -1.0 * r, r)
    square = whole(r, dtype) * whole(r, dtype)
    tail = whole(square.high * polynomial(square.high, _SINE), dtype)
    inner = number(*_CUBE, dtype) + tail
    return whole(r, dtype) * (number(*_PI, dtype) + square * inner)


def _near(dtype: DType, d: Term) -> Double:
    """log gamma(1 + d) for 0 <= d <= 2."""
    is_first = d < 1.0
    less = whole(d, dtype) + number(-1.0, 0.0, dtype)
    e = select(is_first, d, less.high)
    p, q = (_either(e, is_first, *both) for both in ((_P_1, _P_2), (_Q_1, _Q_2)))
    middle = whole(select(is_first, constant(_NEAR_1, float64), _NEAR_2), dtype)
    return whole(d, dtype) * less * (middle + whole(p / q, dtype))


def _either(x: Term, condition: Term, a: Sequence[float], b: Sequence[float]) -> Term:
    """One of two polynomials."""
    result = select(condition, constant(a[-1], float64), b[-1])
    for one, other in zip(a[-2::-1], b[-2::-1], strict=True):
        result = fma(result, x, select(condition, constant(one, float64), other))
    return result


FUNCTIONS = {"gamma": in_float64(_gamma), "lgamma": in_float64(_lgamma)}
