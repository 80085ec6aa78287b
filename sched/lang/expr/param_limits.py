"""The numbers in the declaration of a Param: its default and its bounds."""

from __future__ import annotations

import math

import numpy as np

from ..errors.errors import LanguageError, LanguageTypeError
from ..errors.words import numeral
from ..nodes.dtypes import DType


def limit(name: str, t: DType, what: str, value: object) -> bool | int | float:
    """The default or a bound of a Param, as a Python number; refused where `t` cannot hold it."""
    number = value.item() if isinstance(value, np.generic) else value
    wanted = bool if t.is_bool else (int, float) if t.is_float else int
    if not isinstance(number, wanted) or (isinstance(number, bool) and not t.is_bool):
        raise LanguageTypeError(f"Param {name}: {what}={value!r} is not of its dtype, {t}")
    if isinstance(number, float) and math.isnan(number) and what != "default":
        raise LanguageError(
            f"Param {name}: {what}=nan compares with nothing, so no call could pass a value",
            hint=f"leave {what}= out",
        )
    if not t.is_bool and not _fits(t, number):
        hint = "the dtype is a bound by itself: leave it out, or take a wider dtype"
        raise LanguageError(
            f"Param {name}: {what}={numeral(number)} does not fit in {t}, which holds {_ends(t)}",
            hint=None if what == "default" else hint,
        )
    return number


def _fits(t: DType, number: float) -> bool:
    """Whether an integer or float type holds a number; one that is rounded to a finite value fits,
    and so do infinities and NaN."""
    if t.is_int:
        return t.min <= number <= t.max
    if isinstance(number, float) and not math.isfinite(number):
        return True
    # Half a unit above the largest value, numbers are rounded to infinity.
    return abs(number) < t.format.limit - (1 << (t.format.bias - t.format.precision))


def _ends(t: DType) -> str:
    """The smallest and the largest finite value of an integer or float type."""
    if t.is_int:
        return f"{t.min} to {t.max}"
    largest = float(t.format.limit - (1 << (t.format.bias - t.format.mantissa)))
    return f"{-largest:.8g} to {largest:.8g}"
