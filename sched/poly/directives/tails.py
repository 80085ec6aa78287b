"""What happens where a loop is no multiple of its split factor.

auto      the last inner loop is shorter: its bound is a minimum
guard     all inner loops run to the end, the body under a condition
mask      the same, for lanes of vectors
peel      full tiles in loops of constant extent, the others in loops of their own
shift     full tiles, and one more that ends where the loop ends: some iterations run again
round_up  the sizes must be such that there is no rest
pad       all tiles are full: iterations beyond the end write elements that are not read
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from ...lang.errors.errors import ScheduleError
from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Var, integer
from ...later import later
from ...records import replace
from ..tree.edits import At, map_stages, own_stages, put
from ..tree.looptree import Loop, Seq, Tree
from ..tree.stage import Stage
from .parts import (
    at_least,
    bounding,
    flat,
    fresh,
    iterations_of,
    near,
    outer_loops,
    restricted,
    values_of,
)

if TYPE_CHECKING:
    from ..sets import isl as sets
    from ..sets.isl import Map, Set
else:
    sets = later("..sets.isl", __package__)


Tail = Literal["auto", "guard", "mask", "peel", "shift", "round_up", "pad"]
TAILS: tuple[Tail, ...] = get_args(Tail)


def full(tree: Seq, outer: At, factor: int) -> Seq:
    """The inner loop runs over all of its factor, its body under a guard."""
    (inner,) = outer.loop.body
    assert isinstance(inner, Loop)
    return put(tree, outer.place, replace(outer.loop, body=(replace(inner, full_tile=factor),)))


def pad(tree: Seq, at: At, factor: int) -> Seq:
    """The stages of a loop run over full tiles of a Var.

    Raises:
        ScheduleError: the loop runs over something else, or data say what runs.
    """

    def change(s: Stage) -> Stage:
        var, d = s.coordinates[at.depth], s.statement.definition
        if not isinstance(var, Var) or var not in d.vars:
            raise ScheduleError(
                f"tail='pad' fills up tiles of a Var, and {at.loop.name} of {s.name} is none",
                hint="iterations of a reduction would be added; pad before other directives "
                "change the loop",
            )
        if s.statement.guard is not None or s.statement.data_bounds or d.opaque is not None:
            raise ScheduleError(
                f"tail='pad' cannot fill up the tiles of {s.name}: data say what runs",
                hint="tail='auto' or 'peel'",
            )
        return replace(s, padding=(*s.padding, (var, factor)))

    return put(tree, at.place, map_stages(at.loop, change))


def peel(tree: Seq, outer: At, factor: int, context: Set) -> Seq:
    """Full tiles in one loop; those before and after them in others."""
    full, head, tail = _tiles(outer, factor)
    copies: list[Tree] = []
    for suffix, part in ((".head", head), ("", full), (".tail", tail)):
        if suffix and part.intersect_params(context).is_empty():
            continue
        named = suffix and fresh(tree, outer.loop, suffix)
        copies.append(restricted(outer.loop, outer.depth, part, named))
    return put(tree, outer.place, *copies)


def shift(tree: Seq, outer: At, factor: int, context: Set) -> Seq:
    """Full tiles in one loop; then the last iterations, as many as a tile has, once more.

    Raises:
        ScheduleError: running an instance again would change what it computes.
    """
    for stage in own_stages(outer.loop):
        d = stage.statement.definition
        own = stage.statement.reads_from(d.func)
        if own or d.is_update or d.opaque is not None:
            raise ScheduleError(
                f"tail='shift' runs some instances of {stage.name} twice, and it "
                + ("reads what it writes" if own else "is no pure definition"),
                hint="tail='auto' or 'peel' runs each once",
            )
    full, head, tail = _tiles(outer, factor)
    if not head.intersect_params(context).is_empty():
        raise ScheduleError(
            f"the loop {outer.loop.name} does not begin with a full tile, as tail='shift' needs",
            hint="tail='auto' or 'peel' takes any beginning",
        )
    main = restricted(outer.loop, outer.depth, full, "")
    last = _last(outer, factor, tail, fresh(tree, outer.loop, ".tail"))
    for old, a, b in zip(*map(own_stages, (outer.loop, main, last)), strict=True):
        run = a.instances.union(b.instances)
        if not old.instances.intersect_params(context).is_subset(run):
            raise ScheduleError(
                f"tail='shift' cannot run all of {old.name}: more than its last {factor} "
                "iterations are outside of full tiles",
                hint="tail='auto' or 'peel' takes any shape",
            )
    return put(tree, outer.place, main, last)


def _tiles(outer: At, factor: int) -> tuple[Map, Map, Map]:
    """{ outer loops -> tiles } that are full, and those before and behind."""
    depth = outer.depth
    inside = [iterations_of(s, depth + 2) for s in bounding(outer.loop)]
    touched = values_of([s.project_out(sets.isl.dim_type.set, depth + 1, 1) for s in inside], depth)
    every = flat(touched).add_dims(sets.isl.dim_type.set, 1)
    x = sets.isl.Aff.var_on_domain(
        sets.isl.LocalSpace.from_space(every.get_space()), sets.isl.dim_type.set, depth + 1
    )
    every = every.intersect(at_least(x))
    every = every.intersect(at_least(x.neg().add_constant_val(sets.val(factor - 1))))
    visited = sets.union_sets(inside[1:], inside[0])
    missing = every.subtract(visited).project_out(sets.isl.dim_type.set, depth + 1, 1)
    full = sets.coalesced(touched.subtract(values_of([missing], depth)))
    rest = touched.subtract(full)
    order = sets.Map.lex_lt(touched.get_space().range())
    head = sets.coalesced(rest.intersect(full.apply_range(order.reverse())))
    return full, head, sets.coalesced(rest.subtract(head))


def _last(outer: At, factor: int, tail: Map, suffix: str) -> Tree:
    """The last `factor` iterations where the tail has any, in one loop."""
    depth = outer.depth
    (inner,) = outer.loop.body
    assert isinstance(inner, Loop)

    own = set(map(id, own_stages(inner)))

    def change(s: Stage) -> Stage:
        tile, rest = s.coordinates[depth : depth + 2]
        x = ix.add(ix.mul(tile, integer(factor)), rest)
        c = (*s.coordinates[:depth], x, *s.coordinates[depth + 2 :])
        moved = replace(s, coordinates=c)
        if id(s) not in own:  # it runs as those need it for which it is computed
            return replace(moved, part=s.part + suffix)
        visited = values_of([iterations_of(moved, depth + 1)], depth)
        nearby = near(visited.lexmax().intersect_domain(tail.domain()), factor, -1)
        last = flat(nearby.intersect(visited))
        chosen = outer_loops(moved, depth + 1).intersect_range(last).domain()
        kept = chosen if s.where is None else s.where.intersect(chosen)
        return replace(moved, where=kept, part=s.part + suffix)

    return map_stages(inner, change)
