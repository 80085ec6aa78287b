"""Equality of symbols: sizes are equal by name, RVars by name, bounds and conditions."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ..nodes import nodes
from ..nodes.nodes import Const, Node


def symbol_key(node: Node) -> object:
    """A key that equal symbols share: the name, and for RVars the bounds and conditions."""
    match node:
        case nodes.Size():
            return ("size", node.name)
        case nodes.RVar():
            key = _rvar_keys.get(node)
            if key is None:
                key = _rvar_key(node)
                if node.domain.members:  # empty while its condition is being written
                    _rvar_keys[node] = key
            return key
        case _:
            return node


#: Nodes are equal by identity while they live, so a key holds the nodes that it is made of.
_rvar_keys: WeakKeyDictionary[Node, object] = WeakKeyDictionary()


def _rvar_key(node: nodes.RVar) -> object:
    where = node.domain.where
    others = tuple(m.name for m in node.domain.members) if where is not None else ()
    return ("rvar", node.name, *map(_by_name, (node.lo, node.hi, where)), others)


def _by_name(root: Node | None) -> Node | None:
    """`root` with untyped integers, and with its symbols replaced by ones that depend on their
    names alone."""

    def rule(node: Node) -> Node:
        match node:
            case Const(value=value) if not isinstance(value, bool | float):
                return nodes.literal(int(value))
            case nodes.Size(name=name):
                return nodes.Size(name, None)
            case nodes.RVar(name=name):
                return nodes.Var(f"rvar {name}")
            case _:
                return node

    return None if root is None else nodes.transform(root, rule)
