"""Multi-dimensional indices become one offset.

B[i, j]   ->   B[(i - o0) * extent1 + (j - o1)]          contiguous: elements
B[i, j]   ->   B[i * B.stride0 + j * B.stride1]          strided: bytes
B[t, j]   ->   B[(t - o0) mod 2 * extent1 + (j - o1)]    folded to two planes

An origin that is a sum is subtracted symbolically. Then the offset of an element of a tile is a
constant, so that LLVM can keep the element in a register.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Const, Node, Op, Size, Var, postorder
from ...poly.sets import flat
from ...poly.sets.flat import without_origins
from ..build.storage import stride
from ..ir.ir import Alloc, Buffer, Load, Module, Prefetch, Stmt, Stores
from ..ir.rewrite import map_module, map_tree_replaced, on_expressions

Index = tuple[Node, ...]


def flatten_indices(module: Module) -> Module:
    """Every load and store gets a single offset."""
    simple = cache(without_origins)

    def flat(buffer: Buffer, index: Index) -> Index:
        return (offset(buffer, index),)

    def folded(_: Buffer, index: Index) -> Index:
        return (simple(index[0]),)

    made = map_module(module, _indices(flat))
    made = map_module(map_module(made, _prefetched), _substituted_origins)
    return map_module(made, _indices(folded))


def _indices(change: Callable[[Buffer, Index], Index]) -> Callable[[Stmt], Stmt]:
    """Changes the indices of all loads in a statement, then those of its stores."""

    def load(node: Node) -> Node:
        if isinstance(node, Load):
            return Load(node.buffer, change(node.buffer, node.index), node.guard, node.type)
        return node

    loads = on_expressions(load, Load)

    def statement(stmt: Stmt) -> Stmt:
        stmt = loads(stmt)
        if not isinstance(stmt, Stores):
            return stmt
        stores = [replace(s, index=change(s.buffer, s.index)) for s in stmt.stores]
        return replace(stmt, stores=tuple(stores))

    return statement


def _prefetched(stmt: Stmt) -> Stmt:
    """What is prefetched, as one offset."""
    if isinstance(stmt, Prefetch):
        return replace(stmt, index=(offset(stmt.buffer, stmt.index),))
    return stmt


def _substituted_origins(stmt: Stmt) -> Stmt:
    """Storage whose origins are known as sums: they stand where they are used."""
    if not isinstance(stmt, Alloc):
        return stmt
    known: dict[Node, Node] = {x: value for x, value in stmt.origin if _is_sum(value)}
    body = map_tree_replaced(stmt.body, known) if known else stmt.body
    return replace(stmt, origin=tuple(o for o in stmt.origin if o[0] not in known), body=body)


def _is_sum(node: Node) -> bool:
    return all(
        isinstance(n, (Const, Size, Var)) or (isinstance(n, Op) and n.op in ("add", "sub", "mul"))
        for n in postorder(node)
    )


def offset(buffer: Buffer, index: tuple[Node, ...]) -> Node:
    """The offset of an element: in bytes where the buffer is strided, else in elements."""
    at = [ix.sub(x, o) for x, o in zip(index, buffer.origin, strict=True)]
    if buffer.fold is not None:
        axis, planes = buffer.fold.axis, buffer.fold.planes
        at[axis] = ix.mod(at[axis], planes)
    if buffer.strided:
        total: Node = ix.ZERO
        for axis, x in enumerate(at):
            total = ix.add(total, ix.mul(x, stride(buffer, axis)))
        return total
    return flat.offset(at, buffer.order, buffer.pitches)
