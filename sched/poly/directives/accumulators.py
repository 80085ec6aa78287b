"""Directives on what a stage accumulates: accumulate_at, and the pure definition inside of its own
update."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...lang.errors.errors import ScheduleError
from ...lang.nodes.nodes import Node, Read, RVar, Var, postorder, replaced_all
from ...lang.tensors.definitions import Definition
from ...later import later
from ...records import dataclass, replace
from ..state.fields import loop_name
from ..state.record import Directive
from ..tree.edits import At, Body, map_nodes, map_stages, nests_with, put, stages, with_body
from ..tree.looptree import Accumulator, Alloc, Loop, Produce, Seq, Tree
from ..tree.stage import Stage

if TYPE_CHECKING:
    from ..program import accumulation
    from ..state.editing import Editing
else:
    accumulation = later("..program.accumulation", __package__)


@dataclass(frozen=True)
class AccumulateAt(Directive, name="accumulate_at", of="stage"):
    """for i: for r: C[i] += v   ->   for i: c = C[i]; for r: c += v; C[i] = c

    Legal: nothing else inside of the loop uses the elements of C that the stage accumulates.
    """

    loop: str = loop_name()

    def edit(self, e: Editing) -> tuple[str, ...]:
        at, stage = e.at(self.loop), e.own()
        d = stage.statement.definition
        if not (d.is_update and _accumulates(d)):
            raise e.malformed(
                f"{self.stage} does not accumulate at the element of its Vars or RVars",
                "an update does whose left side is made of these: C[i, j] += ...",
            )
        e.check_serial(at, self.stage)
        if e.has_accumulator(stage):
            raise e.malformed(f"{self.stage} has a private accumulator already")
        e.tree = accumulate_at(e.tree, stage, at)
        return ()


def _accumulates(d: Definition) -> bool:
    """Whether an update changes an element that its dimensions determine, from its old value."""
    determined = len(set(d.lhs)) == len(d.lhs) and all(isinstance(x, (Var, RVar)) for x in d.lhs)
    return determined and any(
        isinstance(n, Read) and n.tensor is d.func and n.index == d.lhs
        for n in postorder(*d.values)
    )


def begin_at(tree: Seq, pure: Sequence[str], at: At, update: Stage) -> Seq:
    """C[i, j] = 0                      for io: for jo: C[i, j] = 0, for this tile
       for io: for jo: for k: ...   ->             for k: ...

    The stages of a pure definition move into a loop of an update. Each instance runs in the first
    iteration in which its element could be updated.

    Raises:
        ScheduleError: the update does not say which elements an iteration is about.
    """
    d = update.statement.definition
    nests = _nests(tree, pure)
    outer = update.coordinates[: at.depth + 1]

    def change(old: int, stage: Stage) -> Stage:
        given = accumulation.matched(d, stage.statement.definition)
        moved = replaced_all(outer, given)
        own = set(stage.statement.loops)
        foreign = next((n for c in moved for n in postorder(c) if _is_foreign(n, own)), None)
        if foreign is not None:
            raise ScheduleError(
                f"an iteration of {at.loop.name} is not about elements of {stage.name} alone",
                hint="a loop over the Vars of the update, or over an RVar with fixed bounds",
            )
        return replace(stage, coordinates=(*moved, *stage.coordinates[old:]))

    moved = tuple(map_stages(nest, partial(change, old)) for nest, old in nests)

    def begun(node: Tree, body: Body) -> Body:
        if node is at.loop:
            body = _in_front(body, moved)
        return (with_body(node, body),) if body else ()

    concerned = nests_with(tree, {*pure, update.name})
    return map_nodes(tree, begun, [nest for nest, _ in nests], concerned)


def accumulate_at(tree: Seq, stage: Stage, at: At) -> Seq:
    """for jo: for k: C[i, j] += ...   ->   for jo: c = C, for this tile
    for k: c[i, j] += ...
    C = c
    """
    func, serial = stage.statement.func, stage.statement.definition.serial
    inside = Accumulator(func, stage.name, serial, at.loop.body)
    return put(tree, at.place, with_body(at.loop, (inside,)))


def _is_foreign(n: Node, own: set[Var | RVar]) -> bool:
    """Whether the instances of a stage depend on loops that are not its own, or on data."""
    return isinstance(n, Read) or (isinstance(n, (Var, RVar)) and n not in own)


def _nests(tree: Seq, names: Sequence[str]) -> list[tuple[Tree, int]]:
    """The loops of some stages, each with how many loops are around where they are computed.

    Raises:
        ScheduleError: they share loops with others.
    """
    found: list[tuple[Tree, int]] = []

    def visit(node: Tree, around: int, loop: Loop | None) -> None:
        own = [s.name in names for s in stages(node)]
        if all(own) and not isinstance(node, (Alloc, Produce, Accumulator)):
            if loop is not None:
                others = dict.fromkeys(s.name for s in stages(loop) if s.name not in names)
                raise ScheduleError(
                    f"{', '.join(names)} shares the loop {loop.name} with {', '.join(others)}",
                    hint="where an element begins is said once, of loops that nothing shares",
                )
            found.append((node, around))
        elif any(own) and not isinstance(node, Stage):
            inside = len(node.times) if isinstance(node, Produce) else around
            shared = None if isinstance(node, Produce) else node if isinstance(node, Loop) else loop
            for child in node.body:
                visit(child, inside, shared)

    for nest in nests_with(tree, names):
        visit(nest, 0, None)
    return found


def _in_front(body: Body, nests: Body) -> Body:
    """The nests in front of a body, inside of storage and accumulators, behind what is computed
    for that."""
    *before, last = body
    if isinstance(last, (Alloc, Accumulator)) and all(isinstance(x, Produce) for x in before):
        return (*before, with_body(last, _in_front(last.body, nests)))
    return (*nests, *body)
