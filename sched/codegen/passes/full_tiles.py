"""Tiles at borders are computed in full, in storage on the stack.

store T[8]:                             store T[8]:
  for k:                                  for k:
    if i < n: T[0] += A[i, k]               T[0] += A[i, k if i < n]
    if i + 1 < n: T[1] += A[i + 1, k]  ->   T[1] += A[min(i + 1, n - 1), k if i < n]
  if i < n: C[i] = T[0]                   if i < n: C[i] = T[0]
  if i + 1 < n: C[i + 1] = T[1]           if i + 1 < n: C[i + 1] = T[1]

A condition that all accesses to an element have in common says which elements are part of the tile
at all: where it does not hold, the element is not read, so anything may be written there. Without
it the accumulators of a tile at a border stay in registers, and no branch or masked store is left
in the loops that fill it. Loads of other buffers keep the condition as their guard, but for what
loops around the tile say already. Where several statements of an iteration load the same, the guard
is that any of them would: so one load is enough for them, as in a full tile. Where there is a load
of the row in front of it, and of that in front of this, ..., a row that is not there is the last
one that is: then a loop needs no test for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial, reduce
from itertools import count, product

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import (
    Node,
    has_below,
    integer,
    postorder,
    transform_all,
)
from ...records import replace
from ..ir.elements import Element, loaded_by
from ..ir.harmless import is_harmless, loads_of
from ..ir.inequalities import (
    Known,
    as_sums,
    comparison,
    follows,
    in_order,
    total,
    weakest,
)
from ..ir.ir import (
    Alloc,
    For,
    If,
    Lanes,
    Load,
    Module,
    Seq,
    Stmt,
    Stores,
    children,
    map_children,
    walk,
)
from ..ir.lane_number import LANE, Conditions, guard_parts, in_lanes, ordered, with_guard
from ..ir.rewrite import map_statements
from ..ir.simplify import conjuncts
from ..ir.tiles import Tiles
from ..ir.versions import is_as_free


def full_tiles(module: Module) -> Module:
    """Accesses to elements of tiles on the stack lose the conditions that all of them share."""
    bodies = [_full(f.body, ()) for f in module.functions]
    if all(body is f.body for body, f in zip(bodies, module.functions, strict=True)):
        return module
    pairs = zip(module.functions, bodies, strict=True)
    used = {b for body in bodies for s in walk(body) if isinstance(s, Alloc) for b in s.buffers}
    return replace(
        module,
        buffers=tuple(b for b in module.buffers if b.kind != "stack" or b in used),
        functions=tuple(replace(f, body=body) for f, body in pairs),
    )


def _full(stmt: Stmt, known: tuple[Node, ...]) -> Stmt:
    """A statement where some conditions hold."""
    match stmt:
        case For(var=var, lo=lo, hi=hi, body=body):
            inside = (ix.compare("ge", var, lo), ix.compare("lt", var, hi))
            made = _full(body, (*known, *inside))
            return stmt if made is body else replace(stmt, body=made)
        case If(condition=c, body=body, otherwise=otherwise):
            other = otherwise and _full(otherwise, known)
            if stmt.choice and other is not None and is_as_free(body, other):
                return other
            made = _full(body, (*known, *conjuncts(c)))
            if stmt.choice and other is not None:
                if is_as_free(made, other):
                    return other
                other = _failing(other, frozenset(conjuncts(c)))
            same = made is body and other is otherwise
            return stmt if same else replace(stmt, body=made, otherwise=other)
        case _:
            made = map_children(stmt, lambda child: _full(child, known))
            return _tile(made, known) if isinstance(made, Alloc) else made


def _failing(stmt: Stmt, conditions: frozenset[Node]) -> Stmt:
    """A statement without choices that are made where conditions hold that do not."""

    def rule(s: Stmt) -> Stmt:
        if isinstance(s, If) and s.choice and conditions <= frozenset(conjuncts(s.condition)):
            return s.otherwise or Seq(())
        return s

    return map_statements(stmt, rule)


def _tile(alloc: Alloc, known: Sequence[Node]) -> Stmt:
    tiles = Tiles(alloc)
    if not any(tiles.shared.values()):
        return alloc
    # What is read at the head of a loop may have changed in it.
    held = tuple(x for x in known if not _reads(x))
    return replace(alloc, body=_Filled(tiles, cache(partial(_known, held))).body(alloc.body))


def _known(held: tuple[Node, ...], lanes: int) -> Known:
    """What holds around a tile, and of the numbers of so many lanes."""
    return Known((*held, ix.compare("lt", LANE, integer(lanes))))


class _Filled:
    """The body of an allocation or a loop, with tiles in full."""

    def __init__(self, tiles: Tiles, known: Callable[[int], Known]) -> None:
        self.tiles = tiles
        self.known = known
        self._found: dict[Element, list[Node]] = {}
        #: By id, what statements need not meet, with the statement, which keeps its id.
        self._needless: dict[int, tuple[Stmt, Conditions]] = {}
        #: For loads of one element in one iteration, where each of them happens.
        self.loaded: dict[Element, dict[Conditions, None]] = {}
        #: What has become of the expressions of statements under the same conditions.
        self._made: dict[tuple[Conditions, Lanes | None, bool], dict[Node, Node]] = {}

    def body(self, stmt: Stmt) -> Stmt:
        """One iteration, in which loads of the same element find the same in memory."""
        inside = _Filled(self.tiles, self.known)
        inside._needless = self._needless
        inside._collect(stmt, frozenset())
        return inside._rewritten(stmt, frozenset())

    def _collect(self, stmt: Stmt, held: Conditions) -> None:
        match stmt:
            case Stores(lanes=lanes) if self._dropped(stmt):
                for load, where in loads_of(stmt, held):
                    self.loaded.setdefault(loaded_by(load, lanes), {})[where] = None
            case If(condition=c, body=body) if _is_plain(stmt):
                self._collect(body, held | frozenset(guard_parts(c, None)))
            case If() | For() | Alloc() | Stores():
                pass
            case _:
                for child in children(stmt):
                    self._collect(child, held)

    def _dropped(self, stmt: Stmt) -> Conditions:
        """The conditions that a statement need not meet; none where it could do harm."""
        kept = self._needless.get(id(stmt))
        if kept is None:
            kept = self._needless[id(stmt)] = stmt, self._not_needed(stmt)
        return kept[1]

    def _not_needed(self, stmt: Stmt) -> Conditions:
        if not isinstance(stmt, Stores) or not is_harmless(stmt):
            return frozenset()
        shared = []
        for s in stmt.stores:
            place = self.tiles.place(s.buffer, s.index, stmt.lanes)
            shared.append(self.tiles.shared.get(place) if place is not None else None)
        found = [x for x in shared if x is not None]
        return reduce(frozenset.__and__, found) if len(found) == len(shared) else frozenset()

    def _rewritten(self, stmt: Stmt, held: Conditions) -> Stmt:
        match stmt:
            case Stores():
                return self._stores(stmt, held)
            case If(condition=c, body=body) if _is_plain(stmt):
                parts = guard_parts(c, None)
                inside = self._rewritten(body, held | frozenset(parts))
                leaves = list(_leaves(body))
                free = frozenset(parts).intersection(*map(self._dropped, leaves))
                free |= {x for x in parts if all(self._says(leaf, x) for leaf in leaves)}
                rest = ix.conjunction(x for x in parts if x not in free) if free else c
                return inside if rest is None else replace(stmt, condition=rest, body=inside)
            case If() | For() | Alloc():
                return map_children(stmt, self.body)
            case _:
                return map_children(stmt, lambda x: self._rewritten(x, held))

    def _says(self, stmt: Stmt, condition: Node) -> bool:
        """Whether a statement stores tiles elsewhere, only in lanes for which a condition holds."""
        if not isinstance(stmt, Stores) or stmt.lanes is None or not is_harmless(stmt):
            return False
        loads = [n for s in stmt.stores for n in postorder(s.value) if isinstance(n, Load)]
        if any(self.tiles.place(n.buffer, n.index, stmt.lanes) is None for n in loads):
            return False
        first = ix.compare("ge", LANE, ix.ZERO)
        return all(
            s.guard is not None and follows(condition, (*guard_parts(s.guard, stmt.lanes), first))
            for s in stmt.stores
        )

    def _stores(self, stmt: Stores, held: Conditions) -> Stores:
        dropped = self._dropped(stmt)
        made = []
        for s in stmt.stores:
            own = held | frozenset(guard_parts(s.guard, stmt.lanes))

            def rule(node: Node, own: Conditions = own) -> Node:
                if not isinstance(node, Load):
                    return node
                place = self.tiles.place(node.buffer, node.index, stmt.lanes)
                if place in self.tiles.shared:  # it is there, whatever it holds
                    return with_guard(node, self._rest(node, own, stmt.lanes), stmt.lanes)
                return self._guarded(node, own, stmt.lanes) if dropped else node

            done = self._made.setdefault((own, stmt.lanes, bool(dropped)), {})
            (value,) = transform_all((s.value,), rule, done, only=Load)
            kept = [x for x in guard_parts(s.guard, stmt.lanes) if x not in dropped]
            guard = in_lanes(ix.conjunction(kept), stmt.lanes)
            made.append(replace(s, value=value, guard=guard if dropped else s.guard))
        return replace(stmt, stores=tuple(made))

    def _rest(self, load: Load, held: Conditions, lanes: Lanes | None) -> list[Node]:
        """What a load's guard says beyond that its statement runs."""
        return [x for x in guard_parts(load.guard, lanes) if x not in held]

    def _guarded(self, load: Load, held: Conditions, lanes: Lanes | None) -> Node:
        """A load under the conditions of all statements that have it, which may have lost some."""
        found = loaded_by(load, lanes)
        parts, rest = self._conditions(found), self._rest(load, held, lanes)
        if not rest:  # else 0 is what it gives where its own guard does not hold
            for part, axis in product(parts, range(len(load.index))):
                last = self._last(found, axis, part)
                if last is not None:
                    index = list(load.index)
                    index[axis] = ix.minimum((index[axis], last))
                    load = Load(load.buffer, tuple(index), None, load.type)
                    return with_guard(load, [x for x in parts if x is not part], lanes)
        return with_guard(load, [*parts, *(x for x in rest if x not in parts)], lanes)

    def _conditions(self, found: Element) -> list[Node]:
        """Where any statement loads an element, beyond what is known."""
        if found not in self._found:
            known = self.known(found.lanes)
            each = ([x for x in ordered(t) if not known.implies(x)] for t in self.loaded[found])
            terms = weakest(each)
            common = [x for x in terms[0] if all(x in t for t in terms)]
            others = [ix.conjunction(x for x in t if x not in common) for t in terms]
            if None not in others:
                common.append(ix.disjunction(x for x in others if x is not None))
            self._found[found] = common
        return self._found[found]

    def _last(self, found: Element, axis: int, part: Node) -> Node | None:
        """The last index along an axis at which a condition of a load holds, where the tile loads
        what is there too: each element up to there, under this condition of its own, and the first
        of them wherever the tile is. None where that is not so."""
        sums, (terms, at) = as_sums(part), found.index[axis]
        if sums is None or len(sums) != 1:
            return None
        ((room, less),) = sums
        if LANE in dict(terms) or LANE in dict(room):
            return None
        known = self.known(found.lanes)
        rest = {x for x in self._conditions(found) if x is not part}
        for steps in count(1):
            before = found.further(axis, -steps)
            if before not in self.loaded:
                return None
            wanted, own = comparison(room, less + steps), set(self._conditions(before))
            if known.implies(wanted):
                # What has cancelled out counts 0 times.
                last = {x: dict(terms).get(x, 0) + dict(room).get(x, 0) for x, _ in {*terms, *room}}
                return total(in_order(last), at + less) if own == rest else None
            if own != {*rest, wanted}:
                return None
        return None


def _is_plain(stmt: If) -> bool:
    """Whether a condition has no alternative and reads no memory: what is read there may exist
    under the conditions around it only, which then have to stay."""
    return stmt.otherwise is None and not _reads(stmt.condition)


def _reads(*nodes: Node) -> bool:
    return has_below(Load, *nodes)


def _leaves(stmt: Stmt) -> Iterator[Stmt]:
    """The statements that an `If` without an alternative guards, but for such inside it."""
    match stmt:
        case If(body=body) if _is_plain(stmt):
            yield from _leaves(body)
        case If() | For() | Alloc():
            yield stmt
        case _ if children(stmt):
            for child in children(stmt):
                yield from _leaves(child)
        case _:
            yield stmt
