"""Copies of a loop's body: unrolled iterations, and the lanes of vectors.

The lanes of a vector loop run together, inside of all loops below it: one statement of all lanes,
then the next one. Within a statement all lanes read, then all lanes write; an accumulation, whose
order is free or whose lanes do not meet, folds. Loops below whose bounds differ between lanes run
over all that any lane needs, each lane under a guard; so do unrolled loops that begin at different
iterations: all lanes must be in the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...lang.errors.errors import InternalError
from ...lang.nodes import index as ix
from ...lang.nodes.guards import Guard, conjunction
from ...lang.nodes.nodes import (
    Node,
    Op,
    Replacement,
    Var,
    integer,
    leaves_below,
    transform_all,
)
from ...poly.nests import loop_program as lp
from ...poly.program.accumulation import accumulates, is_exact
from ...records import dataclass, replace
from ..ir.ir import Count, For, If, Lanes as IrLanes, Load, Seq, Stmt, Store, Stores
from ..ir.rewrite import map_tree_expressions

if TYPE_CHECKING:
    from .build import ModuleBuilder

Rename = Callable[[Var], Var]


@dataclass(frozen=True)
class Lane:
    """One iteration of a loop: what its variables are, and when it happens (None: always)."""

    at: Mapping[Node, Node]
    active: Guard


def lanes_of(nest: lp.Loop) -> list[Lane]:
    """Every iteration that a loop of few can have."""
    if nest.count is None:
        raise InternalError(f"the {nest.kind} loop {nest.name} has no constant extent")
    found = []
    low, high = _operands("max", nest.lo), _operands("min", nest.hi)
    first, end = _constant(low, max), _constant(high, min)
    if nest.step == 1 and len(low) > 1 and None not in (first, end):
        assert first is not None
        assert end is not None
        if end - first <= nest.count:
            # Numbers from the least one on, each under its conditions, are simpler than the first
            # one that there is, and what is so far behind it.
            return [_numbered(nest.var, k, low, high) for k in range(first, end)]
    for k in range(0, nest.count, nest.step):
        value = ix.add(nest.lo, integer(k))
        x, y = ix.constant(value), ix.constant(nest.hi)
        if x is None or y is None:
            found.append(Lane({nest.var: value}, ix.compare("lt", value, nest.hi)))
        elif x < y:
            found.append(Lane({nest.var: value}, None))
    return found


def _numbered(var: Var, k: int, low: Sequence[Node], high: Sequence[Node]) -> Lane:
    """An iteration where it is none before any of its bounds, and before the end by each."""
    value = integer(k)
    begun = [ix.compare("le", x, value) for x in low if ix.constant(x) is None]
    left = [ix.compare("lt", value, x) for x in high if ix.constant(x) is None]
    return Lane({var: value}, ix.conjunction([*begun, *left]))


def _operands(op: str, node: Node) -> list[Node]:
    """What a maximum or minimum is of, or the only such."""
    if isinstance(node, Op) and node.op == op:
        return [x for operand in node.operands for x in _operands(op, operand)]
    return [node]


def _constant(bounds: Sequence[Node], of: Callable[[Sequence[int]], int]) -> int | None:
    """The strictest of bounds that are constants."""
    known = [x for b in bounds if (x := ix.constant(b)) is not None]
    return of(known) if known else None


def guarded(guard: Guard, body: Stmt) -> Stmt:
    """The body, where a condition holds."""
    return body if guard is None else If(guard, body)


def substituted(nest: lp.Nest, at: Mapping[Node, Node], rename: Rename) -> lp.Nest:
    """A copy with variables replaced, and loop variables of its own."""
    replacement = Replacement(at)

    def one(*nodes: Node) -> tuple[Node, ...]:
        return replacement.of(nodes)

    match nest:
        case lp.Loop(var=var, lo=lo, hi=hi, body=body, data=data):
            lo, hi = one(lo, hi)
            mine = var if nest.kind == "vector" else rename(var)  # lanes: see `lane_variable`
            below = substituted(body, {**at, var: mine}, rename)
            if data is not None:
                data = replace(data, run=_only_run(below))
            return replace(nest, var=mine, lo=lo, hi=hi, body=below, data=data)
        case lp.If(condition=condition, body=body):
            return lp.If(one(condition)[0], substituted(body, at, rename))
        case lp.Seq(parts=parts):
            return lp.Seq(tuple(substituted(p, at, rename) for p in parts))
        case lp.Alloc(origin=origin, body=body):
            return replace(nest, origin=one(*origin), body=substituted(body, at, rename))
        case lp.Accumulator(origin=origin, copy_in=first, body=body, copy_out=last):
            first, body, last = (substituted(x, at, rename) for x in (first, body, last))
            return replace(nest, origin=one(*origin), copy_in=first, body=body, copy_out=last)
        case lp.Run(point=point, real=real):
            moved = dict(zip(point, one(*point.values()), strict=True))
            return replace(nest, point=moved, real=None if real is None else one(real)[0])


def _only_run(nest: lp.Nest) -> lp.Run:
    while isinstance(nest, (lp.Loop, lp.If, lp.Alloc)):
        nest = nest.body
    assert isinstance(nest, lp.Run)
    return nest


class Vector:
    """Builds the statements of a vector loop, each for all lanes. A lane is a value of the loop
    variable; `active` is the condition under which a lane runs."""

    def __init__(self, builder: ModuleBuilder, covered: frozenset[Node], nest: lp.Loop) -> None:
        if nest.count is None:
            raise InternalError(f"the vector loop {nest.name} has no constant extent")
        self.builder = builder
        self.covered = covered
        self.nest = nest
        self.count = -(-nest.count // nest.step)

    @property
    def result(self) -> Stmt:
        """The statements of all lanes of the loop. Lanes beyond its upper bound are inactive."""
        nest = self.nest
        if self.count < 1:
            return Seq(())
        first, end = ix.constant(nest.lo), ix.constant(nest.hi)
        last = (self.count - 1) * nest.step
        whole = first is not None and end is not None and first + last < end
        return self.stmt(nest.body, None if whole else ix.compare("lt", nest.var, nest.hi))

    def stmt(self, nest: lp.Nest, active: Guard) -> Stmt:
        """What stands inside of the vector loop, for some lanes."""
        match nest:
            case lp.Loop(kind="unrolled") if not self._varies(nest.lo):
                return Seq(tuple(self._copy(nest, lane, active) for lane in lanes_of(nest)))
            case lp.Loop():
                return self._loop(nest, active)
            case lp.If(condition=condition, body=body):
                return self._under(condition, body, active)
            case lp.Seq(parts=parts):
                return Seq(tuple(self.stmt(p, active) for p in parts))
            case lp.Alloc() | lp.Accumulator():
                raise InternalError(f"lanes share the storage of {nest.func.name}")
            case lp.Run():
                return self._instances(nest, active)

    def _under(self, condition: Node, body: lp.Nest, active: Guard) -> Stmt:
        if not self._varies(condition):
            return If(condition, self.stmt(body, active))
        return self.stmt(body, conjunction(active, condition))

    def _copy(self, nest: lp.Loop, iteration: Lane, active: Guard) -> Stmt:
        """One iteration of an unrolled loop inside, for all lanes."""
        body = substituted(nest.body, iteration.at, self.builder.rename)
        if iteration.active is None:
            return self.stmt(body, active)
        return self._under(iteration.active, body, active)

    def _loop(self, nest: lp.Loop, active: Guard) -> Stmt:
        """A loop that all lanes run together."""
        outside, lo, hi, least, most = self.covered, nest.lo, nest.hi, None, None
        if nest.data is not None:
            first, last = self.builder.bounds_read(nest.data)
            if self._varies(first, last):
                least, most = self._outermost(nest, first, last, active)
            else:
                lo, hi = ix.maximum((lo, first)), ix.minimum((hi, last))
                self.covered = nest.data.covering(self.covered)
        made = self._serial(replace(nest, lo=lo, hi=hi), active)
        self.covered = outside
        if least is None or most is None:
            return made
        return replace(made, lo=ix.maximum((made.lo, least)), hi=ix.minimum((made.hi, most)))

    def _serial(self, nest: lp.Loop, active: Guard) -> For:
        """A loop over all that any lane needs, but for what it reads from data."""
        name = nest.name
        if not self._varies(nest.lo, nest.hi):
            body = self.stmt(nest.body, active)
            return For(nest.var, nest.lo, nest.hi, nest.step, "serial", body, name)
        tests = [ix.compare("ge", nest.var, nest.lo), ix.compare("lt", nest.var, nest.hi)]
        if nest.step > 1:
            phase = ix.mod(ix.sub(nest.var, nest.lo), nest.step)
            tests.append(ix.compare("eq", phase, ix.ZERO))
        body = self.stmt(nest.body, conjunction(active, ix.conjunction(tests)))
        first = ix.minimum(self._each(nest.lo))
        last = ix.maximum(self._each(nest.hi))
        return For(nest.var, first, last, 1, "serial", body, name)

    def _outermost(
        self, nest: lp.Loop, first: Node, last: Node, active: Guard
    ) -> tuple[Node, Node]:
        """Where the first of the lanes begins, and the last one ends, by what they read."""
        first, last = (_protected(end, active) for end in (first, last))
        least = ix.minimum(self._each(ix.select(active, first, nest.hi)))
        return least, ix.maximum(self._each(ix.select(active, last, nest.lo)))

    def _instances(self, nest: lp.Run, active: Guard) -> Stmt:
        """One instance a lane."""
        body = self.builder.instance(nest, self.covered)
        before: list[Stmt] = []
        stores: list[Store] = []
        _gather(body, active, before, stores)
        var = self.builder.lane_variable(self.nest.var, self.nest.lo)
        lanes = IrLanes(
            var, self.nest.lo, self.count, self.nest.step,
            accumulates(nest.instance.definition), self._keeps_order(nest.instance),
        )  # fmt: skip
        made = [self._one_by_one(s) for s in before]
        renamed: Stmt = Stores(tuple(stores), lanes)
        if var is not self.nest.var:
            renamed = map_tree_expressions(renamed, self._called(var))
        return Seq((*made, renamed)) if made else renamed

    def _keeps_order(self, instance: lp.Instance) -> bool:
        """Whether the order in which lanes accumulate matters, where they meet: without leave to
        change it they do so only where at most one of them runs."""
        is_free = instance.statement in self.builder.reassociated
        return not is_free and not is_exact(instance.definition)

    def _one_by_one(self, body: Stmt) -> Stmt:
        """What stores nothing, lane after lane."""
        nest, var = self.nest, self.builder.rename(self.nest.var)
        hi = ix.add(nest.lo, integer(self.count * nest.step))
        inside = map_tree_expressions(body, self._called(var))
        return For(var, nest.lo, hi, nest.step, "serial", inside, nest.name)

    def _called(self, var: Var) -> Callable[[Node], Node]:
        return lambda n: var if n is self.nest.var else n

    def _varies(self, *nodes: Node) -> bool:
        """Whether expressions differ between lanes."""
        return self.nest.var in leaves_below(*nodes)

    def _each(self, node: Node) -> list[Node]:
        """The values of an expression in all lanes."""
        found = []
        for k in range(self.count):
            at = ix.add(self.nest.lo, integer(k * self.nest.step))
            found.append(transform_all((node,), partial(_replaced, self.nest.var, at))[0])
        return found


def _replaced(var: Node, value: Node, node: Node) -> Node:
    return value if node is var else node


def _gather(body: Stmt, active: Guard, before: list[Stmt], stores: list[Store]) -> None:
    """Takes an instance apart into its stores, under a guard, and what comes before them."""
    match body:
        case If(condition=condition, body=inner):
            _gather(inner, conjunction(active, _protected(condition, active)), before, stores)
        case Seq(parts=parts):
            for part in parts:
                _gather(part, active, before, stores)
        case Stores(stores=found):
            for s in found:
                index = tuple(_protected(x, active) for x in s.index)
                value, guard = _protected(s.value, active), conjunction(active, s.guard)
                stores.append(replace(s, index=index, value=value, guard=guard))
        case Count(counter=counter, condition=condition):
            tested = conjunction(active, _protected(condition, active))
            assert tested is not None
            before.append(Count(counter, tested))
        case _:
            before.append(guarded(active, body))


def _protected(root: Node, active: Guard) -> Node:
    """An expression whose loads happen only where a lane does."""
    if active is None:
        return root

    def rule(node: Node) -> Node:
        if isinstance(node, Load):
            return Load(node.buffer, node.index, conjunction(active, node.guard), node.type)
        return node

    return transform_all((root,), rule, only=Load)[0]
