"""The verifier of the loop IR: invariants that hold before and after each pass.

Every expression is typed and made of nodes that the loop IR knows; loop variables are unique and
used inside their loops only; loads and stores have one index an axis, or one offset once
flattened; guards are bools; scalars are declared.
"""

from __future__ import annotations

from collections import defaultdict

from ...lang.errors.errors import InternalError
from ...lang.nodes.dtypes import bool_, int64
from ...lang.nodes.nodes import Const, Node, Op, Param, Size, Var
from ...lang.nodes.ops import COMPARISONS, OPS
from .ir import (
    Alloc,
    Buffer,
    Call,
    For,
    Function,
    If,
    Lanes,
    Load,
    Mark,
    Module,
    Seq,
    Stmt,
    Stores,
    dtype_of,
    expressions,
)
from .mark_words import marks_in

OWN = ("scratch", "stack")
"""Buffers of the kernel's own."""

ALIKE = {"add", "sub", "mul", "div", "floordiv", "mod", "min", "max", *COMPARISONS}
"""Operators of two numbers of one type."""


def verify(module: Module, flat: bool) -> int:
    """Raises `InternalError` where the module is malformed.

    Args:
        flat: indices are offsets.

    Returns:
        How many statements it has.
    """
    found = 0
    for function in module.functions:
        verifier = _Verifier(module, function, flat)
        verifier.stmt(function.body, frozenset())
        found += verifier.statements
    return found


class _Verifier:
    def __init__(self, module: Module, function: Function, flat: bool) -> None:
        self.where = f"{module.name}.{function.name}"
        self.buffers = set(module.buffers)
        self.scalars = {s.name for s in module.scalars}
        self.flat = flat
        self.statements = 0
        self.defined: set[str] = set()
        self.right: defaultdict[frozenset[str], set[Node]] = defaultdict(set)

    def check(self, holds: bool, what: str, *named: object) -> None:
        """Raises an error unless something holds. The message, which names things where it has
        braces, is put together then only: there are thousands of checks."""
        if not holds:
            raise InternalError(f"malformed loop IR in {self.where}: {what.format(*named)}")

    def stmt(self, stmt: Stmt, scope: frozenset[str]) -> None:
        self.statements += 1
        if isinstance(stmt, Stores) and stmt.lanes is not None:
            self._expression(stmt.lanes.lo, scope)
            self._lanes(stmt.lanes)
            scope |= {stmt.lanes.var.name}
        for root in expressions(stmt):
            self._expression(root, scope)
        self._marks(marks_in(stmt))
        match stmt:
            case For(var=var, lo=lo, hi=hi, step=step, body=body):
                self.check(var.name not in self.defined, "loop variable {} twice", var.name)
                self.check(step >= 1, "step {} of loop {}", step, var.name)
                self.check(dtype_of(lo) == dtype_of(hi) == int64, "bounds of {}", var.name)
                self.defined.add(var.name)
                self.stmt(body, scope | {var.name})
            case Alloc(buffers=buffers, origin=origin, body=body):
                self.check(all(b.kind in OWN for b in buffers), "storage of an argument")
                self.check(all(dtype_of(x) == int64 for _, x in origin), "an origin")
                self.stmt(body, scope | {var.name for var, _ in origin})
            case If():
                self._branches(stmt, scope)
            case Seq(parts=parts):
                for part in parts:
                    self.stmt(part, scope)
            case Call(words=words, condition=condition):
                self.check(all(dtype_of(w) == int64 for w in words), "a word that is not int64")
                typed = condition is None or dtype_of(condition) == bool_
                self.check(typed, "a condition that is not a bool")
            case Stores(stores=stores):
                for s in stores:
                    self.check(s.buffer.kind in ("output", *OWN), "store to {}", s.buffer.name)
                    self.check(dtype_of(s.value) == s.buffer.dtype, "type of {}", s.buffer.name)
                    self._access(s.buffer, s.index, s.guard)
                    for root in () if s.origin is None else s.origin.point:
                        self._expression(root, scope)

    def _marks(self, marks: tuple[Mark, ...]) -> None:
        known = all(mark.buffer in self.buffers for mark in marks)
        self.check(known, "a mark in a buffer that is not the kernel's")

    def _branches(self, stmt: If, scope: frozenset[str]) -> None:
        self.check(dtype_of(stmt.condition) == bool_, "a condition that is not a bool")
        before = set(self.defined)
        self.stmt(stmt.body, scope)
        if stmt.otherwise is not None:  # may use the same names
            self.defined, inside = before, self.defined
            self.stmt(stmt.otherwise, scope)
            self.defined |= inside

    def _lanes(self, lanes: Lanes) -> None:
        self.check(lanes.count >= 1 and lanes.step >= 1, "the lanes of {}", lanes.var.name)
        self.check(dtype_of(lanes.lo) == int64, "the first lane of {}", lanes.var.name)

    def _access(self, buffer: Buffer, index: tuple[Node, ...], guard: Node | None) -> None:
        self.check(buffer in self.buffers, "{} is not a buffer of the kernel", buffer.name)
        wanted = 1 if self.flat else buffer.ndim
        self.check(len(index) == wanted, "{} indices of {}", len(index), buffer.name)
        self.check(all(dtype_of(x) == int64 for x in index), "index type of {}", buffer.name)
        self.check(guard is None or dtype_of(guard) == bool_, "guard of {}", buffer.name)

    def _expression(self, root: Node, scope: frozenset[str]) -> None:
        right = self.right[scope]  # nodes are shared: each is looked at once a scope
        pending = [root]
        while pending:
            node = pending.pop()
            if node not in right:
                self._node(node, scope)
                right.add(node)
                pending += node.args

    def _node(self, node: Node, scope: frozenset[str]) -> None:
        match node:
            case Var(name=name):
                self.check(name in scope, "{} outside its loop", name)
            case Size() | Param():
                self.check(node.name in self.scalars, "unknown scalar {}", node.name)
            case Load(buffer=buffer, index=index, guard=guard):
                self._access(buffer, index, guard)
            case Op(op=op, operands=operands):
                self.check(op in OPS, "unknown operator {}", op)
                self.check(len(operands) == OPS[op].arity, "operands of {}", op)
                alike = op not in ALIKE or dtype_of(operands[0]) == dtype_of(operands[1])
                self.check(alike, "operands of {} of different types", op)
            case Const():
                pass
            case _:
                self.check(False, "a {} in an expression", type(node).__name__)
        self.check(node.type is not None, "an untyped {}", type(node).__name__)
