"""Which instances may come before which in a tree, and share storage of a Func."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from ...lang.tensors.tensors import Func
from ..model.statements import Statement
from ..sets.isl import Map, Set, coalesced
from ..tree.looptree import Alloc, Path, Produce, Seq, loops_of, nodes, produced
from ..tree.times import ScheduledStage, alike, scheduled_stages, unordered
from .storage_placement import storage_of, stored_depth

Before = Callable[[Statement, Statement], Map]
"""{ x of the second statement -> y of the first one : y may come before x }"""


def precedence(tree: Seq) -> Before:
    """The order of the instances of two stages, as far as a tree leaves it open."""
    stages: dict[Statement, list[ScheduledStage]] = {}
    for p in scheduled_stages(tree):
        stages.setdefault(p.stage.statement, []).append(_in_one_piece(p))

    @cache
    def before(first: Statement, second: Statement) -> Map:
        pairs = [_may_precede(y, x) for x in stages[second] for y in stages[first]]
        result = pairs[0]
        for more in pairs[1:]:
            result = result.union(more)
        return coalesced(result.compute_divs())

    return before


def _in_one_piece(p: ScheduledStage) -> ScheduledStage:
    """The stage with the simple hull of its instances. The order is only intersected with accesses,
    whose domains leave the added instances out; exact domains would multiply their pieces."""
    stage, s = p.stage, p.stage.statement
    if stage.where is not None or s.domain.n_basic_set() < 2 or s.data_bounds:
        return p
    hull = Set.from_basic_set(s.domain.simple_hull())
    return ScheduledStage(p.path, replace(stage, statement=replace(s, domain=hull)))


def _may_precede(first: ScheduledStage, second: ScheduledStage) -> Map:
    """{ x of second -> y of first : nothing makes x run before y }; an instance reads before it
    writes."""
    pairs = unordered(second, first, "output", None)
    if first.stage is second.stage:
        pairs = pairs.subtract(Map.identity(pairs.get_space()))
    return pairs


def within_lives(tree: Seq, func: Func, before: Before) -> Before:
    """The order of instances that use the same values of a Func: where it is computed anew in
    each iteration of some loops, those of one iteration."""
    lives: dict[int, int] = {}
    for path, node in produced(tree):
        if func in node.funcs:
            where, depth = id(storage_of(path, func)), _lives(path, func)
            lives[where] = min(depth, lives.get(where, depth))
    for path, x in nodes(tree):
        if isinstance(x, Alloc) and func in x.funcs and id(x) not in lives:
            around = loops_of(path)  # what is stored in an iteration is gone after it
            lives[id(x)] = 0 if any(y.kind == "vector" for y in around) else len(around)
    if not any(lives.values()) and len(lives) < 2:
        return before
    using: dict[Statement, list[tuple[int, ScheduledStage]]] = {}
    for p in scheduled_stages(tree):
        if p.stage.statement.touches(func):
            found = using.setdefault(p.stage.statement, [])
            here = [id(x) for _, x in p.path if id(x) in lives]
            # What stands outside of these loops uses nothing that is computed inside of them.
            found += [(k, p) for k in here if len(p.loops) >= lives[k]]

    @cache
    def inside(first: Statement, second: Statement) -> Map:
        pairs = before(first, second)
        shared = [
            alike(q, p, lives[k]) for k, p in using[first] for c, q in using[second] if c == k
        ]
        result = pairs.subtract(pairs)
        for same in shared:
            result = result.union(pairs.intersect(same))
        return coalesced(result.compute_divs())

    return inside


def _lives(path: Path, func: Func) -> int:
    """How many of the loops around where a Func is computed tell its values apart: iterations
    that run concurrently share storage that lies outside of them."""
    stored, loops = stored_depth(path, func), loops_of(path)
    node = path[-1][1]
    assert isinstance(node, Produce)
    at_once = (k for k in range(stored, node.fresh_depth) if loops[k].kind == "parallel")
    return next(at_once, node.fresh_depth)
