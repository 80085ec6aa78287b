"""The nodes below a node. What symbols and classes there are is found once: passes ask again and
again whether an expression depends on a variable or reads memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .nodes import Node


FEW = 64
"""Nodes below one that are kept with it, in order. Most expressions have fewer; those of deep
chains of operators would keep the square of their depth."""


def postorder(*roots: Node) -> Iterator[Node]:
    """Every distinct node below `roots`, operands first. Iterative: depth is not limited."""
    if len(roots) == 1:
        root = roots[0]
        if not root.args:
            return iter(roots)
        if (below := _few_below(root)) is not None:
            return iter((*below, root))
    else:
        parts: dict[Node, None] = {}
        for root in roots:
            if (below := _few_below(root) if root.args else ()) is None:
                return _postorder(roots)
            parts.update(dict.fromkeys(below))
            parts[root] = None
        return iter(parts)
    return _postorder(roots)


def _few_below(root: Node) -> tuple[Node, ...] | None:
    """What is below a node, operands first; None where that is much. A node does not keep itself:
    it would never be freed without Python's collector of cycles."""
    try:
        return root._below
    except AttributeError:
        stack = [root]
        while stack:
            missing = [a for a in stack[-1].args if not hasattr(a, "_below")]
            if missing:
                stack += missing
            else:
                _note_few(stack.pop())
        return root._below


def _note_few(node: Node) -> None:
    found: dict[Node, None] = {}
    for a in node.args:
        below = a._below
        if below is None or len(found) > FEW:
            object.__setattr__(node, "_below", None)
            return
        found.update(dict.fromkeys(below))
        found[a] = None
    object.__setattr__(node, "_below", tuple(found) if len(found) <= FEW else None)


def _postorder(roots: tuple[Node, ...]) -> Iterator[Node]:
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
    for root in roots:  # noqa: SIM110 -- what a generator takes would be most of this
        if kind in known_below(root)._kinds:
            return True
    return False


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
