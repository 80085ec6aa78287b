"""Simplification of expressions and statements by known conditions."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping

from ...lang.nodes.nodes import Const, Node, Op, has_below, leaves_below, postorder
from ...poly.sets.simplify import simpler, truth
from ...records import replace
from ...remembered import remembered
from .ir import If, Load, Seq, Stmt, Store, Stores, children, dtype_of, map_children
from .rewrite import map_tree_expressions


def folded(node: Node) -> Node:
    """As `simpler`, of the nodes of the loop IR: a load is one whose guard is known to hold."""
    if isinstance(node, Load):
        if not isinstance(node.guard, Const):
            return node
        if node.guard.value:
            return Load(node.buffer, node.index, None, node.type)
        return Const(0, dtype_of(node))
    return simpler(node)


def conjuncts(condition: Node | None) -> Iterator[Node]:
    """Conditions that hold together where one does."""
    if isinstance(condition, Op) and condition.op == "and":
        for part in condition.operands:
            yield from conjuncts(part)
    elif condition is not None and truth(condition) is not True:
        yield condition


def chosen(stmt: Stmt) -> Iterator[Stmt]:
    """The statement and all below it, but for what choices do otherwise."""
    yield stmt
    below = (stmt.body,) if isinstance(stmt, If) and stmt.choice else children(stmt)
    for child in below:
        yield from chosen(child)


def assuming(stmt: Stmt, known: Mapping[Node, Node]) -> Stmt:
    """A statement where some expressions are others: conditions that hold, mostly."""
    found_in = {leaves_below(x) for x in known}

    def rule(node: Node) -> Node:
        return folded(known.get(node, node))

    def stays(node: Node) -> bool:
        """Most expressions lack a symbol of each, so they need not be looked through."""
        leaves = leaves_below(node)
        return not any(x <= leaves for x in found_in)

    return pruned(map_tree_expressions(stmt, rule, stays))


def general(stmt: Stmt, known: set[Node]) -> Stmt:
    """A statement that makes no choice by some conditions: not all of them hold. What choices do
    otherwise stays as it is, further choices included."""
    if isinstance(stmt, If) and stmt.choice and not known.isdisjoint(conjuncts(stmt.condition)):
        return stmt.otherwise or Seq(())
    return map_children(stmt, lambda s: general(s, known))


def two_sided(roots: Iterable[Node]) -> frozenset[Node]:
    """The conditions of selects that read something where these fail."""
    selects = [n for n in postorder(*roots) if isinstance(n, Op) and n.op == "select"]
    return frozenset(n.operands[0] for n in selects if has_below(Load, n.operands[2]))


@remembered
def load_guards(root: Node) -> tuple[Node, ...]:
    """The conditions of what an expression only loads where they hold."""
    loads = [n for n in postorder(root) if isinstance(n, Load)] if has_below(Load, root) else []
    return tuple([n.guard for n in loads if n.guard is not None])


def pruned(stmt: Stmt) -> Stmt:
    """Without branches that are known to be taken, or not, and stores that never happen."""
    match stmt:
        case If(condition=condition, body=body, otherwise=otherwise):
            holds = truth(condition)
            if holds is None:
                return map_children(stmt, pruned)
            if holds:
                return pruned(body)
            return Seq(()) if otherwise is None else pruned(otherwise)
        case Seq(parts=parts):
            made = [pruned(x) for x in parts]
            left = [x for x in made if not isinstance(x, Seq) or x.parts]
            if len(left) == len(parts) and all(map(operator.is_, left, parts)):
                return stmt if len(left) != 1 else left[0]
            return left[0] if len(left) == 1 else Seq(tuple(left))
        case Stores(stores=stores):
            kept = tuple(_unguarded(s) for s in stores if truth(s.guard) is not False)
            if not kept:
                return Seq(())
            same = len(kept) == len(stores) and all(map(operator.is_, kept, stores))
            return stmt if same else replace(stmt, stores=kept)
        case _:
            return map_children(stmt, pruned)


def _unguarded(s: Store) -> Store:
    return replace(s, guard=None) if s.guard is not None and truth(s.guard) else s
