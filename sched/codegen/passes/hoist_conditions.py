"""Loop unswitching: loop-invariant conditions are tested in front of a loop, several in one test.

for k: if x < n: A        ->   if x < n: for k: A; B
       B                       else: for k: if x < n: A
                                            B
if x < n: A
if y < n: B               ->   if x < n and y < n: A; B
                               else: if x < n: A
                                     if y < n: B

so that the loops of a full tile have no conditions. An innermost loop is copied for any condition.
Statements outside of innermost loops are copied for conditions between loops; an `Alloc` also for
the conditions of the loops in it, so that each version of a tile has storage of its own, and that
of a full tile can stay in registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, postorder
from ...poly.sets.simplify import TRUE
from ..ir.inequalities import compatible, strongest
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
    map_children,
    walk,
)
from ..ir.rewrite import map_buffers
from ..ir.simplify import assuming, chosen, conjuncts, general

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

    def stmt(self, stmt: Stmt) -> Stmt:
        """A statement with its loops in versions."""
        match stmt:
            case For(body=body, kind=kind):
                loop = replace(stmt, body=self.stmt(body))
                if not any(isinstance(s, For) for s in chosen(loop.body)):
                    return _versions(loop, list(_invariant(loop, frozenset())))
                return loop if kind == "parallel" else _versions(loop, _cheap_choices(loop))
            case Alloc(body=body, buffers=buffers):
                alloc = replace(stmt, body=self.stmt(body))
                if any(b.kind == "stack" for b in buffers):
                    return self._storage(alloc)
                return _versions(alloc, _cheap_choices(alloc))
            case Seq(parts=parts):
                short = groupby(_flat(map(self.stmt, parts)), _is_short)
                made = [x for is_short, run in short for x in (_joined(run) if is_short else run)]
                alike = [_together(list(run)) for _, run in groupby(made, _tile)]
                return alike[0] if len(alike) == 1 else Seq(tuple(alike))
            case _:
                return map_children(stmt, self.stmt)

    def _storage(self, stmt: Alloc) -> Stmt:
        """An `Alloc` for each version of a tile: that of full tiles can stay in registers."""
        found = _choices(stmt)
        made = _versions(stmt, found)
        if not isinstance(made, If) or made.otherwise is None:
            return made
        other = self._own(stmt, made.otherwise)
        of_loops = _of_loops(stmt)
        inner = [x for x in found if x in of_loops]
        if 0 < len(strongest(inner)) < len(strongest(found)):
            # A third version, in which only the statements in front of loops and behind have some.
            rest = general(stmt, set(found).difference(inner))
            some = _versions(rest, inner)
            if isinstance(some, If):
                other = replace(some, body=self._own(stmt, some.body), otherwise=other)
        return replace(made, otherwise=other)

    def _own(self, stmt: Alloc, version: Stmt) -> Stmt:
        """A version of a statement with storage of its own."""
        renamed = {
            b: replace(b, name=f"{b.name}.border{len(self.copies)}", original=b.original or b)
            for b in stmt.buffers
            if b.kind == "stack" and not _is_called(stmt, b)
        }
        self.copies += renamed.values()
        return map_buffers(version, renamed)


def _is_called(stmt: Stmt, buffer: Buffer) -> bool:
    """Whether the address of a buffer is passed to a callback."""
    return any(isinstance(s, Call) and buffer in s.buffers for s in walk(stmt))


def _flat(parts: Iterable[Stmt]) -> Iterator[Stmt]:
    for part in parts:
        if isinstance(part, Seq):
            yield from _flat(part.parts)
        else:
            yield part


def _is_short(stmt: Stmt) -> bool:
    """Whether a statement is conditional, and has no loops."""
    return isinstance(stmt, If) and not any(isinstance(s, (For, Alloc)) for s in chosen(stmt))


def _joined(run: Iterable[Stmt]) -> tuple[Stmt, ...]:
    """Several conditions, one after the other, tested at once."""
    parts = tuple(run)
    if len(parts) < 2:
        return parts
    made = Seq(parts)
    return (_versions(made, list(_invariant(made, frozenset()))),)


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
    found = compatible(found)
    if not found or sum(isinstance(s, Stores) for s in walk(stmt)) > MOST:
        return stmt
    fast = assuming(stmt, dict.fromkeys(found, TRUE))
    condition = ix.conjunction(strongest(found))
    if condition is None:
        return fast
    return If(condition, fast, general(stmt, set(found)), choice=True)


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
    return any(n in inside or isinstance(n, Load) for n in postorder(condition))


def _invariant(stmt: Stmt, inside: frozenset[Node]) -> Iterator[Node]:
    """Parts of conditions that depend on nothing inside of a loop, nor on what is in memory."""
    match stmt:
        case If(condition=condition, body=body, otherwise=otherwise):
            for part in conjuncts(condition):
                if not _depends(part, inside):
                    yield part
            yield from _invariant(body, inside)
            if otherwise is not None:
                yield from _invariant(otherwise, inside)
        case For(var=var, body=body):
            yield from _invariant(body, inside | {var})
        case Alloc(origin=origin, body=body):
            named: frozenset[Node] = frozenset(x for x, _ in origin)
            yield from _invariant(body, inside | named)
        case Seq(parts=parts):
            for child in parts:
                yield from _invariant(child, inside)
