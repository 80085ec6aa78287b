"""How much of a tensor the loops of a nest touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LINE = 64
"""Bytes of a line of a cache."""


@dataclass(frozen=True, slots=True)
class Touch:
    """How a nest accesses a tensor.

    Attributes:
        bytes: of an element.
        elements: how many different ones there are at most.
        is_write: whether it is written.
        strides: by loop of the nest, how many elements further an iteration is; None where data
            say so.
        count: how many accesses there are that move alike, and so touch about the same lines.
        is_own: whether it is what the nest computes.
        streams: whether it is written past the caches.
    """

    bytes: int
    elements: float
    is_write: bool
    strides: tuple[float | None, ...]
    count: int = 1
    is_own: bool = False
    streams: bool = False


def footprint(t: Touch, extents: Sequence[float], begin: int) -> float:
    """Bytes of the lines that the loops from a position on touch."""
    together: dict[float, float] = {}
    unknown = 1.0
    for stride, extent in zip(t.strides[begin:], extents[begin:], strict=True):
        if stride is None:
            unknown *= extent
        elif stride:
            together[abs(stride)] = together.get(abs(stride), 1.0) + extent - 1
    run, count, gap = 1.0, 1.0, 0.0
    for stride in sorted(together):
        if stride <= run:
            run += stride * (together[stride] - 1)
        else:
            count *= together[stride]
            gap = gap or stride * t.bytes
    size = count * max(run * t.bytes, min(LINE, gap))
    if unknown > 1:
        size = unknown * max(size, LINE)
    dense = run * t.bytes >= LINE or gap < LINE
    return min(max(size, LINE), t.elements * (t.bytes if dense else LINE) + LINE)
