"""Which parts of expressions vary independently of all that stands beside them.

All values of `a[i] * b[i] + c[i]` are found from those of the product and those of `c[i]`: whatever
`a[i]` and `b[i]` were, nothing else depends on them. So what such a part gives is found once, and
stands for all combinations of the values in it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..lang.nodes.nodes import Node, Op, Read
from ..records import dataclass


@dataclass(frozen=True)
class Plan:
    """From what everything is found: none of these shares a varying leaf with another one.

    Attributes:
        parts: innermost first, each with the parts and the leaves that it is found from.
        whole: what all of it is found from.
    """

    parts: list[tuple[Node, list[Node]]]
    whole: list[Node]


def plan(roots: Sequence[Node], leaves: Collection[Node]) -> Plan:
    """How all values of some expressions are found from those of the leaves that vary."""
    order = _varying(roots, leaves)
    separable = _separable(roots, order, leaves)
    inputs: dict[Node | None, list[Node]] = {}
    for node in (*(x for x in order if x in separable and x not in leaves), None):
        found = _parts(roots if node is None else _operands(node, leaves), order, separable)
        while node is not None and len(found) == 1 and len(inputs.get(found[0], ())) == 1:
            found = inputs[found[0]]  # in a chain nothing is combined
        inputs[node] = found
    whole = inputs.pop(None)
    needed, made = set(whole), []
    for node, found in reversed(inputs.items()):
        if node is not None and node in needed:
            needed.update(found)
            made.append((node, found))
    return Plan(made[::-1], whole)


def _operands(node: Node, leaves: Collection[Node]) -> Sequence[Node]:
    return () if node in leaves or isinstance(node, Read) else node.args


def _varying(roots: Sequence[Node], leaves: Collection[Node]) -> dict[Node, int]:
    """The nodes that depend on leaves, operands first, each with a bit for each of these."""
    bits = {leaf: 1 << k for k, leaf in enumerate(leaves)}
    found: dict[Node, int] = {}
    waiting = [(root, False) for root in reversed(roots)]
    while waiting:
        node, is_behind = waiting.pop()
        if node in found:
            continue
        operands = _operands(node, leaves)
        if operands and not is_behind:
            waiting += [(node, True), *((x, False) for x in operands)]
            continue
        found[node] = bits.get(node, 0)
        for x in operands:
            found[node] |= found[x]
    return {node: below for node, below in found.items() if below}


def _separable(
    roots: Sequence[Node], order: dict[Node, int], leaves: Collection[Node]
) -> set[Node]:
    """The leaves, and each operator on all ways from the roots to each leaf below it."""
    depth: dict[Node | None, int] = {None: 0}
    above: dict[Node, Node | None] = {}  # the innermost one on all ways to a node
    ways: dict[Node, list[Node | None]] = {node: [] for node in order}
    for root in roots:
        if root in order:
            ways[root].append(None)
    for node in reversed(order):
        above[node] = _common(ways[node], above, depth)
        depth[node] = depth[above[node]] + 1
        for x in _operands(node, leaves):
            if x in order:
                ways[x].append(node)
    only: dict[Node, int] = dict.fromkeys(order, 0)
    for leaf in leaves:
        around: Node | None = leaf if leaf in order else None
        while around is not None:
            only[around] |= order[leaf]
            around = above[around]
    return {x for x in order if only[x] == order[x] and (isinstance(x, Op) or x in leaves)}


def _common(
    nodes: Sequence[Node | None], above: dict[Node, Node | None], depth: dict[Node | None, int]
) -> Node | None:
    """The innermost one that is above all of some nodes, or one of them."""
    found = nodes[0]
    for other in nodes[1:]:
        while found is not other:
            if found is not None and depth[found] >= depth[other]:
                found = above[found]
            elif other is not None:
                other = above[other]
    return found


def _parts(
    below: Sequence[Node], order: dict[Node, int], separable: Collection[Node]
) -> list[Node]:
    """The outermost parts from some nodes on, each once."""
    found: dict[Node, None] = {}
    seen: set[Node] = set()
    waiting = list(below)
    while waiting:
        node = waiting.pop()
        if node not in order or node in seen:
            continue
        seen.add(node)
        if node in separable:
            found[node] = None
        else:
            waiting += node.args
    return list(found)
