"""The errors of functions of float32, in units of the last place, by a program of this package.

One loop computes a function in float32, the unit of what is true, the distance of the two in units
of it, and the largest distance so far of each of some lanes: what is true is all that is read.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from references import CASES, Array, counted

import polysched as ps

LANES = 64
"""How many maxima are kept beside each other. Arguments come in rows of so many."""
TYPES = {np.float32: ps.float32, np.float64: ps.float64}

_EXPONENT = 0x7FF0000000000000
"""The bits of a float64 that hold its exponent."""
_UNITS = 2.0 ** np.finfo(np.float32).nmant
"""How many units of the last place a power of two has."""
_RECIPROCAL = 0x7FE0000000000000
"""Less the bits of a power of two, these are the bits of its reciprocal."""


def distance(found: Any, true: Any) -> Any:
    """How far a float32 is from a float64, in units of the last place of the true one.

    A NaN must be a NaN, an infinity the same infinity, and a zero has the true sign: else the
    distance is infinite. Next to an overflow the largest number and infinity are neighbours.
    """
    most, inf = float(np.finfo(np.float32).max), float("inf")
    apart, rounded = _apart(found, true) * _UNITS, ps.cast(ps.float32, true)
    is_near = (ps.abs(rounded) == most) | (ps.abs(found) == most)
    same = ps.select(found == rounded, 0.0, ps.select(is_near, 0.5, inf))
    apart = ps.select(ps.isinf(rounded) | ps.isinf(found), same, apart)
    apart = ps.select(ps.isnan(rounded), ps.select(ps.isnan(found), 0.0, inf), apart)
    is_wrong_zero = (found == 0) & (ps.signbit(found) != ps.signbit(rounded))
    return ps.select(is_wrong_zero | ps.isnan(apart), inf, apart)


def at_most(found: Any, true: Any) -> Any:
    """No less than the same, as a part of a power of two and by less arithmetic: a zero that is
    right may be off by half a unit, and of other special values only those that have the right
    bits, or are NaN as they must be, are right for sure."""
    apart, rounded = _apart(found, true), ps.cast(ps.float32, true)
    is_same = ps.bitcast(ps.int32, found) == ps.bitcast(ps.int32, rounded)
    is_right = is_same | ((found != found) & (true != true))
    special = ps.select(is_right, ps.select(found == 0, 0.5 / _UNITS, 0.0), float("inf"))
    return ps.select((apart < float("inf")) & (found != 0), apart, special)


def _apart(found: Any, true: Any) -> Any:
    """The distance of finite numbers, as a part of the power of two at or below what is true: the
    bits of such a power give those of its reciprocal."""
    info = np.finfo(np.float32)
    power = ps.bitcast(ps.float64, ps.bitcast(ps.int64, true) & _EXPONENT)
    power = ps.maximum(power, float(info.smallest_normal))
    reciprocal = ps.bitcast(ps.float64, _RECIPROCAL - ps.bitcast(ps.int64, power))
    return ps.abs(ps.cast(ps.float64, found) - true) * reciprocal


@cache
def largest(name: str) -> ps.Kernel:
    """From the arguments and the true values, in rows, to the largest distance of each lane, no
    less than it is."""
    n, j = ps.sizes("n"), ps.vars("j")
    row = ps.RVar("row", 0, n)
    given, true = _inputs(name, n)
    at = [x[row, j] for x in given]
    apart = at_most(getattr(ps, name)(*at), true[row, j])
    f = ps.Func("f", (LANES,))
    f[j] = ps.max(_counted(name, apart, at, true[row, j]), row, initial=0.0) * _UNITS
    s = ps.Schedule(f)
    s["f.max0.update(0)"].reorder("row", "j").vectorize("j", ps.native)
    return s.compile()


@cache
def each(name: str) -> ps.Kernel:
    """From the same to all distances."""
    n, (i, j) = ps.sizes("n"), ps.vars("i j")
    given, true = _inputs(name, n)
    f = ps.Func("f", (n, LANES))
    at = [x[i, j] for x in given]
    f[i, j] = _counted(name, distance(getattr(ps, name)(*at), true[i, j]), at, true[i, j])
    s = ps.Schedule(f)
    s[f].vectorize(j, ps.native)
    return s.compile()


def _counted(name: str, apart: Any, at: list[Any], true: Any) -> Any:
    """A distance, where it counts."""
    if not CASES[name].is_fast:
        return apart
    argument, least, bound = counted(np.float32)
    is_inside = (ps.abs(true) >= least) & (ps.abs(true) < bound) & (ps.abs(at[0]) >= argument)
    return ps.select(is_inside, apart, 0.0)


def _inputs(name: str, n: Any) -> tuple[list[ps.Input], ps.Input]:
    shape = (n, LANES)
    given = [ps.Input(f"x{k}", ps.float32, shape) for k in range(CASES[name].arity)]
    return given, ps.Input("true", ps.float64, shape)


@cache
def kernel(name: str, dtype: type) -> ps.Kernel:
    """The function alone."""
    n, i = ps.sizes("n"), ps.vars("i")
    given = [ps.Input(f"x{k}", TYPES[dtype], (n,)) for k in range(CASES[name].arity)]
    f = ps.Func("f", (n,))
    f[i] = getattr(ps, name)(*(x[i] for x in given))
    s = ps.Schedule(f)
    s[f].vectorize(i, ps.native)
    return s.compile()


def rows(values: Array) -> Array:
    """The same in rows; the last value stands for what is missing in the last row."""
    missing = -len(values) % LANES
    padded = np.pad(values, (0, missing), mode="edge") if missing else values
    return padded.reshape(-1, LANES)
