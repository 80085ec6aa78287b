"""The types of the elements that definitions compute with."""

from __future__ import annotations

from collections.abc import Iterable

from ...lang.nodes.dtypes import DType, bool_
from ...lang.nodes.nodes import Node, Read, postorder
from ...lang.tensors.definitions import Definition


def widest(definitions: Iterable[Definition]) -> DType:
    """The type with the most bytes of what is stored, read, and computed of what is read.

    Indices do not count, nor conditions on them: vectors of theirs take no registers that values
    need.
    """
    found: list[DType] = [bool_]
    for d in definitions:
        found += d.func.dtypes
        found += [t for value in d.values for t in _computed(value)]
    return max(found, key=lambda t: t.itemsize)


def _computed(root: Node) -> list[DType]:
    """The types of reads outside of indices, and of what is computed of them."""
    values = _values(root)
    of_data: set[Node] = set()
    for node in postorder(root):
        if node in values and (isinstance(node, Read) or any(x in of_data for x in node.args)):
            of_data.add(node)
    return [node.type for node in of_data if isinstance(node.type, DType)]


def _values(root: Node) -> set[Node]:
    """The nodes that are reached without going into an index."""
    seen, waiting = {root}, [root]
    while waiting:
        node = waiting.pop()
        inside = () if isinstance(node, Read) else node.args
        waiting += (x for x in inside if x not in seen)
        seen.update(inside)
    return seen
