"""Copies of a loop's body: unrolled iterations, and the lanes of vectors.

The lanes of a vector loop run together, inside of all loops below it: one statement of all lanes,
then the next one. Within a statement all lanes read, then all lanes write; an accumulation, whose
order is free or whose lanes do not meet, folds. Loops below whose bounds differ between lanes run
over all that any lane needs, each lane under a guard; so do unrolled loops that begin at different
iterations: all lanes must be in the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from ..lang import index as ix
from ..lang.errors import InternalError
from ..lang.guards import Guard, conjunction
from ..lang.nodes import Node, Var, integer, postorder, transform_all
from ..poly.accumulation import accumulates
from ..poly.scantree import Scan, ScanAlloc, ScanIf, ScanKeep, ScanLoop, ScanSeq, ScanStage
from .ir import Count, For, If, Lanes as IrLanes, Load, Seq, Stmt, Store, Stores
from .rewrite import map_tree_expressions

if TYPE_CHECKING:
    from .build import Builder

Rename = Callable[[Var], Var]


@dataclass(frozen=True)
class Lane:
    """One iteration of a loop: what its variables are, and when it happens (None: always)."""

    at: Mapping[Node, Node]
    active: Guard


def lanes_of(scan: ScanLoop) -> list[Lane]:
    """Every iteration that a loop of few can have."""
    if scan.count is None:
        raise InternalError(f"the {scan.loop.kind} loop {scan.loop.name} has no constant extent")
    found = []
    for k in range(0, scan.count, scan.step):
        value = ix.add(scan.lo, integer(k))
        x, y = ix.constant(value), ix.constant(scan.hi)
        if x is None or y is None:
            found.append(Lane({scan.var: value}, ix.compare("lt", value, scan.hi)))
        elif x < y:
            found.append(Lane({scan.var: value}, None))
    return found


def guarded(guard: Guard, body: Stmt) -> Stmt:
    """The body, where a condition holds."""
    return body if guard is None else If(guard, body)


def backwards(loop: For) -> Stmt:
    """A loop from its last iteration to its first."""
    steps = ix.floordiv(ix.sub(ix.sub(loop.hi, integer(1)), loop.lo), loop.step)
    last = ix.add(loop.lo, ix.mul(steps, integer(loop.step)))
    mirrored: dict[Node, Node] = {loop.var: ix.sub(ix.add(loop.lo, last), loop.var)}
    return replace(loop, body=map_tree_expressions(loop.body, lambda n: mirrored.get(n, n)))


def substituted(scan: Scan, at: Mapping[Node, Node], rename: Rename) -> Scan:
    """A copy with variables replaced, and loop variables of its own."""

    def one(*nodes: Node) -> tuple[Node, ...]:
        return transform_all(nodes, lambda n: at.get(n, n))

    match scan:
        case ScanLoop(var=var, lo=lo, hi=hi, body=body, data=data):
            lo, hi = one(lo, hi)
            mine = rename(var)
            below = substituted(body, {**at, var: mine}, rename)
            if data is not None:
                data = replace(data, stage=_only_stage(below))
            return replace(scan, var=mine, lo=lo, hi=hi, body=below, data=data)
        case ScanIf(condition=condition, body=body):
            return ScanIf(one(condition)[0], substituted(body, at, rename))
        case ScanSeq(parts=parts):
            return ScanSeq(tuple(substituted(p, at, rename) for p in parts))
        case ScanAlloc(origin=origin, body=body):
            return replace(scan, origin=one(*origin), body=substituted(body, at, rename))
        case ScanKeep(origin=origin, load=load, body=body, store=store):
            first, inside, last = (substituted(x, at, rename) for x in (load, body, store))
            return replace(scan, origin=one(*origin), load=first, body=inside, store=last)
        case ScanStage(point=point, real=real):
            moved = dict(zip(point, one(*point.values()), strict=True))
            return replace(scan, point=moved, real=None if real is None else one(real)[0])


def _only_stage(scan: Scan) -> ScanStage:
    while isinstance(scan, (ScanLoop, ScanIf, ScanAlloc)):
        scan = scan.body
    assert isinstance(scan, ScanStage)
    return scan


class Vector:
    """Statements of all lanes at once. Lanes are values of a variable; `active` says which of them
    there are."""

    def __init__(self, builder: Builder, covered: frozenset[Node], scan: ScanLoop) -> None:
        if scan.count is None:
            raise InternalError(f"the vector loop {scan.loop.name} has no constant extent")
        self.builder = builder
        self.covered = covered
        self.scan = scan
        self.count = -(-scan.count // scan.step)

    @property
    def result(self) -> Stmt:
        """The whole loop."""
        scan = self.scan
        if self.count < 1:
            return Seq(())
        first, end = ix.constant(scan.lo), ix.constant(scan.hi)
        last = (self.count - 1) * scan.step
        whole = first is not None and end is not None and first + last < end
        return self.stmt(scan.body, None if whole else ix.compare("lt", scan.var, scan.hi))

    def stmt(self, scan: Scan, active: Guard) -> Stmt:
        """What stands inside of the vector loop, for some lanes."""
        match scan:
            case ScanLoop(loop=loop) if loop.kind == "unrolled" and not self._varies(scan.lo):
                return Seq(tuple(self._copy(scan, lane, active) for lane in lanes_of(scan)))
            case ScanLoop():
                return self._loop(scan, active)
            case ScanIf(condition=condition, body=body):
                return self._under(condition, body, active)
            case ScanSeq(parts=parts):
                return Seq(tuple(self.stmt(p, active) for p in parts))
            case ScanAlloc() | ScanKeep():
                raise InternalError(f"lanes share the storage of {scan.func.name}")
            case ScanStage():
                return self._instances(scan, active)

    def _under(self, condition: Node, body: Scan, active: Guard) -> Stmt:
        if not self._varies(condition):
            return If(condition, self.stmt(body, active))
        return self.stmt(body, conjunction(active, condition))

    def _copy(self, scan: ScanLoop, iteration: Lane, active: Guard) -> Stmt:
        """One iteration of an unrolled loop inside, for all lanes."""
        body = substituted(scan.body, iteration.at, self.builder.rename)
        if iteration.active is None:
            return self.stmt(body, active)
        return self._under(iteration.active, body, active)

    def _loop(self, scan: ScanLoop, active: Guard) -> Stmt:
        """A loop that all lanes run together."""
        outside, lo, hi, least, most = self.covered, scan.lo, scan.hi, None, None
        if scan.data is not None:
            first, last = self.builder.ends_read(scan.data)
            if self._varies(first, last):
                least, most = self._outermost(scan, first, last, active)
            else:
                lo, hi = ix.maximum((lo, first)), ix.minimum((hi, last))
                self.covered = scan.data.covering(self.covered)
        made = self._serial(replace(scan, lo=lo, hi=hi), active)
        self.covered = outside
        if least is None or most is None:
            return made
        return replace(made, lo=ix.maximum((made.lo, least)), hi=ix.minimum((made.hi, most)))

    def _serial(self, scan: ScanLoop, active: Guard) -> For:
        """A loop over all that any lane needs, but for what it reads from data."""
        name = scan.loop.name
        if not self._varies(scan.lo, scan.hi):
            body = self.stmt(scan.body, active)
            return For(scan.var, scan.lo, scan.hi, scan.step, "serial", body, name)
        tests = [ix.compare("ge", scan.var, scan.lo), ix.compare("lt", scan.var, scan.hi)]
        if scan.step > 1:
            phase = ix.mod(ix.sub(scan.var, scan.lo), scan.step)
            tests.append(ix.compare("eq", phase, ix.ZERO))
        body = self.stmt(scan.body, conjunction(active, ix.conjunction(tests)))
        first = ix.minimum(self._each(scan.lo))
        last = ix.maximum(self._each(scan.hi))
        return For(scan.var, first, last, 1, "serial", body, name)

    def _outermost(
        self, scan: ScanLoop, first: Node, last: Node, active: Guard
    ) -> tuple[Node, Node]:
        """Where the first of the lanes begins, and the last one ends, by what they read."""
        first, last = (_protected(end, active) for end in (first, last))
        least = ix.minimum(self._each(ix.select(active, first, scan.hi)))
        return least, ix.maximum(self._each(ix.select(active, last, scan.lo)))

    def _instances(self, scan: ScanStage, active: Guard) -> Stmt:
        """One instance a lane."""
        body = self.builder.instance(scan, self.covered)
        before: list[Stmt] = []
        stores: list[Store] = []
        _gather(body, active, before, stores)
        var = self.builder.rename(self.scan.var)
        folds = accumulates(scan.stage.statement.definition)
        lanes = IrLanes(var, self.scan.lo, self.count, self.scan.step, folds)
        made = [self._one_by_one(s) for s in before]
        renamed = map_tree_expressions(Stores(tuple(stores), lanes), self._called(var))
        return Seq((*made, renamed)) if made else renamed

    def _one_by_one(self, body: Stmt) -> Stmt:
        """What stores nothing, lane after lane."""
        scan, var = self.scan, self.builder.rename(self.scan.var)
        hi = ix.add(scan.lo, integer(self.count * scan.step))
        inside = map_tree_expressions(body, self._called(var))
        return For(var, scan.lo, hi, scan.step, "serial", inside, scan.loop.name)

    def _called(self, var: Var) -> Callable[[Node], Node]:
        return lambda n: var if n is self.scan.var else n

    def _varies(self, *nodes: Node) -> bool:
        """Whether expressions differ between lanes."""
        return self.scan.var in set(postorder(*nodes))

    def _each(self, node: Node) -> list[Node]:
        """The values of an expression in all lanes."""
        found = []
        for k in range(self.count):
            at = ix.add(self.scan.lo, integer(k * self.scan.step))
            found.append(transform_all((node,), partial(_replaced, self.scan.var, at))[0])
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

    return transform_all((root,), rule)[0]
