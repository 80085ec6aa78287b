"""Element types as strings: NumPy's names, and "weak int", "weak float", "index" beside them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

NARROW = ("float16", "bfloat16")
"""Float types whose operators are float32's, rounded."""
WEAK = ("weak float", "index", "weak int")  # the first one that occurs is the common one


_COMPUTED_IN = {"weak float": "float64", "index": "int64", "weak int": "int64"}


def concrete(t: str) -> str:
    """The type in which values of type `t` are computed."""
    return _COMPUTED_IN.get(t, t)


@cache  # this and the next three are asked for each value
def numpy_type(t: str) -> np.dtype[Any]:
    """The type of arrays."""
    return np.dtype(ml_dtypes.bfloat16) if t == "bfloat16" else np.dtype(concrete(t))


@cache
def kind(t: str) -> str:
    """NumPy's letter: b, i, u or f."""
    return "f" if t == "bfloat16" else numpy_type(t).kind


@cache
def bits(t: str) -> int:
    return 8 * numpy_type(t).itemsize


@cache
def limits(t: str) -> tuple[int, int]:
    """The smallest and the largest integer of a type."""
    info = np.iinfo(concrete(t))
    return int(info.min), int(info.max)


def join(types: Iterable[str | None]) -> str | None:
    """The common type of operands; None is not known yet and says nothing."""
    found = {t for t in types if t is not None}
    if "bfloat16" in found:
        others = found - {"bfloat16"}
        if all(t in WEAK or bits(t) == 8 for t in others):
            return "bfloat16"
        return join((*others, "float32"))
    strong = [t for t in found if t not in WEAK]
    weak = next((t for t in WEAK if t in found), None)
    if weak is None or not strong:
        return weak if not strong else np.result_type(*strong).name
    common = np.result_type(*strong)
    match weak, common.kind:
        case _, "f":
            return str(common.name)
        case "weak float", _:
            return "float64"
        case "index", _:
            return str(np.result_type(np.int64, *strong).name)
        case _, "b":
            return "int64"
    return str(common.name)


def float_of(t: str) -> str:
    """The type in which a function such as sqrt is computed."""
    if t in WEAK:
        return "weak float"
    if kind(t) == "f":
        return t
    return {8: "float16", 16: "float32"}.get(bits(t), "float64")
