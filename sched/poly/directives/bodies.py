"""Directives on what stands inside of a loop: fission, compute_with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lang.errors.errors import ScheduleError
from ...lang.errors.words import counted
from ...lang.nodes import index as ix
from ...lang.nodes.nodes import integer
from ...later import later
from ...records import dataclass, replace
from ..state.fields import loop_name, number, stage_name
from ..state.record import Directive
from ..tree.edits import (
    At,
    Place,
    Shared,
    loops_around,
    map_stages,
    node_at,
    place_of,
    put,
    stages,
    with_storage,
)
from ..tree.looptree import (
    Accumulator,
    Alloc,
    Produce,
    Seq,
    Tree,
    leaves,
    loops_of,
    produced,
    producer,
)
from ..tree.stage import Stage

if TYPE_CHECKING:
    from ..state.editing import Editing
    from ..tree import around, relocation
else:
    relocation = later("..tree.relocation", __package__)
    around = later("..tree.around", __package__)


@dataclass(frozen=True)
class Fission(Directive, name="fission", of="loops"):
    """for i: A; B   ->   for i: A; for i: B

    Legal: no dependence goes from B to a later iteration of A.
    """

    loop: str = loop_name()
    after: str = stage_name()

    def edit(self, e: Editing) -> tuple[str, ...]:
        at = e.at(self.loop)
        e.at(self.loop, self.after)
        e.tree = fission(e.tree, at, self.after)
        return ()


@dataclass(frozen=True)
class ComputeWith(Directive, name="compute_with", of="stage"):
    """for i: A; for i: B   ->   for i: A(i); B(i - shift)

    Legal: for each dependence x -> y between A and B, in the shared loops x is before y.
    """

    other: str = stage_name()
    loop: str = loop_name()
    shift: int = number("shift", default=0)

    def edit(self, e: Editing) -> tuple[str, ...]:
        at = e.at(self.loop, self.other)
        if any(s.name == self.stage for s in stages(at.loop)):
            raise e.malformed(
                f"{self.stage} is inside of the loop {self.loop} of {self.other} already"
            )
        e.own()
        mine, others = (_produced_by(e, name) for name in (self.stage, self.other))
        if (mine is None) != (others is None) or (mine and others and not _beside(e, mine, others)):
            raise e.malformed(
                f"{self.stage} and {self.other} are not computed at the same loop",
                "compute_at the same loop first, or both at root",
            )
        _check_kinds_kept(e, self.other, at)
        if mine is not None and others is not None and mine is not others:
            # All stages of a Func are computed together, so they stay together.
            e.tree = relocation.merged(e.tree, around.as_beside(mine, others), mine, others)
            at = e.at(self.loop, self.other)
        e.tree = compute_with(e.tree, self.stage, at, self.shift)
        return ()


def _check_kinds_kept(e: Editing, other: str, at: At) -> None:
    """Refuses to drop kinds of loops that become those of another stage."""
    theirs = (*loops_around(e.tree, other)[: at.depth], at)
    for old, new in zip(loops_around(e.tree, e.stage), theirs, strict=False):
        if old.loop.kind not in ("serial", new.loop.kind):
            raise e.malformed(
                f"the {old.loop.kind} loop {old.loop.name} of {e.stage} would become the "
                f"{new.loop.kind} loop {new.loop.name} of {other}",
                f"say it of {other}, or behind compute_with",
            )


def _produced_by(e: Editing, stage: str) -> Produce | None:
    """Where on the way to a stage its Func is computed for a consumer, if it is."""
    for path, found in leaves(e.tree):
        if found.name == stage:
            return producer(path, found.statement.func)
    return None


def _beside(e: Editing, a: Produce, b: Produce) -> bool:
    """Whether two are computed in one iteration of one loop."""
    loops = [loops_of(p) for p, node in produced(e.tree) if node is a or node is b]
    return a is b or [id(x) for x in loops[0]] == [id(x) for x in loops[1]]


def fission(tree: Seq, at: At, after: str) -> Seq:
    """for i: A; B   ->   for i: A
                          for i: B

    Raises:
        ScheduleError: nothing comes after the stage inside of the loop.
    """
    body = at.loop.body
    inside = place_of(tree, after)
    if inside[: len(at.place)] != at.place:
        raise ScheduleError(f"{after} is not inside of the loop {at.loop.name}")
    # Storage of one iteration becomes storage of both loops; whether it is enough is proven.
    fresh: list[Alloc] = []
    while len(body) == 1 and isinstance(body[0], Alloc):
        fresh.append(body[0])
        body = body[0].body
    cut = inside[len(at.place) + len(fresh)] + 1
    if cut == len(body):
        raise ScheduleError(
            f"nothing comes after {after} in the loop {at.loop.name}",
            hint="the loop is cut behind the stage that after= names",
        )
    made: tuple[Tree, ...] = (
        replace(at.loop, body=body[:cut]),
        replace(at.loop, body=body[cut:]),
    )
    made = with_storage([f for node in fresh for f in node.funcs], made)
    return put(tree, at.place, *made)


def compute_with(tree: Seq, stage: str, other: At, shift: int) -> Seq:
    """for i: A           ->   for i:
       for i: B                    A
                                   B

    The stage's loops down to the depth of `other` become those around `other`'s body.

    Raises:
        ScheduleError: the stage shares its loops, or has too few of them.
    """
    own = loops_around(tree, stage)
    if len(own) <= other.depth:
        raise ScheduleError(
            f"{stage} has {counted(len(own), 'loop')}, and {other.loop.name} is loop "
            f"{other.depth + 1}",
            hint="the loops of both are matched from the outermost one on",
        )
    shared = _common(own[-1].place if own else (), other.place)
    outer = own[other.depth]
    inside = [a.loop for a in own if len(a.place) > len(shared)]
    if inside and len(list(stages(inside[0]))) > 1:
        names = ", ".join(dict.fromkeys(s.name for s in stages(inside[0]) if s.name != stage))
        raise Shared(f"the loops of {stage} hold other stages, too: {names}", inside[0])

    between = (node_at(tree, outer.place[:k]) for k in range(len(own[0].place), len(outer.place)))
    accumulator = next((node for node in between if isinstance(node, Accumulator)), None)
    if accumulator is not None:
        raise ScheduleError(
            f"the private accumulator of {accumulator.stage} is at a loop around {outer.loop.name},"
            " which would be gone",
            hint="match that loop at most, or accumulate_at afterwards",
        )

    def change(s: Stage) -> Stage:
        c, d = s.coordinates, other.depth
        return replace(s, coordinates=(*c[:d], ix.add(c[d], integer(shift)), *c[d + 1 :]))

    moved = tuple(map_stages(child, change) for child in outer.loop.body)
    joined = put(tree, other.place, replace(other.loop, body=(*other.loop.body, *moved)))
    return put(joined, _root_of(own, tree))


def _root_of(own: tuple[At, ...], tree: Seq) -> Place:
    """The outermost loop that holds nothing else."""
    return next(a.place for a in own if len(list(stages(a.loop))) == 1)


def _common(a: Place, b: Place) -> Place:
    found = []
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        found.append(x)
    return tuple(found)
