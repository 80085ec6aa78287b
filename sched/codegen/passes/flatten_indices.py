"""Multi-dimensional indices become one offset.

B[i, j]   ->   B[(i - o0) * extent1 + (j - o1)]          contiguous: elements
B[i, j]   ->   B[i * B.stride0 + j * B.stride1]          strided: bytes
B[t, j]   ->   B[(t - o0) mod 2 * extent1 + (j - o1)]    folded to two planes

An origin that is a sum is subtracted symbolically. Then the offset of an element of a tile is a
constant, so that LLVM can keep the element in a register.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import (
    Const,
    Node,
    Op,
    Size,
    Var,
    has_below,
    leaves_below,
    postorder,
    replaced_all,
    transform_all,
)
from ...poly.sets import flat
from ...poly.sets.flat import without_origins
from ...records import replace
from ..build.storage import stride
from ..ir.ir import Alloc, Buffer, Load, Module, Prefetch, Stmt, Stores, map_children
from ..ir.rewrite import on_expressions_of

Index = tuple[Node, ...]


def flatten_indices(module: Module) -> Module:
    """Every load and store gets a single offset."""
    made = [replace(f, body=_Flat({}).stmt(f.body)) for f in module.functions]
    return replace(module, functions=tuple(made))


class _Flat:
    """What statements become where some storage lies around them.

    Args:
        origins: the variables in the origins of that storage which are sums: these stand in their
            place.
    """

    def __init__(self, origins: Mapping[Node, Node]) -> None:
        self.origins = origins
        self._done: dict[Node, Node] = {}
        self._begin: dict[Buffer, Index] = {}
        #: Of elements: one is loaded and stored, or loaded by several statements.
        self._offsets: dict[tuple[Buffer, Index], Node] = {}

    def stmt(self, stmt: Stmt) -> Stmt:
        """A statement, with all below it."""
        made = on_expressions_of(stmt, self._expressions)
        match made:
            case Stores(stores=stores):
                flat = [replace(s, index=(self._place(s.buffer, s.index),)) for s in stores]
                return replace(made, stores=tuple(flat))
            case Prefetch(buffer=buffer, index=index):
                return replace(made, index=(self._offset(buffer, index),))
            case Alloc(origin=origin, body=body):
                sums: dict[Node, Node] = {x: value for x, value in origin if _is_sum(value)}
                inside = _Flat({**self.origins, **sums}) if sums else self
                rest = tuple(o for o in origin if o[0] not in sums)
                return replace(made, origin=rest, body=inside.stmt(body))
            case _:
                return map_children(made, self.stmt)

    def _expressions(self, roots: Index) -> Index:
        return transform_all(roots, self._flat, self._done, None, self._stays)

    def _stays(self, node: Node) -> bool:
        return not has_below(Load, node) and leaves_below(node).isdisjoint(self.origins)

    def _flat(self, node: Node) -> Node:
        if isinstance(node, Load):
            offset = self._place(node.buffer, node.index)
            return Load(node.buffer, (offset,), node.guard, node.type)
        return self.origins.get(node, node)

    def _place(self, buffer: Buffer, index: Index) -> Node:
        """The offset of an element, made simple."""
        found = self._offsets.get((buffer, index))
        if found is None:
            found = self._offsets[buffer, index] = without_origins(self._offset(buffer, index))
        return found

    def _offset(self, buffer: Buffer, index: Index) -> Node:
        begin = self._begin.get(buffer)
        if begin is None:
            begin = self._begin[buffer] = replaced_all(buffer.origin, self.origins)
        return offset(buffer, index, begin)


def _is_sum(node: Node) -> bool:
    return all(
        isinstance(n, (Const, Size, Var)) or (isinstance(n, Op) and n.op in ("add", "sub", "mul"))
        for n in postorder(node)
    )


def offset(buffer: Buffer, index: Index, begin: Index | None = None) -> Node:
    """The offset of an element: in bytes where the buffer is strided, else in elements.

    Args:
        begin: the index of the first element, if it is said otherwise than by the buffer.
    """
    first = buffer.origin if begin is None else begin
    at = [ix.sub(x, o) for x, o in zip(index, first, strict=True)]
    if buffer.fold is not None:
        axis, planes = buffer.fold.axis, buffer.fold.planes
        at[axis] = ix.mod(at[axis], planes)
    if buffer.strided:
        total: Node = ix.ZERO
        for axis, x in enumerate(at):
            total = ix.add(total, ix.mul(x, stride(buffer, axis)))
        return total
    return flat.offset(at, buffer.order, buffer.pitches)
