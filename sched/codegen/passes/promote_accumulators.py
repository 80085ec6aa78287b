"""Elements that a loop accumulates are kept on the stack while it runs.

for k in [lo, hi):              if lo < hi:
  if i < n: C[i] += A[i, k]       store T[1]:
                            ->      if i < n: T[0] = C[i]
                                    for k in [lo, hi):
                                      if i < n: T[0] += A[i, k]
                                    if i < n: C[i] = T[0]

LLVM does this for elements that are stored in every iteration, if it knows that they are different
ones. It does not where their distance depends on sizes, as that of two rows does: to LLVM the rows
may overlap. So those of a full tile of several rows are kept here too. Behind this, `full_tiles`
removes the conditions in the loop, so that a tile at a border stays in registers, too.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import combinations, pairwise

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Var, integer, leaves_below, postorder, transform_all
from ...records import dataclass, replace
from ..ir.elements import Element, element_at
from ..ir.ir import (
    Alloc,
    Buffer,
    For,
    If,
    Lanes,
    Load,
    Module,
    Prefetch,
    Seq,
    Stmt,
    Store,
    Stores,
    map_children,
    walk,
)
from ..ir.lane_number import LANE, Conditions, guard_parts
from ..ir.rewrite import map_statements

MOST = 64
"""So many vectors are kept on the stack for one loop: more would be in no registers."""


def promote_accumulators(module: Module) -> Module:
    """Each innermost loop that stores to the same elements in every iteration."""
    promoter = _Promoter()
    functions = tuple(replace(f, body=promoter.stmt(f.body)) for f in module.functions)
    if functions == module.functions:
        return module
    return replace(module, functions=functions, buffers=(*module.buffers, *promoter.buffers))


@dataclass(frozen=True)
class _Access:
    """A load, or a store, as it is written: where it is, and under which conditions."""

    buffer: Buffer
    index: tuple[Node, ...]
    lanes: Lanes | None
    held: tuple[Node, ...]
    guard: Node | None
    is_store: bool

    @property
    def element(self) -> Element:
        return element_at(self.buffer, self.index, self.lanes)

    @property
    def conditions(self) -> Conditions:
        around = (x for c in self.held for x in guard_parts(c, None))
        return frozenset([*around, *guard_parts(self.guard, self.lanes)])

    def copied(self, to: Buffer, at: tuple[Node, ...], back: bool) -> Stmt:
        """The element stored where it is kept, or back from there."""
        kept, guard = (to, at), self.guard
        source, target = (kept, (self.buffer, self.index))[:: 1 if back else -1]
        lanes = None if self.lanes is None else replace(self.lanes, folds=False)
        value = Load(source[0], source[1], guard, self.buffer.dtype)
        stored = Stores((Store(*target, value, guard),), lanes)
        condition = ix.conjunction(self.held)
        return stored if condition is None else If(condition, stored)


@dataclass
class _Promoter:
    buffers: list[Buffer] = field(default_factory=list)

    def stmt(self, stmt: Stmt) -> Stmt:
        """All loops of a statement."""
        match stmt:
            case For(kind="serial", body=body) if (
                _may_accumulate(body) and (found := _accesses(body)) is not None
            ):
                return self._promoted(stmt, found)
            case _:
                return map_children(stmt, self.stmt)

    def _promoted(self, loop: For, found: Sequence[_Access]) -> Stmt:
        stored = dict.fromkeys(a.buffer for a in found if a.is_store)
        if _reads((loop.lo, loop.hi), stored):
            return loop
        conditional = any(a.conditions for a in found)
        kept: dict[Element, _Access] = {}
        for buffer in stored:
            elements = _elements([a for a in found if a.buffer is buffer], loop.var)
            if conditional or not _at_known_distances(buffer, list(elements)):
                kept |= elements
        if not 0 < len(kept) <= MOST:
            return loop
        made = {b: self._buffer(b, kept) for b in dict.fromkeys(e.buffer for e in kept)}
        places = {e: (made[e.buffer], integer(k)) for k, e in enumerate(kept)}

        def place(buffer: Buffer, index: Sequence[Node], lanes: Lanes | None) -> Place | None:
            element = element_at(buffer, index, lanes)
            if element not in places:
                return None
            to, row = places[element]
            return to, (row, _lane(element, lanes))

        body = map_statements(loop.body, lambda s: _rewritten(s, place))
        begin, end = [], []
        for a in kept.values():
            at = place(a.buffer, a.index, a.lanes)
            assert at is not None
            begin.append(a.copied(*at, back=False))
            end += [a.copied(*at, back=True)] if a.is_store else []
        parts = (*begin, replace(loop, body=body), *end)
        whole = Alloc(tuple(made.values()), (), Seq(parts))
        return If(ix.compare("lt", loop.lo, loop.hi), whole)

    def _buffer(self, of: Buffer, kept: Mapping[Element, object]) -> Buffer:
        extents = integer(len(kept)), integer(max(e.lanes for e in kept))
        name = f"{of.name}.promoted{len(self.buffers)}"
        self.buffers.append(Buffer(name, of.dtype, extents, (ix.ZERO, ix.ZERO), "stack"))
        return self.buffers[-1]


Place = tuple[Buffer, tuple[Node, ...]]


def _may_accumulate(body: Stmt) -> bool:
    """Whether a body stores anything that could be kept on the stack, where most is already that
    loops of tiles store."""
    return any(
        isinstance(s, Stores) and any(_may_be_kept(x.buffer) for x in s.stores) for s in walk(body)
    )


def _may_be_kept(buffer: Buffer) -> bool:
    return buffer.kind != "stack" and buffer.fold is None


def _accesses(body: Stmt) -> list[_Access] | None:
    """All loads and stores of a body of nothing but statements that may be conditional; None for
    others."""
    found: list[_Access] = []

    def visit(stmt: Stmt, held: tuple[Node, ...]) -> bool:
        match stmt:
            case Seq(parts=parts):
                return all(visit(part, held) for part in parts)
            case If(condition=c, body=inside, otherwise=None) if not _reads((c,)):
                return visit(inside, (*held, c))
            case Stores(lanes=lanes) if lanes is None or not _reads((lanes.lo,)):
                found.extend(_of_stores(stmt, held))
                return not any(s.atomic or s.stream for s in stmt.stores)
            case Prefetch(index=index):
                return not _reads(index)
        return False

    return found if visit(body, ()) else None


def _of_stores(stmt: Stores, held: tuple[Node, ...]) -> Iterator[_Access]:
    for s in stmt.stores:
        yield _Access(s.buffer, s.index, stmt.lanes, held, s.guard, is_store=True)
        guard = () if s.guard is None else (s.guard,)
        for node in postorder(*s.index, s.value, *guard):
            if isinstance(node, Load):
                guards = [g for g in (s.guard, node.guard) if g is not None]
                both = ix.conjunction(guards)
                yield _Access(node.buffer, node.index, stmt.lanes, held, both, is_store=False)


def _elements(accesses: Sequence[_Access], var: Var) -> dict[Element, _Access]:
    """The elements of a buffer that are accessed, each with its first store, or its first load;
    none where they or their conditions change, may be the same ones, or are not always the same."""
    buffer = accesses[0].buffer
    if not _may_be_kept(buffer):
        return {}
    found: dict[Element, _Access] = {}
    for a in sorted(accesses, key=lambda a: not a.is_store):
        first = found.setdefault(a.element, a)
        lanes = () if a.lanes is None else (a.lanes.lo,)
        guard = () if a.guard is None else (a.guard,)
        changing = list(postorder(*a.index, *lanes, *a.held, *guard))
        if a.conditions != first.conditions or var in changing or _reads(changing):
            return {}
        if not _is_plain(a.element, a.conditions):
            return {}
    return found if all(a.is_beside(b) for a, b in combinations(found, 2)) else {}


def _at_known_distances(buffer: Buffer, elements: Sequence[Element]) -> bool:
    """Whether the distances of elements in memory are constants, which LLVM knows then."""
    fixed = set()
    if not buffer.strided:
        for axis in reversed(buffer.order):
            fixed.add(axis)
            if ix.constant(buffer.pitches[axis]) is None:
                break
    return all(
        terms == others and (first == second or axis in fixed)
        for a, b in pairwise(elements)
        for axis, ((terms, first), (others, second)) in enumerate(
            zip(a.index, b.index, strict=True)
        )
    )


def _is_plain(element: Element, conditions: Conditions) -> bool:
    """Whether each lane has the next element of a row, or all have the same one, wherever any lane
    accesses it."""
    steps = element.steps
    if steps is None or not {*steps} <= {0, 1} or sum(steps) > 1:
        return False
    return any(steps) or LANE not in leaves_below(*conditions)


def _lane(element: Element, lanes: Lanes | None) -> Node:
    """Where a lane finds its element in a row of the storage."""
    moves = lanes is not None and any(element.steps or ())
    return ix.sub(lanes.var, lanes.lo) if lanes is not None and moves else ix.ZERO


def _rewritten(stmt: Stmt, place: Callable[..., Place | None]) -> Stmt:
    """A statement that accesses what is kept on the stack there."""
    if not isinstance(stmt, Stores):
        return stmt

    def rule(node: Node) -> Node:
        if not isinstance(node, Load):
            return node
        at = place(node.buffer, node.index, stmt.lanes)
        return node if at is None else Load(*at, node.guard, node.buffer.dtype)

    made = []
    for s in stmt.stores:
        buffer, index = place(s.buffer, s.index, stmt.lanes) or (s.buffer, s.index)
        guard = () if s.guard is None else (s.guard,)
        value, *rest = transform_all((s.value, *guard, *index), rule, {})
        known = rest.pop(0) if guard else None
        made.append(replace(s, buffer=buffer, index=tuple(rest), value=value, guard=known))
    return replace(stmt, stores=tuple(made))


def _reads(nodes: Sequence[Node], buffers: Container[Buffer] | None = None) -> bool:
    """Whether expressions read memory, or some buffers."""
    loads = (n for n in postorder(*nodes) if isinstance(n, Load))
    return any(buffers is None or n.buffer in buffers for n in loads)
