"""Loads of bfloat16s whose lanes are in pairs (`pair_lanes.py`), beside each other.

The odd lanes of a load are the even ones of the load one element further on, and its even lanes
the odd ones of the load before it. So neighbours, as a filter reads them, are widened once.
"""

from __future__ import annotations

from ....lang.nodes.nodes import Node
from ....poly.sets.linear import expanded
from ...ir import ir
from ..operators.narrow import widened
from ..text.function_builder import FunctionBuilder
from ..text.shuffles import joined, shuffled
from ..text.values import Value

#: A buffer, and an index without its constant.
_Place = tuple[ir.Buffer, frozenset[tuple[Node, int]]]
#: By the constant, the even lanes and the odd ones.
_Known = dict[int, tuple[Value, Value]]


class PairLoads:
    """What has been widened, and from where."""

    def __init__(self, builder: FunctionBuilder) -> None:
        self.builder = builder
        self._known: dict[_Place, _Known] = {}

    def copy(self) -> PairLoads:
        """What is known now: later loads do not add to it."""
        found = PairLoads(self.builder)
        found._known = {place: dict(known) for place, known in self._known.items()}
        return found

    def widened(self, load: ir.Load, halves: Value) -> Value:
        """The numbers of a load, which are `halves`, as float32s in pairs."""
        (index,) = load.index
        terms, at = expanded(index)
        place = load.buffer, frozenset(terms.items())
        known = self._known.setdefault(place, {})
        step = load.buffer.dtype.itemsize if load.buffer.strided else 1
        found, count = widened(self.builder, halves), halves.lanes // 2
        even = shuffled(self.builder, found, found, range(count))
        odd = shuffled(self.builder, found, found, range(count, 2 * count))
        if at - step in known:
            even = known[at - step][1]
        if at + step in known:
            odd = known[at + step][0]
        known[at] = even, odd
        return joined(self.builder, [even, odd])
