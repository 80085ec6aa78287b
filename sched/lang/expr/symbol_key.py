"""Which symbols are the same one: sizes by their names, RVars by their bounds too."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ..nodes import nodes
from ..nodes.nodes import Const, Node


def symbol_key(node: Node) -> object:
    """What two symbols must share to be the same: the name; for RVars the bounds too."""
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


#: Nodes are equal by identity while they live: a key keeps those that it is made of.
_rvar_keys: WeakKeyDictionary[Node, object] = WeakKeyDictionary()


def _rvar_key(node: nodes.RVar) -> object:
    where = node.domain.where
    others = tuple(m.name for m in node.domain.members) if where is not None else ()
    return ("rvar", node.name, *map(_by_name, (node.lo, node.hi, where)), others)


def _by_name(root: Node | None) -> Node | None:
    """`root` with integers untyped and its symbols replaced by what equal ones share."""

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
