"""Tiles of several vectors have a version with fewer of them, for what is left at a border.

store T[32]:                            if n <= j + 16:
  for k:                                  store T'[16]:
    T[0:16] += A[k] * B[k, j:]              for k: T'[0:16] += A[k] * B[k, j:]
    T[16:32] += A[k] * B[k, j + 16:]  ->    C[j + v] = T'[v] where j + v < n
  C[j + v] = T[v] where j + v < n       else: as before
  C[j + 16 + v] = T[16 + v]
    where j + 16 + v < n

A panel of one column more would else cost as much as a full one. Where a condition fails without
which nothing is stored elsewhere of some elements of the tile, these elements are not needed, and
neither is what they are computed from.
"""

from __future__ import annotations

from collections.abc import Iterator, Set as AbstractSet
from typing import NamedTuple

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Op, postorder, replaced_all
from ...records import replace
from ..ir.harmless import falls
from ..ir.inequalities import Known, as_sums, comparison
from ..ir.ir import (
    Alloc,
    Buffer,
    For,
    If,
    Lanes,
    Load,
    Module,
    Seq,
    Stmt,
    Store,
    Stores,
    children,
    expressions,
    map_children,
    walk,
)
from ..ir.lane_number import LANE, Conditions, guard_parts, lasting, ordered
from ..ir.rewrite import map_buffers, map_statements
from ..ir.rolled import rolled
from ..ir.simplify import conjuncts
from ..ir.tiles import Place, Tiles

EMPTY = Seq(())


def narrow_tiles(module: Module) -> Module:
    """Each tile of which most may be left out twice: with its first vectors alone, and as it is."""
    copies: list[Buffer] = []
    bodies = [_narrowed(f.body, copies) for f in module.functions]
    if not copies:
        return module
    pairs = zip(module.functions, bodies, strict=True)
    return replace(
        module,
        buffers=(*module.buffers, *copies),
        functions=tuple(replace(f, body=body) for f, body in pairs),
    )


def _narrowed(stmt: Stmt, copies: list[Buffer]) -> Stmt:
    """A statement with its innermost tiles in versions, whose storage is added to some copies."""
    made = map_children(stmt, lambda s: _narrowed(s, copies))
    if made is not stmt or not isinstance(stmt, Alloc):
        return made
    if not any(isinstance(s, For) for s in walk(stmt)):
        return stmt
    tiles = Tiles(stmt)
    condition = _condition(stmt, tiles)
    if condition is None:
        return stmt
    body = _needed(_failing(stmt.body, condition, tiles), tiles)
    if 2 * _vectors(body) > _vectors(stmt.body):
        return stmt
    renamed = {
        b: replace(b, name=f"{b.name}.narrow{len(copies)}", original=b.original or b)
        for b in stmt.buffers
        if b in tiles.buffers
    }
    copies += renamed.values()
    body = rolled(body, f"narrow{len(copies)}#")
    narrow = map_buffers(replace(stmt, body=body), renamed)
    return If(_opposite(condition), narrow, stmt, choice=True)


def _vectors(stmt: Stmt) -> int:
    return sum(isinstance(s, Stores) and s.lanes is not None for s in walk(stmt))


# the condition ------------------------------------------------------------------------------------
class _Store(NamedTuple):
    """Conditions without which a statement stores nothing elsewhere than in a tile."""

    conditions: Conditions
    #: Those of them that its last lanes were the first to fail.
    of_lanes: Conditions


def _condition(alloc: Alloc, tiles: Tiles) -> Node | None:
    """The condition without which the most stores of vectors are left out, but not all that are
    under one that differs from it in a constant; None where there is none."""
    stores = list(_stores(alloc.body, tiles, frozenset(), frozenset(v for v, _ in alloc.origin)))
    found = {c: None for s in stores for x in ordered(s.of_lanes) for c in _comparisons(x)}
    known = [Known(s.conditions) for s in stores]
    left_out = {c: sum(k.implies(c) for k in known) for c in found}
    alike = {c: sum(k.is_about(c) for k in known) for c in found}
    return max((c for c in found if left_out[c] < alike[c]), key=left_out.__getitem__, default=None)


def _comparisons(condition: Node) -> Iterator[Node]:
    """The comparisons that a condition joins, in their normal form."""
    for terms, constant in as_sums(condition) or ():
        if terms:
            yield comparison(terms, constant)


def _stores(stmt: Stmt, tiles: Tiles, held: Conditions, inner: frozenset[Node]) -> Iterator[_Store]:
    """The stores of a statement elsewhere than in a tile."""
    match stmt:
        case Stores(stores=stores, lanes=lanes):
            for s in stores:
                if s.buffer not in tiles.buffers:
                    parts = lasting(_first_lane(s, lanes), inner)
                    yield _Store(held | parts, parts if lanes is not None else frozenset())
        case If(condition=condition, body=body, otherwise=otherwise):
            more = lasting(guard_parts(condition, None), inner)
            yield from _stores(body, tiles, held | more, inner)
            if otherwise is not None:
                yield from _stores(otherwise, tiles, held, inner)
        case For(var=var, body=body):
            yield from _stores(body, tiles, held, inner | {var})
        case Alloc(origin=origin, body=body):
            yield from _stores(body, tiles, held, inner | {v for v, _ in origin})
        case _:
            for child in children(stmt):
                yield from _stores(child, tiles, held, inner)


def _first_lane(s: Store, lanes: Lanes | None) -> list[Node]:
    """The conditions under which the first lane stores, without which none does."""
    parts = [x for x in guard_parts(s.guard, lanes) if falls(x)]
    return list(replaced_all(tuple(parts), {LANE: ix.ZERO}))


def _opposite(comparison: Node) -> Node:
    """That one number is not less than another one."""
    assert isinstance(comparison, Op)
    assert comparison.op == "lt"
    less, more = comparison.operands
    return ix.compare("le", more, less)


# the version --------------------------------------------------------------------------------------
def _failing(stmt: Stmt, condition: Node, tiles: Tiles) -> Stmt:
    """A statement where a condition fails, without what it stores elsewhere only where it holds."""

    def implies(parts: list[Node]) -> bool:
        return Known(parts).implies(condition)

    def rule(s: Stmt) -> Stmt:
        match s:
            case If(condition=c, otherwise=otherwise) if implies(list(conjuncts(c))):
                return otherwise or EMPTY
            case Stores(stores=stores, lanes=lanes):
                kept = tuple(
                    x
                    for x in stores
                    if x.buffer in tiles.buffers or not implies(_first_lane(x, lanes))
                )
                return s if len(kept) == len(stores) else Stores(kept, lanes) if kept else EMPTY
        return s

    return map_statements(stmt, rule)


def _needed(stmt: Stmt, tiles: Tiles) -> Stmt:
    """A statement without what it stores in elements of tiles that nothing else depends on."""
    each = {id(s): _Places(s, tiles) for s in walk(stmt) if isinstance(s, Stores)}
    live: set[Place] = set()
    waiting = list(each.values())
    while found := [x for x in waiting if not x.is_left_out(live)]:
        waiting = [x for x in waiting if x.is_left_out(live)]
        live.update(*(x.loaded for x in found))

    def rule(s: Stmt) -> Stmt:
        match s:
            case Stores() if each[id(s)].is_left_out(live):
                return EMPTY
            case For(body=body, begins=(), ends=()) if body == EMPTY:
                return EMPTY
            case If(body=body, otherwise=None) if body == EMPTY:
                return EMPTY
            case Seq(parts=parts) if EMPTY in parts:
                return Seq(tuple(p for p in parts if p != EMPTY))
        return s

    return map_statements(stmt, rule)


class _Places:
    """The places in tiles that a statement loads, and those that it stores: no two that it could
    have in common with another one overlap (`Tiles`).

    Attributes:
        stored: None where it stores elsewhere too.
    """

    def __init__(self, stmt: Stores, tiles: Tiles) -> None:
        loads = [x for x in postorder(*expressions(stmt)) if isinstance(x, Load)]
        found = [tiles.place(x.buffer, x.index, stmt.lanes) for x in loads]
        self.loaded = {x for x in found if x is not None}
        found = [tiles.place(s.buffer, s.index, stmt.lanes) for s in stmt.stores]
        self.stored = None if None in found else {x for x in found if x is not None}

    def is_left_out(self, live: AbstractSet[Place]) -> bool:
        """Whether a statement stores nothing but what is not live."""
        return self.stored is not None and self.stored.isdisjoint(live)
