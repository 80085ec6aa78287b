"""Quotients of polynomials that are near to a function, with coefficients that are floats.

    Quotient(target=mpmath.gamma, weight=lambda u: 1 / mpmath.gamma(u), low=1, high=2, above=3,
             below=4).rounded()

The quotient p / q is found by Loeb's iteration: p - q target has a small error, weighted by what
q was before, which Remez' exchange finds since that is a sum. Then the coefficients of q are
rounded, and those of p are fitted to it, rounded one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf
from remez import DIGITS, best_sum, chebyshev_points

_DENSITY = 16
_ROUNDS = 6


@dataclass(frozen=True)
class Quotient:
    """What p(u) / q(u) shall be near to, for low <= u <= high; q begins with 1.

    Attributes:
        target: what the quotient approximates.
        weight: what its error is multiplied with.
        low, high: the interval of u.
        above, below: the degrees of p and q.
        dtype: the type of NumPy that the coefficients are rounded to.
    """

    target: Callable[[Any], Any]
    weight: Callable[[Any], Any]
    low: Any
    high: Any
    above: int
    below: int
    dtype: type = np.float64

    def rounded(self) -> tuple[tuple[float, ...], float]:
        """The coefficients of p and then those of q, and the largest weighted error."""
        with mpmath.workdps(DIGITS):
            count = _DENSITY * (self.above + self.below + 1)
            points = chebyshev_points(mpf(self.low), mpf(self.high), count)
            values = [self.target(u) for u in points]
            weights = [self.weight(u) for u in points]
            q = self._below(points, values, weights)
            divisors = [_value(q, u) for u in points]
            values = [v * d for v, d in zip(values, divisors, strict=True)]
            weights = [w / abs(d) for w, d in zip(weights, divisors, strict=True)]
            p: list[float] = []
            for power in range(self.above + 1):
                columns = [[u**k for u in points] for k in range(power, self.above + 1)]
                c = self._near(best_sum(columns, values, weights)[0])
                p.append(c)
                values = [v - c * u**power for u, v in zip(points, values, strict=True)]
            error = max(abs(v * w) for v, w in zip(values, weights, strict=True))
            return (*p, *q), float(error)

    def _below(self, points: list[Any], values: list[Any], weights: list[Any]) -> list[float]:
        """The coefficients of q, rounded."""
        above = [[u**k for u in points] for k in range(self.above + 1)]
        below = [
            [-v * u**k for u, v in zip(points, values, strict=True)]
            for k in range(1, self.below + 1)
        ]
        divisors = [mpf(1)] * len(points)
        for _ in range(_ROUNDS):
            now = [w / abs(d) for w, d in zip(weights, divisors, strict=True)]
            found = best_sum([*above, *below], values, now)
            q = [mpf(1), *found[self.above + 1 :]]
            divisors = [_value(q, u) for u in points]
        return [1.0, *map(self._near, q[1:])]

    def _near(self, c: Any) -> float:
        return float(self.dtype(float(c)))


def _value(coefficients: list[Any], u: Any) -> Any:
    return sum(c * u**k for k, c in enumerate(coefficients))
