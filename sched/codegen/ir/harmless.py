"""Statements that may run on elements that are not there, and what they load."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Op, has_below, leaves_below, postorder, replaced_all
from ...poly.sets.linear import direction
from .inequalities import strongest
from .ir import Lanes, Load, Stores, dtype_of
from .lane_number import LANE, Conditions, guard_parts


def is_harmless(stmt: Stores) -> bool:
    """Whether a statement may run on what is not there: no element of memory that data name, no
    division of integers, and what one load of all lanes reads is known to be there by the first."""
    lanes = stmt.lanes
    if lanes is not None and (lanes.step != 1 or has_below(Load, lanes.lo)):
        return False
    for s in stmt.stores:
        if s.atomic or s.stream or (s.guard is not None and has_below(Load, s.guard)):
            return False
        for node in postorder(s.value):
            if isinstance(node, Op) and node.op in _DIVISIONS and not _is_float(node):
                return False
            if isinstance(node, Load):
                if has_below(Load, *node.args):
                    return False
                parts = [*guard_parts(s.guard, lanes), *guard_parts(node.guard, lanes)]
                if not _moves(node, lanes) and not all(map(falls, parts)):
                    return False
    return True


_DIVISIONS = frozenset({"div", "floordiv", "mod"})


def _is_float(node: Op) -> bool:
    return bool(dtype_of(node).is_float)


def loads_of(stmt: Stores, held: Conditions) -> Iterator[tuple[Load, Conditions]]:
    """The loads of a statement, each with all the conditions under which it happens. Where a load
    is the same in all lanes, these are those of the first one: if any lane loads, it does."""
    for s in stmt.stores:
        for node in postorder(s.value):
            if isinstance(node, Load):
                parts = [*guard_parts(s.guard, stmt.lanes), *guard_parts(node.guard, stmt.lanes)]
                if not _moves(node, stmt.lanes):
                    parts = list(strongest(replaced_all(tuple(parts), {LANE: ix.ZERO})))
                yield node, held | frozenset(parts)


def _moves(load: Load, lanes: Lanes | None) -> bool:
    """Whether lanes load different elements."""
    return lanes is not None and lanes.var in leaves_below(*load.index)


@lru_cache(1024)
def falls(condition: Node) -> bool:
    """Whether a condition on the number of a lane holds in the first one if it does in any."""
    match condition:
        case Op(op="lt" | "le", operands=(a, b)):
            less, more = a, b
        case Op(op="gt" | "ge", operands=(a, b)):
            less, more = b, a
        case _:
            return LANE not in leaves_below(condition)
    return direction(less, LANE) in (0, 1) and direction(more, LANE) in (0, -1)
