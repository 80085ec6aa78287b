"""Which functions have errors, what is true of them, and at which arguments that is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import scipy.special

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """A function.

    Attributes:
        wide: its values in a wider float type, by NumPy.
        exact: one value by mpmath, in as many digits as are set.
        ranges: where float64 arguments are drawn from; of a function of two the first is of both.
        arity: how many arguments there are.
        has_turns: whether arguments next to multiples of pi/2 are hard.
        fewer: by how much fewer arguments of float64 are tried, where no library of wider floats
            has the function.
    """

    wide: Callable[..., Array]
    exact: Callable[..., Any]
    ranges: tuple[tuple[float, float], ...]
    arity: int = 1
    has_turns: bool = False
    fewer: int = 1


def _sigmoid(x: Array) -> Array:
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


def _special(of_float64: Callable[[Array], Array], exact: Callable[..., Any]) -> Case:
    """A function that SciPy has for float64 alone; as a long double it is mpmath's."""

    def wide(x: Array) -> Array:
        if x.dtype != np.longdouble:
            return of_float64(x)
        with mpmath.workprec(120):
            return np.array([_long(exact, float(v)) for v in x], np.longdouble)

    return Case(wide, exact, (*_NEAR, (-6.0, 27.0), (-171.0, 172.0)), fewer=1000)


def _long(exact: Callable[..., Any], x: float) -> Any:
    """The long double next to a value, as the sum of two float64."""
    if not np.isfinite(x):
        return exact(x)
    value = exact(mpmath.mpf(x))
    high = float(value)
    rest = float(value - mpmath.mpf(high)) if np.isfinite(high) else 0.0
    return np.longdouble(high) + np.longdouble(rest)


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
    "arctan2": Case(np.arctan2, mpmath.atan2, _NEAR, arity=2),
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
    "pow": Case(np.power, lambda x, y: x**y, ((0.0, 3.0), (0.9, 1.1), (0.0, 40.0)), arity=2),
    "erf": _special(scipy.special.erf, mpmath.erf),
    "erfc": _special(scipy.special.erfc, mpmath.erfc),
    "gamma": _special(scipy.special.gamma, _gamma),
    "lgamma": _special(_gammaln, _log_of_gamma),
    "hypot": Case(np.hypot, mpmath.hypot, _NEAR, arity=2),
}


def every_float32(start: int, stop: int, every: int) -> Array:
    """Those whose bits are `start`, `start + every`, ... below `stop`."""
    return np.arange(start, stop, every, dtype=np.uint64).astype(np.uint32).view(np.float32)


def drawn(case: Case, dtype: type, count: int, random: np.random.Generator) -> list[Array]:
    """Arguments for one call: from the ranges, of random bits, and of all sizes."""
    unsigned = np.uint32 if dtype is np.float32 else np.uint64
    sizes = np.finfo(dtype)
    share = count // (len(case.ranges) + 2)
    found = []
    for _ in range(case.arity):
        bits = random.integers(0, np.iinfo(unsigned).max, share, unsigned, endpoint=True)
        scale = random.integers(sizes.minexp - sizes.nmant, 4, share)
        parts = [random.uniform(lo, hi, share) for lo, hi in case.ranges]
        with np.errstate(over="ignore"):
            parts += [np.ldexp(random.uniform(-2, 2, share), scale)]
            found.append(np.concatenate([*(p.astype(dtype) for p in parts), bits.view(dtype)]))
    if case.arity == 2:  # numbers that are near each other, too
        near = random.uniform(-2, 2, share).astype(dtype)
        found[1][:share] = found[0][:share] * near
    return found


def next_to_turns(dtype: type) -> Array:
    """The floats that are nearer to multiples of pi/2 than all others of their exponent and less.

    M 2**e is near to one where M times 2**e / (pi/2) is near to an integer: for the denominators of
    the convergents of that number's continued fraction.
    """
    info = np.finfo(dtype)
    digits, found = info.nmant + 1, []
    with mpmath.workprec(info.maxexp + 300):
        for exponent in range(-digits - 8, info.maxexp - digits):
            rest = mpmath.mpf(2) ** (exponent + 1) / mpmath.pi
            before, denominator = 0, 1
            while denominator < 2**digits:
                found.append(dtype(mpmath.ldexp(denominator, exponent)))
                rest = 1 / (rest - mpmath.floor(rest))
                step = int(mpmath.floor(rest))
                before, denominator = denominator, step * denominator + before
    return np.array(found)
