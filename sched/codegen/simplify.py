"""What is left of an expression where some conditions are known."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..lang import index as ix
from ..lang.dtypes import bool_, int64
from ..lang.nodes import Const, Node, Op, Read, postorder
from .ir import Alloc, For, If, Load, Seq, Stmt, Store, Stores, children, dtype_of
from .rewrite import map_statements, map_tree_expressions

TRUE = Const(True, bool_)


def truth(node: Node | None) -> bool | None:
    """Whether a condition is known to hold, or not to."""
    if node is None:
        return True
    return bool(node.value) if isinstance(node, Const) else None


def folded(node: Node) -> Node:
    """A node whose operands are simple, made simpler where one of them is a constant: a known
    condition, or an integer of an index."""
    match node:
        case Op(op="add" | "sub" | "mul" as op, operands=(a, b)) if _is_index(node) and (
            isinstance(a, Const) or isinstance(b, Const) or a is b
        ):
            made = _ARITHMETIC[op](a, b)
            # What is read stays read, even where it does not matter: it says what depends on what.
            return node if isinstance(made, Const) and _reads(a, b) else made
        case Op(op="floordiv" | "mod" as op, operands=(Const(), Const(value=c))) if (
            _is_index(node) and c > 0
        ):
            return _ARITHMETIC[op](node.operands[0], int(c))
        case Op(op=op, operands=(Const(value=x), Const(value=y))) if op in COMPARISONS:
            return Const(COMPARISONS[op](x, y), bool_) if dtype_of(node).is_bool else node
        case Op(op="and", operands=(a, b)) if truth(a) is not None or truth(b) is not None:
            return _either(a, b, True) if dtype_of(node).is_bool else node
        case Op(op="or", operands=(a, b)) if truth(a) is not None or truth(b) is not None:
            return _either(a, b, False) if dtype_of(node).is_bool else node
        case Op(op="not", operands=(a,)) if isinstance(a, Const) and dtype_of(node).is_bool:
            return Const(not a.value, bool_)
        case Op(op="select", operands=(Const(value=known), a, b)):
            return a if known else b
        case Load(guard=Const(value=known)):
            if known:
                return Load(node.buffer, node.index, None, node.type)
            return Const(0, dtype_of(node))
    return node


def _reads(*nodes: Node) -> bool:
    return any(isinstance(n, (Load, Read)) for n in postorder(*nodes))


def _is_index(node: Node) -> bool:
    return dtype_of(node) is int64


_ARITHMETIC: dict[str, Callable[..., Node]] = {
    "add": ix.add, "sub": ix.sub, "mul": ix.mul, "floordiv": ix.floordiv, "mod": ix.mod,
}  # fmt: skip
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")
}


def _either(a: Node, b: Node, neutral: bool) -> Node:
    """One of two conditions, of which at least one is known: `a and True` is a."""
    known, other = (a, b) if truth(a) is not None else (b, a)
    return other if truth(known) is neutral else known


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

    def rule(node: Node) -> Node:
        return folded(known.get(node, node))

    return _pruned(map_tree_expressions(stmt, rule))


def general(stmt: Stmt, known: set[Node]) -> Stmt:
    """A statement that makes no choice by some conditions: not all of them hold."""

    def rule(s: Stmt) -> Stmt:
        chosen = isinstance(s, If) and s.choice and not known.isdisjoint(conjuncts(s.condition))
        return s.otherwise or Seq(()) if isinstance(s, If) and chosen else s

    return map_statements(stmt, rule)


def _pruned(stmt: Stmt) -> Stmt:
    """Without branches that are known to be taken, or not."""
    match stmt:
        case If(condition=condition, body=body, otherwise=otherwise):
            holds = truth(condition)
            if holds is None:
                other = None if otherwise is None else _pruned(otherwise)
                return replace(stmt, body=_pruned(body), otherwise=other)
            if holds:
                return _pruned(body)
            return Seq(()) if otherwise is None else _pruned(otherwise)
        case For(body=body) | Alloc(body=body):
            return replace(stmt, body=_pruned(body))
        case Seq(parts=parts):
            return Seq(tuple(map(_pruned, parts)))
        case Stores(stores=stores):
            left = tuple(_unguarded(s) for s in stores if truth(s.guard) is not False)
            return replace(stmt, stores=left) if left else Seq(())
        case _:
            return stmt


def _unguarded(s: Store) -> Store:
    return replace(s, guard=None) if s.guard is not None and truth(s.guard) else s
