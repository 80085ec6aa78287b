"""Multi-dimensional indices become one offset.

B[i, j]   ->   B[(i - o0) * extent1 + (j - o1)]          contiguous: elements
B[i, j]   ->   B[i * B.stride0 + j * B.stride1]          strided: bytes
B[t, j]   ->   B[(t - o0) mod 2 * extent1 + (j - o1)]    folded to two planes
"""

from __future__ import annotations

from dataclasses import replace

from ...lang import index as ix
from ...lang.nodes import Node
from ..ir import Buffer, Load, Module, Prefetch, Stmt, Store
from ..rewrite import map_expressions, map_module, map_stores
from ..storage import stride


def flatten_indices(module: Module) -> Module:
    """Every load and store gets a single offset."""

    def load(node: Node) -> Node:
        if isinstance(node, Load):
            return Load(node.buffer, (offset(node.buffer, node.index),), node.guard, node.type)
        return node

    def store(s: Store) -> Store:
        return replace(s, index=(offset(s.buffer, s.index),))

    def statement(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Prefetch):
            return replace(stmt, index=(offset(stmt.buffer, stmt.index),))
        return stmt

    return map_module(map_stores(map_expressions(module, load), store), statement)


def offset(buffer: Buffer, index: tuple[Node, ...]) -> Node:
    """The offset of an element: in bytes where the buffer is strided, else in elements."""
    at = [ix.sub(x, o) for x, o in zip(index, buffer.origin, strict=True)]
    if buffer.fold is not None:
        axis, planes = buffer.fold.axis, buffer.fold.planes
        at[axis] = ix.mod(at[axis], planes)
    total: Node = ix.ZERO
    if buffer.strided:
        for axis, x in enumerate(at):
            total = ix.add(total, ix.mul(x, stride(buffer, axis)))
        return total
    for axis in buffer.order:
        total = ix.add(ix.mul(total, buffer.pitches[axis]), at[axis])
    return total
