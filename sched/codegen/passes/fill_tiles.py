"""The storage of a tile is initialised in full, also for a tile at a border.

store T[8]:                          store T[8]:
  if i < n: T[i] = 0.0          ->     T[i] = 0.0
  if i + 1 < n: T[i + 1] = 0.0         T[i + 1] = 0.0
  for k: ...                           for k: ...

Storage on the stack is uninitialised at first, so more elements of it may be written, and a
constant can be computed anywhere. Then the accumulators of tiles at borders are initialised in
registers, without branches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Const, Node, integer, replaced_all
from ...poly.sets.linear import direction
from ...records import replace
from ..ir.ir import Alloc, Buffer, If, Lanes, Module, Seq, Stmt, Store, Stores
from ..ir.rewrite import map_module
from ..ir.tiles import place_in


def fill_tiles(module: Module) -> Module:
    """Stores of one constant, before all else that is done with storage on the stack, happen
    wherever they are in bounds."""
    return map_module(module, _filled)


def _filled(stmt: Stmt) -> Stmt:
    if not isinstance(stmt, Alloc) or not any(b.kind == "stack" for b in stmt.buffers):
        return stmt
    return replace(stmt, body=_Filler(stmt).beginning(stmt.body))


class _Filler:
    def __init__(self, alloc: Alloc) -> None:
        #: What each buffer is filled with, once it is.
        self.values: dict[Buffer, str | None] = dict.fromkeys(
            b for b in alloc.buffers if b.kind == "stack" and b.fold is None
        )
        self.origin: Mapping[Node, Node] = dict(alloc.origin)
        #: Whether nothing else has been done so far.
        self.fills = True

    def beginning(self, stmt: Stmt) -> Stmt:
        """A statement with the conditions removed from those of its first parts that only fill."""
        if isinstance(stmt, Seq):
            return Seq(tuple(self.beginning(x) if self.fills else x for x in stmt.parts))
        whole = self._whole(stmt)
        self.fills = whole is not None
        return whole or stmt

    def _whole(self, stmt: Stmt) -> Stmt | None:
        """A statement without its conditions, if all it does is to fill; else None."""
        match stmt:
            case Seq(parts=parts):
                made = tuple(self._whole(p) for p in parts)
                found = tuple(x for x in made if x is not None)
                return Seq(found) if len(found) == len(made) else None
            case If(body=body, otherwise=otherwise) if otherwise is None or stmt.choice:
                return self._whole(body)
            case Stores(stores=stores, lanes=lanes) if all(self._fills(s, lanes) for s in stores):
                return replace(stmt, stores=tuple(replace(s, guard=None) for s in stores))
        return None

    def _fills(self, store: Store, lanes: Lanes | None) -> bool:
        """Whether a store writes what all before it have written, and in bounds."""
        buffer, value = store.buffer, store.value
        if buffer not in self.values or not isinstance(value, Const) or store.atomic:
            return False
        # As it is written: 0.0 is not -0.0.
        before, self.values[buffer] = self.values[buffer], repr(value.value)
        if before not in (None, repr(value.value)):
            return False
        moves = () if lanes is None else [direction(x, lanes.var) for x in store.index]
        if None in moves:
            return False
        corners = _corners(store, lanes)
        return all(place_in(buffer, index, None, self.origin) is not None for index in corners)


def _corners(store: Store, lanes: Lanes | None) -> Iterator[tuple[Node, ...]]:
    """Where the first lane stores, and the last one: the others do in between."""
    if lanes is None:
        yield store.index
        return
    for lane in (0, lanes.count - 1):
        at = ix.add(lanes.lo, integer(lane * lanes.step))
        yield replaced_all(store.index, {lanes.var: at})
