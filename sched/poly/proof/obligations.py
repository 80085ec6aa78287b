"""Obligations: what must hold of a schedule, as frozen values.

The answer of an obligation is a function of the value alone, so equal ones hold alike, and are
proven once. `proof` derives the obligations of a tree.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar, cast

from ...records import dataclass
from ..model.statements import Access, Statement
from ..sets.isl import Map, Set, isl
from ..sets.memo import Same
from ..tree.stage import Run
from ..tree.times import Common, alike_runs, independent_loops, unordered_runs
from .dependences import Kind


@dataclass(frozen=True)
class Order:
    """A dependence is kept between two stages: none of its pairs runs backwards or concurrently.

    An obligation is a value, and its answer is a function of it alone: equal ones hold alike.

    Attributes:
        relation: the pairs of instances of the algorithm.
        is_free: they may run in any order, but not concurrently.
    """

    relation: Same
    kind: Kind
    source: Run
    sink: Run
    common: Common
    is_free: bool

    def broken(self, context: Set) -> Map:
        """{ x -> y : the dependence is not kept, at sizes of a context }"""
        assert isinstance(self.relation.of, Map)
        met, a, b = self.common, self.source, self.sink
        wrong = unordered_runs(a, b, met, self.kind, relaxed=self.is_free)
        if wrong.plain_is_empty():
            return wrong
        pairs = _between(self.relation.of, a, b).intersect(wrong)
        return pairs.intersect_params(context)


@dataclass(frozen=True)
class Delivery:
    """A value has been computed where it is read: the source of each instance of the sink runs in
    the same iteration of the loops outside of the depth of fresh values of the Func.

    With tau these loops, of a sink y with the source x,

        { y -> x } less those with (tau(y), x) in { (tau(x'), x) : x' executes x }, for each copy

    Attributes:
        relation: { source -> sink } of the algorithm.
        sources: each with that depth, the number of these loops.
    """

    relation: Same
    sink: Run
    sources: tuple[tuple[Run, int], ...]

    def broken(self, context: Set) -> Map:
        """{ x -> y : x has not run for y, at sizes of a context }"""
        assert isinstance(self.relation.of, Map)
        b = self.sink
        around = len(b.statement.around)
        missing = self.relation.of.reverse().insert_dims(isl.dim_type.in_, 0, around)
        missing = missing.intersect_domain(b.instances).intersect_params(context)
        for a, depth in self.sources:
            loops = independent_loops(a, b, range(depth))
            at = b.at(loops).flat_range_product(missing).subtract_range(_executed(a, loops))
            missing = at.project_out(isl.dim_type.out, 0, len(loops))
        return missing.reverse()


@dataclass(frozen=True)
class Coverage:
    """Every instance of a statement runs.

    Attributes:
        parts: the instances that each of its stages runs; all of them if None.
    """

    statement: Statement
    parts: tuple[Same, ...]

    def broken(self, context: Set) -> Set:
        """The instances that none of the stages runs, at sizes of a context."""
        left = self.statement.domain.intersect_params(context)
        for part in self.parts:
            if part.of is None:
                return self.statement.frame.empty
            assert isinstance(part.of, Set)
            left = left.subtract(part.of)
        return left


def _between(pairs: Map, a: Run, b: Run) -> Map:
    """{ x -> y } of the algorithm as pairs of executed instances, each in all iterations that
    execute it."""
    pairs = pairs.insert_dims(isl.dim_type.in_, 0, len(a.statement.around))
    return pairs.insert_dims(isl.dim_type.out, 0, len(b.statement.around))


def _executed(a: Run, loops: list[int]) -> Set:
    """{ (loops, instance of the algorithm) }"""
    whole = Map.identity(a.instances.get_space().map_from_set())
    own = whole.project_out(isl.dim_type.out, 0, len(a.statement.around))
    return a.at(loops).flat_range_product(own).range()


@dataclass(frozen=True)
class Disjoint:
    """No two concurrent iterations of a loop touch one element of a Func that both store at one
    place.

    With t the loops around that loop,

        { x -> y : t(x) = t(y), in different iterations, x and y touch one element }

    Attributes:
        source, sink: what runs, `write` and `other` the accesses of their statements.
        loop: the number of the loop.
    """

    source: Run
    sink: Run
    write: Access
    other: Access
    loop: int

    def broken(self, context: Set) -> Map:
        """The pairs of instances that meet, at sizes of a context."""
        pairs = _in_different_iterations(self.source, self.sink, self.loop)
        touched = self.write.map.apply_range(self.other.map.reverse())
        return pairs.intersect_params(context).intersect(touched)


@dataclass(frozen=True)
class Once:
    """No instance runs in two parts of a stage, in concurrent iterations of a loop.

    Attributes:
        first, second: the parts.
        loop: the number of the loop.
    """

    first: Run
    second: Run
    loop: int

    def broken(self, context: Set) -> Map:
        """{ x -> x : x runs twice concurrently, at sizes of a context }"""
        both = self.first.instances.intersect(self.second.instances).intersect_params(context)
        again = Map.identity(both.get_space().map_from_set()).intersect_domain(both)
        if both.is_empty():
            return again
        return again.intersect(_in_different_iterations(self.first, self.second, self.loop))


def _in_different_iterations(a: Run, b: Run, loop: int) -> Map:
    """{ x of a -> y of b : in one iteration of the loops around a loop, but not of the loop }"""
    return alike_runs(a, b, loop).subtract(alike_runs(a, b, loop + 1))


# what is proven ---------------------------------------------------------------------------------
class Pairs(Protocol):
    """What breaks an obligation."""

    def is_empty(self) -> bool: ...


Broken = TypeVar("Broken", bound=Pairs, covariant=True)


class Obligation(Protocol[Broken]):
    """What must hold, with the question that decides it."""

    def broken(self, context: Set) -> Broken: ...


class Proofs:
    """What is known to hold, and at which sizes. All states and rewritten programs of a schedule
    share it, since the answer of an obligation depends on nothing but the obligation.
    """

    def __init__(self) -> None:
        self._held: dict[object, list[Set]] = {}
        self._broken: dict[object, tuple[Set, Any]] = {}

    def broken(self, obligation: Obligation[Broken], context: Set) -> Broken | None:
        """What breaks an obligation at some sizes; None if nothing does. One that is proven holds
        at all sizes among those of its proof; what breaks one is known for the very same sizes."""
        for proof in self._held.get(obligation, ()):
            if context is proof or context.is_subset(proof):
                return None
        sizes, known = self._broken.get(obligation, (None, None))
        if sizes is context:
            return cast(Broken, known)
        found = obligation.broken(context)
        if not found.is_empty():
            self._broken[obligation] = context, found
            return found
        self._held.setdefault(obligation, []).append(context)
        return None
