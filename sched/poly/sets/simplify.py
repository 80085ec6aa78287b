"""Simplification of expressions by known conditions and constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...lang.arithmetic.scalar import COMPARE
from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import bool_, int64
from ...lang.nodes.nodes import (
    Const,
    Node,
    Op,
    Param,
    RVar,
    Size,
    Var,
    dtype_of,
    known_below,
    replaced_all,
    transform_all,
)

TRUE = Const(True, bool_)
FALSE = Const(False, bool_)


def truth(node: Node | None) -> bool | None:
    """Whether a condition is known to hold, or not to."""
    if node is None:
        return True
    return bool(node.value) if isinstance(node, Const) else None


def simpler(node: Node) -> Node:
    """A node whose operands are simple, made simpler where one of them is a constant: a known
    condition, or an integer of an index."""
    if not isinstance(node, Op):
        return node
    operands = node.operands
    if operands[0] is not operands[-1] and Const not in map(type, operands):
        return node  # as most are
    match node:
        case Op(op="add" | "sub" | "mul" as op, operands=(a, b)) if _is_index(node) and (
            isinstance(a, Const) or isinstance(b, Const) or a is b
        ):
            made = _ARITHMETIC[op](a, b)
            # A read stays even where its value does not matter: dependences are taken from reads.
            return node if isinstance(made, Const) and reads_memory(a, b) else made
        case Op(op="floordiv" | "mod" as op, operands=(Const(), Const(value=c))) if (
            _is_index(node) and c > 0
        ):
            return _ARITHMETIC[op](node.operands[0], int(c))
        case Op(op=op, operands=(Const(value=x), Const(value=y))) if op in COMPARE:
            return Const(COMPARE[op](x, y), bool_) if dtype_of(node).is_bool else node
        case Op(op="and", operands=(a, b)) if truth(a) is not None or truth(b) is not None:
            return _either(a, b, True) if dtype_of(node).is_bool else node
        case Op(op="or", operands=(a, b)) if truth(a) is not None or truth(b) is not None:
            return _either(a, b, False) if dtype_of(node).is_bool else node
        case Op(op="not", operands=(a,)) if isinstance(a, Const) and dtype_of(node).is_bool:
            return Const(not a.value, bool_)
        case Op(op="select", operands=(Const(value=known), a, b)):
            return a if known else b
    return node


def without(roots: tuple[Node, ...], decided: Mapping[Node, Node]) -> tuple[Node, ...]:
    """Expressions with what is decided of them in its place."""
    if not decided:
        return roots
    return transform_all(replaced_all(roots, decided), simpler)


def reads_memory(*nodes: Node) -> bool:
    """Whether something in expressions, or in indices of the loop IR, comes from memory."""
    return not all(known_below(n)._kinds <= _IN_REGISTERS for n in nodes)


_IN_REGISTERS = frozenset({Const, Op, Param, RVar, Size, Var})


def _is_index(node: Node) -> bool:
    return dtype_of(node) is int64


_ARITHMETIC: dict[str, Callable[..., Node]] = {
    "add": ix.add, "sub": ix.sub, "mul": ix.mul, "floordiv": ix.floordiv, "mod": ix.mod,
}  # fmt: skip


def _either(a: Node, b: Node, neutral: bool) -> Node:
    """One of two conditions, of which at least one is known: `a and True` is a."""
    known, other = (a, b) if truth(a) is not None else (b, a)
    return other if truth(known) is neutral else known
