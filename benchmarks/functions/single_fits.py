"""Powers, hyperbolic functions and logarithms of float32, and some of float64."""

from __future__ import annotations

import numpy as np
from mpmath import atanh, cosh, exp, expm1, log, mpf, sinh, sqrt
from remez import Fit

#: A weight that is zero somewhere, or nearly so, has no alternating errors there to exchange.
_LEAST = mpf(3) / 100


def _exp2(r: mpf) -> mpf:
    """c of 2**r = 1 + r (c[0] + c[1] r + ...)."""
    return (mpf(2) ** r - 1) / r if r else log(mpf(2))


def _power_of_2(count: int, dtype: type) -> Fit:
    """That c, for |r| <= 1/2, by the relative error of the power."""
    return Fit(
        _exp2, lambda r: max(abs(r), _LEAST) / mpf(2) ** r, mpf(-1) / 2, mpf(1) / 2, count, dtype
    )


def _logarithm(low: mpf, high: mpf, count: int, stepwise: bool) -> Fit:
    """c of log(1 + f) = f + f**2 (c[0] + c[1] f + ...)."""
    return Fit(
        lambda f: (log(1 + f) - f) / f**2,
        lambda f: max(abs(f**2 / log(1 + f)), _LEAST),
        low,
        high,
        count,
        np.float32,
        stepwise,
    )


def _logarithm_of(base: int, factor: float) -> Fit:
    """c of the logarithm of 1 + f = f (factor + c[0] + c[1] f + ...)."""
    unit = log(mpf(base))
    return Fit(
        lambda f: log(1 + f) / unit / f - factor if f else 1 / unit - factor,
        lambda f: f * unit / log(1 + f) if f else unit,
        *_ROOTS,
        10,
        np.float32,
    )


#: What lies between the roots of 1/2 and 2, less 1.
_ROOTS = sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1
_HALF_LN2 = log(mpf(2)) / 2 * mpf("1.0001")


FITS = {
    # c of e**r - 1 = r + r**2 (c[0] + c[1] r + ...); the first one is 1/2.
    "expm1, float32": Fit(
        lambda r: (exp(r) - 1 - r) / r**2,
        lambda r: max(abs(r**2 / expm1(r)), _LEAST),
        -_HALF_LN2,
        _HALF_LN2,
        6,
        np.float32,
        stepwise=False,
    ),
    "sinh, float32": Fit(
        lambda u: (sinh(sqrt(u)) / sqrt(u) - 1) / u,
        lambda u: sqrt(u) * u / sinh(sqrt(u)),
        0,
        _HALF_LN2**2,
        3,
        np.float32,
    ),
    "cosh, float32": Fit(
        lambda u: (cosh(sqrt(u)) - 1) / u,
        lambda u: u / cosh(sqrt(u)),
        0,
        _HALF_LN2**2,
        3,
        np.float32,
    ),
    "exp2, float32": _power_of_2(6, np.float32),
    "exp2, float64": _power_of_2(11, np.float64),
    "log, float32": _logarithm(*_ROOTS, 9, stepwise=False),
    "log1p, float32": _logarithm(mpf(-1) / 4, mpf(1) / 2, 10, stepwise=True),
    # c of log(1 + f) = 2 s + s**3 (c[0] + c[1] s**2 + ...), s = f / (2 + f) up to 1/5.
    "log1p, float64": Fit(
        lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z,
        lambda z: sqrt(z) * z / (2 * atanh(sqrt(z))),
        0,
        mpf(1) / 25,
        8,
    ),
    "log2, float32": _logarithm_of(2, 1.453125),
    "log10, float32": _logarithm_of(10, 0.421875),
}
