"""Minimax polynomials whose coefficients are floats, by Remez' exchange on a grid.

    fit = Fit(target=..., weight=..., low=0, high=(pi / 4) ** 2, count=6, dtype=np.float64)
    coefficients, error = fit.rounded()

`coefficients` are those of 1, u, u**2, ... . They are rounded one after the other, the lowest
first, and the rest is fitted again each time, so that it makes up for what the rounding costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

#: Digits in which everything is computed: the targets are differences that cancel near zero.
DIGITS = 80
#: Points of the grid for each coefficient.
_DENSITY = 40
_MOST_EXCHANGES = 30


@dataclass(frozen=True)
class Fit:
    """What a polynomial in u shall be near to, for low <= u <= high.

    Attributes:
        target: what the polynomial approximates.
        weight: what its error is multiplied with; `u**1.5 / sin(sqrt(u))`, for instance, where
            sin x = x + x**3 polynomial(x**2) shall have a small relative error.
        low, high: the interval.
        count: how many coefficients there are.
        dtype: the type of NumPy that they are rounded to.
        stepwise: whether what a rounding costs is made up for; not where an interval has both
            signs: powers without the lowest have no errors that alternate around 0.
    """

    target: Callable[[Any], Any]
    weight: Callable[[Any], Any]
    low: Any
    high: Any
    count: int
    dtype: type = np.float64
    stepwise: bool = True

    def rounded(self) -> tuple[tuple[float, ...], float]:
        """The coefficients, and the largest weighted error of the polynomial that has them."""
        with mpmath.workdps(DIGITS):
            points = chebyshev_points(mpf(self.low), mpf(self.high), _DENSITY * self.count)
            values = [self.target(u) for u in points]
            weights = [self.weight(u) for u in points]
            found: list[float] = []
            before: list[Any] = []
            for power in range(self.count):
                columns = [[u**k for u in points] for k in range(power, self.count)]
                tried = [before] if before else []
                if self.stepwise or not before:
                    tried.append(best_sum(columns, values, weights))
                best = min(
                    tried, key=lambda c: max(map(abs, errors_of(c, columns, values, weights)))
                )
                before = best[1:]
                c = float(self.dtype(float(best[0])))
                found.append(c)
                values = [v - c * u**power for u, v in zip(points, values, strict=True)]
            error = max(abs(v * w) for v, w in zip(values, weights, strict=True))
            return tuple(found), float(error)


def chebyshev_points(low: Any, high: Any, count: int) -> list[Any]:
    """Points that are denser at both ends, where minimax errors oscillate faster; without the ends,
    at which a target may have no value."""
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle - half * mpmath.cos(mpmath.pi * (2 * k + 1) / (2 * count)) for k in range(count)]


def errors_of(
    factors: Sequence[Any],
    columns: Sequence[Sequence[Any]],
    values: Sequence[Any],
    weights: Sequence[Any],
) -> list[Any]:
    """What values are beyond a sum of columns, weighted."""
    return [
        w * (v - sum(c * column[at] for c, column in zip(factors, columns, strict=True)))
        for at, (v, w) in enumerate(zip(values, weights, strict=True))
    ]


def best_sum(
    columns: Sequence[Sequence[Any]], values: Sequence[Any], weights: Sequence[Any]
) -> list[Any]:
    """The factors of the columns whose sum has the smallest largest weighted error.

    Where a column is 0 inside the interval, as those of the last coefficients may be, exchanges
    need not end: then it is the best sum of those that were tried.
    """
    best: tuple[Any, list[Any]] = mpf("inf"), []
    unknowns = len(columns) + 1
    reference = [len(values) * (2 * k + 1) // (2 * unknowns) for k in range(unknowns)]
    for _ in range(_MOST_EXCHANGES):
        matrix = mpmath.matrix(unknowns, unknowns)
        right = mpmath.matrix(unknowns, 1)
        for row, at in enumerate(reference):
            for k, column in enumerate(columns):
                matrix[row, k] = column[at]
            matrix[row, unknowns - 1] = (-1) ** row / weights[at]
            right[row] = values[at]
        solved = list(mpmath.lu_solve(matrix, right))
        errors = errors_of(solved[:-1], columns, values, weights)
        largest = max(map(abs, errors))
        best = min(best, (largest, solved[:-1]), key=lambda found: found[0])
        if largest <= abs(solved[-1]) * mpf("1.0001"):
            break
        reference = _exchanged(errors, reference)
    return best[1]


def _exchanged(errors: Sequence[Any], reference: Sequence[int]) -> list[int]:
    """The next reference: the largest errors between changes of sign, if there are enough."""
    peaks = [0]
    for k, error in enumerate(errors):
        if (error > 0) != (errors[peaks[-1]] > 0):
            peaks.append(k)
        elif abs(error) > abs(errors[peaks[-1]]):
            peaks[-1] = k
    if len(peaks) < len(reference):
        return _moved(errors, reference)
    while len(peaks) > len(reference):
        smallest = min(range(len(peaks)), key=lambda k: abs(errors[peaks[k]]))
        is_inside = 0 < smallest < len(peaks) - 1
        if is_inside and len(peaks) == len(reference) + 1:  # only an end leaves signs alternating
            smallest = min(0, len(peaks) - 1, key=lambda k: abs(errors[peaks[k]]))
        elif is_inside:
            peaks.pop(min(smallest - 1, smallest + 1, key=lambda k: abs(errors[peaks[k]])))
            smallest = min(range(len(peaks)), key=lambda k: abs(errors[peaks[k]]))
        peaks.pop(smallest)
    return peaks


def _moved(errors: Sequence[Any], reference: Sequence[int]) -> list[int]:
    """Each point moves to the largest error of its sign around it, and the largest error of all
    replaces a point so that the signs still alternate."""
    is_above = [e > 0 for e in errors]
    found = []
    for at in reference:
        first = last = at
        while first > 0 and is_above[first - 1] == is_above[at]:
            first -= 1
        while last + 1 < len(errors) and is_above[last + 1] == is_above[at]:
            last += 1
        found.append(max(range(first, last + 1), key=lambda k: abs(errors[k])))
    largest = max(range(len(errors)), key=lambda k: abs(errors[k]))
    if largest in found:
        return found
    place = sum(k < largest for k in found)  # how many points lie before it
    fits = [k for k in (place - 1, place) if 0 <= k < len(found)]
    for k in fits:
        if is_above[found[k]] == is_above[largest]:
            found[k] = largest
            return found
    return [largest, *found[:-1]] if place == 0 else [*found[1:], largest]
