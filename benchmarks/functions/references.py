"""Which functions have errors, what is true of them, and at which arguments that is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import mpmath
import numpy as np
import scipy.special

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """A function.

    Attributes:
        wide: its values in float64, by NumPy or SciPy.
        exact: one value by mpmath, in as many digits as are set.
        ranges: where float64 arguments are drawn from; of a function of two the first is of both.
        arity: how many arguments there are.
        has_turns: whether arguments next to multiples of pi/2 are hard.
        absolute: of float64 below the first number, the logarithm of the least unit that errors
            are taken in.
        partner: the second argument that makes a first one hard.
        is_fast: whether errors count only where arguments and results are normal numbers, results
            at some distance from the ends of the range.
    """

    wide: Callable[..., Array]
    exact: Callable[..., Any]
    ranges: tuple[tuple[float, float], ...]
    arity: int = 1
    has_turns: bool = False
    absolute: tuple[float, int] | None = None
    partner: Callable[[Array, np.random.Generator], Array] | None = None
    is_fast: bool = False


def _sigmoid(x: Array) -> Array:
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


def _near_it(x: Array, random: np.random.Generator) -> Array:
    """Numbers of about the same size."""
    return x * random.uniform(-2, 2, len(x)).astype(x.dtype)


def _exponent(x: Array, random: np.random.Generator) -> Array:
    """Exponents by which the powers of positive numbers are of all sizes."""
    most = np.log(np.finfo(x.dtype).max)
    with np.errstate(all="ignore"):
        return (random.uniform(-1.1, 1.01, len(x)) * most / np.log(x)).astype(x.dtype)


def _gamma(x: Any) -> Any:
    """SciPy's at poles and infinities."""
    is_special = x == 0 or not np.isfinite(float(x)) or (x < 0 and x == int(x))
    return scipy.special.gamma(float(x)) if is_special else mpmath.gamma(x)


def _log_of_gamma(x: Any) -> Any:
    value = abs(_gamma(x))
    return mpmath.inf if np.isnan(float(value)) and x == x else mpmath.log(value)


def _gammaln(x: Array) -> Array:
    return np.where(np.isneginf(x), np.inf, scipy.special.gammaln(x))


_NEAR = ((-1.0, 1.0), (-3.0, 3.0))
_WIDE = (*_NEAR, (-40.0, 40.0), (-745.2, 710.0))
_LOGS = ((0.5, 2.0), (0.999, 1.001), (0.0, 100.0), (0.0, 1e300))
_TURNS = (*_NEAR, (-100.0, 100.0), (-1e6, 1e6), (-1e8, 1e8), (-1e16, 1e16))
_SPECIAL = (*_NEAR, (-6.0, 27.0), (-171.0, 172.0))
_BASES = ((0.0, 3.0), (0.9, 1.1), (0.0, 40.0))
_UNIT = ((-1.0, 1.0), (-0.6, 0.6), (-0.1, 0.1), (0.999, 1.0))

CASES: dict[str, Case] = {
    "exp": Case(np.exp, mpmath.exp, _WIDE),
    "exp2": Case(np.exp2, lambda x: mpmath.mpf(2) ** x, (*_NEAR, (-40.0, 40.0), (-1075.0, 1024.0))),
    "expm1": Case(np.expm1, mpmath.expm1, _WIDE),
    "log": Case(np.log, mpmath.log, _LOGS),
    "log2": Case(np.log2, lambda x: mpmath.log(x) / mpmath.log(2), _LOGS),
    "log10": Case(np.log10, mpmath.log10, _LOGS),
    "log1p": Case(np.log1p, mpmath.log1p, ((-1.0, 1.0), (-0.3, 0.5), (0.0, 100.0), (0.0, 1e300))),
    "sin": Case(np.sin, mpmath.sin, _TURNS, has_turns=True),
    "cos": Case(np.cos, mpmath.cos, _TURNS, has_turns=True),
    "tan": Case(np.tan, mpmath.tan, _TURNS, has_turns=True),
    "arcsin": Case(np.arcsin, mpmath.asin, _UNIT),
    "arccos": Case(np.arccos, mpmath.acos, _UNIT),
    "arctan": Case(np.arctan, mpmath.atan, (*_NEAR, (-100.0, 100.0))),
    "arctan2": Case(np.arctan2, mpmath.atan2, _NEAR, arity=2, partner=_near_it),
    "sinh": Case(np.sinh, mpmath.sinh, _WIDE),
    "cosh": Case(np.cosh, mpmath.cosh, _WIDE),
    "tanh": Case(np.tanh, mpmath.tanh, (*_NEAR, (-20.0, 20.0))),
    "arcsinh": Case(np.arcsinh, mpmath.asinh, (*_NEAR, (-0.4, 0.4), (-100.0, 100.0), (0.0, 1e10))),
    "arccosh": Case(np.arccosh, mpmath.acosh, ((1.0, 1.1), (1.0, 3.0), (1.0, 100.0), (1.0, 1e10))),
    "arctanh": Case(np.arctanh, mpmath.atanh, _UNIT),
    "sigmoid": Case(_sigmoid, lambda x: 1 / (1 + mpmath.exp(-x)), (*_NEAR, (-40.0, 40.0))),
    "sqrt": Case(np.sqrt, mpmath.sqrt, ((0.0, 4.0), (0.0, 1e300))),
    "rsqrt": Case(lambda x: 1 / np.sqrt(x), lambda x: 1 / mpmath.sqrt(x), ((0.0, 4.0),)),
    "cbrt": Case(np.cbrt, lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), ((-8.0, 8.0),)),
    "pow": Case(np.power, lambda x, y: x**y, _BASES, arity=2, partner=_exponent),
    "erf": Case(scipy.special.erf, mpmath.erf, _SPECIAL),
    "erfc": Case(scipy.special.erfc, mpmath.erfc, _SPECIAL),
    "gamma": Case(scipy.special.gamma, _gamma, _SPECIAL),
    "lgamma": Case(_gammaln, _log_of_gamma, _SPECIAL, absolute=(-2.0, -54)),
    "hypot": Case(np.hypot, mpmath.hypot, _NEAR, arity=2, partner=_near_it),
}
for _name in ("exp", "exp2", "log", "tanh", "sigmoid", "rsqrt", "erf"):
    CASES[f"fast_{_name}"] = replace(CASES[_name], is_fast=True)
EXACT = [name for name, case in CASES.items() if not case.is_fast]


def counted(dtype: type) -> tuple[float, float, float]:
    """The least argument, the least result and the bound of results that count where a function
    is fast."""
    info = np.finfo(dtype)
    tiny = float(info.smallest_normal)
    return tiny, 1.5 * tiny, 0.7 * float(info.max)
