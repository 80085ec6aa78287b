"""Sizes that are about the same: calls at such share a schedule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Any

FEW = 16
"""Sizes up to this count as what they are: channels decide how far apart pixels lie."""

MANY = (16, 64, 240, 1008, *(4032 << 2 * k for k in range(15)))
"""What larger sizes count as: about the powers of four, but as tiles divide them and as rows of an
array do not lie large powers of two apart."""


def class_of(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, int]:
    """The numbers that the sizes of a call count as."""
    return {name: _nearest(int(values[name])) for name in names}


def _nearest(size: int) -> int:
    if size <= FEW:
        return max(0, size)
    return min(MANY, key=lambda number: abs(log(number / size)))


def distance(a: Sequence[int], b: Sequence[int]) -> float:
    """How far two classes lie apart."""
    return sum(abs(log(max(1, x) / max(1, y))) for x, y in zip(a, b, strict=True))
