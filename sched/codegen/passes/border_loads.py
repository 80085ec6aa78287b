"""Loads of a vector at the border of an axis: what lies inside of it in one, masked.

A[min(v + 1, n - 1)]   ->   select(v + 1 > n - 1, A[n - 1], A[v + 1] where v + 1 <= n - 1)
A[(v + 1) % n]         ->   select(v + 1 >= n, A[v + 1 - n] where v + 1 >= n, A[v + 1] where ...)

A load is 0 where its guard does not hold, and touches no memory there. What all lanes beyond a
bound read is one element, which is loaded once for all of them, if there is such a lane.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from ...lang.nodes import index as ix
from ...lang.nodes.guards import conjunction
from ...lang.nodes.nodes import Node, Op, Var, integer, leaves_below, postorder, replaced_all
from ...poly.sets.borders import NEGATED
from ...poly.sets.lane_offsets import LaneOffsets
from ...poly.sets.lanes import CHOSEN, goes_round, moving, stride
from ...records import replace
from ..ir.ir import For, If, Lanes, Load, Module, Stmt, Stores, dtype_of, expressions
from ..ir.rewrite import map_module, map_tree_expressions, map_tree_replaced
from .flatten_indices import offset


def border_loads(module: Module) -> Module:
    """Each vector statement with indices that are bounded, or go round."""
    numbers = count(1)

    def rule(stmt: Stmt) -> Stmt:
        if not isinstance(stmt, Stores) or stmt.lanes is None or stmt.lanes.count == 1:
            return stmt
        together = loaded_together(stmt, stmt.lanes)
        if together is None:
            return stmt
        made, needed = together
        if needed is None:
            return made
        return If(needed, made, _in_order(stmt, stmt.lanes, next(numbers)), choice=True)

    return map_module(module, rule)


CHOICES = ("min", "max", "mod", "select")
"""Operators that give one of several indices, each of which may be that of a full vector."""


class _ByData(Exception):
    """A load that takes its lanes from all over memory."""


def loaded_together(stmt: Stores, lanes: Lanes) -> tuple[Stores, Node | None] | None:
    """A statement whose loads at borders are of full vectors, and what must hold for that; None
    where some of them would be lane by lane, or there are none."""
    if any(
        lanes.var in leaves_below(i) and _choices(s.index, lanes)
        for s in stmt.stores
        for i in s.index
    ):
        return None
    loads = (n for n in postorder(*expressions(stmt)) if isinstance(n, Load))
    if not any(_choices(load.index, lanes) for load in loads):
        return None
    borders = _Borders(lanes)
    try:
        made = map_tree_expressions(stmt, borders.of)
    except _ByData:
        return None
    assert isinstance(made, Stores)
    return made, ix.conjunction(borders.needed)


class _Borders:
    """Loads of a vector statement, taken apart.

    Attributes:
        needed: comparisons that are the same for all lanes: no index goes round twice.
    """

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.needed: list[Node] = []

    def of(self, node: Node) -> Node:
        """An expression, whose operands are taken apart already."""
        return self._load(node) if isinstance(node, Load) else node

    def _load(self, load: Load) -> Node:
        var = self.lanes.var
        if var not in leaves_below(*load.index):
            return load
        choices = _choices(load.index, self.lanes)
        if choices:
            return self._apart(load, choices[-1])
        if load.buffer.strided or abs(self._step(offset(load.buffer, load.index))) > 1:
            raise _ByData
        return load

    def _apart(self, load: Load, choice: Op) -> Node:
        if choice.op == "select":
            return self._either(load, choice)
        a, b = choice.operands
        if choice.op == "mod":
            return self._round(load, choice, a, b)
        found = moving(choice.op, a, b, self.lanes.var)
        other = b if found is a else a
        if found is None or self.lanes.var in leaves_below(other):
            raise _ByData
        op = CHOSEN[choice.op]
        inside = self._load(_at(load, choice, found, ix.compare(op, found, other)))
        beyond = _at(load, choice, other)
        if self.lanes.var in leaves_below(*beyond.index):
            raise _ByData
        is_beyond = ix.compare(NEGATED[op], found, other)
        # It is there if some lane is beyond, or if none is, in which case nobody looks at it.
        far = ix.sub(found, other) if choice.op == "min" else ix.sub(other, found)
        farthest = ix.maximum([self._in_lane(far, 0), self._in_lane(far, self.lanes.count - 1)])
        room = ix.minimum([ix.sub(farthest, ix.ONE), *_room(beyond)])
        exists = _uniform(load, self.lanes, ix.compare("ge", room, ix.ZERO))
        there = Load(load.buffer, beyond.index, exists, load.type)
        return _chosen(conjunction(load.guard, is_beyond), there, inside)

    def _either(self, load: Load, choice: Op) -> Node:
        """Lanes of an index that goes round by a condition on it."""
        condition, a, b = choice.operands
        if not isinstance(condition, Op) or condition.op not in NEGATED:
            raise _ByData
        if not all(self.lanes.var in leaves_below(x) for x in (condition, a, b)):
            raise _ByData
        fails = ix.compare(NEGATED[condition.op], *condition.operands)
        made = self._load(_at(load, choice, a, condition))
        other = self._load(_at(load, choice, b, fails))
        return _chosen(conjunction(load.guard, fails), other, made)

    def _round(self, load: Load, choice: Op, at: Node, period: Node) -> Node:
        """Lanes of an index that goes round: before the beginning, inside, and behind the end."""
        steps = tuple(k * self.lanes.step for k in range(self.lanes.count))
        offsets = LaneOffsets(self.lanes.lo, steps)
        if not goes_round(choice, self.lanes.var, offsets) or abs(self._step(at)) != 1:
            raise _ByData
        for lane in (0, self.lanes.count - 1):
            place = self._in_lane(at, lane)
            self.needed.append(ix.compare("ge", ix.add(place, period), ix.ZERO))
            self.needed.append(ix.compare("lt", ix.sub(place, period), period))
        before, behind = ix.compare("lt", at, ix.ZERO), ix.compare("ge", at, period)
        within = conjunction(ix.compare("ge", at, ix.ZERO), ix.compare("lt", at, period))
        made = self._load(_at(load, choice, at, within))
        for moved, where in ((ix.add(at, period), before), (ix.sub(at, period), behind)):
            part = self._load(_at(load, choice, moved, where))
            made = _chosen(conjunction(load.guard, where), part, made)
        return made

    def _step(self, index: Node) -> int:
        found = stride(index, self.lanes.var, self.lanes.step)
        if found is None:
            raise _ByData
        return found

    def _in_lane(self, node: Node, lane: int) -> Node:
        at = ix.add(self.lanes.lo, integer(lane * self.lanes.step))
        return replaced_all((node,), {self.lanes.var: at})[0]


def _choices(index: Iterable[Node], lanes: Lanes) -> list[Op]:
    """What an index is of several, the outermost one last."""
    nodes = (x for x in postorder(*index) if isinstance(x, Op) and x.op in CHOICES)
    return [x for x in nodes if lanes.var in leaves_below(x)]


def _at(load: Load, choice: Op, chosen: Node, guard: Node | None = None) -> Load:
    """A load where one operand is chosen."""
    index = replaced_all(load.index, {choice: chosen})
    return Load(load.buffer, tuple(index), conjunction(load.guard, guard), load.type)


def _uniform(load: Load, lanes: Lanes, condition: Node) -> Node:
    """A condition, and those parts of a guard that all lanes have in common."""
    guard = load.guard
    waiting, common = [] if guard is None else [guard], [condition]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Op) and node.op == "and":
            waiting += node.operands
        elif lanes.var not in leaves_below(node):
            common.append(node)
    found = ix.conjunction(common)
    assert found is not None
    return found


def _room(load: Load) -> list[Node]:
    """Numbers that are not negative where an element exists."""
    found = []
    axes = zip(load.index, load.buffer.origin, load.buffer.extents, strict=True)
    for axis, (x, origin, extent) in enumerate(axes):
        fold = load.buffer.fold
        if fold is None or fold.axis != axis:
            inside = ix.sub(x, origin)
            found += [inside, ix.sub(ix.sub(extent, ix.ONE), inside)]
    return found


def _chosen(condition: Node | None, a: Node, b: Node) -> Node:
    return b if condition is None else Op("select", (condition, a, b), dtype_of(b))


def _in_order(stmt: Stores, lanes: Lanes, number: int) -> Stmt:
    """A statement lane by lane, if lanes are independent, in a loop of a name of its own."""
    if not is_independent(stmt):
        return stmt
    return one_by_one(stmt, lanes, Var(f"{lanes.var.name}.round{number}"))


def is_independent(stmt: Stores) -> bool:
    """Whether lanes may run one after the other: none loads what another one stores."""
    stored = {s.buffer: s.index for s in stmt.stores}
    loads = (n for n in postorder(*expressions(stmt)) if isinstance(n, Load))
    return all(n.buffer not in stored or n.index == stored[n.buffer] for n in loads)


def one_by_one(stmt: Stores, lanes: Lanes, var: Var) -> Stmt:
    """A statement lane by lane, as a loop with a variable of its own."""
    end = ix.add(lanes.lo, integer(lanes.count * lanes.step))
    body = map_tree_replaced(replace(stmt, lanes=None), {lanes.var: var})
    return For(var, lanes.lo, end, lanes.step, "serial", body, lanes.var.name)
