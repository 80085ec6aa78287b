"""Functions of elements, what peers call them, and how quick and exact each of them is."""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import special

import polysched as ps

COUNT = 1 << 14
"""Elements of a call: they and the results are in the second cache."""

TURNS = 12
SAMPLES = 1000
"""Arguments of which mpmath says the true value."""

EXACT = {"float32": 1.0, "float64": 1.5}
"""Units of the last place that a function may be wrong, unless its name says otherwise."""

ROUNDED = {"sqrt"}

REGISTERS = (1, 2, 4)
"""Of how many a vector of ours may be."""

CHOICE = 0.005
"""Seconds for each of them before one is chosen."""

Array = np.ndarray[Any, np.dtype[Any]]
Call = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Function:
    """One of them.

    Attributes:
        low: the least argument, or the least of each where there are two.
        high: the largest.
        of: what the true function is called, where another name is given to a quick one.
        arity: how many arguments.
    """

    name: str
    low: float
    high: float
    of: str = ""
    arity: int = 1

    @property
    def true(self) -> str:
        return self.of or self.name


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
    Function("fast_exp", -80, 80, "exp"),
    Function("fast_exp2", -100, 100, "exp2"),
    Function("fast_log", 1e-6, 1e6, "log"),
    Function("fast_tanh", -5, 5, "tanh"),
    Function("fast_sigmoid", -20, 20, "sigmoid"),
    Function("fast_rsqrt", 1e-6, 1e6, "rsqrt"),
    Function("fast_erf", -4, 4, "erf"),
)
_SPECIAL = {"erf": "erf", "erfc": "erfc", "lgamma": "gammaln", "gamma": "gamma", "cbrt": "cbrt",
            "sigmoid": "expit", "exp2": "exp2"}  # fmt: skip
_MATH = {"erf", "erfc", "lgamma", "gamma"}
"""What Numba takes from Python's `math`."""


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

    def measured(self, seconds: float) -> dict[str, Measured] | None:
        """By library; in turns, the best one of each counts. None where ours has no such type."""
        makers: dict[str, Callable[..., Call | None]] = {"polysched": _ours, **ways()}
        calls = {k: made for k, make in makers.items() if (made := self._made(make)) is not None}
        if "polysched" not in calls:
            return None
        wanted = _true(self.function, self.arguments)
        errors = {k: _error(np.asarray(call()), wanted) for k, call in calls.items()}
        best = dict.fromkeys(calls, float("inf"))
        for _ in range(TURNS):
            for k, call in calls.items():
                best[k] = min(best[k], _seconds(call, seconds))
        return {k: Measured(COUNT / best[k] / 1e9, errors[k]) for k in calls}

    def _made(self, make: Callable[..., Call | None]) -> Call | None:
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


@cache
def ways() -> dict[str, Callable[..., Call | None]]:
    """The peers that are installed."""
    found: dict[str, Callable[..., Call | None]] = {"numpy": _numpy, "scipy": _scipy}
    numba, torch = _imported("numba"), _imported("torch")
    if numba is not None:
        found["numba+svml" if numba.config.USING_SVML else "numba"] = _numba
    if torch is not None:
        torch.set_num_threads(1)
        found["torch"] = _torch
    return found


def _imported(name: str) -> Any:
    """A module; None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _named(module: Any, name: str) -> Any:
    """What a module has; NotImplementedError where it has no such thing."""
    if not hasattr(module, name):
        raise NotImplementedError(name)
    return getattr(module, name)


# each library ------------------------------------------------------------------------------------
def _ours(function: Function, arguments: list[Array]) -> Call:
    """The quickest of kernels whose vectors are one register, two and four: a compiler that unrolls
    loops has such a choice, too."""
    calls = [_of_registers(function, arguments, count) for count in REGISTERS]
    return min(calls, key=lambda call: _seconds(call, TURNS * CHOICE))


def _of_registers(function: Function, arguments: list[Array], count: int) -> Call:
    n, i = ps.size("n"), ps.vars("i")
    inputs = [ps.Input(f"x{k}", a.dtype, (n,)) for k, a in enumerate(arguments)]
    f = ps.Func("f", (n,))
    f[i] = getattr(ps, function.name)(*(x[i] for x in inputs))
    s = ps.Schedule(f)
    s["f"].vectorize(i, count * ps.native)
    kernel = s.compile()
    out = kernel(*arguments)
    if out.dtype != arguments[0].dtype:
        raise NotImplementedError(f"{function.name} of {arguments[0].dtype}")
    return lambda: kernel(*arguments, out=out)


def _numpy(function: Function, arguments: list[Array]) -> Call | None:
    if function.true in ("rsqrt", "sigmoid"):
        return _of_operators(function, arguments)
    ufunc = _named(np, {"pow": "power"}.get(function.true, function.true))
    out = ufunc(*arguments)
    return lambda: ufunc(*arguments, out=out)


def _of_operators(function: Function, arguments: list[Array]) -> Call:
    (x,) = arguments
    one = x.dtype.type(1)
    if function.true == "rsqrt":
        return lambda: one / np.sqrt(x)
    return lambda: one / (one + np.exp(-x))


def _scipy(function: Function, arguments: list[Array]) -> Call:
    ufunc = _named(special, _SPECIAL.get(function.true, ""))
    out = ufunc(*arguments)
    return lambda: ufunc(*arguments, out=out)


def _torch(function: Function, arguments: list[Array]) -> Call:
    torch = _imported("torch")
    name = {"sigmoid": "sigmoid", "rint": "round"}.get(function.true, function.true)
    operator = _named(torch, name)
    given = [torch.from_numpy(a) for a in arguments]
    out = torch.empty_like(given[0])
    return lambda: operator(*given, out=out).numpy()


def _numba(function: Function, arguments: list[Array]) -> Call:
    numba = _imported("numba")
    element = _element(function)
    if len(arguments) == 2:

        def two(a: Array, b: Array, out: Array) -> None:
            for k in range(len(a)):
                out[k] = element(a[k], b[k])

        compiled = numba.njit(two)
    else:

        def one(a: Array, out: Array) -> None:
            for k in range(len(a)):
                out[k] = element(a[k])

        compiled = numba.njit(one)
    out = np.empty_like(arguments[0])

    def call() -> Array:
        compiled(*arguments, out)
        return out

    try:
        call()
    except numba.core.errors.TypingError as error:
        raise NotImplementedError(function.name) from error
    return call


def _element(function: Function) -> Any:
    """What a loop of Numba calls."""
    numba = _imported("numba")
    true = function.true
    if true == "rsqrt":
        return numba.njit(lambda x: 1 / np.sqrt(x))
    if true == "sigmoid":
        return numba.njit(lambda x: 1 / (1 + np.exp(-x)))
    if true == "pow":
        return numba.njit(lambda x, y: x**y)
    return _named(math if true in _MATH else np, true)


# truth -------------------------------------------------------------------------------------------
def _true(function: Function, arguments: list[Array]) -> Array:
    """The results in a wider type, but of what no library has: those in float64, or by mpmath."""
    wide = np.longdouble if arguments[0].dtype == np.float64 else np.float64
    given = [a.astype(wide) for a in arguments]
    if function.true == "rsqrt":
        return 1 / np.sqrt(given[0])
    if function.true == "sigmoid":
        return 1 / (1 + np.exp(-given[0]))
    if function.true not in _SPECIAL or function.true in ("cbrt", "exp2"):
        ufunc = getattr(np, {"pow": "power"}.get(function.true, function.true))
        return np.asarray(ufunc(*given))
    if wide is np.float64:
        return np.asarray(getattr(special, _SPECIAL[function.true])(given[0]))
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
    true = wanted.astype(found.dtype)
    unit = np.spacing(np.abs(true)).astype(wanted.dtype)
    finite = np.isfinite(true) & (unit > 0)
    return float((np.abs(found.astype(wanted.dtype) - wanted) / unit)[finite].max())


def _seconds(call: Call, seconds: float) -> float:
    """What the quickest of some calls takes, of as many as the time is enough for."""
    best, until = float("inf"), time.perf_counter() + seconds / TURNS
    while True:
        before = time.perf_counter()
        call()
        now = time.perf_counter()
        best = min(best, now - before)
        if now >= until:
            return best
