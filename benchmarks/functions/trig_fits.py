"""The polynomials of sin, cos and tan, of their inverses and of the inverse hyperbolic functions.

Each entry is a table of coefficients of `sched/lang/arithmetic/`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import asin, asinh, atan, cos, mpf, pi, sin, sqrt, tan
from remez import Fit


def odd(f: Any, high: Any, count: int, dtype: type = np.float64, low: Any = 0) -> Fit:
    """f(x) = x + x**3 (c[0] + c[1] x**2 + ...) for low < |x| <= high, by its relative error."""

    def target(u: Any) -> Any:
        x = sqrt(u)
        return (f(x) - x) / (x * u)

    def weight(u: Any) -> Any:
        x = sqrt(u)
        return x * u / f(x)

    return Fit(target, weight, mpf(low) ** 2, mpf(high) ** 2, count, dtype)


def cosine(high: Any, count: int, dtype: type = np.float64) -> Fit:
    """cos x = 1 - x**2 / 2 + x**4 (c[0] + c[1] x**2 + ...) for |x| <= high."""
    return Fit(
        lambda u: (cos(sqrt(u)) - 1 + u / 2) / u**2,
        lambda u: u**2 / cos(sqrt(u)),
        0,
        mpf(high) ** 2,
        count,
        dtype,
    )


QUARTER = pi / 4
FITS: dict[str, Fit] = {
    "sin, float32": odd(sin, QUARTER * mpf("1.001"), 4),
    "cos, float32": cosine(QUARTER * mpf("1.001"), 4),
    "sin, float64": odd(sin, QUARTER * mpf("1.001"), 6),
    "cos, float64": cosine(QUARTER * mpf("1.001"), 6),
    "tan, float32": odd(tan, QUARTER * mpf("1.001"), 7),
    "arctan, float32": odd(atan, mpf("0.4142136"), 5),
    "arctan, float64": odd(atan, mpf("0.4142136"), 11),
    "arcsin, float32": odd(asin, mpf("0.5"), 5),
    "arcsin, float64": odd(asin, mpf("0.5"), 12),
    "arcsinh, float64": odd(asinh, mpf("0.3"), 9),
}
