"""The polynomials and quotients of powers, of erf and gamma, and of the fast functions.

Each entry is a table of coefficients of `math_doubles`, `math_erf`, `math_gamma` or `math_fast` in
`sched/lang/arithmetic/`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import atanh, erf, erfc, exp, log, loggamma, mpf, pi, sqrt, tanh
from quotients import Quotient
from remez import Fit

_HALF_LN2 = log(mpf(2)) / 2 * mpf("1.0001")
_ROOT = sqrt(mpf(2))
_S = ((_ROOT - 1) / (_ROOT + 1)) ** 2 * mpf("1.0002")


def power_of_e(count: int, dtype: type = np.float64) -> Fit:
    """e**r = 1 + r + r**2 (c[0] + c[1] r + ...) for |r| <= log(2) / 2."""
    return Fit(
        lambda r: (exp(r) - 1 - r) / r**2,
        lambda r: r**2 / exp(r),
        -_HALF_LN2,
        _HALF_LN2,
        count,
        dtype,
    )


def series_of_log() -> Fit:
    """log(1 + f) = f + f**2 (c[0] + c[1] f + ...) for sqrt(1/2) <= 1 + f <= sqrt(2)."""
    return Fit(
        lambda f: (log(1 + f) - f) / f**2,
        lambda f: f**2 / abs(log(1 + f)),
        (1 / _ROOT - 1) * mpf("1.0001"),
        (_ROOT - 1) * mpf("1.0001"),
        8,
        np.float32,
    )


def _artanh(z: Any) -> Any:
    """artanh(s) / s, where z = s**2."""
    return atanh(sqrt(z)) / sqrt(z)


def odd_quotient(f: Any, high: Any, above: int, below: int, dtype: type = np.float64) -> Quotient:
    """f(x) = x p(x**2) / q(x**2) for |x| <= high, by its relative error."""
    return Quotient(
        lambda u: f(sqrt(u)) / sqrt(u),
        lambda u: sqrt(u) / f(sqrt(u)),
        0,
        mpf(high) ** 2,
        above,
        below,
        dtype,
    )


def _scaled_erfc(a: Any) -> Any:
    return exp(a * a) * erfc(a)


def _tail(t: Any) -> Any:
    """(1 + 2 a) e**a**2 erfc a, where t = (a - 4) / (a + 4)."""
    a = 4 * (1 + t) / (1 - t)
    return (1 + 2 * a) * _scaled_erfc(a)


def near_zeros(at: int, constant: float) -> Quotient:
    """log gamma(at + e) / ((at + e - 1) (at + e - 2)), less a constant, for 0 <= e <= 1."""

    def ratio(e: Any) -> Any:
        z = at + e
        return loggamma(z) / ((z - 1) * (z - 2))

    return Quotient(lambda e: ratio(e) - constant, lambda e: 1 / ratio(e), 0, 1, 7, 6)


FITS: dict[str, Fit | Quotient] = {
    "fast_exp, float32": power_of_e(4, np.float32),
    "fast_exp, float64": power_of_e(9),
    "fast_log, float32": series_of_log(),
    "fast_log, float64": Fit(lambda z: (2 - 2 * _artanh(z)) / z, lambda z: z / 2, 0, _S, 6),
    "fast_tanh, float32": odd_quotient(tanh, mpf("9.02"), 4, 4, np.float32),
    "fast_tanh, float64": odd_quotient(tanh, mpf("19.2"), 9, 9),
    "fast_erf, float32": odd_quotient(erf, mpf("3.93"), 5, 5, np.float32),
    "fast_erf, float64": odd_quotient(erf, mpf("5.94"), 12, 12),
    "exp in two parts": power_of_e(11),
    "log in two parts": Fit(
        lambda z: (2 * _artanh(z) - 2 - 2 * z / 3) / z**2, lambda z: z**2 / 2, 0, _S, 7
    ),
    "erf, float32": odd_quotient(erf, mpf("3.94"), 6, 7),
    "erfc, float32": Quotient(_scaled_erfc, lambda a: 1 / _scaled_erfc(a), 0, mpf("10.2"), 6, 7),
    "erf, small": Fit(
        lambda u: (erf(sqrt(u)) / sqrt(u) - 2 / sqrt(pi)) / u, lambda u: u, 0, mpf("0.26"), 9
    ),
    "erfc, large": Fit(
        lambda t: (_tail(t) - _tail(mpf(0))) / t,
        lambda t: abs(t) / _tail(t),
        (mpf("0.499") - 4) / (mpf("0.499") + 4),
        mpf("0.75"),
        21,
    ),
    "lgamma, from 1 to 2": near_zeros(1, 0.48),
    "lgamma, from 2 to 3": near_zeros(2, 0.385),
}
