"""Indices as one offset, as arrays lie in memory."""

from __future__ import annotations

from collections.abc import Sequence

from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import int64
from ...lang.nodes.nodes import Node, Op, transform_all
from .linear import cancelled


def offset(at: Sequence[Node], order: Sequence[int], pitches: Sequence[Node]) -> Node:
    """The number of elements in front of one.

    Args:
        at: its index, counted from the first element.
        order: the axes, outermost first in memory.
        pitches: how many elements there are in memory along each axis.
    """
    total: Node = ix.ZERO
    for axis in order:
        total = ix.add(ix.mul(total, pitches[axis]), at[axis])
    return total


def without_origins(index: Node) -> Node:
    """An offset with terms that cancel removed, also inside of products with a size."""

    def rule(node: Node) -> Node:
        if isinstance(node, Op) and node.op == "mul" and node.type is int64:
            return ix.mul(cancelled(node.operands[0]), node.operands[1])
        return node

    return cancelled(transform_all((index,), rule)[0])
