"""Vector statements that come from unrolled loops become one statement, in two cases.

Their elements interleave, as those of the channels of pixels or of the rows of a panel do: full
vectors are stored.

lanes v: P[3 * v] = x            lanes v: P[3 * v] = x, P[3 * v + 1] = y, P[3 * v + 2] = z
lanes v: P[3 * v + 1] = y   ->
lanes v: P[3 * v + 2] = z

They are copies of a long chain of operators, each of which waits for the one before: the first
operator of all copies is computed, then the second one, and so on. A processor looks some hundred
instructions ahead, which is too few for the copies one after the other.

lanes v: A[v] = f(B[v])              lanes v: A[v] = f(B[v]), A[v + 8] = f(B[v + 8])
lanes v: A[v + 8] = f(B[v + 8])  ->

None of the values may depend on what is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import takewhile
from typing import TypeGuard

from ...lang.nodes.nodes import Node, Op, postorder, replaced_all
from ...poly.sets.lanes import MOST_INTERLEAVED, stride
from ...poly.sets.linear import expanded
from ...records import dataclass, replace
from ..ir.ir import Buffer, Lanes, Load, Module, Seq, Stmt, Store, Stores, expressions
from ..ir.rewrite import map_module, map_tree_expressions

MOST_COPIES = 4
"""Copies of a chain that are computed together: the operands of all are in registers."""
LONG = 12
"""Operators of a chain for which copies are joined."""


def join_stores(module: Module) -> Module:
    """Runs of vector statements, as one statement each."""
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


def _run(stmts: Sequence[Stmt], at: int) -> Sequence[Stmt]:
    """A statement, with those after it that are joined with it."""
    for run in (_elements(stmts, at), _copies(stmts, at)):
        if len(run) > 1 and not _reads_what_it_stores(run):
            return run
    return stmts[at : at + 1]


def _is_plain(stmt: Stmt) -> TypeGuard[Stores]:
    """Whether all lanes of a statement store one element each, in any order."""
    if not isinstance(stmt, Stores) or stmt.lanes is None or len(stmt.stores) != 1:
        return False
    (store,), lanes = stmt.stores, stmt.lanes
    return store.guard is None and not store.atomic and not lanes.folds and lanes.count > 1


def _reads_what_it_stores(run: Sequence[Stmt]) -> bool:
    stored = {s.buffer for stmt in run if isinstance(stmt, Stores) for s in stmt.stores}
    nodes = postorder(*(x for stmt in run for x in expressions(stmt)))
    return any(isinstance(n, Load) and n.buffer in stored for n in nodes)


# elements that interleave -------------------------------------------------------------------------
@dataclass(frozen=True)
class _Place:
    """Which elements a statement stores in its lanes: those at `start`, `start` + step, and so on
    from the element that `terms` say, which are the same in all lanes."""

    buffer: Buffer
    lanes: Lanes
    step: int
    terms: frozenset[tuple[Node, int]]
    start: int


def _place(stmt: Stmt, var: Node | None = None) -> _Place | None:
    """The place of a statement, `var` in place of its lane; None where lanes do not interleave."""
    if not _is_plain(stmt):
        return None
    (store,), lanes = stmt.stores, stmt.lanes
    assert lanes is not None
    step = stride(store.index[0], lanes.var, lanes.step)
    interleave = step is not None and 2 <= step <= MOST_INTERLEAVED
    if step is None or not interleave or store.stream or store.buffer.strided:
        return None
    index = store.index[0]
    if var is not None:
        (index,) = replaced_all((index,), {lanes.var: var})
    terms, start = expanded(index)
    return _Place(store.buffer, lanes, step, frozenset(terms.items()), start)


def _elements(stmts: Sequence[Stmt], at: int) -> Sequence[Stmt]:
    """The statements from one on that store all elements between its own."""
    first = _place(stmts[at])
    if first is None:
        return ()
    run = stmts[at : at + first.step]
    starts: set[int] = set()
    for stmt in run:
        place = _place(stmt, first.lanes.var)
        if place is None or not _beside(place, first):
            return ()
        starts.add(place.start)
    return run if len(starts) == first.step > max(starts) - min(starts) else ()


def _beside(place: _Place, first: _Place) -> bool:
    """Whether statements store in the same buffer, lane beside lane."""
    lanes = replace(place.lanes, var=first.lanes.var)
    return replace(place, lanes=lanes, start=first.start) == first


# copies of a chain --------------------------------------------------------------------------------
def _copies(stmts: Sequence[Stmt], at: int) -> Sequence[Stmt]:
    """The statements from one on that are its copies, if it is a long chain."""
    first = stmts[at]
    if not _is_plain(first) or _longest_chain(first.stores[0].value) < LONG:
        return ()
    return list(takewhile(lambda x: _is_copy(x, first), stmts[at : at + MOST_COPIES]))


def _is_copy(stmt: Stmt, first: Stores) -> bool:
    """Whether a statement does the same operators with other elements, in as many lanes."""
    if not _is_plain(stmt):
        return False
    assert stmt.lanes is not None
    assert first.lanes is not None
    lanes = replace(stmt.lanes, var=first.lanes.var)
    mine, others = stmt.stores[0], first.stores[0]
    return (
        lanes == first.lanes
        and mine.buffer is others.buffer
        and _operators(mine.value) == _operators(others.value)
    )


def _operators(value: Node) -> list[object]:
    """The operators of a value in the order of their computation, and the buffers that are loaded
    from, without those that compute where an element is: they differ between copies."""
    return [n.op if isinstance(n, Op) else getattr(n, "buffer", None) for n in _computed(value)]


def _longest_chain(value: Node) -> int:
    """How many operators of a value wait for each other, one after the other."""
    length: dict[Node, int] = {}
    for n in postorder(value):
        below = (length[a] for a in n.args) if isinstance(n, Op) else ()
        length[n] = max(below, default=0) + isinstance(n, Op)
    return length[value]


def _computed(value: Node) -> Iterator[Node]:
    """The operators of a value, and its loads, but not where these are; operands first."""
    done: set[Node] = set()
    waiting: list[tuple[Node, bool]] = [(value, False)]
    while waiting:
        node, ready = waiting.pop()
        if ready:
            yield node
        elif node not in done:
            done.add(node)
            waiting.append((node, True))
            if isinstance(node, Op):
                waiting += ((a, False) for a in reversed(node.operands))


# one statement ------------------------------------------------------------------------------------
def _as_one(run: Sequence[Stmt]) -> Stores:
    """The statements of a run, with the lanes of the first, by the elements they store."""
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
    if _elements(run, 0):
        stores.sort(key=lambda s: expanded(s.index[0])[1])
    return Stores(tuple(stores), lanes)


def _renamed(var: Node, name: Node, node: Node) -> Node:
    return name if node is var else node
