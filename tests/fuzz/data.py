"""Adversarial data for the arguments of a program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_FLOATS = (
    0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-40, -1e-40, 1e-310, 3e38, -3e38, 2.0**31, -(2.0**63),
    2.0**24 + 1, 2.0**64, 1e300, np.inf, -np.inf, np.nan,
)  # fmt: skip
_MOODS = ("tame", "small", "wild", "extreme", "constant")


def evaluate(text: str, sizes: Mapping[str, int]) -> int:
    """An extent or a bound at given sizes."""
    return int(eval(text, {}, dict(sizes)))


def values(
    rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...],
    limits: tuple[int, int] | None = None,
) -> Array:  # fmt: skip
    """Any values of a type; with limits, integers within `lo <= value < hi`."""
    if limits is not None:
        return _within(rng, dtype, shape, *limits)
    mood = rng.choice(_MOODS, p=(0.3, 0.2, 0.2, 0.2, 0.1))
    if mood == "constant":
        shape, whole = (), shape
        return np.broadcast_to(_values(rng, dtype, "extreme", shape), whole)
    return _values(rng, dtype, str(mood), shape)


def _within(
    rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...], lo: int, hi: int
) -> Array:
    """Integers in the limits; where there is none, 0."""
    info = np.iinfo(dtype)
    lo, hi = max(lo, int(info.min)), min(hi, int(info.max) + 1)
    return rng.integers(lo, max(hi, lo + 1), shape).astype(dtype)


def _values(rng: np.random.Generator, dtype: np.dtype[Any], mood: str, shape: Any) -> Array:
    match dtype.kind:
        case "b":
            return np.asarray(rng.integers(0, 2, shape)).astype(dtype)
        case "f" | "V":  # bfloat16 is of no kind
            return _floats(rng, dtype, mood, shape)
        case _:
            return _integers(rng, dtype, mood, shape)


def _floats(rng: np.random.Generator, dtype: np.dtype[Any], mood: str, shape: Any) -> Array:
    if mood == "small":
        return np.asarray(rng.integers(-3, 4, shape)).astype(dtype)
    ordinary = np.asarray(rng.standard_normal(shape) * rng.choice([1.0, 1.0, 100.0]))
    if mood == "tame":
        return ordinary.astype(dtype)
    if mood == "wild":
        bits = rng.integers(0, 256, (*np.shape(ordinary), dtype.itemsize), np.uint8)
        return bits.view(dtype)[..., 0]
    special = rng.choice(np.array(_FLOATS), shape)
    with np.errstate(over="ignore"):
        return np.where(rng.random(shape) < 0.6, special, ordinary).astype(dtype)


def _integers(rng: np.random.Generator, dtype: np.dtype[Any], mood: str, shape: Any) -> Array:
    info = np.iinfo(dtype)
    if mood in ("tame", "small"):
        lo = max(-4, int(info.min))
        return np.asarray(rng.integers(lo, 5, shape)).astype(dtype)
    anything = np.asarray(rng.integers(info.min, info.max, shape, dtype, endpoint=True))
    if mood == "wild":
        return anything
    extremes = [info.min, info.max, 0, 1, 2, info.max // 2, info.max - 1, max(info.min, -1)]
    special = rng.choice(np.array([int(x) for x in extremes], dtype), shape)
    return np.where(rng.random(shape) < 0.7, special, anything).astype(dtype)


def scalar(rng: np.random.Generator, dtype: np.dtype[Any], lo: int | None, hi: int | None) -> Any:
    """The value of a Param, within its bounds."""
    if lo is not None and hi is not None:
        return int(rng.integers(lo, hi + 1))
    return _values(rng, dtype, str(rng.choice(_MOODS[:4])), ())[()].item()
