"""Loads in all lanes of a vector at once.

An index that moves by 1 from lane to lane is a load of a vector; by -1, one that is turned round;
by 2 to 4, a few loads, of which the last ends where the last lane reads, and shuffles; not at all,
one element in all lanes; one that is known to be near another in each lane, as x // 2 is, the same
way. Anything else loads lane by lane, and at once what follows each other in each lane. What only
some lanes load is masked. No lane touches memory that it does not have to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....lang.nodes import index as ix
from ....lang.nodes.dtypes import bool_, int64
from ....lang.nodes.nodes import Node, integer
from ....poly.sets.lane_offsets import LaneOffsets
from ....poly.sets.lanes import span
from ....poly.sets.linear import expanded
from ....records import dataclass
from ...ir import ir
from ..text.shuffles import backwards, extracted, inserted, shuffled
from ..text.values import Value, constant, memory_suffix, memory_type_name
from . import masks
from .full_vectors import FullVector, room
from .partial_vectors import Part
from .rows import columns

ZEROS = "@zeros"
ZEROS_BYTES = 512

if TYPE_CHECKING:
    from .vectors import Vectors


def zeros_text() -> str:
    """What is loaded in the place of elements that are not there."""
    return f"{ZEROS} = internal constant [{ZEROS_BYTES} x i8] zeroinitializer, align 64"


@dataclass
class VectorLoad:
    """A load in all lanes."""

    vectors: Vectors
    load: ir.Load

    def __post_init__(self) -> None:
        self.builder = self.vectors.builder
        self.buffer, self.dtype = self.load.buffer, self.load.buffer.dtype
        (self.index,) = self.load.index
        self.count = self.vectors.count

    @property
    def result(self) -> Value:
        guard = self.load.guard
        if guard is None:
            return self._unmasked()
        if self.vectors.varies(guard):
            return self._masked(guard)
        b = self.builder
        holds = self.vectors.scalar(guard)
        if self._is_simple:
            return self._or_zeros(holds)
        before, inside, after = b.block, b.label("load"), b.label("loaded")
        b.branch(holds, inside, after)
        b.start(inside)
        with self.vectors.evaluator.branch():
            value = self._unmasked()
        last = b.block
        b.jump(after)
        b.start(after)
        zero = constant(0, self.dtype, self.count)
        return b.phi(self.dtype, [(value, last), (zero, before)])

    @property
    def _is_simple(self) -> bool:
        """Whether it is one load of memory, of which there are as many zeros elsewhere."""
        step = self.vectors.stride(self.buffer, self.index)
        count = 1 if step == 0 else self.count
        return step in (0, 1) and count * self.dtype.itemsize <= ZEROS_BYTES

    def _or_zeros(self, holds: Value) -> Value:
        """What is loaded where a condition holds; zeros are loaded else, without a branch."""
        b = self.builder
        where = b.name()
        address = self._address(0, is_there=False)
        b.emit(f"{where} = select {holds.typed}, ptr {address}, ptr {ZEROS}")
        if self.vectors.stride(self.buffer, self.index) == 0:
            return self.vectors.splat(b.load(where, self.dtype))
        return b.load(where, self.dtype, self.count)

    def _address(self, lane: int, is_there: bool = True) -> str:
        """Where a lane reads."""
        v = self.vectors
        index = v.at_lane(self.index, lane)
        v.evaluator.also(index)
        return v.evaluator.address(self.buffer, (index,), is_there)

    def _unmasked(self) -> Value:
        b, n = self.builder, self.count
        step = self.vectors.stride(self.buffer, self.index)
        if step == 0:
            return self.vectors.splat(b.load(self._address(0), self.dtype))
        if step == 1:
            return b.load(self._address(0), self.dtype, n)
        if step == -1:
            found = b.load(self._address(n - 1), self.dtype, n)
            return shuffled(b, found, found, backwards(n))
        pattern = self.vectors.pattern(self.buffer, self.index)
        if pattern is not None and n > 1:
            return self._near(pattern)
        return self._one_by_one(step)

    def _near(self, pattern: LaneOffsets) -> Value:
        """A few vectors, between the first and the last element that a lane needs, and what lanes
        need of them."""
        b, n = self.builder, self.count
        first, most = min(pattern.offsets), span(pattern)
        if most == 1:
            where = self._place(ix.add(pattern.base, integer(first)))
            return self.vectors.splat(b.load(where, self.dtype))
        size = min(n, 1 << (most.bit_length() - 1))
        starts = list(dict.fromkeys([*range(0, most + 1 - size, size), most - size]))
        found: Value | None = None
        have: set[int] = set()
        for start in starts:
            at = [k - first - start for k in pattern.offsets]
            mine = [k for k in range(n) if k not in have and 0 <= at[k] < size]
            if not mine:
                continue
            part = b.load(
                self._place(ix.add(pattern.base, integer(first + start))), self.dtype, size
            )
            if found is None:
                found = shuffled(b, part, part, [at[k] if k in mine else 0 for k in range(n)])
            else:
                if size < n:
                    part = shuffled(b, part, part, [k % size for k in range(n)])
                found = shuffled(b, found, part, [n + at[k] if k in mine else k for k in range(n)])
            have.update(mine)
        assert found is not None
        assert len(have) == n
        return found

    def _place(self, index: Node) -> str:
        """The address of an element that is the same for all lanes."""
        v = self.vectors
        v.evaluator.also(index)
        return v.evaluator.address(self.buffer, (index,))

    def _one_by_one(self, step: int | None) -> Value:
        """Lane by lane; where lanes stand is computed in all of them, if data say it."""
        b, v, n = self.builder, self.vectors, self.count
        found = Value("poison", self.dtype, n)
        indices = None if step is not None else v.value(self.index)
        if indices is not None and n & (n - 1) == 0 and self.load in v.runs:
            return self._rows(v.runs[self.load], indices)
        for k in range(n):
            if indices is None:
                address = self._address(k)
            else:
                at = extracted(b, indices, k)
                address = v.evaluator.place(self.buffer, at)
            found = inserted(b, found, b.load(address, self.dtype), k)
        return found

    def _rows(self, run: Sequence[ir.Load], indices: Value) -> Value:
        """All that follows each other, for each lane."""
        b, v, n = self.builder, self.vectors, self.count
        back = expanded(run[0].index[0])[1] - expanded(self.index)[1]
        first = b.binary("add", indices, constant(back, int64, n)) if back else indices
        places = [v.evaluator.place(self.buffer, extracted(b, first, k)) for k in range(n)]
        rows = [b.load(where, self.dtype, len(run)) for where in places]
        for load, column in zip(run, columns(b, rows), strict=True):
            v.keep(load, column)
        return v.known(self.load)

    def _masked(self, guard: Node) -> Value:
        """Loads in the lanes in which a condition holds, 0 in the others."""
        n = self.count
        step = self.vectors.stride(self.buffer, self.index)
        if step in (1, -1):
            return self._masked_in_order(guard, step < 0)
        mask = self.vectors.known(guard)
        if step == 0:
            same = self._or_zeros(self.builder.any(mask))
            return self.builder.select(mask, same, constant(0, self.dtype, n))
        indices = self.vectors.value(self.index)
        places = self.vectors.evaluator.place(self.buffer, indices, is_there=False)
        memory = memory_type_name(self.dtype, n)
        name = f"llvm.masked.gather.{memory_suffix(self.dtype, n)}.v{n}p0"
        there = f"<{n} x ptr> align {self.dtype.itemsize} {places}"
        return self._loaded(
            f"call {memory} @{name}({there}, {mask.typed}, {memory} zeroinitializer)"
        )

    def _masked_in_order(self, guard: Node, turned: bool) -> Value:
        """The same of elements that follow each other, or that do so the other way round."""
        b, n, partial = self.builder, self.count, self.vectors.evaluator.partial
        where = self._address(n - 1 if turned else 0, is_there=False)
        order = backwards(n)
        part = self.vectors.part(guard) if partial.are_copied(self.dtype, n) else None
        if part is not None:
            part = part.turned(b, n) if turned else part
            code = self._part(part, where, turned)
        else:
            mask = self.vectors.known(guard)
            lanes = shuffled(b, mask, mask, order) if turned else mask
            lanes = masks.of_load(b, lanes, self.dtype)
            memory = memory_type_name(self.dtype, n)
            name = f"llvm.masked.load.{memory_suffix(self.dtype, n)}.p0"
            there = f"ptr align {self.dtype.itemsize} {where}"
            code = f"call {memory} @{name}({there}, {lanes.typed}, {memory} zeroinitializer)"
        found = self._loaded(code)
        return shuffled(b, found, found, order) if turned else found

    def _part(self, part: Part, where: str, turned: bool) -> str:
        """The instruction that loads a part of a vector."""
        v, n, partial = self.vectors, self.count, self.vectors.evaluator.partial
        if self.buffer.strided:
            return partial.load(self.dtype, n, where, part)
        first = v.scalar(v.at_lane(self.index, n - 1 if turned else 0))
        begin = first, where, v.scalar(room(self.buffer, n))
        return FullVector(self.builder, partial, self.dtype, n, begin, part).load()

    def _loaded(self, code: str) -> Value:
        """What comes from memory, where a bool takes a byte."""
        b, n = self.builder, self.count
        if not self.dtype.is_bool:
            return b.assign(code, self.dtype, n)
        byte = b.name()
        b.emit(f"{byte} = {code}")
        memory = memory_type_name(self.dtype, n)
        return b.assign(f"icmp ne {memory} {byte}, zeroinitializer", bool_, n)
