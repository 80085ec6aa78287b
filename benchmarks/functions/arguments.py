"""The arguments at which functions are tried."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import mpmath
import numpy as np
from references import CASES, Array, Case


def every_float32(start: int, stop: int, every: int) -> Array:
    """Those whose bits are `start`, `start + every`, ... below `stop`."""
    bits = _multiples(-((start - stop) // every), every) + np.uint32(start)
    return bits.view(np.float32)


@cache
def _multiples(count: int, every: int) -> Array:
    return np.arange(count, dtype=np.uint32) * np.uint32(every)


def drawn(case: Case, dtype: type, count: int, random: np.random.Generator) -> list[Array]:
    """Arguments for one call: from the ranges, of random bits, and of all sizes."""
    unsigned = np.uint32 if dtype is np.float32 else np.uint64
    sizes = np.finfo(dtype)
    share = max(count // (len(case.ranges) + 2), 1)
    found = []
    for _ in range(case.arity):
        bits = random.integers(0, np.iinfo(unsigned).max, share, unsigned, endpoint=True)
        scale = random.integers(sizes.minexp - sizes.nmant, sizes.maxexp - 1, share)
        parts = [random.uniform(lo, hi, share) for lo, hi in case.ranges]
        with np.errstate(over="ignore"):
            parts += [np.ldexp(random.uniform(-2, 2, share), scale)]
            found.append(np.concatenate([*(p.astype(dtype) for p in parts), bits.view(dtype)]))
    if case.partner is not None:
        with np.errstate(all="ignore"):
            # Of a range, and of all sizes.
            for part in (slice(0, share), slice(-2 * share, -share - share // 2)):
                found[1][part] = case.partner(found[0][part], random)
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


def beside(values: Array, steps: Array) -> Array:
    """The numbers that are so many steps of the last place away from some, each with each."""
    with np.errstate(invalid="ignore"):
        return from_order(order(values)[:, None] + steps[None, :], values.dtype.type).ravel()


def order(values: Array) -> Array:
    """Integers in the order of the numbers, one step for each last place."""
    bits = values.view(np.int32 if values.dtype == np.float32 else np.int64)
    least = np.iinfo(bits.dtype).min
    return np.where(bits < 0, least - bits, bits).astype(np.int64)


def from_order(places: Array, dtype: type) -> Array:
    """The numbers at these places of the order; infinity beyond it."""
    signed = np.int32 if dtype is np.float32 else np.int64
    top = int(np.array([np.inf], dtype).view(signed)[0])
    bits = np.clip(places, -top, top).astype(signed)
    return np.where(bits < 0, np.iinfo(signed).min - bits, bits).view(dtype)


def hard(name: str, function: Callable[[Array], Array]) -> Array:
    """Arguments of float64 that are hard for a function of one: next to multiples of pi/2, to
    powers of two, to integers and halves of them, to the ends of ranges, and to where results
    begin to be infinite, zero, denormal or NaN."""
    case, few = CASES[name], np.arange(-8, 9)
    powers = np.ldexp(1.0, np.arange(-1074, 1024))
    halves = np.arange(1, 400) / 2
    ends = np.array([end for both in case.ranges for end in both])
    edges = np.concatenate([ends, changes(function)])
    parts = [beside(np.concatenate([powers, halves]), few), beside(edges, np.arange(-999, 1000))]
    if case.has_turns:
        parts.append(next_to_turns(np.float64))
    found = np.concatenate([*parts, np.array([0.0, np.inf, np.nan])])
    return np.concatenate([found, -found])


def changes(function: Callable[[Array], Array]) -> Array:
    """The last float64 before results become infinite, zero, denormal or NaN, or no longer are."""

    def kind(places: Array) -> Array:
        with np.errstate(all="ignore"):
            y = np.abs(function(from_order(places, np.float64)))
            is_small = y < np.finfo(np.float64).smallest_normal
            return np.where(np.isnan(y), 3, np.where(np.isinf(y), 2, is_small + (y == 0) * 4))

    top = int(order(np.array([np.inf]))[0])
    places = np.linspace(-top, top, 1 << 14).astype(np.int64)
    differs = np.flatnonzero(kind(places[1:]) != kind(places[:-1]))
    low, high = places[differs], places[differs + 1]
    before = kind(low)
    while np.any(high - low > 1):
        middle = low + (high - low) // 2
        same = kind(middle) == before
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return from_order(low, np.float64)


def around(at: tuple[float, ...], dtype: type, random: np.random.Generator) -> list[Array]:
    """Arguments near to some, most of them by few steps of the last place."""
    found = []
    for x in at:
        sizes = np.exp2(random.uniform(-1, np.finfo(dtype).nmant - 12, 1 << 13)).astype(np.int64)
        steps = sizes * random.choice([-1, 1], len(sizes))
        found.append(beside(np.array([x], dtype), steps))
    return found


SPECIAL = np.array(
    [0.0, 5e-324, 2.0**-1022, 0.5, 1 - 2.0**-53, 1.0, 1 + 2.0**-52, 2.0, 3.0, 1e300, np.inf, np.nan]
)


def special_pairs(dtype: type) -> list[Array]:
    """Each special number with each."""
    info = np.finfo(dtype)
    given = [info.smallest_subnormal, info.smallest_normal, info.max, 1 - info.epsneg, 1 + info.eps]
    with np.errstate(over="ignore"):
        both = np.concatenate([SPECIAL.astype(dtype), np.array(given, dtype)])
    both = np.concatenate([both, -both])
    return [np.repeat(both, len(both)), np.tile(both, len(both))]
