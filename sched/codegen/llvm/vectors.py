"""Statements of all lanes of a vector at once.

An index that moves by 1 from lane to lane is a load of a vector; by -1, one that is turned round;
by 2 to 4, a few loads, of which the last ends where the last lane reads, and shuffles; not at all,
one element in all lanes; one that is known to be near another in each lane, as x // 2 is, the same
way. Anything else loads lane by lane, and at once what follows each other in each lane. What only
some lanes load or store is masked. No lane touches memory that it does not have to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from ...cached import cached_property
from ...lang.errors.errors import InternalError
from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import bool_, int64
from ...lang.nodes.nodes import Node, Op, integer, postorder, replaced_all
from ...poly.sets.lanes import near, span, stride
from ...poly.sets.linear import LaneOffsets, expanded
from ..ir import ir
from . import instructions
from .expressions import Evaluator
from .masks import hidden
from .rows import columns, runs_of
from .shuffles import backwards, extracted, inserted, listed, shuffled, splat
from .values import Value, constant, memory_suffix, memory_type_name


class Vectors:
    """Computes the expressions of one statement in all lanes, at the builder's current place."""

    def __init__(self, evaluator: Evaluator, lanes: ir.Lanes, roots: Sequence[Node] = ()) -> None:
        """
        Args:
            roots: all that will be asked, as far as it is known before.
        """
        self.evaluator = evaluator
        self.builder = evaluator.builder
        self.roots = roots
        self.lanes = lanes
        self.count = lanes.count
        self._known: dict[Node, Value] = {}
        self._splats: dict[Value, Value] = {}
        self._varying: dict[Node, bool] = {}
        self._strides: dict[Node, int | None] = {}
        self._patterns: dict[Node, LaneOffsets | None] = {}

    # expressions ------------------------------------------------------------------------------
    def varies(self, node: Node) -> bool:
        """Whether an expression differs between lanes."""
        if node not in self._varying:
            for n in postorder(node):
                if n not in self._varying:
                    below = any(self._varying[a] for a in n.args)
                    self._varying[n] = n is self.lanes.var or below
        return self._varying[node]

    def value(self, root: Node) -> Value:
        """The value of an expression in all lanes."""
        waiting = [root]
        while waiting:
            node = waiting[-1]
            if node in self._known:
                waiting.pop()
                continue
            missing = [a for a in self._operands(node) if a not in self._known]
            if missing:
                waiting += missing
            else:
                self._known[waiting.pop()] = self._one(node)
        return self._known[root]

    def scalar(self, node: Node) -> Value:
        """The value of an expression that is the same in all lanes."""
        (found,) = self.evaluator.also(node)
        return found

    def at_lane(self, node: Node, lane: int) -> Node:
        """An expression in one of the lanes."""
        at = ix.add(self.lanes.lo, integer(lane * self.lanes.step))
        return replaced_all((node,), {self.lanes.var: at})[0]

    def stride(self, buffer: ir.Buffer, index: Node) -> int | None:
        """By how many elements an index moves from lane to lane, if that is known."""
        if index not in self._strides:
            self._strides[index] = stride(index, self.lanes.var, self.lanes.step)
        step = self._strides[index]
        if step is None or not buffer.strided:
            return step
        elements, rest = divmod(step, buffer.dtype.itemsize)
        return None if rest else elements

    def pattern(self, buffer: ir.Buffer, index: Node) -> LaneOffsets | None:
        """Where lanes load that are near each other, if that is known."""
        if index not in self._patterns:
            steps = tuple(k * self.lanes.step for k in range(self.count))
            found = near(index, self.lanes.var, LaneOffsets(self.lanes.lo, steps))
            self._patterns[index] = None if buffer.strided else found
        return self._patterns[index]

    @cached_property
    def runs(self) -> dict[ir.Load, tuple[ir.Load, ...]]:
        """Loads of elements that follow each other, where data say which."""
        return runs_of([n for n in postorder(*self.roots) if self._is_scattered(n)])

    def _is_scattered(self, node: Node) -> TypeGuard[ir.Load]:
        if not isinstance(node, ir.Load) or node.guard is not None or node.buffer.strided:
            return False
        (index,) = node.index
        known = self.stride(node.buffer, index) is not None or self.pattern(node.buffer, index)
        return self.varies(node) and not known

    def _operands(self, node: Node) -> Sequence[Node]:
        """What has to be known in all lanes before a node is."""
        if not self.varies(node):
            return ()
        if isinstance(node, ir.Load):
            (index,) = node.index
            masks = [x for x in (node.guard,) if x is not None and self.varies(x)]
            step = self.stride(node.buffer, index)
            is_vector = step is not None and (step in (0, 1, -1) or not masks)
            is_vector = is_vector or (not masks and self.pattern(node.buffer, index) is not None)
            return masks if is_vector else [*masks, index]
        return node.args

    def _one(self, node: Node) -> Value:
        if not self.varies(node):
            return self.splat(self.scalar(node))
        match node:
            case Op(op=op, operands=operands):
                args = [self._known[a] for a in operands]
                return instructions.apply(self.builder, op, args, ir.dtype_of(node))
            case ir.Load():
                return _Loads(self, node).result
            case _ if node is self.lanes.var:
                first = self.splat(self.scalar(self.lanes.lo))
                steps = [k * self.lanes.step for k in range(self.count)]
                return self.builder.binary("add", first, listed(steps, int64))
        raise InternalError(f"{node!r} is unknown in this kernel")

    def known(self, node: Node) -> Value:
        """A value that has been computed."""
        return self._known[node]

    def keep(self, node: Node, value: Value) -> None:
        """A value that has been computed beside another."""
        self._known[node] = value

    def splat(self, x: Value) -> Value:
        """The same value in all lanes."""
        if x.number is not None:
            return constant(x.number, x.dtype, self.count)
        if x not in self._splats:
            self._splats[x] = splat(self.builder, x, self.count)
        return self._splats[x]


@dataclass
class _Loads:
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
            return self._masked(self.vectors.known(guard))
        b = self.builder
        holds = self.vectors.scalar(guard)
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

    def _masked(self, mask: Value) -> Value:
        """Loads in some lanes, 0 in the others."""
        b, n = self.builder, self.count
        step = self.vectors.stride(self.buffer, self.index)
        if step in (1, -1):
            turned = step < 0
            order = backwards(n)
            where = self._address(n - 1 if turned else 0, is_there=False)
            lanes = shuffled(b, mask, mask, order) if turned else mask
            memory = memory_type_name(self.dtype, n)
            name = f"llvm.masked.load.{memory_suffix(self.dtype, n)}.p0"
            there = f"ptr align {self.dtype.itemsize} {where}"
            found = self._loaded(
                f"call {memory} @{name}({there}, {lanes.typed}, {memory} zeroinitializer)"
            )
            return shuffled(b, found, found, order) if turned else found
        if step == 0:
            indices = self.vectors.splat(self.vectors.scalar(self.vectors.at_lane(self.index, 0)))
        else:
            indices = self.vectors.value(self.index)
        places = self.vectors.evaluator.place(self.buffer, indices, is_there=False)
        memory = memory_type_name(self.dtype, n)
        name = f"llvm.masked.gather.{memory_suffix(self.dtype, n)}.v{n}p0"
        there = f"<{n} x ptr> align {self.dtype.itemsize} {places}"
        return self._loaded(
            f"call {memory} @{name}({there}, {mask.typed}, {memory} zeroinitializer)"
        )

    def _loaded(self, code: str) -> Value:
        """What comes from memory, where a bool takes a byte."""
        b, n = self.builder, self.count
        if not self.dtype.is_bool:
            return b.assign(code, self.dtype, n)
        byte = b.name()
        b.emit(f"{byte} = {code}")
        memory = memory_type_name(self.dtype, n)
        return b.assign(f"icmp ne {memory} {byte}, zeroinitializer", bool_, n)


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
        self.evaluator.compute()
        ready = []
        for s in self.stmt.stores:
            guard = None if s.guard is None else self.vectors.value(s.guard)
            ready.append((s, self.vectors.value(s.value), guard, self._indices(s)))
        for s, value, guard, indices in ready:
            self._store(s, value, guard, indices)

    def _indices(self, s: ir.Store) -> Value | None:
        """Where all lanes store, if that has to be known of each."""
        (index,) = s.index
        step = self.vectors.stride(s.buffer, index)
        if step is not None and (step in (1, -1) or s.guard is None):
            return None
        return self.vectors.value(index)

    def _store(self, s: ir.Store, value: Value, mask: Value | None, indices: Value | None) -> None:
        b, n = self.builder, self.count
        (index,) = s.index
        step = self.vectors.stride(s.buffer, index)
        if step in (1, -1):
            if step < 0:
                value = shuffled(b, value, value, backwards(n))
                mask = None if mask is None else shuffled(b, mask, mask, backwards(n))
            where = self._address(s, n - 1 if step < 0 else 0, mask is None)
            if mask is None:
                b.store(value, where, s.stream)
            else:
                there = f"ptr align {s.buffer.dtype.itemsize} {where}"
                self._masked(value, hidden(b, mask, value), there, "store")
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

    def _address(self, s: ir.Store, lane: int, is_there: bool = True) -> str:
        index = self.vectors.at_lane(s.index[0], lane)
        self.evaluator.also(index)
        return self.evaluator.address(s.buffer, (index,), is_there)

    def _masked(self, value: Value, mask: Value, there: str, what: str) -> None:
        b, n = self.builder, self.count
        memory, text = memory_type_name(value.dtype, n), value.text
        if value.dtype.is_bool:
            text = b.name()
            b.emit(f"{text} = zext {value.typed} to {memory}")
        places = "p0" if what == "store" else f"v{n}p0"
        name = f"llvm.masked.{what}.{memory_suffix(value.dtype, n)}.{places}"
        b.emit(f"call void @{name}({memory} {text}, {there}, {mask.typed})")
