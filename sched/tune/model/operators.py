"""How long operators take: units of a core for each of them, and until its result can be used."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ...lang.nodes.dtypes import DType, as_dtype

SLOTS: Mapping[str, float] = {
    "add": 1, "multiply": 1, "multiply-add": 1, "select": 1, "bits": 0.7, "round": 1,
    "convert": 1.5, "divide": 10, "root": 12,
}  # fmt: skip
"""How long an operator keeps a unit that multiplies and adds vectors, in its steps."""

LATENCY: Mapping[str, float] = {
    "add": 4, "multiply": 4, "multiply-add": 4, "select": 2, "bits": 1, "round": 6,
    "convert": 5, "divide": 13, "root": 18,
}  # fmt: skip
"""Cycles until the result of an operator on floats can be used."""

INTEGER_LATENCY: Mapping[str, float] = {"multiply": 3, "multiply-add": 4, "divide": 12}
"""The same of integers, where it is more than one."""

SUM, EXTREMUM = 4.0, 7.0
"""The same of a float that is added, and of a minimum or maximum of floats."""

INTEGER_DIVISION = 20.0
"""Slots of a division of integers, of which there are no vectors."""


@cache
def parts(operation: str) -> tuple[str, DType]:
    """The class of an operation, and the type of its result."""
    kind, of = operation.rsplit(" ", 1)
    return kind, as_dtype(of)


@cache
def latency(name: str) -> float:
    """Cycles until the result of an operation can be used."""
    kind, dtype = parts(name)
    if not dtype.is_float and kind != "convert":
        return INTEGER_LATENCY.get(kind, 1.0)
    return LATENCY.get(kind, 3.0)


@cache
def slots_for(name: str, lanes: int) -> float:
    """How long an operation on vectors of so many lanes keeps a unit."""
    kind, dtype = parts(name)
    found = SLOTS.get(kind, 1.0)
    if not dtype.is_float:
        if kind == "divide":
            return INTEGER_DIVISION * (lanes * 1.5 if lanes > 1 else 1)
        if kind in ("multiply", "multiply-add") and dtype.itemsize == 8:
            return 3.0
    elif kind in ("divide", "root") and dtype.itemsize == 8:
        return found * 1.7
    return found
