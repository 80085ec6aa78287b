"""The stores of one statement in all lanes of a vector; what only some lanes store is masked, and
what interleaves is stored together."""

from __future__ import annotations

from ....lang.nodes import index as ix
from ....lang.nodes.dtypes import float16, float32, int64
from ....lang.nodes.nodes import Op, integer
from ...ir import ir
from ..operators.narrow import narrowed
from ..text.shuffles import backwards, extracted, shuffled
from ..text.values import Value, constant, memory_suffix, memory_type_name
from . import masks
from .expressions import Evaluator
from .full_vectors import FullVector, room
from .interleaved_stores import interleave, interleaved
from .pair_lanes import are_in_pairs, in_order
from .partial_vectors import Part
from .vectors import Vectors


class VectorStores:
    """The stores of one statement in all lanes."""

    def __init__(self, evaluator: Evaluator, stmt: ir.Stores) -> None:
        assert stmt.lanes is not None
        self.stmt = stmt
        self.builder = evaluator.builder
        self.evaluator = evaluator
        self.vectors = Vectors(evaluator, stmt.lanes, [s.value for s in stmt.stores])
        self.count = stmt.lanes.count

    def emit(self) -> None:
        """All values, then all stores."""
        self.builder.in_pairs = are_in_pairs(self.stmt, self.builder.target)
        if not self.builder.in_pairs:  # lanes in pairs have an order of their own
            self.vectors.take_held()
            self._emit()
            self.vectors.keep_all()
            return
        try:
            self._emit()
        finally:
            self.builder.in_pairs = False

    def _emit(self) -> None:
        self.evaluator.compute()
        self.vectors.compute([s.value for s in self.stmt.stores])
        if interleave(self.vectors, self.stmt.stores):
            self._emit_interleaved()
            return
        ready = []
        for s in self.stmt.stores:
            guard = None if s.guard is None else self.vectors.value(s.guard)
            ready.append((s, self._value(s), guard, self._indices(s)))
        if all(s.stream and m is None and self._step(s) in (1, -1) for s, _, m, _ in ready):
            self.builder.stream([self._in_order(s, value) for s, value, _, _ in ready])
            return
        for s, value, guard, indices in ready:
            self._store(s, value, guard, indices)

    def _emit_interleaved(self) -> None:
        """Stores that fill consecutive elements together."""
        b, first = self.builder, self.stmt.stores[0]
        values = [self._value(s) for s in self.stmt.stores]
        at = self.vectors.at_lane(first.index[0], 0)
        for distance, part in interleaved(b, values):
            index = ix.add(at, integer(distance))
            self.evaluator.also(index)
            b.store(part, self.evaluator.address(first.buffer, (index,)))

    def _value(self, s: ir.Store) -> Value:
        """What is stored, in the order of memory."""
        value = self.vectors.value(s.value)
        is_word = self.builder.in_pairs and value.dtype == float32
        return in_order(self.builder, value) if is_word else value

    def _indices(self, s: ir.Store) -> Value | None:
        """Where all lanes store, if that has to be known of each."""
        (index,) = s.index
        step = self._step(s)
        if step is not None and (step in (1, -1) or s.guard is None):
            return None
        return self.vectors.value(index)

    def _store(self, s: ir.Store, value: Value, mask: Value | None, indices: Value | None) -> None:
        b, n = self.builder, self.count
        step = self._step(s)
        if step in (1, -1):
            value, where = self._in_order(s, value, mask is None)
            if mask is None and s.stream:
                b.stream([(value, where)])
            elif mask is None:
                self._store_whole(s, value, where)
            else:
                self._store_some(s, value, mask, where)
        elif mask is not None:
            assert indices is not None
            places = self.evaluator.place(s.buffer, indices, is_there=False)
            there = f"<{n} x ptr> align {s.buffer.dtype.itemsize} {places}"
            self._masked(value, mask, there, "scatter")
        else:
            for k in range(n):
                if indices is None:
                    where = self._address(s, k)
                else:
                    where = self.evaluator.place(s.buffer, extracted(b, indices, k))
                b.store(extracted(b, value, k), where)

    def _store_whole(self, s: ir.Store, value: Value, where: str) -> None:
        """Stores all lanes. One instruction rounds a register to float16 and stores it; were it a
        part of a larger store, it would have to be put into that."""
        b, at_once = self.builder, self._rounded_at_once(s)
        if not at_once or self.count <= at_once:
            b.store(value, where)
            return
        assert isinstance(s.value, Op)
        # Of the float32s, or LLVM would see parts of one vector, and store that.
        single = self.vectors.value(s.value.operands[0])
        for k in range(0, self.count, at_once):
            part = shuffled(b, single, single, range(k, min(k + at_once, self.count)))
            there = b.element(where, constant(k, int64), value.dtype)
            b.store(narrowed(b, part, value.dtype), there)

    def _rounded_at_once(self, s: ir.Store) -> int:
        """How many lanes of what is stored one instruction rounds to float16; 0 where none does."""
        target, node = self.builder.target, s.value
        if target is None or target.arch != "x86_64" or s.buffer.dtype != float16:
            return 0
        if not isinstance(node, Op) or node.op != "cast" or self._step(s) != 1:
            return 0
        is_varying = self.vectors.varies(node) and ir.dtype_of(node.operands[0]) == float32
        return target.lanes(float32) if is_varying else 0

    def _store_some(self, s: ir.Store, value: Value, mask: Value, where: str) -> None:
        """Stores the lanes of a mask; `value` has them in the order of memory."""
        b, n, partial = self.builder, self.count, self.evaluator.partial
        turned = self._step(s) == -1
        assert s.guard is not None
        part = self.vectors.part(s.guard) if partial.are_copied(value.dtype, n) else None
        if part is not None:
            part = part.turned(b, n) if turned else part
            self._store_part(s, self._in_memory(value), where, part)
            return
        mask = shuffled(b, mask, mask, backwards(n)) if turned else mask
        there = f"ptr align {s.buffer.dtype.itemsize} {where}"
        self._masked(value, masks.of_store(b, mask, value), there, "store")

    def _store_part(self, s: ir.Store, value: str, where: str, part: Part) -> None:
        """Stores the lanes of a part; of what nobody else touches meanwhile, the others too."""
        n, partial, dtype = self.count, self.evaluator.partial, s.buffer.dtype
        if s.buffer not in self.evaluator.own or s.buffer.strided:
            self.builder.emit(partial.store(value, dtype, n, where, part))
            return
        at = self.vectors.at_lane(s.index[0], n - 1 if self._step(s) == -1 else 0)
        begin = self.vectors.scalar(at), where, self.vectors.scalar(room(s.buffer, n))
        FullVector(self.builder, partial, dtype, n, begin, part).store(value)

    def _step(self, s: ir.Store) -> int | None:
        return self.vectors.stride(s.buffer, s.index[0])

    def _in_order(self, s: ir.Store, value: Value, is_there: bool = True) -> tuple[Value, str]:
        """A vector by the places of its elements in memory, which follow each other, and the first
        of them."""
        if self._step(s) == 1:
            return value, self._address(s, 0, is_there)
        n = self.count
        return shuffled(self.builder, value, value, backwards(n)), self._address(s, n - 1, is_there)

    def _address(self, s: ir.Store, lane: int, is_there: bool = True) -> str:
        index = self.vectors.at_lane(s.index[0], lane)
        self.evaluator.also(index)
        return self.evaluator.address(s.buffer, (index,), is_there)

    def _masked(self, value: Value, mask: Value, there: str, what: str) -> None:
        b, n = self.builder, self.count
        memory, text = memory_type_name(value.dtype, n), self._in_memory(value)
        places = "p0" if what == "store" else f"v{n}p0"
        name = f"llvm.masked.{what}.{memory_suffix(value.dtype, n)}.{places}"
        b.emit(f"call void @{name}({memory} {text}, {there}, {mask.typed})")

    def _in_memory(self, value: Value) -> str:
        """A vector as it is stored: a bool takes a byte."""
        if not value.dtype.is_bool:
            return value.text
        text = self.builder.name()
        self.builder.emit(
            f"{text} = zext {value.typed} to {memory_type_name(value.dtype, self.count)}"
        )
        return text
