"""Directives that take a stage apart by its instances: partition, peel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...lang.errors.errors import ScheduleError
from ...lang.nodes.nodes import Node
from ...later import later
from ...records import dataclass, replace
from ..state.fields import loop_name, number, predicate
from ..state.record import Directive
from ..tree.edits import At, map_children, map_stages, node_at, own_stages, place_of, put, stages
from ..tree.looptree import Loop, Produce, Seq, Tree
from ..tree.stage import Stage, loop_map

if TYPE_CHECKING:
    from ..sets import isl as sets, projections
    from ..sets.isl import Map, Set, isl
    from ..state.editing import Editing
else:
    sets = later("..sets.isl", __package__)
    projections = later("..sets.projections", __package__)


@dataclass(frozen=True)
class Partition(Directive, name="partition", of="stage"):
    """S   ->   S where a condition holds; S where it does not

    Legal: within one iteration of their loops, no dependence goes from the second to the first.
    """

    condition: Node = predicate()

    def edit(self, e: Editing) -> tuple[str, ...]:
        stage = e.own()
        where = e.condition(stage, self.condition)
        names = (f"{stage.part}[0]", f"{stage.part}[1]")
        e.tree = partition(e.tree, self.stage, where, names)
        return tuple(stage.statement.name + n for n in names)


@dataclass(frozen=True)
class Peel(Directive, name="peel", of="loops"):
    """for i   ->   for the first i; for those between; for the last i

    Legal: always, as the order stays.
    """

    loop: str = loop_name()
    first: int = number("number of first iterations", least=0, default=0)
    last: int = number("number of last iterations", least=0, default=0)

    def edit(self, e: Editing) -> tuple[str, ...]:
        if not self.first + self.last:
            raise e.malformed("peel takes at least one iteration", "first=1, or last=1")
        at = e.at(self.loop)
        if at.loop.kind == "vector":
            raise e.malformed(
                f"the lanes of the vector loop {self.loop} run together",
                "peel first, then vectorize what is between",
            )
        e.tree = peel(e.tree, at, self.first, self.last)
        return ()


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
    visited = values_of([iterations_of(s, at.depth + 1) for s in bounding(at.loop)], at.depth)
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


def bounding(loop: Loop) -> list[Stage]:
    """The stages whose instances say over which iterations a loop runs.

    Raises:
        ScheduleError: it has none: what it computes is for stages outside.
    """
    found = list(own_stages(loop))
    if not found:
        names = ", ".join(dict.fromkeys(s.name for s in stages(loop)))
        raise ScheduleError(
            f"the loop {loop.name} holds only what is computed for stages outside of it ({names}), "
            "and runs as these need it",
            hint="say it before fission takes them apart, or compute_at elsewhere",
        )
    return found


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
    return map_children(tree, lambda child: _by_stage(child, change, suffix))


def outer_loops(stage: Stage, count: int) -> Map:
    """{ instance -> its outermost coordinates }"""
    whole = loop_map(stage)
    total = int(whole.dim(sets.isl.dim_type.out))
    return whole.project_out(sets.isl.dim_type.out, count, total - count)


def iterations_of(stage: Stage, count: int) -> Set:
    """The outermost coordinates of a stage's instances."""
    return stage.instances.apply(outer_loops(stage, count))


def values_of(iterations: list[Set], depth: int) -> Map:
    """{ outer loops -> the values of the next one }"""
    whole = sets.union_sets(iterations[1:], iterations[0])
    return projections.by_outer(whole, depth)


def flat(values: Map) -> Set:
    """{ (outer loops, value) }"""
    depth = int(values.dim(sets.isl.dim_type.in_))
    return values.move_dims(sets.isl.dim_type.out, 0, sets.isl.dim_type.in_, 0, depth).range()


def near(starts: Map, count: int, direction: int) -> Map:
    """{ outer loops -> the values at most `count` - 1 steps from a start }"""
    space = starts.get_space().range()
    frame = sets.isl.LocalSpace.from_space(space)
    steps = sets.isl.Aff.var_on_domain(frame, sets.isl.dim_type.set, 0)
    steps = steps if direction > 0 else steps.neg()
    within = sets.Set.universe(space).intersect(at_least(steps)).intersect(
        at_least(steps.neg().add_constant_val(sets.val(count - 1)))
    )  # fmt: skip
    pairs = sets.Map.universe(space.map_from_set()).deltas_map().intersect_range(within)
    return starts.apply_range(pairs.domain().unwrap())


def at_least(value: isl.Aff) -> Set:
    """Where a value is not below zero."""
    constraint = sets.isl.Constraint.inequality_from_aff(value)
    return sets.Set.from_basic_set(sets.isl.BasicSet.from_constraint(constraint))
