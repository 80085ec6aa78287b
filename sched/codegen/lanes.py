"""Copies of a loop's body: unrolled iterations, and the lanes of vectors.

The lanes of a vector loop run together, inside of all loops below it: one statement of all lanes,
then the next one. Within a statement all lanes read, then all lanes write; an accumulation, whose
order is free or whose lanes do not meet, runs lane by lane. Loops below whose bounds differ between
lanes run over all that any lane needs, each lane under a guard; so do unrolled loops that begin at
different iterations: all lanes must be in the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..lang import index as ix
from ..lang.errors import InternalError
from ..lang.guards import Guard, conjunction
from ..lang.nodes import Node, Var, integer, postorder, transform_all
from ..poly.proof import accumulates
from ..poly.scantree import Scan, ScanAlloc, ScanIf, ScanKeep, ScanLoop, ScanSeq, ScanStage
from .ir import Count, For, If, Load, Seq, Stmt, Store, Stores
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
        case ScanStage(point=point):
            moved = one(*point.values())
            return replace(scan, point=dict(zip(point, moved, strict=True)))


def _only_stage(scan: Scan) -> ScanStage:
    while isinstance(scan, (ScanLoop, ScanIf, ScanAlloc)):
        scan = scan.body
    assert isinstance(scan, ScanStage)
    return scan


class Lanes:
    """Statements of all lanes at once."""

    def __init__(self, builder: Builder, covered: frozenset[Node]) -> None:
        self.builder = builder
        self.covered = covered

    def stmt(self, scan: Scan, lanes: Sequence[Lane]) -> Stmt:
        """What stands inside of a vector loop, for some lanes."""
        match scan:
            case ScanLoop(loop=loop) if loop.kind == "unrolled" and _is_aligned(scan, lanes):
                return Seq(tuple(self._copy(scan, lane, lanes) for lane in lanes_of(scan)))
            case ScanLoop():
                return self._loop(scan, lanes)
            case ScanIf(condition=condition, body=body):
                return self._under(condition, body, lanes)
            case ScanSeq(parts=parts):
                return Seq(tuple(self.stmt(p, lanes) for p in parts))
            case ScanAlloc() | ScanKeep():
                raise InternalError(f"lanes share the storage of {scan.func.name}")
            case ScanStage():
                return self._instances(scan, lanes)

    def _under(self, condition: Node, body: Scan, lanes: Sequence[Lane]) -> Stmt:
        if not _depends((condition,), lanes):
            return If(condition, self.stmt(body, lanes))
        inside = [Lane(x.at, conjunction(x.active, _at(x, condition))) for x in lanes]
        return self.stmt(body, inside)

    def _copy(self, scan: ScanLoop, iteration: Lane, lanes: Sequence[Lane]) -> Stmt:
        """One iteration of an unrolled loop inside, for all lanes."""
        body = substituted(scan.body, iteration.at, self.builder.rename)
        if iteration.active is None:
            return self.stmt(body, lanes)
        return self._under(iteration.active, body, lanes)

    def _loop(self, scan: ScanLoop, lanes: Sequence[Lane]) -> Stmt:
        """A loop that all lanes run together."""
        if not _depends((scan.lo, scan.hi), lanes):
            body = self.stmt(scan.body, lanes)
            return For(scan.var, scan.lo, scan.hi, scan.step, "serial", body, scan.loop.name)
        lows = [_at(lane, scan.lo) for lane in lanes]
        ends = [_at(lane, scan.hi) for lane in lanes]
        inside = []
        for lane, lo, hi in zip(lanes, lows, ends, strict=True):
            tests = [ix.compare("ge", scan.var, lo), ix.compare("lt", scan.var, hi)]
            if scan.step > 1:
                phase = ix.mod(ix.sub(scan.var, lo), scan.step)
                tests.append(ix.compare("eq", phase, ix.ZERO))
            inside.append(Lane(lane.at, conjunction(lane.active, ix.conjunction(tests))))
        body = self.stmt(scan.body, inside)
        first, last = ix.minimum(lows), ix.maximum(ends)
        return For(scan.var, first, last, 1, "serial", body, scan.loop.name)

    def _instances(self, scan: ScanStage, lanes: Sequence[Lane]) -> Stmt:
        """One instance a lane."""
        made = []
        for lane in lanes:
            point = {k: _at(lane, v) for k, v in scan.point.items()}
            body = self.builder.instance(replace(scan, point=point), self.covered)
            made.append((lane, body))
        if accumulates(scan.stage.statement.definition):
            return Seq(tuple(guarded(lane.active, body) for lane, body in made), lanes=True)
        before: list[Stmt] = []
        stores: list[Store] = []
        for lane, body in made:
            _gather(body, lane.active, before, stores)
        return Seq((*before, Stores(tuple(stores))))


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


def _at(lane: Lane, node: Node) -> Node:
    return transform_all((node,), lambda n: lane.at.get(n, n))[0]


def _is_aligned(scan: ScanLoop, lanes: Sequence[Lane]) -> bool:
    """Whether a loop begins at the same iteration for all lanes."""
    return not _depends((scan.lo,), lanes)


def _depends(nodes: tuple[Node, ...], lanes: Sequence[Lane]) -> bool:
    """Whether expressions differ between lanes."""
    return any(n in lane.at for lane in lanes for n in postorder(*nodes))
