"""Which elements a write overwrites before they are read, were they to share storage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import combinations_with_replacement

from ...cached import cached_property
from ...lang.tensors.tensors import Func
from ...records import dataclass
from ..model.statements import Access, Statement
from ..sets.isl import Map, Set, isl, union_maps
from ..sets.projections import along
from ..tree.edits import stages
from ..tree.looptree import Loop, Seq, loops_of
from .precedence import Before, precedence, within_lives


def _accesses(tree: Seq, func: Func) -> list[Access]:
    """The accesses of a Func by all that runs, and their order."""
    statements = dict.fromkeys(s.statement for s in stages(tree))
    return [a for s in statements for a in s.accesses_of(func)]


@dataclass(frozen=True, eq=False)
class Reads:
    """All that a statement reads of a Func, as one access: neighbours are a range of elements.
    `reach` may be that of instances which do not run, where this takes fewer pieces."""

    statement: Statement
    reach: Map
    map: Map


def _joined(reads: Iterable[Access]) -> list[Reads]:
    """The reads of each statement."""
    found: dict[Statement, list[Access]] = {}
    for read in reads:
        found.setdefault(read.statement, []).append(read)
    return [_together(s, own) for s, own in found.items()]


def _together(statement: Statement, reads: Sequence[Access]) -> Reads:
    within = union_maps([a.map for a in reads])
    reach = union_maps([a.reach for a in reads])
    simpler = reach if reach.n_basic_map() < within.n_basic_map() else within
    return Reads(statement, simpler, within)


class Overwritten:
    """Writes that may overwrite an element before a read of it, if elements along an axis share
    storage."""

    def __init__(
        self,
        known: Set,
        write: Access,
        read: Access | Reads,
        writes: Sequence[Access],
        before: Before,
    ) -> None:
        self.known, self.write, self.read = known, write, read
        self.writes, self.before = writes, before
        self.wanted, self.stored = read.map.range_map(), write.map.range_map()

    def pairs(self, axis: int) -> Map:
        """{ (r, [p, x]) -> (w, [p, y]) : w writes [p, y] after [p, x] is, before r reads that }

        Over pairs of an instance and an element, since a read may touch several.
        """
        line = line_along(self.stored, axis)
        pairs = self.wanted.apply_range(line).apply_range(self.stored.reverse())
        pairs = pairs.intersect(self._late).intersect_params(self.known)
        if pairs.is_empty():
            return pairs
        first, *others = (pairs.intersect(held) for held in self._held)
        return reduce(Map.union, others, first)

    def distances(self, axis: int) -> Set:
        """{ y - x : [p, y] is written after [p, x] is, and before [p, x] is read }"""
        return _along(self.pairs(axis).apply_domain(self.wanted).apply_range(self.stored), axis)

    # What is the same along all axes is found once, and without the domains of `wanted` and
    # `stored`: with these it is intersected, and the pieces of domains would be multiplied again.
    @cached_property
    def _late(self) -> Map:
        """{ (r, [p, x]) -> (w, [q, y]) : w may come before r }"""
        late = self.before(self.write.statement, self.read.statement)
        return self.read.reach.domain_map().apply_range(late).apply_range(self._writer)

    @cached_property
    def _writer(self) -> Map:
        """{ w -> (w, [q, y]) }"""
        return self.write.reach.domain_map().reverse()

    @cached_property
    def _held(self) -> list[Map]:
        """{ (r, [p, x]) -> (w, [q, y]) : a write of [p, x] may come before w }, for each write"""
        wanted = self.read.reach.range_map()
        return [
            wanted.apply_range(
                first.map.reverse().apply_range(
                    self.before(first.statement, self.write.statement).reverse()
                )
            ).apply_range(self._writer)
            for first in self.writes
        ]


class Racing(Overwritten):
    """Two writes that run concurrently and write one element, if elements along an axis share
    storage, whether anything reads it or not. The first one is in the place of the read."""

    @cached_property
    def _late(self) -> Map:
        """{ (v, [p, x]) -> (w, [q, y]) : nothing orders v and w }"""
        first, second = self.read.statement, self.write.statement
        free = self.before(second, first).intersect(self.before(first, second).reverse())
        return self.read.reach.domain_map().apply_range(free).apply_range(self._writer)

    @cached_property
    def _held(self) -> list[Map]:
        return [self._late]


def overwritten_in(known: Set, func: Func, tree: Seq, *, joined: bool = False) -> list[Overwritten]:
    """For each write and each read of a Func in a tree, what the write may overwrite too early; and
    for each two writes, what they may write at the same time.

    Args:
        joined: take all reads of a statement together.
    """
    accesses = _accesses(tree, func)
    writes = [a for a in accesses if a.is_write]
    reads: Sequence[Access | Reads] = [a for a in accesses if not a.is_write]
    if joined:
        reads = _joined(a for a in accesses if not a.is_write)
    before = within_lives(tree, func, precedence(tree))
    found = [Overwritten(known, write, read, writes, before) for write in writes for read in reads]
    if any(loop.kind == "parallel" for loop in _loops_of_writes(tree, func)):
        pairs = combinations_with_replacement(writes, 2)
        found += [Racing(known, write, other, writes, before) for other, write in pairs]
    return found


def _loops_of_writes(tree: Seq, func: Func) -> Iterator[Loop]:
    for path, stage in tree.leaves:
        if stage.statement.writes_of(func):
            yield from loops_of(path)


def _along(pairs: Map, axis: int) -> Set:
    """{ y - x : [p, x] -> [p, y] }, and more where the pairs are of many divisions: isl would take
    seconds, and little of its budget."""
    divisions = [int(m.dim(isl.dim_type.div)) for m in pairs.get_basic_maps()]
    if max(divisions, default=0) > _MANY_DIVISIONS or sum(divisions) > _MANY_TOGETHER:
        pairs = pairs.remove_divs()
    return along(pairs.deltas(), axis)


_MANY_DIVISIONS = 24  # in one piece
_MANY_TOGETHER = 2000  # in all pieces


def line_along(stored: Map, axis: int) -> Map:
    """{ [p, x] -> [p, y] }"""
    space = stored.get_space().range()
    result = Map.universe(space.map_from_set())
    for k in range(int(space.dim(isl.dim_type.set))):
        if k != axis:
            result = result.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return result
