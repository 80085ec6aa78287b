"""Consecutive elements at an address that depends on data in each lane: one vector is loaded for
each lane, and the vectors are transposed.

A table of points that have neighbours, or components, is read so: `grid[z, 0]`, `grid[z, 1]`,
`grid[z + 1, 0]` and `grid[z + 1, 1]` are four loads a lane, or one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ....poly.sets.linear import expanded
from ...ir import ir
from ..text.function_builder import FunctionBuilder
from ..text.shuffles import shuffled
from ..text.values import Value

MOST = 8
"""Elements that are loaded at once for a lane."""

REGISTER = 512
"""Bits of the vectors that rows are put together in; the machine may split them."""


def runs_of(loads: Sequence[ir.Load]) -> dict[ir.Load, tuple[ir.Load, ...]]:
    """Each load with those whose elements follow each other in every lane, in their order: 2, 4 or
    8 of them."""
    groups: dict[object, dict[int, ir.Load]] = {}
    for load in loads:
        terms, at = expanded(load.index[0])
        groups.setdefault((load.buffer, frozenset(terms.items())), {})[at] = load
    found: dict[ir.Load, tuple[ir.Load, ...]] = {}
    for group in groups.values():
        for run in _runs(group):
            found.update((load, run) for load in run)
    return found


def _runs(group: Mapping[int, ir.Load]) -> Iterator[tuple[ir.Load, ...]]:
    """Elements without a gap, by powers of two."""
    start = 0
    places = sorted(group)
    while start < len(places):
        end = start + 1
        while end < len(places) and places[end] == places[end - 1] + 1:
            end += 1
        while end - start > 1:
            size = min(MOST, 1 << ((end - start).bit_length() - 1))
            yield tuple(group[k] for k in places[start : start + size])
            start += size
        start = end


def columns(b: FunctionBuilder, rows: Sequence[Value]) -> list[Value]:
    """The transposed rows: as many vectors as a row has elements. The number of rows is a power of
    two."""
    size = rows[0].lanes
    together = max(1, REGISTER // (size * rows[0].dtype.bits))
    parts = list(rows)
    while len(parts) > 1 and parts[0].lanes < together * size:
        parts = [_joined(b, x, y) for x, y in zip(parts[::2], parts[1::2], strict=True)]
    whole = min(2, len(parts)) * parts[0].lanes
    pairs = (
        list(zip(parts[::2], parts[1::2], strict=True)) if len(parts) > 1 else [(*parts, *parts)]
    )
    found = []
    for j in range(size):
        column = [shuffled(b, x, y, range(j, whole, size)) for x, y in pairs]
        while len(column) > 1:
            column = [_joined(b, x, y) for x, y in zip(column[::2], column[1::2], strict=True)]
        found.append(column[0])
    return found


def _joined(b: FunctionBuilder, x: Value, y: Value) -> Value:
    return shuffled(b, x, y, range(x.lanes + y.lanes))
