"""Copies of an unrolled loop become a loop again where a tile is at a border.

if i + 3 < n: A[i]; A[i + 1]; A[i + 2]; A[i + 3]
else: if i < n: A[i]                                    else: for r in [0, 4):
      if i + 1 < n: A[i + 1]                  ->                if i + r < n: A[i + r]
      if i + 2 < n: A[i + 2]
      if i + 3 < n: A[i + 3]

A tile at a border runs once a row, and the code for it is several times that of a full tile, each
copy with conditions of its own: LLVM would spend most of its time there. Copies are left alone that
keep anything in registers: they load what they store, or access storage on the stack around a loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Var, integer, postorder
from ...records import replace
from ..ir.copies import first_copies
from ..ir.ir import (
    Alloc,
    Buffer,
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

FEWEST = 4
"""Fewer copies are no loop."""


def roll_borders(module: Module) -> Module:
    """The alternatives of choices with loops in the place of many copies."""
    roller = _Roller()
    functions = tuple(replace(f, body=roller.stmt(f.body, False)) for f in module.functions)
    return module if functions == module.functions else replace(module, functions=functions)


class _Roller:
    def __init__(self) -> None:
        self.loops = 0
        #: Storage on the stack that may be in registers: that is added to, or of tiles with loops.
        self.in_registers: frozenset[Buffer] = frozenset()

    def stmt(self, stmt: Stmt, at_border: bool) -> Stmt:
        """A statement; `at_border` is whether it is the alternative of a choice."""
        match stmt:
            case If(body=body, otherwise=otherwise) if stmt.choice and otherwise is not None:
                made = self.stmt(body, at_border), self.stmt(otherwise, True)
                same = made[0] is body and made[1] is otherwise
                return stmt if same else replace(stmt, body=made[0], otherwise=made[1])
            case Alloc(body=body, buffers=buffers):
                outside = self.in_registers
                on_stack = frozenset(b for b in buffers if b.kind == "stack")
                if any(isinstance(s, For) for s in walk(body)):
                    self.in_registers |= on_stack
                else:
                    self.in_registers |= on_stack & _accumulated(body)
                made_body = self.stmt(body, at_border)
                self.in_registers = outside
                return stmt if made_body is body else replace(stmt, body=made_body)
            case Seq(parts=parts) if at_border:
                found = tuple(self._parts([self.stmt(p, True) for p in parts]))
                if len(found) == 1:
                    return found[0]
                same = len(found) == len(parts) and all(
                    a is b for a, b in zip(found, parts, strict=True)
                )
                return stmt if same else Seq(found)
            case _:
                return map_children(stmt, lambda s: self.stmt(s, at_border))

    def _parts(self, parts: Sequence[Stmt]) -> Iterator[Stmt]:
        """Some statements, with loops for those that are copies of each other."""
        at = 0
        while at < len(parts):
            rolled, count = self._rolled(parts[at:])
            yield rolled
            at += count

    def _rolled(self, parts: Sequence[Stmt]) -> tuple[Stmt, int]:
        """The loop over the first few statements, and how many these are; the first one alone
        where they are not copies."""
        alone = parts[0], 1
        if len(parts) < FEWEST or not self._may_roll(parts[0]):
            return alone
        var = Var(f"copy#{self.loops + 1}")
        found = first_copies(parts, var)
        if found is None or found[1] < FEWEST:
            return alone
        self.loops += 1
        body, count = found
        return For(var, ix.ZERO, integer(count), 1, "serial", body, "copy"), count

    def _may_roll(self, stmt: Stmt) -> bool:
        """Whether it has stores and conditions only, and neither what may be in registers, nor
        what one copy may leave there for the next one."""
        if not all(isinstance(s, (If, Seq, Stores)) for s in walk(stmt)):
            return False
        loaded, stored = _touched(stmt)
        return stored.isdisjoint(loaded) and self.in_registers.isdisjoint(stored | loaded)


def _touched(stmt: Stmt) -> tuple[set[Buffer], set[Buffer]]:
    """The buffers that a statement and those inside load, and those that they store."""
    stored: set[Buffer] = set()
    roots = [x for s in walk(stmt) for x in expressions(s)]
    for s in walk(stmt):
        if isinstance(s, Stores):
            stored.update(x.buffer for x in s.stores)
    return {n.buffer for n in postorder(*roots) if isinstance(n, Load)}, stored


def _accumulated(stmt: Stmt) -> set[Buffer]:
    """The buffers that some statement inside both loads and stores."""
    each = (_touched(s) for s in walk(stmt) if isinstance(s, Stores))
    return {b for loaded, stored in each for b in loaded & stored}
