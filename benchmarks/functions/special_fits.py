"""The polynomials and quotients of powers, of erf and gamma, and of the fast functions.

Each entry is a table of coefficients of `math_doubles`, `math_erf`, `math_gamma` or `math_fast` in
`sched/lang/arithmetic/`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import atanh, erf, erfc, exp, log, loggamma, mpf, sqrt, tanh
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


def erf_near_zero(place: Any) -> Fit:
    """erf x = x + x (c[0] + c[1] (x**2 - place) + ...), |x| < 1.3."""
    return Fit(
        lambda v: erf(sqrt(v + place)) / sqrt(v + place) - 1,
        lambda v: sqrt(v + place) / erf(sqrt(v + place)),
        -place,
        mpf("1.6903") - place,
        14,
    )


def root_of_erfc(place: Any) -> Fit:
    """(erfc x)**(-1/8) = c[0] + c[1] (x - place) + ..., 1.3 <= x <= 5.95, by the error of erf."""

    def root(v: Any) -> Any:
        return erfc(v + place) ** (-mpf(1) / 8)

    return Fit(
        root,
        lambda v: 8 * erfc(v + place) / root(v),
        mpf("1.2999") - place,
        mpf("5.95") - place,
        18,
    )


def rest_of_erfc(most: Any, degree: int, dtype: type = np.float64) -> Quotient:
    """p / d of e**a**2 erfc a = factor / (a + shift) (1 + p(a) / d(a)), 0 <= a <= most."""

    def near_one(a: Any) -> Any:
        return (a + mpf("0.5625")) / mpf("0.6171875") * exp(a * a) * erfc(a)

    return Quotient(
        lambda a: near_one(a) - 1, lambda a: 1 / near_one(a), 0, mpf(most), degree, degree, dtype
    )


def logarithm(count: int, dtype: type = np.float64) -> Fit:
    """log2 m = 2/log(2) s (1 + z/3 + z**2 (c[0] + c[1] z + ...)), less the factor in c."""
    return Fit(
        lambda z: (_artanh(z) - 1 - z / 3) / z**2 * 2 / log(mpf(2)),
        lambda z: z**2 * log(mpf(2)) / 2,
        0,
        _S,
        count,
        dtype,
    )


def power_of_2(count: int, dtype: type = np.float64) -> Fit:
    """2**r = 1 + r log(2) + r**2 (c[0] + c[1] r + ...) for |r| <= 1/2."""
    return Fit(
        lambda r: (mpf(2) ** r - 1 - r * log(mpf(2))) / r**2,
        lambda r: r**2 / mpf(2) ** r,
        mpf("-0.5001"),
        mpf("0.5001"),
        count,
        dtype,
    )


def near_zeros(at: int, constant: float) -> Quotient:
    """log gamma(at + e) / ((at + e - 1) (at + e - 2)), less a constant, for 0 <= e <= 1."""

    def ratio(e: Any) -> Any:
        z = at + e
        return loggamma(z) / ((z - 1) * (z - 2))

    return Quotient(lambda e: ratio(e) - constant, lambda e: 1 / ratio(e), 0, 1, 7, 6)


FITS: dict[str, Fit | Quotient] = {
    "fast_exp, float32": power_of_e(4, np.float32),
    "fast_exp, float64": power_of_e(9),
    "fast_exp2, float32": power_of_2(4, np.float32),
    "fast_exp2, float64": power_of_2(9),
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
    "erf, float64, near 0": erf_near_zero(mpf("0.87109375")),
    "erf, float64, beyond": root_of_erfc(mpf("1.22119140625")),
    "erfc, float32": rest_of_erfc("10.2", 5, np.float32),
    "erfc, float64": rest_of_erfc("27.3", 10),
    "power in erfc, float32": power_of_e(5, np.float32),
    "power in erfc, float64": power_of_e(10),
    "log2 of pow, float32": logarithm(3, np.float32),
    "log2 of pow, float64": logarithm(7),
    "exp2 of pow, float32": power_of_2(5, np.float32),
    "exp2 of pow, float64": power_of_2(10),
    "lgamma, from 1 to 2": near_zeros(1, 0.48),
    "lgamma, from 2 to 3": near_zeros(2, 0.385),
}
