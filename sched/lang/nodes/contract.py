"""Contraction: sums and differences of products become fused multiply-adds.

It happens once, when a definition is typed, so it is part of a program's meaning and the same on
every machine: in `x + y` and `x - y` the right operand is fused if it is a product, else the left
one if that is a product; the sign of a negated product is folded in. Products behind a cast, a
select, a read or `strict` are not fused.
"""

from __future__ import annotations

from .nodes import Const, Node, Op


def contract(node: Op) -> Op:
    """`x + a*b` and its like as one fused multiply-add; other nodes as they are."""
    if node.op not in ("add", "sub"):
        return node
    x, y = node.operands
    t = node.type
    negative = node.op == "sub"
    if (product := _product(y)) is not None:
        a, b, sign = product
        return Op("fma", (_negated(a) if sign != negative else a, b, x), t)
    if (product := _product(x)) is not None:
        a, b, sign = product
        return Op("fma", (_negated(a) if sign else a, b, _negated(y) if negative else y), t)
    return node


def _product(node: Node) -> tuple[Node, Node, bool] | None:
    """The factors of a product and whether it is negated."""
    negative = False
    while isinstance(node, Op) and node.op == "neg":
        (node,), negative = node.operands, not negative
    match node:
        case Op(op="mul", operands=(a, b)):
            return a, b, negative
        case _:
            return None


def _negated(node: Node) -> Node:
    if isinstance(node, Const):
        return Const(-node.value, node.type)
    return Op("neg", (node,), node.type)
