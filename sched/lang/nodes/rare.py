"""What is computed seldom: the first value of `rarely`, which code branches around."""

from __future__ import annotations

from collections.abc import Iterator

from .nodes import Node, Op


def needed_first(node: Node) -> tuple[Node, ...]:
    """The operands that are computed before a node is: not those behind a branch of its own."""
    if isinstance(node, Op) and node.op == "rarely":
        condition, _, usual = node.operands
        return condition, usual
    return node.args


def usually_computed(*roots: Node) -> Iterator[Node]:
    """Every distinct node below `roots`, in no order, but those behind such branches."""
    waiting = [*dict.fromkeys(roots)]
    seen = set(waiting)
    while waiting:
        node = waiting.pop()
        yield node
        for operand in needed_first(node):
            if operand not in seen:
                seen.add(operand)
                waiting.append(operand)
