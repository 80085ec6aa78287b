"""Parts of vectors that are loaded and stored as full vectors, where all of these lie in memory.

Rows follow each other in a contiguous buffer: what a vector has beyond the end of a row lies in the
next one, but for the last vectors of the last rows. So a test of one index finds nearly always that
a full vector may be loaded, of which the lanes that are not meant are cleared. What these hold may
be stored to meanwhile, or never have been: nobody looks at it. In storage that no other thread
touches, a vector may be stored with what its other lanes hold already.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from ....lang.nodes import index as ix
from ....lang.nodes.dtypes import DType, int64
from ....lang.nodes.nodes import Const, Node, Size, integer
from ....records import dataclass
from ...ir import ir
from ..text.function_builder import FunctionBuilder
from ..text.values import Value, constant, memory_type_name
from .partial_vectors import Part, PartialVectors


def sizes_of_parts(
    partial: PartialVectors, nodes: Collection[Node], stores: Iterable[ir.Store]
) -> Iterator[Node]:
    """What has to be known of buffers to load and store parts of vectors in them.

    Args:
        nodes: all expressions with their operands.
    """
    accesses: list[ir.Load | ir.Store] = [n for n in nodes if isinstance(n, ir.Load)]
    accesses += stores
    for buffer in dict.fromkeys(x.buffer for x in accesses if x.guard is not None):
        if partial.are_copied(buffer.dtype) and not buffer.strided:
            yield from buffer.pitches


def room(buffer: ir.Buffer, count: int) -> Node:
    """The number of elements at which a vector of so many may begin."""
    total: Node = ix.ONE
    for extent in buffer.pitches:
        is_natural = isinstance(extent, (Const, Size))
        total = ix.mul(total, extent if is_natural else ix.maximum((extent, ix.ZERO)))
    return ix.maximum((ix.sub(total, integer(count - 1)), ix.ZERO))


@dataclass(frozen=True, slots=True)
class FullVector:
    """A vector of which a part is loaded or stored.

    Args:
        begin: the number of its first element in the buffer, that element's address, and `room` of
            the buffer.
    """

    b: FunctionBuilder
    partial: PartialVectors
    dtype: DType
    count: int
    begin: tuple[Value, str, Value]
    part: Part

    def load(self) -> str:
        """The instruction that gives a part of it, with zeros in the other lanes."""
        b, where, memory = self.b, self.begin[1], memory_type_name(self.dtype, self.count)
        copied, partial = b.name(), self.partial
        # Where all lanes are meant, all of the vector lies in memory.
        code = partial.load(self.dtype, self.count, where, self.part, is_some=True)

        def copy() -> None:
            b.emit(f"{copied} = {code}")

        lanes, (full, some) = self._either(self._cleared, copy)
        return f"phi {memory} [ {lanes}, %{full} ], [ {copied}, %{some} ]"

    def store(self, value: str) -> None:
        """Stores a part of a vector."""
        b, where = self.b, self.begin[1]
        given = value, self.dtype, self.count, where, self.part
        copy = self.partial.store(*given, is_some=True)
        self._either(lambda: self._mixed(value), lambda: b.emit(copy))

    def _either(
        self, full: Callable[[], str], some: Callable[[], None]
    ) -> tuple[str, tuple[str, str]]:
        """What is done where the full vector lies in the buffer, and where it does not; the result
        of the former, and the blocks that they are in."""
        b, (first, _, room) = self.b, self.begin
        names, after = (b.label("full"), b.label("part")), b.label("after")
        # Unsigned: nothing is there in front of the first element.
        b.branch(b.seldom(b.compare("uge", first, room)), names[1], names[0])
        b.start(names[0])
        found = full()
        b.jump(after)
        b.start(names[1])
        some()
        b.jump(after)
        b.start(after)
        return found, names

    def _cleared(self) -> str:
        """The full vector, with zeros in the lanes that are not meant."""
        kept = self._binary("and", self._loaded(self.begin[1]), self._meant())
        return self._bitcast(kept, self._bits, memory_type_name(self.dtype, self.count))

    def _mixed(self, value: str) -> str:
        """Stores the full vector, with what it holds in the lanes that are not meant."""
        memory, where = memory_type_name(self.dtype, self.count), self.begin[1]
        old, new = self._loaded(where), self._bitcast(value, memory, self._bits)
        changed = self._binary("and", self._binary("xor", old, new), self._meant())
        made = self._binary("xor", old, changed)
        self.b.emit(f"store {self._bits} {made}, ptr {where}, align {self.dtype.itemsize}")
        return made

    def _meant(self) -> str:
        """A vector whose bits are set in the lanes that are meant."""
        meant = self._loaded(self._mask(self.part.end))
        if self.part.first.number == 0:
            return meant
        # All lanes before the first one are before the end as well.
        return self._binary("xor", meant, self._loaded(self._mask(self.part.first)))

    def _mask(self, end: Value) -> str:
        """Where a vector lies whose bits are set in the lanes in front of one."""
        table = self.partial.masks(self.count * self.dtype.itemsize)
        back = self.b.binary("sub", constant(self.count, int64), end)
        return self.b.element(table, back, self.dtype)

    @property
    def _bits(self) -> str:
        return f"<{self.count} x i{8 * self.dtype.itemsize}>"

    def _loaded(self, where: str) -> str:
        return self._emitted(f"load {self._bits}, ptr {where}, align {self.dtype.itemsize}")

    def _binary(self, opcode: str, x: str, y: str) -> str:
        return self._emitted(f"{opcode} {self._bits} {x}, {y}")

    def _bitcast(self, value: str, old: str, new: str) -> str:
        return value if old == new else self._emitted(f"bitcast {old} {value} to {new}")

    def _emitted(self, code: str) -> str:
        name = self.b.name()
        self.b.emit(f"{name} = {code}")
        return name
