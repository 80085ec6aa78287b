"""Functions of elements, and how quick and exact each of them is in each library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from .libraries import SPECIAL, Call, Maker, ways

COUNT = 1 << 14
"""Elements of a call: they and the results are in the second cache."""

TURNS = 12
SAMPLES = 1000
"""Arguments of which mpmath says the true value."""

EXACT = {"float32": 1.0, "float64": 1.5}
"""Units of the last place that a function may be wrong, unless its name says otherwise."""

ROUNDED = {"sqrt"}

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Function:
    """One of them.

    Attributes:
        low: the least argument, or the least of each where there are two.
        high: the largest.
        of: what the true function is called, where another name is given to a quick one.
        arity: how many arguments.
        is_test: whether results are true or false.
    """

    name: str
    low: float
    high: float
    of: str = ""
    arity: int = 1
    is_test: bool = False

    @property
    def true(self) -> str:
        return self.of or self.name

    @property
    def is_fast(self) -> bool:
        return self.name.startswith("fast_")


FUNCTIONS = (
    Function("exp", -80, 80),
    Function("exp2", -100, 100),
    Function("expm1", -20, 20),
    Function("log", 1e-6, 1e6),
    Function("log2", 1e-6, 1e6),
    Function("log10", 1e-6, 1e6),
    Function("log1p", -0.9, 100),
    Function("sin", -100, 100),
    Function("cos", -100, 100),
    Function("tan", -100, 100),
    Function("arcsin", -1, 1),
    Function("arccos", -1, 1),
    Function("arctan", -50, 50),
    Function("arctan2", -10, 10, arity=2),
    Function("sinh", -20, 20),
    Function("cosh", -20, 20),
    Function("tanh", -5, 5),
    Function("arcsinh", -100, 100),
    Function("arccosh", 1, 1000),
    Function("arctanh", -0.99, 0.99),
    Function("sqrt", 0, 1e6),
    Function("rsqrt", 1e-6, 1e6),
    Function("cbrt", -1e6, 1e6),
    Function("hypot", -1e3, 1e3, arity=2),
    Function("pow", 0.01, 20, arity=2),
    Function("sigmoid", -20, 20),
    Function("erf", -4, 4),
    Function("erfc", -4, 8),
    Function("lgamma", 0.1, 50),
    Function("gamma", 0.1, 30),
    Function("fmod", -100, 100, arity=2),
    Function("remainder", -100, 100, arity=2),
    Function("copysign", -10, 10, arity=2),
    Function("nextafter", -10, 10, arity=2),
    Function("heaviside", -10, 10, arity=2),
    Function("sign", -10, 10),
    Function("trunc", -1e4, 1e4),
    Function("rint", -1e4, 1e4),
    Function("floor", -1e4, 1e4),
    Function("ceil", -1e4, 1e4),
    Function("ldexp", -20, 20, arity=2),
    *(Function(x, -10, 10, is_test=True) for x in ("isnan", "isinf", "isfinite", "signbit")),
    Function("fast_exp", -80, 80, "exp"),
    Function("fast_exp2", -100, 100, "exp2"),
    Function("fast_log", 1e-6, 1e6, "log"),
    Function("fast_tanh", -5, 5, "tanh"),
    Function("fast_sigmoid", -20, 20, "sigmoid"),
    Function("fast_rsqrt", 1e-6, 1e6, "rsqrt"),
    Function("fast_erf", -4, 4, "erf"),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """What one library does.

    Attributes:
        speed: thousand million elements a second.
        error: the largest, in units of the last place.
    """

    speed: float
    error: float

    @property
    def text(self) -> str:
        return f"{self.speed:.2f} ({self.error:.2f})"


class Row:
    """A function and a type."""

    def __init__(self, function: Function, dtype: str) -> None:
        self.function, self.dtype = function, dtype
        rng = np.random.default_rng(7)
        span = rng.random((function.arity, COUNT))
        if function.low > 0 and function.high / function.low > 1e3:
            drawn = function.low * (function.high / function.low) ** span
        else:
            drawn = function.low + (function.high - function.low) * span
        if function.name == "pow":
            drawn[1] = drawn[1] / 4 - 2  # exponents
        self.arguments = [np.ascontiguousarray(x.astype(dtype)) for x in drawn]
        if function.name == "ldexp":
            self.arguments[1] = self.arguments[1].astype(np.int32)
        if function.is_test:
            for k, x in enumerate((np.nan, np.inf, -np.inf)):
                self.arguments[0][k :: 7 + k] = x

    def measured(self, seconds: float) -> dict[str, Measured] | None:
        """By library; in turns, the best one of each counts. None where ours has no such type."""
        calls = {k: made for k, make in ways().items() if (made := self._made(make)) is not None}
        wanted = _true(self.function, self.arguments)
        found = {k: call.result() for k, call in calls.items()}
        if found["polysched"].dtype not in (self.dtype, np.bool_):
            return None
        best = dict.fromkeys(calls, float("inf"))
        for _ in range(TURNS):
            for k, call in calls.items():
                best[k] = min(best[k], call.seconds(seconds / TURNS))
        return {k: Measured(COUNT / best[k] / 1e9, _error(found[k], wanted)) for k in calls}

    def _made(self, make: Maker) -> Call | None:
        try:
            return make(self.function, self.arguments)
        except NotImplementedError:
            return None

    def ratio(self, found: Mapping[str, Measured]) -> float | None:
        """Our speed over that of the best peer that is as exact; None where there is none."""
        own = found["polysched"].error
        # What rounds correctly by definition is compared with what does so, too.
        bound = 0.5 if self.function.name in ROUNDED else max(EXACT[self.dtype], own)
        peers = [m.speed for k, m in found.items() if k != "polysched" and m.error <= bound]
        return found["polysched"].speed / max(peers) if peers else None


# truth -------------------------------------------------------------------------------------------
def _true(function: Function, arguments: list[Array]) -> Array:
    """The results in a wider type, but of what no library has: those in float64, or by mpmath."""
    wide = np.longdouble if arguments[0].dtype == np.float64 else np.float64
    given = [a.astype(wide) if a.dtype.kind == "f" else a for a in arguments]
    if function.true == "rsqrt":
        return 1 / np.sqrt(given[0])
    if function.true == "sigmoid":
        return 1 / (1 + np.exp(-given[0]))
    if function.true not in SPECIAL or function.true in ("cbrt", "exp2"):
        ufunc = getattr(np, {"pow": "power"}.get(function.true, function.true))
        return np.asarray(ufunc(*given))
    if wide is np.float64:
        return np.asarray(getattr(special, SPECIAL[function.true])(given[0]))
    return _by_mpmath(function.true, arguments[0][:SAMPLES])


def _by_mpmath(name: str, x: Array) -> Array:
    import mpmath

    true = getattr(mpmath, {"lgamma": "loggamma"}.get(name, name))
    with mpmath.workdps(40):
        found = [true(mpmath.mpf(float(a))) for a in x]
        # Two parts are exact to 106 bits, of which a long double has 64.
        return np.array([np.longdouble(float(v)) + np.longdouble(float(v - float(v)))
                         for v in found])  # fmt: skip


def _error(found: Array, wanted: Array) -> float:
    """The largest error, in units of the last place of the type of what was found."""
    found = found[: len(wanted)]
    if wanted.dtype == np.bool_:
        return 0.0 if np.array_equal(found, wanted) else float("inf")
    true = wanted.astype(found.dtype)
    unit = np.spacing(np.abs(true)).astype(wanted.dtype)
    finite = np.isfinite(true) & (unit > 0)
    return float((np.abs(found.astype(wanted.dtype) - wanted) / unit)[finite].max())
