"""The error of one result, by mpmath in hundreds of digits."""

from __future__ import annotations

import mpmath
import numpy as np
from references import CASES


def error_of(name: str, dtype: type, at: tuple[float, ...], found: float) -> float | None:
    """The error of a result."""
    if not np.isfinite(found) or not all(map(np.isfinite, at)):
        return None
    info, case = np.finfo(dtype), CASES[name]
    with mpmath.workprec(2 * info.maxexp + 300):
        true = case.exact(*map(mpmath.mpf, at))
        if true == 0 or not mpmath.isfinite(true):
            return None
        exponent = max(int(mpmath.floor(mpmath.log(abs(true), 2))), int(info.minexp))
        unit = exponent - info.nmant
        if dtype is np.float64 and case.absolute is not None and at[0] < case.absolute[0]:
            unit = max(unit, case.absolute[1])
        return float(abs(mpmath.mpf(found) - true) / mpmath.mpf(2) ** unit)
