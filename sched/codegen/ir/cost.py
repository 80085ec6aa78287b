"""A cost model: about how long a statement takes, in nanoseconds, as an expression over the
variables around it.

It decides whether threads are worth their while, so a factor of two does no harm. Loops whose
bounds are read from data are taken to run a few times; other variables stand at the middle of
their loops, which is right for triangles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import float64
from ...lang.nodes.nodes import Const, Node, Op, has_below, integer, replaced_all
from ...lang.nodes.rare import usually_computed
from .ir import Alloc, Call, For, If, Load, Mark, Module, Seq, Stmt, children, expressions, walk

#: Nanoseconds: an operator, one that divides, an access to memory, an iteration, a call to Python.
_OPERATOR, _DIVISION, _ACCESS, _ITERATION, _CALL = 0.25, 2.0, 0.4, 0.5, 1000.0
_DIVISIONS = frozenset(("div", "floordiv", "mod", "sqrt", "rem", "fmod"))
_UNKNOWN = 1024
"""Iterations of a loop whose bounds are data: many, as threads for too little work cost
microseconds, and too much work for one thread may cost anything."""
_NESTED = 5
"""How deep inside of each other minima, maxima and quotients are looked at in bounds of loops."""


def work_of(module: Module) -> Node | None:
    """About how long a kernel takes on one thread, in nanoseconds, over its scalars; None where the
    bounds of a loop are data."""
    bodies = [f.body for f in module.functions]
    bounds = (x for body in bodies for x in walk(body) if isinstance(x, For))
    if any(_reads(x.lo) or _reads(x.hi) for x in bounds):
        return None
    costs = Costs()
    return reduce(_add, (costs.of(body) for body in bodies), _real(0.0))


class Costs:
    """The costs of statements, each looked at once."""

    def __init__(self) -> None:
        # Entries hold the statements, so that their ids are not reused.
        self._longest: dict[int, tuple[Stmt, float | None]] = {}
        self._own: dict[int, tuple[Stmt, float]] = {}

    def of(self, stmt: Stmt, at: Mapping[Node, Node] | None = None) -> Node:
        """The time of one execution, a float64. `at`: what stands for variables inside."""
        at = at or {}
        match stmt:
            case Seq(parts=parts):
                return reduce(_add, (self.of(p, at) for p in parts), _real(0.0))
            case Alloc(origin=origin, body=body):
                values = replaced_all(tuple(value for _, value in origin), at)
                known: dict[Node, Node] = {
                    var: ix.ZERO if _reads(value) else value
                    for (var, _), value in zip(origin, values, strict=True)
                }
                return _add(_real(self.here(stmt)), self.of(body, {**at, **known}))
            case If(body=body):
                return _add(_real(self.here(stmt)), self.of(body, at))
            case For(body=body):
                count, middle = _iterations(stmt, at)
                inside = _add(_real(_ITERATION), self.of(body, {**at, stmt.var: middle}))
                return _add(_real(self.here(stmt)), _mul(count, inside))
            case Call():
                return _real(_CALL)
            case _:
                return _real(self.here(stmt))

    def of_iteration(self, loop: For) -> Node:
        """The time of one iteration of a loop, of the first, the middle or the last one."""
        if _reads(loop.lo) or _reads(loop.hi):
            return _add(_real(_ITERATION), self.of(loop.body, {loop.var: ix.ZERO}))
        _, middle = _iterations(loop, {})
        places = (loop.lo, middle, ix.sub(loop.hi, integer(1)))
        found = list(dict.fromkeys(self.of(loop.body, {loop.var: at}) for at in places))
        constants = [c for c in found if isinstance(c, Const)]
        if constants:
            largest = max(constants, key=lambda c: c.value)
            found = [*(c for c in found if not isinstance(c, Const)), largest]
        return _add(_real(_ITERATION), reduce(lambda a, b: Op("max", (a, b), float64), found))

    def longest(self, stmt: Stmt) -> float | None:
        """The longest time that a statement may take, where constants bound it; else None."""
        found = self._longest.get(id(stmt))
        if found is None:
            found = self._longest[id(stmt)] = stmt, self._bounded(stmt)
        return found[1]

    def _bounded(self, stmt: Stmt) -> float | None:
        inside = [self.longest(child) for child in children(stmt)]
        if isinstance(stmt, Call) or None in inside:
            return None
        total = sum(x for x in inside if x is not None)
        if isinstance(stmt, For):
            count = most_iterations(stmt)
            return None if count is None else self.here(stmt) + count * (_ITERATION + total)
        return total if isinstance(stmt, Seq) else self.here(stmt) + total

    def here(self, stmt: Stmt) -> float:
        """The time of what stands directly in a statement."""
        found = self._own.get(id(stmt))
        if found is None:
            found = self._own[id(stmt)] = stmt, _own(stmt)
        return found[1]


def most_iterations(loop: For) -> int | None:
    """A constant that the number of iterations does not exceed."""
    extent = _at_most(loop.hi, loop.lo)
    return None if extent is None else -(-max(extent, 0) // loop.step)


def _at_most(a: Node, b: Node, nested: int = _NESTED) -> int | None:
    """A constant that a - b does not exceed; None if none is found. What a vector loop leaves over
    begins where that ends, at the least of several ends: it has fewer iterations than lanes."""
    (x, first), (y, second) = _base_and_constant(a), _base_and_constant(b)
    if x is y:
        return first - second
    if not nested:
        return None
    match x, y:
        case Op(op="max", operands=operands), _:
            most = _largest(_at_most(each, y, nested - 1) for each in operands)
        case _, Op(op="min", operands=operands):
            most = _largest(_at_most(x, each, nested - 1) for each in operands)
        case Op(op="min", operands=operands), _:
            most = _least(_at_most(each, y, nested - 1) for each in operands)
        case _, Op(op="max", operands=operands):
            most = _least(_at_most(x, each, nested - 1) for each in operands)
        case (
            Op(op="floordiv", operands=(of, Const(value=by))),
            Op(op="floordiv", operands=(other, Const(value=also))),
        ) if by == also and by > 0:
            most = _at_most(of, other, nested - 1)
            most = None if most is None else -(-most // int(by))
        case _:
            return None
    return None if most is None else most + first - second


def _least(found: Iterable[int | None]) -> int | None:
    """The least that is known."""
    return min((x for x in found if x is not None), default=None)


def _largest(found: Iterable[int | None]) -> int | None:
    """The largest, if all are known."""
    known = list(found)
    return None if None in known else max(x for x in known if x is not None)


def _base_and_constant(node: Node) -> tuple[Node, int]:
    """What varies, and the constant added to it; zero varies for a constant."""
    added = 0
    while True:
        known = ix.constant(node)
        if known is not None:
            return ix.ZERO, added + known
        match node:
            case Op(op="add", operands=(base, Const(value=value))):
                added += int(value)
            case Op(op="add", operands=(Const(value=value), base)):
                added += int(value)
            case Op(op="sub", operands=(base, Const(value=value))):
                added -= int(value)
            case _:
                return node, added
        node = base


def _iterations(loop: For, at: Mapping[Node, Node]) -> tuple[Node, Node]:
    """How many there are, a float64, and the middle of them."""
    lo, hi = replaced_all((loop.lo, loop.hi), at)
    if _reads(lo) or _reads(hi):
        return _real(_UNKNOWN), ix.ZERO
    extent = ix.maximum((ix.sub(hi, lo), ix.ZERO))
    count = ix.floordiv(ix.add(extent, integer(loop.step - 1)), loop.step)
    return _as_real(count), ix.floordiv(ix.add(lo, hi), 2)


def _reads(node: Node) -> bool:
    return has_below(Load, node)


def _own(stmt: Stmt) -> float:
    """The time of what stands directly in a statement. Marks take none: with them a loop is cut
    into the same strips and chunks as without."""
    if isinstance(stmt, Mark):
        return 0.0
    total = _ACCESS
    for node in usually_computed(*expressions(stmt)):
        if isinstance(node, Load):
            total += _ACCESS
        elif isinstance(node, Op):
            total += _DIVISION if node.op in _DIVISIONS else _OPERATOR
    return total


def _real(x: float) -> Node:
    return Const(float(x), float64)


def _as_real(node: Node) -> Node:
    known = ix.constant(node)
    return Op("cast", (node,), float64) if known is None else _real(known)


def _add(a: Node, b: Node) -> Node:
    if isinstance(a, Const) and isinstance(b, Const):
        return _real(a.value + b.value)
    return Op("add", (a, b), float64)


def _mul(a: Node, b: Node) -> Node:
    if isinstance(a, Const) and isinstance(b, Const):
        return _real(a.value * b.value)
    return Op("mul", (a, b), float64)
