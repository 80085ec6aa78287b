"""Vector statements whose elements interleave become one statement, which stores full vectors.

lanes v: P[3 * v] = x            lanes v: P[3 * v] = x, P[3 * v + 1] = y, P[3 * v + 2] = z
lanes v: P[3 * v + 1] = y   ->
lanes v: P[3 * v + 2] = z

They come from loops over the channels of a pixel, or over the rows of a panel, that are unrolled
inside of a vector loop. None of the values may depend on what is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ...lang.nodes.nodes import Node, postorder, replaced_all
from ...poly.sets.lanes import MOST_INTERLEAVED, stride
from ...poly.sets.linear import expanded
from ..ir.ir import Buffer, Lanes, Load, Module, Seq, Stmt, Store, Stores, expressions
from ..ir.rewrite import map_module, map_tree_expressions


def join_stores(module: Module) -> Module:
    """Runs of vector statements that together store consecutive elements, as one each."""
    return map_module(module, _joined)


def _joined(stmt: Stmt) -> Stmt:
    if not isinstance(stmt, Seq):
        return stmt
    parts = list(_flat(stmt))
    found: list[Stmt] = []
    first = 0
    while first < len(parts):
        run = _run(parts, first)
        found.append(_as_one(run) if len(run) > 1 else parts[first])
        first += len(run)
    if len(found) == len(parts):
        return stmt
    return found[0] if len(found) == 1 else Seq(tuple(found))


def _flat(stmt: Stmt) -> Iterator[Stmt]:
    if isinstance(stmt, Seq):
        for part in stmt.parts:
            yield from _flat(part)
    else:
        yield stmt


@dataclass(frozen=True)
class _Place:
    """Which elements a statement stores in its lanes: those at `start`, `start` + step, and so on
    from the element that `terms` say, which are the same in all lanes."""

    buffer: Buffer
    lanes: Lanes
    step: int
    terms: frozenset[tuple[Node, int]]
    start: int

    @classmethod
    def of(cls, stmt: Stmt, var: Node | None = None) -> _Place | None:
        """The place of a statement that can be joined with others; `var` in place of its lane."""
        if not isinstance(stmt, Stores) or stmt.lanes is None or len(stmt.stores) != 1:
            return None
        (store,), lanes = stmt.stores, stmt.lanes
        plain = store.guard is None and not (store.stream or store.atomic or store.buffer.strided)
        if not plain or lanes.folds or lanes.count == 1:
            return None
        step = stride(store.index[0], lanes.var, lanes.step)
        if step is None or not 2 <= step <= MOST_INTERLEAVED:
            return None
        index = store.index[0] if var is None else _at(store.index[0], lanes.var, var)
        terms, start = expanded(index)
        return cls(store.buffer, lanes, step, frozenset(terms.items()), start)


def _run(stmts: Sequence[Stmt], at: int) -> Sequence[Stmt]:
    """A statement, with those after it that store all elements between its own."""
    alone = stmts[at : at + 1]
    first = _Place.of(stmts[at])
    if first is None:
        return alone
    run = stmts[at : at + first.step]
    starts: set[int] = set()
    for stmt in run:
        place = _Place.of(stmt, first.lanes.var)
        if place is None or not _beside(place, first):
            return alone
        starts.add(place.start)
    if len(starts) < first.step or max(starts) - min(starts) >= first.step:
        return alone
    nodes = postorder(*(x for stmt in run for x in expressions(stmt)))
    reads = any(isinstance(n, Load) and n.buffer is first.buffer for n in nodes)
    return alone if reads else run


def _beside(place: _Place, first: _Place) -> bool:
    """Whether statements store in the same buffer, lane beside lane."""
    lanes = replace(place.lanes, var=first.lanes.var)
    return replace(place, lanes=lanes, start=first.start) == first


def _as_one(run: Sequence[Stmt]) -> Stores:
    """The statements of a run, with the lanes of the first."""
    lanes: Lanes | None = None
    stores: list[Store] = []
    for stmt in run:
        assert isinstance(stmt, Stores)
        assert stmt.lanes is not None
        lanes = lanes or stmt.lanes
        renamed = partial(_renamed, stmt.lanes.var, lanes.var)
        moved = map_tree_expressions(Stores(stmt.stores), renamed)
        assert isinstance(moved, Stores)
        stores += moved.stores
    stores.sort(key=lambda s: expanded(s.index[0])[1])
    return Stores(tuple(stores), lanes)


def _renamed(var: Node, name: Node, node: Node) -> Node:
    return name if node is var else node


def _at(node: Node, var: Node, value: Node) -> Node:
    return node if var is value else replaced_all((node,), {var: value})[0]
