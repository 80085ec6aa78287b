"""Loop unswitching: loop-invariant conditions are tested in front of a loop, several in one test.

for k: if x < n: A        ->   if x < n: for k: A; B
       B                       else: for k: if x < n: A
                                            B
if x < n: A
if y < n: B               ->   if x < n and y < n: A; B
                               else: if x < n: A
                                     if y < n: B

so that the loops of a full tile have no conditions. What is only done at one index, `if x == 0`, is
left out of them, and tested for `x != 0`. An innermost loop is copied for any condition, also for
those of loads, so that all but the borders of a stencil is loaded without masks.
Statements outside of innermost loops are copied for conditions between loops; an `Alloc` also for
the conditions of the loops in it, so that each version of a tile has storage of its own, and that
of a full tile can stay in registers. An `Alloc` is entered only where something will be stored
elsewhere: if its elements were loaded conditionally, they would live in all loops around.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Op, Var, has_below, leaves_below, postorder
from ...poly.sets.simplify import FALSE
from ...records import replace
from ..ir.inequalities import as_known, compatible, is_at_one_index, negated, strongest
from ..ir.ir import (
    Alloc,
    Buffer,
    Call,
    For,
    If,
    Load,
    Module,
    Seq,
    Stmt,
    Stores,
    expressions,
    map_children,
    walk,
)
from ..ir.rewrite import map_buffers
from ..ir.simplify import assuming, chosen, conjuncts, general, load_guards, two_sided

MOST = 400
"""What has so many statements inside is not copied."""


def hoist_conditions(module: Module) -> Module:
    """Each loop twice, where it has such conditions: with all of them, and as it was."""
    hoister = _Hoister()
    functions = tuple(replace(f, body=hoister.stmt(f.body)) for f in module.functions)
    if functions == module.functions:
        return module
    return replace(module, functions=functions, buffers=(*module.buffers, *hoister.copies))


class _Hoister:
    def __init__(self) -> None:
        #: The storage of those versions of a tile that have conditions.
        self.copies: list[Buffer] = []
        #: The loops around, outermost first.
        self.around: list[Var] = []

    def stmt(self, stmt: Stmt) -> Stmt:
        """A statement with its loops in versions."""
        match stmt:
            case For(var=var, body=body, kind=kind):
                self.around.append(var)
                inside = self.stmt(body)
                loop = stmt if inside is body else replace(stmt, body=inside)
                self.around.pop()
                if not any(isinstance(s, For) for s in chosen(loop.body)):
                    return _versions(loop, self._invariant(loop))
                return loop if kind == "parallel" else _versions(loop, _cheap_choices(loop))
            case Alloc(body=body, buffers=buffers):
                alloc = replace(stmt, body=self.stmt(body))
                if any(b.kind == "stack" for b in buffers):
                    return self._storage(alloc)
                return _versions(alloc, _cheap_choices(alloc))
            case Seq(parts=parts):
                runs = groupby(_flat(map(self.stmt, parts)), _is_short)
                made = [x for short, run in runs for x in (self._joined(run) if short else run)]
                alike = [_together(list(run)) for _, run in groupby(made, _tile)]
                return alike[0] if len(alike) == 1 else Seq(tuple(alike))
            case _:
                return map_children(stmt, self.stmt)

    def _joined(self, run: Iterable[Stmt]) -> tuple[Stmt, ...]:
        """Several conditions, one after the other, tested at once."""
        parts = tuple(run)
        if len(parts) < 2:
            return parts
        made = Seq(parts)
        # What is done at one index of the loop that they are in is for `split_loops`.
        found = [c for c in self._invariant(made) if not self._is_in_this_loop(c)]
        return (_versions(made, found),)

    def _is_in_this_loop(self, condition: Node) -> bool:
        """Whether it is one index of the innermost loop around that a condition excludes."""
        excludes = isinstance(condition, Op) and condition.op == "ne"
        return excludes and bool(self.around) and self.around[-1] in leaves_below(condition)

    def _invariant(self, stmt: Stmt) -> list[Node]:
        """What depends on nothing inside of a statement, nor on what is in memory, and holds where
        most of it runs: parts of conditions, or that it is not at one index."""
        return list(_invariant(stmt, frozenset(), self.around))

    def _storage(self, stmt: Alloc) -> Stmt:
        """An `Alloc` for each version of a tile: that of full tiles can stay in registers. What is
        kept there for nothing to be stored is not computed."""
        needed = ix.conjunction(_needed(stmt))
        if needed is None:
            return self._tiles(stmt)
        inside = assuming(stmt, as_known(list(conjuncts(needed))))
        assert isinstance(inside, Alloc)
        return If(needed, self._tiles(inside))

    def _tiles(self, stmt: Alloc) -> Stmt:
        found = _choices(stmt)
        of_loops = _of_loops(stmt)
        inner = [x for x in found if x in of_loops]
        if 0 < len(strongest(inner)) < len(strongest(found)):
            # What only the statements in front of loops and behind have is tested there.
            made = _versions(stmt, inner)
            rest: Stmt = _choosing_behind(stmt, set(inner))
        else:
            made = _versions(stmt, found)
            rest = general(stmt, set(found))
        if not isinstance(made, If) or made.otherwise is None:
            return made
        return replace(made, otherwise=self._own(stmt, rest))

    def _own(self, stmt: Alloc, version: Stmt) -> Stmt:
        """A version of a statement with storage of its own."""
        renamed = {
            b: replace(b, name=f"{b.name}.border{len(self.copies)}", original=b.original or b)
            for b in stmt.buffers
            if b.kind == "stack" and not _is_called(stmt, b)
        }
        self.copies += renamed.values()
        return map_buffers(version, renamed)


def _choosing_behind(stmt: Alloc, known: set[Node]) -> Alloc:
    """A version of a tile that makes no choice by some conditions but in what is behind its loops:
    it may turn out to be one for all tiles."""
    parts = stmt.body.parts if isinstance(stmt.body, Seq) else (stmt.body,)
    last = max(k for k, x in enumerate(parts) if any(isinstance(s, For) for s in chosen(x)))
    made = (general(x, known) if k <= last else x for k, x in enumerate(parts))
    return replace(stmt, body=Seq(tuple(made)))


def _is_called(stmt: Stmt, buffer: Buffer) -> bool:
    """Whether the address of a buffer is passed to a callback."""
    return any(isinstance(s, Call) and buffer in s.buffers for s in walk(stmt))


def _needed(stmt: Alloc) -> list[Node]:
    """The conditions without which nothing is stored elsewhere than in an `Alloc`, as where the
    loops around what is accumulated there are empty."""
    effects = list(_effects(stmt.body, stmt.buffers, frozenset(), ()))
    common = effects[0] if effects else ()
    return [c for c in common if all(c in others for others in effects)]


def _effects(
    stmt: Stmt, own: Sequence[Buffer], inside: frozenset[Node], held: tuple[Node, ...]
) -> Iterator[tuple[Node, ...]]:
    """The conditions of each statement that does more than to store in buffers of its own: those
    that depend on nothing inside, nor on what is in memory."""
    match stmt:
        case Seq(parts=parts):
            for part in parts:
                yield from _effects(part, own, inside, held)
        case If(condition=condition, body=body, otherwise=otherwise):
            more = [c for c in conjuncts(condition) if not _depends(c, inside)]
            yield from _effects(body, own, inside, (*held, *more))
            if otherwise is not None:
                yield from _effects(otherwise, own, inside, held)
        case For(var=var, body=body):
            yield from _effects(body, own, inside | {var}, held)
        case Alloc(body=body, origin=origin, buffers=buffers):
            named = frozenset(x for x, _ in origin)
            yield from _effects(body, (*own, *buffers), inside | named, held)
        case Stores(stores=stores):
            if any(s.buffer not in own for s in stores):
                yield held
        case _:
            yield held


def _flat(parts: Iterable[Stmt]) -> Iterator[Stmt]:
    for part in parts:
        if isinstance(part, Seq):
            yield from _flat(part.parts)
        else:
            yield part


def _is_short(stmt: Stmt) -> bool:
    """Whether a statement is conditional, and has no loops."""
    return isinstance(stmt, If) and not any(isinstance(s, (For, Alloc)) for s in chosen(stmt))


def _tile(stmt: Stmt) -> frozenset[Node]:
    """The conditions under which a statement belongs to a full tile; none if it is the same in all
    tiles."""
    return frozenset(strongest(_choices(stmt)))


def _together(run: Sequence[Stmt]) -> Stmt:
    """The statements of one tile in two versions: that of a full tile, and that of any other."""
    if len(run) == 1:
        return run[0]
    made = Seq(tuple(run))
    return _versions(made, _choices(made))


def _versions(stmt: Stmt, found: Sequence[Node]) -> Stmt:
    """The statement where some conditions hold; else with choices for none of them."""
    found = compatible(list(dict.fromkeys(found)))
    if not found or sum(isinstance(s, Stores) for s in walk(stmt)) > MOST:
        return stmt
    fast = assuming(stmt, as_known(found))
    condition = ix.conjunction(strongest(found))
    if condition is None:
        return fast
    slow = general(stmt, set(found))
    if len(found) == 1 and found[0] in _two_sided(slow):
        # No choice: what is done otherwise is right there alone.
        return If(condition, fast, assuming(slow, {found[0]: FALSE}))
    return If(condition, fast, _versions(slow, _choices(slow)), choice=True)


def _two_sided(stmt: Stmt) -> frozenset[Node]:
    return two_sided(root for s in walk(stmt) for root in expressions(s))


def _choices(stmt: Stmt) -> list[Node]:
    """The conditions of the choices in a statement that depend on nothing inside of it, nor on
    what is in memory; but not of those that depend on it in part."""
    found: dict[Node, None] = {}

    def visit(stmt: Stmt, inside: frozenset[Node]) -> None:
        match stmt:
            case If(condition=condition) if stmt.choice:
                parts = list(conjuncts(condition))
                if not any(_depends(part, inside) for part in parts):
                    found.update(dict.fromkeys(parts))
            case If(body=body, otherwise=None):
                visit(body, inside)
            case For(var=var, body=body):
                visit(body, inside | {var})
            case Alloc(origin=origin, body=body):
                visit(body, inside | {x for x, _ in origin})
            case Seq(parts=parts):
                for part in parts:
                    visit(part, inside)

    visit(stmt, frozenset())
    return list(found)


def _cheap_choices(stmt: Stmt) -> list[Node]:
    """The conditions of choices that have no loops inside. A test in front of a loop costs little
    compared with the loop, so choices around loops stay where they are."""
    of_loops = _of_loops(stmt)
    return [x for x in _choices(stmt) if x not in of_loops]


def _of_loops(stmt: Stmt) -> set[Node]:
    """The conditions of the choices in a statement between loops."""
    found: set[Node] = set()
    for s in chosen(stmt):
        if isinstance(s, If) and s.choice and any(isinstance(x, For) for x in chosen(s.body)):
            found.update(conjuncts(s.condition))
    return found


def _depends(condition: Node, inside: frozenset[Node]) -> bool:
    return has_below(Load, condition) or not leaves_below(condition).isdisjoint(inside)


def _invariant(stmt: Stmt, inside: frozenset[Node], around: Sequence[Var]) -> Iterator[Node]:
    match stmt:
        case If(condition=condition, body=body, otherwise=otherwise):
            parts = [part for part in conjuncts(condition) if not _depends(part, inside)]
            elsewhere = None if stmt.choice else _elsewhere(parts, around)
            if elsewhere is None:
                yield from parts
                yield from _invariant(body, inside, around)
            else:
                yield elsewhere
            if otherwise is not None:
                yield from _invariant(otherwise, inside, around)
        case For(var=var, body=body):
            yield from _invariant(body, inside | {var}, around)
        case Alloc(origin=origin, body=body):
            named: frozenset[Node] = frozenset(x for x, _ in origin)
            yield from _invariant(body, inside | named, around)
        case Seq(parts=parts):
            for child in parts:
                yield from _invariant(child, inside, around)
        case Stores(stores=stores, lanes=lanes):
            own = inside if lanes is None else inside | {lanes.var}
            # Loads under conditions need masks, which full tiles are without.
            for guard in dict.fromkeys(g for s in stores for g in load_guards(s.value)):
                yield from (c for c in conjuncts(guard) if not _depends(c, own))


def _elsewhere(conditions: Iterable[Node], around: Sequence[Var]) -> Node | None:
    """That one of some conditions, which holds at one index of a loop only, does not hold: of
    several such conditions that on the outermost loops."""
    found = [c for c in conditions if isinstance(c, Op) and is_at_one_index(c)]
    depths = {c: depth for c in found if (depth := _depth(c, around))}
    return negated(min(depths, key=lambda c: depths[c])) if depths else None


def _depth(condition: Node, around: Sequence[Var]) -> int:
    """The number of the innermost loop that a condition is about, from 1 on; 0 if of none."""
    inside = set(postorder(condition))
    return max((k for k, var in enumerate(around, 1) if var in inside), default=0)
