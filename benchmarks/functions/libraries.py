"""The same function of elements by each library, ours among them."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

import polysched as ps

from . import in_numba
from .in_numba import Call

if TYPE_CHECKING:
    from .elementwise import Function

Array = np.ndarray[Any, np.dtype[Any]]
Maker = Callable[["Function", list[Array]], Call]

REGISTERS = (1, 2, 4)
"""Of how many a vector of ours may be."""

CHOICE = 0.005
"""Seconds for each of them before one is chosen."""

SPECIAL = {"erf": "erf", "erfc": "erfc", "lgamma": "gammaln", "gamma": "gamma", "cbrt": "cbrt",
           "sigmoid": "expit", "exp2": "exp2"}  # fmt: skip
"""What SciPy has, and calls it."""

OTHER = "POLYSCHED_BENCH_NUMBA"
"""The variable that names the interpreter of another environment, for its Numba."""


@cache
def ways() -> dict[str, Maker]:
    """Ours, and the peers that are installed."""
    found: dict[str, Maker] = {"polysched": ours, "numpy": _numpy, "scipy": _scipy}
    torch = _imported("torch")
    if OTHER in os.environ:
        other = in_numba.Other(os.environ[OTHER])
        found["numba+svml" if other.has_svml else "numba"] = lambda f, x: other.made(
            f.true, f.is_fast, x, _empty(f, x)
        )
    elif _imported("numba") is not None:
        found["numba"] = lambda f, x: in_numba.made(f.true, f.is_fast, x, _empty(f, x))
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


def _empty(function: Function, arguments: list[Array]) -> Array:
    """For the results."""
    return np.empty(arguments[0].shape, np.bool_ if function.is_test else arguments[0].dtype)


def ours(function: Function, arguments: list[Array]) -> Call:
    """The quickest of kernels whose vectors are one register, two and four: a compiler that unrolls
    loops has such a choice, too."""
    calls = [_of_registers(function, arguments, count) for count in REGISTERS]
    return min(calls, key=lambda call: call.seconds(CHOICE))


def _of_registers(function: Function, arguments: list[Array], count: int) -> Call:
    n, i = ps.size("n"), ps.vars("i")
    inputs = [ps.Input(f"x{k}", a.dtype, (n,)) for k, a in enumerate(arguments)]
    f = ps.Func("f", (n,))
    f[i] = getattr(ps, function.name)(*(x[i] for x in inputs))
    s = ps.Schedule(f)
    s["f"].vectorize(i, count * ps.native)
    kernel, out = s.compile(), _empty(function, arguments)
    return Call(lambda: kernel(*arguments, out=out))


def _numpy(function: Function, arguments: list[Array]) -> Call:
    if function.true in ("rsqrt", "sigmoid"):
        return _of_operators(function, arguments)
    ufunc = _named(np, {"pow": "power"}.get(function.true, function.true))
    out = _empty(function, arguments)
    return Call(lambda: ufunc(*arguments, out=out))


def _of_operators(function: Function, arguments: list[Array]) -> Call:
    (x,) = arguments
    one = x.dtype.type(1)
    if function.true == "rsqrt":
        return Call(lambda: one / np.sqrt(x))
    return Call(lambda: one / (one + np.exp(-x)))


def _scipy(function: Function, arguments: list[Array]) -> Call:
    ufunc = _named(special, SPECIAL.get(function.true, ""))
    out = ufunc(*arguments)
    return Call(lambda: ufunc(*arguments, out=out))


def _torch(function: Function, arguments: list[Array]) -> Call:
    torch = _imported("torch")
    name = {"sigmoid": "sigmoid", "rint": "round"}.get(function.true, function.true)
    operator = _named(torch, name)
    given = [torch.from_numpy(a) for a in arguments]
    out = torch.from_numpy(_empty(function, arguments))
    try:
        operator(*given, out=out)
    except TypeError:  # some tests have no such argument
        return Call(lambda: operator(*given).numpy())
    return Call(lambda: operator(*given, out=out).numpy())
