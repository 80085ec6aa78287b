"""Expressions of one statement in all lanes of a vector at once.

What is the same in all lanes is computed once. How a load is made follows from how its index moves
from lane to lane, which is found here (`vector_loads.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TypeGuard

from ....cached import cached_property
from ....lang.errors.errors import InternalError
from ....lang.nodes import index as ix
from ....lang.nodes.dtypes import bfloat16, float32, int64
from ....lang.nodes.nodes import Node, Op, integer, leaves_below, postorder, replaced_all
from ....lang.nodes.rare import needed_first
from ....poly.sets.lane_offsets import LaneOffsets
from ....poly.sets.lanes import near, stride
from ....remembered import remembered
from ...ir import ir
from ...ir.simplify import conjuncts
from ..operators import bfloat_rounding, casts, instructions, narrow
from ..text.shuffles import listed, splat
from ..text.values import Value, constant
from .expressions import Evaluator
from .lane_masks import FirstLanes, first_lanes, mask_type
from .overlapping_loads import OverlappingLoads
from .pair_lanes import evens_first
from .pair_loads import PairLoads
from .partial_vectors import Part
from .rows import runs_of
from .vector_loads import VectorLoad


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
        self._takes_held = False
        self._splats: dict[Value, Value] = {}
        self._pairs = PairLoads(self.builder)
        self._overlapping = OverlappingLoads(self)
        self._strides: dict[Node, int | None] = {}
        self._patterns: dict[Node, LaneOffsets | None] = {}
        self._masks: dict[Node, FirstLanes | None] = {}

    # expressions ------------------------------------------------------------------------------
    def varies(self, node: Node) -> bool:
        """Whether an expression differs between lanes."""
        return self.lanes.var in leaves_below(node)

    def value(self, root: Node) -> Value:
        """The value of an expression in all lanes."""
        for node in self._order(root):
            if node not in self._known:  # `_one` may have found others too
                self._known[node] = self._one(node)
        return self._known[root]

    def compute(self, roots: Sequence[Node]) -> None:
        """The values of several expressions, one operator of each in turn."""
        orders = [self._order(root) for root in roots]
        for turn in zip_longest(*orders):
            for node in turn:
                if node is not None and node not in self._known:
                    self._known[node] = self._one(node)

    def _order(self, root: Node) -> list[Node]:
        """What is not known yet of all that an expression is made of, operands first."""
        found: dict[Node, None] = {}
        waiting = [root]
        while waiting:
            node = waiting[-1]
            if node in found or self._has(node):
                waiting.pop()
                continue
            missing = [a for a in self._operands(node) if a not in found and not self._has(a)]
            if missing:
                waiting += missing
            else:
                found[waiting.pop()] = None
        return list(found)

    def _has(self, node: Node) -> bool:
        """Whether the value of an expression is known."""
        if node in self._known:
            return True
        held = self.evaluator.held.find(self.lanes, node) if self._takes_held else None
        if held is not None:
            self._known[node] = held
        return held is not None

    def take_held(self) -> None:
        """Takes over what earlier statements have found in the same lanes."""
        self._takes_held = True

    def keep_all(self) -> None:
        """Leaves what is known to later statements of the same lanes."""
        self.evaluator.held.keep(self.lanes, self._known)

    def scalar(self, node: Node) -> Value:
        """The value of an expression that is the same in all lanes."""
        (found,) = self.evaluator.also(node)
        return found

    def at_lane(self, node: Node, lane: int) -> Node:
        """An expression in one of the lanes."""
        at = ix.add(self.lanes.lo, integer(lane * self.lanes.step))
        return _replaced(node, self.lanes.var, at)

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

    def _first_lanes(self, node: Node) -> FirstLanes | None:
        """A condition as one on the number of the lane, if it is one."""
        if node not in self._masks:
            self._masks[node] = first_lanes(node, self.lanes)
        return self._masks[node]

    def part(self, guard: Node) -> Part | None:
        """Which lanes a condition holds in, where they follow each other; None where that is not
        known."""
        conditions = list(conjuncts(guard))
        same = [x for x in conditions if not self.varies(x)]
        masks = [self._first_lanes(x) for x in conditions if self.varies(x)]
        known = [mask for mask in masks if mask is not None]
        if len(known) < len(masks):
            return None
        count = integer(self.count)
        end = ix.minimum((*(mask.end for mask in known if mask.inside), count))
        if same:
            end = ix.select(ix.conjunction(same), end, ix.ZERO)
        first = ix.maximum((*(mask.end for mask in known if not mask.inside), ix.ZERO))
        if first is not ix.ZERO:
            end = ix.maximum((first, end))
        return Part(self.scalar(first), self.scalar(end))

    def _is_scattered(self, node: Node) -> TypeGuard[ir.Load]:
        if not isinstance(node, ir.Load) or node.guard is not None or node.buffer.strided:
            return False
        (index,) = node.index
        known = self.stride(node.buffer, index) is not None or self.pattern(node.buffer, index)
        return self.varies(node) and not known

    def _operands(self, node: Node) -> Sequence[Node]:
        """What has to be known in all lanes before a node is."""
        if not self.varies(node) or self._first_lanes(node) is not None:
            return ()
        if isinstance(node, ir.Load):
            (index,) = node.index
            masks = [x for x in (node.guard,) if x is not None and self.varies(x)]
            step = self.stride(node.buffer, index)
            is_vector = step is not None and (step in (0, 1, -1) or not masks)
            is_vector = is_vector or (not masks and self.pattern(node.buffer, index) is not None)
            return masks if is_vector else [*masks, index]
        return needed_first(node)

    def _one(self, node: Node) -> Value:
        if not self.varies(node):
            return self._same(node)
        mask = self._first_lanes(node)
        if mask is not None:
            dtype = mask_type(self.roots, self.count)
            return mask.value(self.builder, self.scalar(mask.end), self.count, dtype)
        match node:
            case Op(op="rarely", operands=(condition, rare, usual)):
                return self._rarely(self._known[condition], rare, self._known[usual])
            case Op(op="cast", operands=(ir.Load() as load,)) if self._is_of_pairs(node, load):
                return self._pairs.widened(load, self._known[load])
            case Op(op="cast") if self._overlapping.has(node):
                return self._overlapping.widened(node)
            case Op(op="cast", operands=(x,)) if self._is_rounded_short(node, x):
                return bfloat_rounding.rounded(self.builder, self._known[x], is_short=True)
            case Op(op="cast", operands=(x,)):
                return casts.cast_of(self.builder, node, self._known[x])
            case Op(op=op, operands=operands):
                args = [self._known[a] for a in operands]
                return instructions.apply(self.builder, op, args, ir.dtype_of(node))
            case ir.Load():
                found = VectorLoad(self, node).result
                is_word = self.builder.in_pairs and found.dtype == float32
                return evens_first(self.builder, found) if is_word else found
            case _ if node is self.lanes.var:
                first = self.splat(self.scalar(self.lanes.lo))
                steps = [k * self.lanes.step for k in range(self.count)]
                return self.builder.binary("add", first, listed(steps, int64))
        raise InternalError(f"{node!r} is unknown in this kernel")

    def _is_of_pairs(self, node: Node, load: ir.Load) -> bool:
        """Whether a cast is of consecutive bfloat16s to float32s in pairs."""
        if not self.builder.in_pairs or ir.dtype_of(node) != float32 or load.guard is not None:
            return False
        (index,) = load.index
        return load.buffer.dtype == bfloat16 and self.stride(load.buffer, index) == 1

    def _is_rounded_short(self, node: Node, x: Node) -> bool:
        """Whether a cast rounds float32s to bfloat16 whose NaNs that type has as well."""
        if ir.dtype_of(node) != bfloat16 or ir.dtype_of(x) != float32:
            return False
        return self.evaluator.payloads.holds(x)

    def _rarely(self, condition: Value, rare: Node, usual: Value) -> Value:
        """What is rare is computed where some lane wants it, and then in all of them."""
        b = self.builder
        before, inside, after = b.block, b.label("rare"), b.label("usual")
        b.branch(b.seldom(b.any(condition)), inside, after)
        b.start(inside)
        known, splats, pairs = dict(self._known), dict(self._splats), self._pairs.copy()
        with self.evaluator.branch():
            found = b.select(condition, self.value(rare), usual)
        self._known, self._splats, self._pairs = known, splats, pairs
        last = b.block
        b.jump(after)
        b.start(after)
        return b.phi(usual.dtype, [(found, last), (usual, before)])

    def _same(self, node: Node) -> Value:
        """A value that is the same in all lanes. A 16-bit float is widened in them: from memory it
        gets into all of them by one instruction."""
        if isinstance(node, Op) and node.op == "cast" and ir.dtype_of(node) == float32:
            (operand,) = node.operands
            if ir.dtype_of(operand).is_narrow:
                return narrow.splat_widened(self.builder, self.scalar(operand), self.count)
        return self.splat(self.scalar(node))

    def known(self, node: Node) -> Value:
        """A value that has been computed."""
        return self._known[node]

    def keep(self, node: Node, value: Value) -> None:
        """A value that has been computed beside another."""
        self._known[node] = value

    def splat(self, x: Value) -> Value:
        """A vector with the same value in all lanes."""
        if x.number is not None:
            return constant(x.number, x.dtype, self.count)
        if x not in self._splats:
            self._splats[x] = splat(self.builder, x, self.count)
        return self._splats[x]


@remembered
def _replaced(node: Node, var: Node, at: Node) -> Node:
    """An expression with another one in the place of a variable."""
    return replaced_all((node,), {var: at})[0]
