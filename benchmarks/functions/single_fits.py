"""Powers of two, and logarithms of float32."""

from __future__ import annotations

import numpy as np
from mpmath import log, mpf, sqrt
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


def _logarithm(unit: mpf, count: int = 9) -> Fit:
    """c of unit log(1 + f) = unit f + f**2 (c[0] + c[1] f + ...)."""
    return Fit(
        lambda f: (log(1 + f) - f) * unit / f**2,
        lambda f: max(abs(f**2 / (log(1 + f) * unit)), _LEAST),
        sqrt(mpf(1) / 2) - 1,
        sqrt(mpf(2)) - 1,
        count,
        np.float32,
        stepwise=False,
    )


FITS = {
    "exp2, float32": _power_of_2(6, np.float32),
    "exp2, float64": _power_of_2(11, np.float64),
    "log, float32": _logarithm(mpf(1)),
    "log2, float32": _logarithm(1 / log(mpf(2)), 10),
    "log10, float32": _logarithm(1 / log(mpf(10))),
}
