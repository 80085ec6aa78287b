"""Vectors whose elements interleave in memory: they are transposed, and stored as full vectors.

Two or three vectors are one shuffle, for which LLVM has good code. As many as a power of two are
interleaved in pairs. Others are taken apart into powers of two, whose elements are stored together
for each lane: six vectors are four and two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....poly.sets.linear import expanded
from ...ir import ir
from ..text.function_builder import FunctionBuilder
from ..text.shuffles import extracted, shuffled
from ..text.values import Value
from .vectors import Vectors

Part = tuple[int, Value]
"""A vector, and how many elements behind the first one it is stored."""


def interleave(vectors: Vectors, stores: Sequence[ir.Store]) -> bool:
    """Whether stores of several vectors, in this order, fill consecutive elements together. The
    number of lanes is to be a power of two."""
    first, count = stores[0], len(stores)
    if count < 2 or first.buffer.strided or vectors.count & (vectors.count - 1):
        return False
    terms, start = expanded(first.index[0])
    return vectors.stride(first.buffer, first.index[0]) == count and all(
        s.buffer is first.buffer
        and s.guard is None
        and not s.stream
        and expanded(s.index[0]) == (terms, start + k)
        for k, s in enumerate(stores)
    )


def interleaved(b: FunctionBuilder, values: Sequence[Value]) -> Iterator[Part]:
    """Element 0 of all values, then element 1 of all, and so on."""
    count, lanes = len(values), values[0].lanes
    if count <= 3:
        yield from _at_once(b, values)
    elif count & (count - 1) == 0 and count <= lanes:
        yield from ((k * lanes, part) for k, part in enumerate(_network(b, values)))
    else:
        first = 0
        while first < count:
            size = min(1 << ((count - first).bit_length() - 1), 1 << (lanes.bit_length() - 1))
            for lane, row in enumerate(_rows(b, values[first : first + size])):
                yield lane * count + first, row
            first += size


def _at_once(b: FunctionBuilder, values: Sequence[Value]) -> Iterator[Part]:
    """One shuffle of all elements, and one store."""
    count, lanes = len(values), values[0].lanes
    whole = _joined(b, values[0], values[1])
    if count == 3:
        whole = _joined(b, whole, _joined(b, values[2], values[2]))
    order = [k * lanes + lane for lane in range(lanes) for k in range(count)]
    yield 0, shuffled(b, whole, whole, order)


def _network(b: FunctionBuilder, values: Sequence[Value]) -> list[Value]:
    """The elements of a power of two of vectors in their order in memory: the even and the odd
    ones are interleaved each, and then with each other."""
    if len(values) == 1:
        return list(values)
    lanes = values[0].lanes
    found = []
    for x, y in zip(_network(b, values[::2]), _network(b, values[1::2]), strict=True):
        for half in (range(lanes // 2), range(lanes // 2, lanes)):
            found.append(shuffled(b, x, y, [at for k in half for at in (k, lanes + k)]))
    return found


def _rows(b: FunctionBuilder, values: Sequence[Value]) -> Iterator[Value]:
    """The elements of each lane, in as many vectors as there are lanes."""
    size, lanes = len(values), values[0].lanes
    for part in _network(b, values):
        for first in range(0, lanes, size):
            row = range(first, first + size)
            yield extracted(b, part, first) if size == 1 else shuffled(b, part, part, row)


def _joined(b: FunctionBuilder, x: Value, y: Value) -> Value:
    return shuffled(b, x, y, range(x.lanes + y.lanes))
