"""How an index moves along a loop: by a constant, by something known at run time, or oddly."""

from __future__ import annotations

from ..lang import index as ix
from ..lang.nodes import Node, Op, Var, postorder


def coefficient(node: Node, var: Var) -> Node | None:
    """c where node = c * var + (what does not depend on var), modulo 2**64; None where it is not
    so."""
    found: dict[Node, Node | None] = {}
    for n in postorder(node):
        found[n] = _one(n, var, found)
    return found[node]


def _one(node: Node, var: Var, known: dict[Node, Node | None]) -> Node | None:
    if node is var:
        return ix.ONE
    parts = [known[a] for a in node.args]
    if all(p is ix.ZERO for p in parts):
        return ix.ZERO
    if not isinstance(node, Op) or any(p is None for p in parts):
        return None
    match node.op, parts, node.operands:
        case "add", [Node() as a, Node() as b], _:
            return ix.add(a, b)
        case "sub", [Node() as a, Node() as b], _:
            return ix.sub(a, b)
        case "neg", [Node() as a], _:
            return ix.sub(ix.ZERO, a)
        case "strict", [Node() as a], _:
            return a
        case "mul", [Node() as a, Node() as b], [x, y]:
            if b is ix.ZERO:
                return ix.mul(a, y)
            return ix.mul(b, x) if a is ix.ZERO else None
        case _:
            return None
