"""Loads of float16s that overlap, as a filter reads them, widened once.

AVX-512 widens a register of float16s in two steps, and chooses lanes from two registers in one. So
the registers of the first load are widened, and the last register of the last one; what the other
loads need is chosen from these, the end of one register and the beginning of the next.

    x[0:32], x[1:33], x[2:34]      widened   x[0:16], x[16:32], x[18:34]
                                   chosen    x[1:17], x[17:33], x[2:18]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....cached import cached_property
from ....lang.nodes.dtypes import float16, float32
from ....lang.nodes.nodes import Node, Op, postorder
from ....poly.sets.linear import expanded
from ...ir import ir
from ..operators.bfloat_avx512 import fills_registers
from ..operators.narrow import widened
from ..text.shuffles import joined, shuffled
from ..text.values import Value

if TYPE_CHECKING:
    from .vectors import Vectors

LANES = 16
"""float32s in a register of AVX-512."""

_Place = tuple[ir.Buffer, frozenset[tuple[Node, int]]]
"""A buffer, and an index without its constant."""


class OverlappingLoads:
    """The loads of one statement that are widened together."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors
        #: What has been widened: registers of the first load, and one of the last one.
        self._made: dict[_Place, list[Value]] = {}

    def has(self, cast: Node) -> bool:
        """Whether a cast is of a load that others overlap."""
        return isinstance(cast, Op) and self._fits(cast) and _place(cast)[0] in self._loads

    def widened(self, cast: Op) -> Value:
        """The numbers of one of the loads."""
        place, begin = _place(cast)
        loads, count = self._loads[place], self.vectors.count
        first, last = min(loads), max(loads)
        if place not in self._made:
            self._made[place] = self._registers(loads[first], loads[last])
        made = self._made[place]
        starts = [*range(first, first + count, LANES), last + count - LANES]
        each = range(begin, begin + count, LANES)
        return joined(self.vectors.builder, [self._chosen(k, starts, made) for k in each])

    @cached_property
    def _loads(self) -> dict[_Place, dict[int, Node]]:
        """The loads by where they are, and by the constants of their indices."""
        v, found = self.vectors, dict[_Place, dict[int, Node]]()
        if not fills_registers(v.builder.target, v.count):
            return found
        nodes = list(postorder(*v.roots))
        if any(isinstance(n, Op) and n.op == "rarely" for n in nodes):
            return found  # what is rare may be loaded there only
        for n in nodes:
            if isinstance(n, Op) and self._fits(n):
                place, begin = _place(n)
                found.setdefault(place, {})[begin] = n.operands[0]
        return {place: loads for place, loads in found.items() if _gains(list(loads), v.count)}

    def _fits(self, node: Op) -> bool:
        """Whether an operator makes float32s of consecutive float16s."""
        if node.op != "cast" or node.type != float32 or not self.vectors.varies(node):
            return False
        (load,) = node.operands
        if not isinstance(load, ir.Load) or load.guard is not None or load.buffer.strided:
            return False
        return load.buffer.dtype == float16 and self.vectors.stride(load.buffer, load.index[0]) == 1

    def _registers(self, first: Node, last: Node) -> list[Value]:
        b, count = self.vectors.builder, self.vectors.count
        begin, end = self.vectors.value(first), self.vectors.value(last)
        halves = [shuffled(b, begin, begin, range(k, k + LANES)) for k in range(0, count, LANES)]
        halves.append(shuffled(b, end, end, range(count - LANES, count)))
        return [widened(b, x) for x in halves]

    def _chosen(self, begin: int, starts: Sequence[int], made: Sequence[Value]) -> Value:
        """A register of numbers from one that begins there or before, and from the next one."""
        if begin in starts:
            return made[starts.index(begin)]
        k = sum(start < begin for start in starts[:-1]) - 1
        low, high = starts[k], starts[k + 1]
        at = range(begin, begin + LANES)
        order = [x - low if x < low + LANES else LANES + x - high for x in at]
        return shuffled(self.vectors.builder, made[k], made[k + 1], order)


def _place(cast: Op) -> tuple[_Place, int]:
    """Where a cast loads: all of it but a constant, and that."""
    (load,) = cast.operands
    assert isinstance(load, ir.Load)
    terms, begin = expanded(load.index[0])
    return (load.buffer, frozenset(terms.items())), begin


def _gains(begins: Sequence[int], count: int) -> bool:
    """Whether to choose takes fewer steps than to widen each load."""
    registers, loads = count // LANES, len(begins)
    if max(begins) - min(begins) >= LANES:
        return False
    chosen = (loads - 2) * registers + registers - 1
    return loads > 1 and 2 * (registers + 1) + chosen < 2 * loads * registers
