"""The loops of a statement as it is written, with what is known of them at given sizes."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, RVar, Var, postorder
from ...poly.model.statements import Statement
from ...poly.sets.isl import relation
from ...poly.sets.linear import coefficient
from ...poly.sets.simplify import reads_memory
from ...poly.tree.times import ScheduledStage
from ...records import dataclass
from .boxes import Box, at_sizes, box_of, extents_in_the_middle
from .distances import Distance, bands, is_parallel, skews


@dataclass(frozen=True, slots=True)
class LoopFacts:
    """A loop of a statement, as it is written.

    Attributes:
        name: as schedules call it.
        extent: how many iterations it has at most.
        middle: how many it has where those around it are in the middle of theirs; where data say
            both where it begins and where it ends, its share of all that it may run over.
        is_reduction: whether it is an RVar's, or that of a `sequential`.
        parallel: whether no dependence is carried by it.
        is_shared: whether other statements run in it, too.
        is_short: whether it has few iterations at any sizes, and so can be unrolled.
        is_ragged: whether data say how many iterations it has.
        is_steering: whether the extent of a ragged loop of the statement depends on this one.
    """

    name: str
    extent: int
    middle: int
    is_reduction: bool
    parallel: bool
    is_shared: bool
    is_short: bool
    is_ragged: bool
    is_steering: bool


@dataclass(frozen=True, slots=True)
class WrittenNest:
    """A statement in its loops.

    Attributes:
        dims: the dimensions of the statement that the loops run over, outermost first.
        names: the names of the loops.
        around: the distances of dependences along these loops.
        is_plain: whether each loop runs over one dimension, up or down. If not, the loops are
            taken to be the dimensions, none of them parallel or permutable.
        box: the first and the last value of each dimension; None if there is no instance.
        middle: how many values each has where those before it are in the middle of theirs.
        shared: how many of the loops, from the outermost one, other statements run in, too.
        short: which of the loops have few iterations at any sizes.
    """

    dims: tuple[Var | RVar, ...]
    names: tuple[str, ...]
    around: tuple[Distance, ...]
    is_plain: bool
    box: Box | None
    middle: tuple[int, ...]
    shared: int
    short: tuple[bool, ...]

    @property
    def ranges(self) -> Box:
        """The box, empty along each dimension if there is no instance."""
        return ((0, -1),) * len(self.dims) if self.box is None else self.box

    @property
    def extents(self) -> tuple[int, ...]:
        """How many iterations each loop has at most."""
        return tuple(hi - lo + 1 for lo, hi in self.ranges)

    @property
    def loops(self) -> tuple[LoopFacts, ...]:
        steering = {x for d in self.dims if _ends_read(d) for x in postorder(*_ends(d))}
        shares = prod(e for d, e in zip(self.dims, self.extents, strict=True) if d in steering)
        found: list[LoopFacts] = []
        for k, (name, dim, short) in enumerate(zip(self.names, self.dims, self.short, strict=True)):
            middle = self.middle[k]
            if _ends_read(dim) == 2:
                middle = max(1, middle // max(1, shares))
            found.append(
                LoopFacts(
                    name,
                    self.extents[k],
                    middle,
                    is_reduction=isinstance(dim, RVar),
                    parallel=self._is_parallel(k),
                    is_shared=k < self.shared,
                    is_short=short,
                    is_ragged=_ends_read(dim) > 0,
                    is_steering=dim in steering,
                )
            )
        return tuple(found)

    @property
    def permutable(self) -> tuple[tuple[str, ...], ...]:
        """The loops in groups of neighbours that may come in any order."""
        return bands(self.names, self.around) if self.is_plain else tuple((x,) for x in self.names)

    @property
    def skewable(self) -> dict[str, dict[str, int]]:
        """For loops along which dependences go backwards, the factors by which they are skewed."""
        return skews(self.names, self.around) if self.is_plain else {}

    def _is_parallel(self, depth: int) -> bool:
        return self.is_plain and is_parallel(depth, self.around)


def _ends(dim: Var | RVar) -> tuple[Node, ...]:
    """The bounds of a dimension that has some of its own."""
    return (dim.lo, dim.hi) if isinstance(dim, RVar) else ()


def _ends_read(dim: Var | RVar) -> int:
    """How many bounds of a dimension are read from memory."""
    return sum(map(reads_memory, _ends(dim)))


def written_nest(
    nest: ScheduledStage, around: tuple[Distance, ...], shared: int, sizes: Mapping[str, int]
) -> WrittenNest:
    """The loops of a statement as it is written.

    Args:
        around: the distances of dependences along them.
        shared: how many of them other statements run in, too.
    """
    statement = nest.stage.statement
    over = _order(nest)
    is_plain = over is not None
    order = list(range(len(statement.loops))) if over is None else over
    dims = tuple(statement.loops[k] for k in order)
    names = tuple(x.name for x in (nest.loops if is_plain else dims))
    domain = at_sizes(statement.domain, sizes)
    if order != sorted(order):
        frame = statement.frame
        domain = domain.apply(relation([frame.dim(frame.dims[k]) for k in order], frame))
    box = box_of(domain)
    middle = (0,) * len(dims) if box is None else extents_in_the_middle(domain, box)
    short = tuple(_is_short(statement, x) for x in dims)
    return WrittenNest(dims, names, around, is_plain, box, middle, shared, short)


def _is_short(statement: Statement, dim: Var | RVar) -> bool:
    """Whether a dimension of a statement has few values at any sizes."""
    k = statement.loops.index(dim)
    high = statement.domain.dim_max_val(k)
    if not high.is_int():
        return False
    low = statement.domain.dim_min_val(k)
    return low.is_int() and int((high - low).to_python()) < SHORT


SHORT = 64
"""So many iterations are few."""


def _order(nest: ScheduledStage) -> list[int] | None:
    """By loop, the dimension of the statement that it runs over; None where there is no such."""
    statement = nest.stage.statement
    found = [k for c in nest.stage.coordinates if (k := _runs_over(statement, c)) is not None]
    every = len(found) == len(nest.loops) and sorted(found) == list(range(len(statement.loops)))
    return found if every else None


def _runs_over(statement: Statement, coordinate: Node) -> int | None:
    """The dimension that a coordinate is, but for its direction and where it begins."""
    found = [k for k, x in enumerate(statement.loops) if coefficient(coordinate, x) is not ix.ZERO]
    if len(found) != 1:
        return None
    times = coefficient(coordinate, statement.loops[found[0]])
    return found[0] if times is not None and ix.constant(times) in (1, -1) else None
