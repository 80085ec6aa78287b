"""A LoopTree with its bounds found: loops that visit each stage's iterations, and nothing else.

Where several stages share a loop, its bounds are those of their union and each stage keeps a
guard; a guard stands at the outermost place that knows all it depends on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from ...lang.errors.errors import ScheduleError
from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Var
from ...lang.tensors.tensors import Func
from ...records import dataclass
from ..placement.accumulators import copies
from ..sets.budget import BudgetExceeded, attempt
from ..sets.expressions import Translator
from ..sets.isl import Set, coalesced, isl, union_sets
from ..sets.projections import outermost
from ..tree.extents import span_of
from ..tree.looptree import Accumulator, Alloc, Loop, Path, Produce, Seq, Tree, leaves
from ..tree.stage import Stage, iterations, loop_map
from .alike import AlikeNests
from .bounds import (
    Bounds,
    are_lines,
    bounds_from_first,
    exact_bounds,
    full_tile_bounds,
    has_gaps,
    loop_bounds,
    rounded_bounds,
    within,
)
from .databounds import data_bounds
from .dead_stages import without_dead_stages
from .guards import remaining, split_guard
from .loop_nest import LoopNest, NestAccumulator, NestAlloc, NestIf, NestLoop, NestSeq, NestStage
from .points import point_of
from .storage_extents import room_in_loops
from .wraps import Fits

_SET = isl.dim_type.set
OPERATIONS = 500_000
"""So much work may isl put into the exact bounds of a loop: seconds at most."""


def loop_nests(tree: Tree, parameters: Mapping[str, Node], context: Set) -> tuple[LoopNest, ...]:
    """The nests at the root of a tree, each with its bounds.

    Args:
        parameters: the sizes that isl knows by name.
        context: what holds of them.
    """
    alike = AlikeNests()
    return tuple(
        alike.of(nest.tree, partial(nest.bounded, parameters, context))
        for nest in nest_trees(tree, context)
    )


@dataclass(frozen=True)
class NestTree:
    """One nest of a schedule tree, before its bounds are found: without dead stages.

    Attributes:
        parts: the Funcs that are stored in several places of that tree.
    """

    tree: Tree
    parts: frozenset[Func]

    def bounded(self, parameters: Mapping[str, Node], context: Set) -> LoopNest:
        """The loops with their bounds."""
        found = _NestMaker(self.tree, parameters, context, self.parts).result
        Fits().check(found)
        return found


def nest_trees(tree: Tree, context: Set) -> list[NestTree]:
    """The nests at the root of a tree, without dead stages."""
    tree = without_dead_stages(tree, context)
    stored = Counter(_stored_below(tree))
    parts = frozenset(f for f, count in stored.items() if count > 1)
    return [NestTree(root, parts) for root in roots(tree, parts)]


def roots(tree: Tree, parts: frozenset[Func] = frozenset()) -> list[Tree]:
    """The nests below the allocations at the root. Those of Funcs that are stored in several
    places belong to their nests."""
    if isinstance(tree, Seq) or (isinstance(tree, Alloc) and parts.isdisjoint(tree.funcs)):
        return [root for child in tree.body for root in roots(child, parts)]
    return [tree]


@dataclass(frozen=True)
class _Scope:
    """The loop variables around a part of the tree, and the iterations that they describe."""

    loops: tuple[Var, ...]
    described: Set
    #: Inside of a vector loop: its lanes share storage.
    in_lanes: bool = False


@dataclass(frozen=True)
class _Found:
    """A nest and the conditions it must be put under, with the number of loops each needs."""

    nest: LoopNest
    pending: tuple[tuple[int, Node], ...] = ()

    def guarded(self, depth: int) -> _Found:
        """The nest with those of its conditions put around it that need `depth` loops or more."""
        here = ix.conjunction(c for d, c in self.pending if d >= depth)
        rest = tuple((d, c) for d, c in self.pending if d < depth)
        return _Found(self.nest if here is None else NestIf(here, self.nest), rest)


class _NestMaker:
    def __init__(
        self,
        nest: Tree,
        parameters: Mapping[str, Node],
        context: Set,
        parts: Collection[Func],
    ) -> None:
        self.parameters = parameters
        self.parts = parts
        self.context = context
        #: What each loop visits, and what of its loops each stage does, at sizes of the context:
        #: to intersect with it once more would multiply the pieces of both.
        self.iterations: dict[int, Set] = {}
        self._visit(nest, 0)
        self.names: dict[str, int] = {}
        #: Nests that are not in the tree; kept, as they are known by their ids.
        self.added: list[Tree] = []
        nothing = Set.universe(context.get_space().set_from_params())
        self.result = self._tree(nest, _Scope((), nothing)).guarded(0).nest

    def _visit(self, tree: Tree, depth: int) -> list[Set]:
        """What a part of the tree makes the loops around it visit; notes it for all inside."""
        if isinstance(tree, Stage):
            found = iterations(tree, self.context)
            self.iterations[id(tree)] = found
            return [_outer(found, depth)]
        inner = depth + isinstance(tree, Loop)
        below = [x for child in tree.body for x in self._visit(child, inner)]
        if not isinstance(tree, Loop):
            return below
        # What is below is coalesced already.
        visited = union_sets(below[1:], below[0]) if below[1:] else below[0]
        self.iterations[id(tree)] = visited
        return [_outer(visited, depth)]

    def _tree(self, tree: Tree, scope: _Scope) -> _Found:
        match tree:
            case Loop():
                return self._loop(tree, scope)
            case Stage():
                return self._stage(tree, scope)
            case Alloc(funcs=funcs, body=body) if not scope.in_lanes:
                found = self._body(body, scope)
                inside = [f for f in funcs if scope.loops or f in self.parts]
                below = leaves(tree) if inside else []
                for func in reversed(inside):
                    found = self._storage(func, below, found, scope)
                return found
            case Accumulator():
                return self._accumulator(tree, scope)
            case Alloc(body=body) | Produce(body=body) | Seq(body=body):
                return self._body(body, scope)

    def _accumulator(self, node: Accumulator, scope: _Scope) -> _Found:
        """The body between copies."""
        made = copies(node, len(scope.loops), self.parameters, self.context)
        parts = []
        for nest in (made.copy_in, made.copy_out):
            self._visit(nest, len(scope.loops))
            self.added.append(nest)
            parts.append(self._tree(nest, scope).guarded(0).nest)
        body = self._body(node.body, scope).guarded(0).nest
        inside = [s for child in node.body for _, s in leaves(child)]
        using = [s for s in inside if node.is_of(s) or node.begins(s)]
        origin, extents = self._room(node.func, using, scope)
        return _Found(NestAccumulator(node, origin, extents, parts[0], body, parts[1]))

    def _room(
        self, func: Func, using: Sequence[Stage], scope: _Scope
    ) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
        """The origin and the extents of the storage of a Func inside of the loops of a scope."""
        given = scope.loops, scope.described, self.parameters, self.context
        return room_in_loops(func, using, *given)

    def _storage(
        self, func: Func, below: Sequence[tuple[Path, Stage]], body: _Found, scope: _Scope
    ) -> _Found:
        """Room for what is written in one iteration of the loops around."""
        if any(
            s.statement.definition.opaque is not None and s.statement.touches(func)
            for _, s in below
        ):
            return body  # extern stages are given all of a buffer, which stays where it is
        origin, extents = self._room(func, [s for _, s in below], scope)
        return _Found(NestAlloc(func, origin, extents, body.nest), body.pending)

    def _body(self, body: tuple[Tree, ...], scope: _Scope) -> _Found:
        if len(body) == 1:
            return self._tree(body[0], scope)
        parts = [self._tree(part, scope) for part in body]
        # A condition of one part says nothing about the others: only one of all leaves this body.
        of_all = tuple(c for c in parts[0].pending if all(c in x.pending for x in parts))
        own = (_Found(x.nest, tuple(c for c in x.pending if c not in of_all)) for x in parts)
        return _Found(NestSeq(tuple(x.guarded(0).nest for x in own)), of_all)

    def _loop(self, loop: Loop, scope: _Scope) -> _Found:
        depth = len(scope.loops)
        visited = self.iterations[id(loop)]
        var = Var(self._unique(loop.name))
        outside = scope.described.add_dims(_SET, 1)
        bounds = self._bounds(loop, visited, outside, scope, var)
        count = None
        if loop.kind in ("vector", "unrolled"):
            # Of what the bounds describe, which may be more than what is needed.
            described = outside.intersect(bounds.described).intersect_params(self.context)
            count = span_of(described, depth)
            if count is None or count > _MOST_LANES:
                own = span_of(visited, depth)
                if count is None or (own is not None and own < count):
                    names = Translator(self.parameters, scope.loops)
                    bounds, count = bounds_from_first(visited, bounds, names), own
            if count is None:
                raise ScheduleError(
                    f"the {loop.kind} loop {loop.name} has no constant extent any more",
                    hint="make it serial, or split it anew",
                )
        lanes = scope.in_lanes or loop.kind == "vector"
        described = within(outside, visited, bounds)
        inside = _Scope((*scope.loops, var), described, lanes)
        tested: tuple[tuple[int, Node], ...] = ()
        if not lanes and self._is_sparse(loop, visited, bounds, outside):
            guard = self._guard(visited, inside, loop)
            if guard is not None:
                tested = self._conditions(guard, inside)
                inside = replace(inside, described=described.intersect(guard))
        body = self._body(loop.body, inside)
        body = _Found(body.nest, (*tested, *body.pending)).guarded(depth + 1)
        data = data_bounds(body.nest, scope.loops) if bounds.step == 1 else None
        made = NestLoop(loop, var, bounds.lo, bounds.hi, bounds.step, body.nest, data, count)
        found = _Found(made, body.pending)
        if data is not None and count is None:
            # Elsewhere the read of its bounds might be outside of the array.
            needed = self._guard(_outer(visited, depth), scope, loop)
            found = _Found(made, (*found.pending, *self._conditions(needed, scope)))
        if lanes and not scope.in_lanes and scope.loops:
            for func in _stored_below(loop):
                found = self._storage(func, leaves(loop), found, scope)
        return found

    def _bounds(self, loop: Loop, visited: Set, outside: Set, scope: _Scope, var: Var) -> Bounds:
        known = outside.intersect_params(self.context)
        if loop.full_tile is not None:
            tile = full_tile_bounds(visited, loop.full_tile)
            if visited.is_subset(tile.described):
                return tile  # the body is under a guard
        found = loop_bounds(visited, known, Translator(self.parameters, (*scope.loops, var)))
        if found.step > 1:
            return found
        names = Translator(self.parameters, scope.loops)
        with suppress(BudgetExceeded), attempt(OPERATIONS):  # else a guard does
            if has_gaps(visited, found, outside):
                exact = rounded_bounds(visited, known, names) or exact_bounds(visited, known, names)
                return exact or found
        return found

    def _is_sparse(self, loop: Loop, visited: Set, bounds: Bounds, outside: Set) -> bool:
        """Whether there are loops inside that need not begin in most iterations of this one, since
        its bounds are around a few lines through them: a guard outside of those loops spares them.
        """
        if not _has_loops(loop) or not are_lines(visited):
            return False
        with suppress(BudgetExceeded), attempt(OPERATIONS):
            return has_gaps(visited, bounds, outside)
        return False

    def _unique(self, name: str) -> str:
        count = self.names[name] = self.names.get(name, 0) + 1
        return name if count == 1 else f"{name}.{count}"

    def _stage(self, stage: Stage, scope: _Scope) -> _Found:
        names = Translator(self.parameters, scope.loops)
        guard = self._guard(self.iterations[id(stage)], scope, stage)
        real = None
        if stage.padding:
            own = stage.instances.apply(loop_map(stage)).intersect_params(self.context)
            real = names.condition(own.gist(self.iterations[id(stage)]))
        return _Found(
            NestStage(stage, point_of(stage, scope.loops, names, self.context), real),
            self._conditions(guard, scope),
        )

    def _guard(self, needed: Set, scope: _Scope, tree: Loop | Stage) -> Set | None:
        """What holds in the iterations of a stage or a loop only."""

        def at_all_sizes() -> Set:
            inside = [_outer(iterations(s), len(scope.loops)) for _, s in leaves(tree)]
            return union_sets(inside[1:], inside[0])

        return remaining(needed, scope.described, self.context, at_all_sizes)

    def _conditions(self, guard: Set | None, scope: _Scope) -> tuple[tuple[int, Node], ...]:
        """A guard as conditions, with the number of loops that each depends on."""
        names = Translator(self.parameters, scope.loops)
        parts = split_guard(guard) if guard is not None else []
        found = ((depth, names.condition(where)) for depth, where in parts)
        return tuple((depth, condition) for depth, condition in found if condition is not None)


_MOST_LANES = 64
"""Bounds that describe more may do so because they are around iterations far from each other."""


def _stored_below(tree: Tree) -> Iterator[Func]:
    """The Funcs whose storage does not live for all of a tree."""
    if isinstance(tree, Alloc):
        yield from tree.funcs
    if not isinstance(tree, Stage):
        for child in tree.body:
            yield from _stored_below(child)


def _has_loops(loop: Loop) -> bool:
    return any(isinstance(x, Loop) for path, _ in leaves(loop) for _, x in path)


def _outer(iterations: Set, count: int) -> Set:
    """The projection onto the outermost dimensions."""
    return coalesced(outermost(iterations, count))
