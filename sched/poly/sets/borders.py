"""Which conditions of selects are those of the few iterations at the borders of an axis.

select(x - 1 < 0, n - 1, x - 1)     of (x - 1) % n, by hand: x - 1 but for the first iteration
select(x >= n, x - n, x)            x but for the last ones

Nothing is proven here: who asks makes code for one value of a condition and tests for that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeGuard

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Op, Var, dtype_of, leaves_below, postorder

NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}
SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}

FEW = 8
"""Indices below this are at the beginning of an axis."""


def at_borders(roots: Iterable[Node], var: Var, places: Collection[Node]) -> frozenset[Node]:
    """Comparisons in the conditions of selects that are best taken to fail where all lanes of a
    vector do the same. Those that something else needs to hold are none of them.

    Args:
        var: the number of the lane.
        places: the nodes of indices.
    """
    nodes = tuple(postorder(*roots))
    fails: set[Node] = set()
    waiting = [n.operands[0] for n in nodes if _is_select(n) and _is_rare(n, var, n in places)]
    if not waiting:
        return frozenset()
    while waiting:
        node = waiting.pop()
        fails.add(node)
        if _is_disjunction(node):
            waiting += node.args
    needed: set[Node] = {*roots}
    for node in nodes:
        needed.update(a for a in node.args if not _spares(node, a, fails))
    return frozenset(n for n in fails - needed if isinstance(n, Op) and n.op in NEGATED)


def _spares(node: Node, operand: Node, fails: set[Node]) -> bool:
    """Whether nothing that a node says needs a condition in it to hold."""
    match node:
        case Op(op="select", operands=(condition, *arms)):
            return operand is condition and operand in fails and operand not in arms
        case Op(op="or"):
            return node in fails
        case _:
            return isinstance(node, Op) and node.op == "not"


def _is_select(node: Node) -> TypeGuard[Op]:
    return isinstance(node, Op) and node.op == "select"


def _is_disjunction(node: Node) -> bool:
    return isinstance(node, Op) and node.op == "or"


def _is_rare(select: Op, var: Var, is_place: bool) -> bool:
    """Whether the condition of a select holds at the borders of an axis only, by what is chosen
    then, or else by what is compared."""
    condition, *arms = select.operands
    moves = [var in leaves_below(arm) for arm in arms]
    if is_place and moves[0] != moves[1]:
        return moves[1]
    return all(_is_border(part, var) for part in _terms(condition))


def _terms(condition: Node) -> list[Node]:
    if _is_disjunction(condition):
        return [x for a in condition.args for x in _terms(a)]
    return [condition]


def _is_border(node: Node, var: Var) -> bool:
    """Whether an index is compared to be among the first few of an axis, or behind its extent."""
    if not isinstance(node, Op) or node.op not in NEGATED:
        return False
    op, (a, b) = node.op, node.operands
    if not dtype_of(a).is_int:
        return False
    if var in leaves_below(b):
        op, a, b = SWAPPED[op], b, a
    if var not in leaves_below(a) or var in leaves_below(b):
        return False
    limit = ix.constant(b)
    if op in ("lt", "le"):
        return limit is not None and limit <= FEW
    return limit is None


def fails_at_beginning(comparison: Op, var: Var) -> bool:
    """Whether a comparison fails for the first few indices of an axis alone."""
    is_fixed = any(ix.constant(x) is not None for x in comparison.operands)
    opposite = Op(NEGATED[comparison.op], comparison.operands, comparison.type)
    return is_fixed and _is_border(opposite, var)
