"""Directives on what stands inside of a loop: fission, compute_with, partition, peel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...lang import index as ix
from ...lang.errors import ScheduleError
from ...lang.nodes import Node, integer
from ...lang.tensors import Func
from ..edits import (
    At,
    Place,
    Shared,
    loops_around,
    map_stages,
    node_at,
    own_stages,
    place_of,
    put,
    stages,
    with_body,
)
from ..isl import Map, Set, isl, union_sets, val
from ..looptree import Alloc, Keep, Loop, Produce, Seq, Stage, Tree, loop_map
from .fields import loop_name, number, predicate, stage_name
from .record import Directive

if TYPE_CHECKING:
    from ..editor import Editor


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
    fresh: list[Func] = []
    while len(body) == 1 and isinstance(body[0], Alloc):
        fresh.append(body[0].func)
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
    for func in reversed(fresh):
        made = (Alloc(func, made),)
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
            f"{stage} has {len(own)} loops, and {other.loop.name} is loop {other.depth + 1}",
            hint="the loops of both are matched from the outermost one on",
        )
    shared = _common(own[-1].place if own else (), other.place)
    outer = own[other.depth]
    inside = [a.loop for a in own if len(a.place) > len(shared)]
    if inside and len(list(stages(inside[0]))) > 1:
        names = ", ".join(dict.fromkeys(s.name for s in stages(inside[0]) if s.name != stage))
        raise Shared(f"the loops of {stage} hold other stages, too: {names}", inside[0])

    between = (node_at(tree, outer.place[:k]) for k in range(len(own[0].place), len(outer.place)))
    kept = next((node for node in between if isinstance(node, Keep)), None)
    if kept is not None:
        raise ScheduleError(
            f"{kept.stage} keeps what it accumulates at a loop around {outer.loop.name}, which "
            "would be gone",
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


def partition(tree: Seq, stage: str, where: Set, names: tuple[str, str]) -> Seq:
    """The stage becomes two, one after the other: where a condition holds, and elsewhere."""
    place = place_of(tree, stage)
    old = node_at(tree, place)
    assert isinstance(old, Stage)
    made = [
        replace(old, where=part if old.where is None else old.where.intersect(part), part=name)
        for part, name in zip((where, where.complement()), names, strict=True)
    ]
    return put(tree, place, *made)


def peel(tree: Seq, at: At, first: int, last: int) -> Seq:
    """for i in [lo, hi): ...   ->   the first iterations, those between, and the last ones, each
    in a loop of its own."""
    visited = by_outer([iterations_of(s, at.depth + 1) for s in own_stages(at.loop)], at.depth)
    parts, between = [], visited
    if first:
        parts.append((".first", near(visited.lexmin(), first, 1).intersect(visited)))
        between = between.subtract(parts[0][1])
    if last:
        parts.append((".last", near(visited.lexmax(), last, -1).intersect(between)))
        between = between.subtract(parts[-1][1])
    parts.insert(1 if first else 0, ("", between))
    copies = [
        restricted(at.loop, at.depth, part, suffix and fresh(tree, at.loop, suffix))
        for suffix, part in parts
    ]
    return put(tree, at.place, *copies)


def fresh(tree: Seq, loop: Loop, suffix: str) -> str:
    """A suffix with which no stage of a loop is called as another one is already."""
    taken = {s.name for s in stages(tree)}
    while any(s.name + suffix in taken for s in stages(loop)):
        suffix += "'"
    return suffix


def restricted(loop: Loop, depth: int, part: Map, suffix: str) -> Tree:
    """A copy of a loop with some of its iterations, { outer loops -> iterations }."""

    def change(s: Stage) -> Stage:
        chosen = outer_loops(s, depth + 1).intersect_range(flat(part)).domain()
        kept = chosen if s.where is None else s.where.intersect(chosen)
        return replace(s, where=kept, part=s.part + suffix)

    made = _by_stage(loop, change, suffix)
    assert isinstance(made, Loop)
    return made


def _by_stage(tree: Tree, change: Callable[[Stage], Stage], suffix: str) -> Tree:
    """Every stage changed; but those that are computed inside for others run as far as these need
    them, and get a name of their own only."""
    if isinstance(tree, Stage):
        return change(tree)
    if isinstance(tree, Produce):
        named = map_stages(tree, lambda s: replace(s, part=s.part + suffix))
        assert isinstance(named, Produce)
        return replace(named, demand=None)
    return with_body(tree, tuple(_by_stage(child, change, suffix) for child in tree.body))


def outer_loops(stage: Stage, count: int) -> Map:
    """{ instance -> its outermost coordinates }"""
    whole = loop_map(stage)
    total = int(whole.dim(isl.dim_type.out))
    return whole.project_out(isl.dim_type.out, count, total - count)


def iterations_of(stage: Stage, count: int) -> Set:
    """The outermost coordinates of a stage's instances."""
    return stage.instances.apply(outer_loops(stage, count))


def by_outer(iterations: list[Set], depth: int) -> Map:
    """{ outer loops -> the values of the next one }"""
    whole = union_sets(iterations[1:], iterations[0])
    return Map.from_range(whole).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, depth)


def flat(by_outer: Map) -> Set:
    """{ (outer loops, value) }"""
    depth = int(by_outer.dim(isl.dim_type.in_))
    return by_outer.move_dims(isl.dim_type.out, 0, isl.dim_type.in_, 0, depth).range()


def near(ends: Map, count: int, direction: int) -> Map:
    """{ outer loops -> the values at most `count` - 1 steps from an end }"""
    space = ends.get_space().range()
    frame = isl.LocalSpace.from_space(space)
    steps = isl.Aff.var_on_domain(frame, isl.dim_type.set, 0)
    steps = steps if direction > 0 else steps.neg()
    within = Set.universe(space).intersect(at_least(steps)).intersect(
        at_least(steps.neg().add_constant_val(val(count - 1)))
    )  # fmt: skip
    pairs = Map.universe(space.map_from_set()).deltas_map().intersect_range(within)
    return ends.apply_range(pairs.domain().unwrap())


def at_least(value: isl.Aff) -> Set:
    """Where a value is not below zero."""
    constraint = isl.Constraint.inequality_from_aff(value)
    return Set.from_basic_set(isl.BasicSet.from_constraint(constraint))


@dataclass(frozen=True)
class Fission(Directive, name="fission"):
    """for i: A; B   ->   for i: A; for i: B

    Legal: no dependence goes from B to a later iteration of A.
    """

    loop: str = loop_name()
    after: str = stage_name()

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.fission(self.loop, self.after)


@dataclass(frozen=True)
class ComputeWith(Directive, name="compute_with"):
    """for i: A; for i: B   ->   for i: A(i); B(i - shift)

    Legal: for each dependence x -> y between A and B, in the shared loops x is before y.
    """

    other: str = stage_name()
    loop: str = loop_name()
    shift: int = number("shift", default=0)

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.compute_with(self.other, self.loop, self.shift)


@dataclass(frozen=True)
class Partition(Directive, name="partition"):
    """S   ->   S where a condition holds; S where it does not

    Legal: within one iteration of their loops, no dependence goes from the second to the first.
    """

    condition: Node = predicate()

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.partition(self.condition)


@dataclass(frozen=True)
class Peel(Directive, name="peel"):
    """for i   ->   for the first i; for those between; for the last i

    Legal: always, as the order stays.
    """

    loop: str = loop_name()
    first: int = number("number of first iterations", least=0, default=0)
    last: int = number("number of last iterations", least=0, default=0)

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.peel(self.loop, self.first, self.last)
