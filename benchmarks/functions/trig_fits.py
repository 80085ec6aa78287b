"""The polynomials of sin, cos and tan, of their inverses and of the inverse hyperbolic functions.

Each entry is a table of coefficients of `sched/lang/arithmetic/`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import asin, asinh, atan, atanh, cos, mpf, pi, sin, sqrt, tan
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


def inverse_cube_root() -> Fit:
    """m**(-1/3) = c[0] + c[1] m + ... for 1 <= m <= 2."""
    return Fit(lambda m: m ** (mpf(-1) / 3), lambda m: m ** (mpf(1) / 3), 1, 2, 5)


#: A little more than pi / 4, as the nearest multiple of pi / 2 is not always found.
QUARTER = pi / 4 * mpf("1.001")
FITS: dict[str, Fit] = {
    "sin, float32": odd(sin, QUARTER, 3, np.float32),
    "sin, float64": odd(sin, QUARTER, 6),
    "cos, float32": cosine(QUARTER, 3, np.float32),
    "cos, float64": cosine(QUARTER, 6),
    "tan, float32": odd(tan, QUARTER, 7, np.float32),
    "tan, float64": odd(tan, QUARTER, 14),
    "arcsin, float32": odd(asin, mpf("0.5"), 6, np.float32),
    "arcsin, float64": odd(asin, mpf("0.5"), 13),
    "arctan, float32": odd(atan, mpf("0.5625"), 6, np.float32),
    "arctan, float64": odd(atan, mpf("0.5625"), 14),
    "arcsinh, float32": odd(asinh, mpf("0.3"), 4, np.float32),
    "arctanh, float32": odd(atanh, mpf("0.2006"), 3, np.float32),
    "arctanh, float64": odd(atanh, mpf("0.2006"), 8),
    "cbrt": inverse_cube_root(),
}
