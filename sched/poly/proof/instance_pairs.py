"""Witnesses of a relation between instances: a pair of it, at the smallest sizes that have one."""

from __future__ import annotations

from contextlib import suppress

from ...lang.errors.errors import Instance
from ...records import dataclass
from ..model.statements import Statement
from ..sets.budget import BudgetExceeded, attempt
from ..sets.isl import Map, Set
from ..sets.smallest import any_point, smallest_point


@dataclass(frozen=True)
class InstancePair:
    """An instance of one statement and one of another, with the coordinates of each."""

    first: Statement
    second: Statement
    sizes: dict[str, int]
    points: tuple[list[int], list[int]]

    @property
    def source(self) -> Instance:
        return _named(self.first, self.points[0])

    @property
    def sink(self) -> Instance:
        return _named(self.second, self.points[1])

    @property
    def rank(self) -> tuple[object, ...]:
        """Smaller pairs come first: by the sum of the sizes, then lexicographically."""
        return (
            sum(self.sizes.values()),
            list(self.sizes.values()),
            [*self.points[0], *self.points[1]],
        )

    @property
    def relation(self) -> Map:
        """{ source -> sink }, of these two alone."""
        source = instance(self.first, self.sizes, self.points[0])
        return Map.from_domain_and_range(source, instance(self.second, self.sizes, self.points[1]))


def smallest_pair(pairs: Map, first: Statement, second: Statement) -> InstancePair | None:
    """The smallest pair of a relation between two statements; any pair where the smallest takes
    long to find; None if there is none, or none is found."""
    found = None
    with suppress(BudgetExceeded), attempt():
        found = any_point(pairs.wrap())
        found = smallest_point(pairs.wrap())
    if found is None:
        return None
    sizes, point = found
    count = len(first.loops)
    return InstancePair(first, second, sizes, (point[:count], point[count:]))


def instance(statement: Statement, sizes: dict[str, int], at: list[int]) -> Set:
    """One instance of a statement, at some sizes."""
    frame = statement.frame
    where = frame.universe
    for name, value in zip(frame.dims, at, strict=True):
        where = where.intersect(frame.dim(name).eq_set(frame.constant(value)))
    for name, value in sizes.items():
        where = where.intersect(frame.param(name).eq_set(frame.constant(value)))
    return where


def _named(statement: Statement, at: list[int]) -> Instance:
    """An instance as the user knows it; where it is computed at a loop, with the iteration."""
    values = dict(zip(statement.loops, at, strict=True))
    around = {x.name: k for x, k in values.items() if x in statement.around}
    own = {x.name: k for x, k in values.items() if x not in statement.around}
    return Instance(statement.name, own, around)
