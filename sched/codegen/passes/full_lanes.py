"""Lanes that are all there, and nowhere at a border, run without masks.

lanes v in [x, x + 8):               if x + 7 < n:
  A[v] = B[min(v + 1, n)] if v < n     lanes v in [x, x + 8): A[v] = B[v + 1]
                                     else: as before

if x + 8 <= n, too. What compares two functions of the lane whose difference only
rises, or only falls, holds in all lanes if it holds in the last one, or the first; a minimum is the
same operand in all lanes if it is that in this one.
"""

from __future__ import annotations

from dataclasses import replace

from ...lang import index as ix
from ...lang.nodes import Node, Op, integer, postorder, replaced_all
from ..inequalities import is_small, strongest
from ..ir import For, If, Lanes, Load, Module, Stmt, Stores, dtype_of, expressions
from ..linear import coefficient, direction
from ..rewrite import map_module
from ..simplify import TRUE, assuming, folded

_COMPARED = {"lt": -1, "le": -1, "gt": 1, "ge": 1}
"""By operator, in which direction its first operand makes it fail less: below 0, the smaller."""
_CHOSEN = {"min": "le", "max": "ge"}


def full_lanes(module: Module) -> Module:
    """Each vector statement with borders twice: without them, and as it is."""

    def rule(stmt: Stmt) -> Stmt:
        if not isinstance(stmt, Stores) or stmt.lanes is None or stmt.lanes.count == 1:
            return stmt
        known = _Known(stmt, stmt.lanes)
        if not known.tests:
            return stmt
        test = ix.conjunction(strongest(known.tests))
        if test is None:
            return assuming(stmt, known.values)
        slow = _one_by_one(stmt, stmt.lanes) if known.chosen and _is_apart(stmt) else stmt
        return If(test, assuming(stmt, known.values), slow, choice=True)

    return map_module(module, rule)


class _Known:
    """What some expressions of a statement are where its tests hold."""

    def __init__(self, stmt: Stores, lanes: Lanes) -> None:
        self.lanes = lanes
        self.values: dict[Node, Node] = {}
        self.tests: list[Node] = []
        #: Whether it is assumed of a minimum or maximum which operand it is.
        self.chosen = False
        done: dict[Node, Node] = {}
        places = _places(stmt)
        for node in postorder(*expressions(stmt)):
            made = folded(node.with_args(tuple(done[a] for a in node.args)))
            done[node] = self._assumed(made, node in places)
            if done[node] is not made:
                self.values[made] = done[node]

    def _assumed(self, node: Node, is_place: bool) -> Node:
        match node:
            case Op(op=op, operands=(a, b)) if op in _COMPARED and self._rises(a, b):
                self.tests.append(self._test(op, a, b))
                return TRUE
            case Op(op=op, operands=(a, b)) if op in _CHOSEN and is_place and self._rises(a, b):
                moving = [x for x in (a, b) if direction(x, self.lanes.var) != 0]
                if len(moving) == 1:
                    other = b if moving[0] is a else a
                    self.tests.append(self._test(_CHOSEN[op], moving[0], other))
                    self.chosen = True
                    return moving[0]
        return node

    def _rises(self, a: Node, b: Node) -> int | None:
        """1 if a - b never falls from lane to lane, -1 if it never rises; else 0 or None."""
        if not dtype_of(a).is_int or any(isinstance(n, Load) for n in postorder(a, b)):
            return None
        if not all(is_small(x) for x in (a, b) if self.lanes.var in postorder(x)):
            return None  # it may wrap around
        steps = [coefficient(x, self.lanes.var) for x in (a, b)]
        constant = [ix.constant(x) for x in steps if x is not None]
        if len(constant) == 2 and None not in constant:
            first, second = constant
            assert first is not None
            assert second is not None
            return (first > second) - (first < second)
        return direction(Op("sub", (a, b), dtype_of(a)), self.lanes.var)

    def _test(self, op: str, a: Node, b: Node) -> Node:
        """The comparison in the lane where it is the first to fail."""
        rises = self._rises(a, b)
        assert rises
        last = self.lanes.count - 1 if (rises > 0) == (_COMPARED[op] < 0) else 0
        at = ix.add(self.lanes.lo, integer(last * self.lanes.step))
        x, y = replaced_all((a, b), {self.lanes.var: at})
        return ix.compare(op, x, y)


def _places(stmt: Stores) -> set[Node]:
    """All that says where something is loaded or stored."""
    nodes = postorder(*expressions(stmt))
    indices = [x for n in nodes if isinstance(n, Load) for x in n.index]
    return set(postorder(*indices, *(x for s in stmt.stores for x in s.index)))


def _is_apart(stmt: Stores) -> bool:
    """Whether lanes may run one after the other: none loads what another one stores."""
    stored = {s.buffer: s.index for s in stmt.stores}
    loads = (n for n in postorder(*expressions(stmt)) if isinstance(n, Load))
    return all(n.buffer not in stored or n.index == stored[n.buffer] for n in loads)


def _one_by_one(stmt: Stores, lanes: Lanes) -> Stmt:
    end = ix.add(lanes.lo, integer(lanes.count * lanes.step))
    body = replace(stmt, lanes=None)
    return For(lanes.var, lanes.lo, end, lanes.step, "serial", body, lanes.var.name)
