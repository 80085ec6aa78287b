"""Which elements of a buffer the lanes of a statement access, in a normal form."""

from __future__ import annotations

from collections.abc import Sequence

from ...lang.nodes.nodes import Node, leaves_below
from ...poly.sets.linear import expanded
from ...records import dataclass
from ...remembered import remembered
from .inequalities import Sum
from .ir import Buffer, Lanes, Load
from .lane_number import LANE, at_lane


@dataclass(frozen=True)
class Element:
    """An element, or one for each of `lanes`: of each index the terms, and a constant."""

    buffer: Buffer
    index: tuple[Sum, ...]
    lanes: int

    def further(self, axis: int, by: int) -> Element:
        """The element so much further along an axis."""
        terms, constant = self.index[axis]
        index = (*self.index[:axis], (terms, constant + by), *self.index[axis + 1 :])
        return Element(self.buffer, index, self.lanes)

    @property
    def steps(self) -> list[int] | None:
        """How far the next lane is along each axis; None where that is not known."""
        found = [dict(terms).get(LANE, 0) for terms, _ in self.index]
        rest = [x for terms, _ in self.index for x, _ in terms if x is not LANE]
        return None if LANE in leaves_below(*rest) else found

    def is_beside(self, other: Element) -> bool:
        """Whether two elements are known to be different ones, each in all lanes."""
        for (terms, first), (others, second) in zip(self.index, other.index, strict=True):
            mine, theirs = dict(terms), dict(others)
            width = self.lanes if mine.pop(LANE, 0) else 1
            wide = other.lanes if theirs.pop(LANE, 0) else 1
            if mine == theirs and (first + width <= second or second + wide <= first):
                return True
        return False


def element_at(buffer: Buffer, index: Sequence[Node], lanes: Lanes | None) -> Element:
    """What is at an index, the same for lanes of any variable."""
    return _element_at(buffer, tuple(index), lanes)


@remembered
def _element_at(buffer: Buffer, index: tuple[Node, ...], lanes: Lanes | None) -> Element:
    forms = map(expanded, at_lane(index, lanes))
    normal = tuple((frozenset(x.items()), c) for x, c in forms)
    return Element(buffer, normal, 1 if lanes is None else lanes.count)


def loaded_by(load: Load, lanes: Lanes | None) -> Element:
    """What a load loads."""
    return element_at(load.buffer, load.index, lanes)
