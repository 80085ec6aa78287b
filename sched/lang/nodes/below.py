"""The nodes below a node. What symbols and classes there are is found once: passes ask again and
again whether an expression depends on a variable or reads memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .nodes import Node


def postorder(*roots: Node) -> Iterator[Node]:
    """Every distinct node below `roots`, operands first. Iterative: depth is not limited."""
    if len(roots) == 1 and not roots[0].args:
        yield roots[0]
        return
    seen: set[Node] = set()
    begun: list[Node] = []  # nodes that are yielded once everything below them has been
    stack: list[Node | None] = [*reversed(roots)]
    while stack:
        node = stack.pop()
        if node is None:  # all below the last one has been
            yield begun.pop()
        elif node not in seen:
            seen.add(node)
            if args := node.args:
                begun.append(node)
                stack.append(None)
                stack += args[::-1]
            else:
                yield node


def leaves_below(*roots: Node) -> frozenset[Node]:
    """Every distinct node without operands below `roots`: symbols, constants, scalars read. It is
    found once for each node, so asking whether an expression depends on a variable is quick."""
    if len(roots) == 1:
        return _leaves(known_below(roots[0]))
    return frozenset().union(*[_leaves(known_below(root)) for root in roots])


def has_below(kind: type[Node], *roots: Node) -> bool:
    """Whether a node of a class is below `roots`, or one of them."""
    return any(kind in known_below(root)._kinds for root in roots)


def known_below(root: Node) -> Node:
    """The node, of which is known now what is below it."""
    try:
        _ = root._kinds
    except AttributeError:
        stack = [root]
        while stack:
            missing = [a for a in stack[-1].args if not hasattr(a, "_kinds")]
            if missing:
                stack += missing
            else:
                _note_below(stack.pop())
    return root


def _leaves(node: Node) -> frozenset[Node]:
    """The leaves below a node that is known. A leaf does not keep a set with itself in it: it would
    never be freed without Python's collector of cycles."""
    return node._leaves if node.args else frozenset((node,))


def _note_below(node: Node) -> None:
    """Notes what is below a node, in sets that it shares with an operand where they are equal."""
    kind, args = type(node), node.args
    kinds = frozenset((kind,))
    if args:
        leaves, kinds = _leaves(args[0]), args[0]._kinds
        for a in args[1:]:
            if not (more := _leaves(a)) <= leaves:
                leaves = leaves | more
            if not a._kinds <= kinds:
                kinds = kinds | a._kinds
        if kind not in kinds:
            kinds = kinds | {kind}
        object.__setattr__(node, "_leaves", leaves)
    object.__setattr__(node, "_kinds", kinds)  # last: it says that both are there
