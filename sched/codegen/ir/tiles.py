"""The accesses to tiles: which elements of a buffer on the stack, and under which conditions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, leaves_below, postorder
from ...poly.sets.linear import add_expanded, expanded
from ...records import dataclass
from ...remembered import remembered
from .ir import Alloc, Buffer, Call, For, If, Lanes, Load, Stmt, Stores, children, expressions
from .lane_number import LANE, Conditions, guard_parts, lasting


@dataclass(frozen=True)
class Place:
    """The elements that the lanes of a statement access in a tile, each lane its own or all the
    same: where the first lane is, and how far the next one is from it."""

    buffer: Buffer
    first: tuple[int, ...]
    step: tuple[int, ...]
    lanes: int

    @property
    def moves(self) -> bool:
        """Whether each lane has its own element."""
        return any(self.step)

    @property
    def elements(self) -> list[tuple[int, ...]]:
        """Those of all lanes."""
        return [self._element(lane) for lane in range(self.lanes if self.moves else 1)]

    @property
    def corners(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Those of the first and of the last lane."""
        return self.first, self._element(self.lanes - 1)

    def _element(self, lane: int) -> tuple[int, ...]:
        return tuple([x + lane * dx for x, dx in zip(self.first, self.step, strict=True)])


def place_in(
    buffer: Buffer, index: Sequence[Node], lanes: Lanes | None, origin: Mapping[Node, Node]
) -> Place | None:
    """Where a statement accesses a buffer of constant extents; None if that is not known before it
    runs, or is elsewhere.

    Args:
        origin: what the variables in the buffer's origin are.
    """
    first, step = [], []
    for x, lo in zip(index, buffer.origin, strict=True):
        terms: dict[Node, int] = {}
        more, begin = _expanded(origin.get(lo, lo))
        constant = add_expanded(x, 1, terms) - begin
        for y, times in more:
            terms[y] = terms.get(y, 0) - times
        times = 0 if lanes is None else terms.pop(lanes.var, 0)
        if lanes is not None and times:
            constant += add_expanded(lanes.lo, times, terms)
        first.append(constant)
        step.append(0 if lanes is None else times * lanes.step)
        if any(terms.values()):
            return None
    made = Place(buffer, tuple(first), tuple(step), 1 if lanes is None else lanes.count)
    ends = [ix.constant(x) for x in buffer.extents]
    inside = all(
        end is not None and 0 <= x < end
        for element in made.corners
        for x, end in zip(element, ends, strict=True)
    )
    return made if inside else None


@remembered
def _expanded(node: Node) -> tuple[tuple[tuple[Node, int], ...], int]:
    """`expanded`, of the origins of tiles: they are asked for with each access."""
    terms, constant = expanded(node)
    return tuple(terms.items()), constant


class Tiles:
    """What is done with the buffers of an allocation, and under which conditions."""

    def __init__(self, alloc: Alloc) -> None:
        self.origin: Mapping[Node, Node] = dict(alloc.origin)
        self.buffers = {b for b in alloc.buffers if b.kind == "stack" and b.fold is None}
        self._places: dict[Place, None] = {}
        self._known: dict[Hashable, Place | None] = {}
        self._found: dict[Place, Conditions] = {}
        if self.buffers:
            self._collect(alloc.body, frozenset(), frozenset())
        self.shared = self._shared()

    def place(self, buffer: Buffer, index: Sequence[Node], lanes: Lanes | None) -> Place | None:
        """Where a statement accesses a tile; None if that is not known before it runs, or is
        elsewhere, or if the buffer is no tile."""
        if buffer not in self.buffers:
            return None
        key = buffer, tuple(index), lanes
        if key not in self._known:
            self._known[key] = place_in(buffer, index, lanes, self.origin)
        return self._known[key]

    # what all accesses share ------------------------------------------------------------------
    def _collect(self, stmt: Stmt, held: Conditions | None, inner: frozenset[Node]) -> None:
        """Notes the accesses of a statement.

        Args:
            held: the conditions around it; None where a choice was made whose alternative reads the
                same, and has conditions that the choice implies.
            inner: the variables that change while the tile lives.
        """
        if isinstance(stmt, Stores):
            self._accesses(stmt, held, inner)
            return
        loaded = {x.buffer for n in expressions(stmt) for x in postorder(n) if isinstance(x, Load)}
        self.buffers -= loaded | set(stmt.buffers if isinstance(stmt, Call) else ())
        if isinstance(stmt, If) and stmt.otherwise is not None and stmt.choice:
            self._collect(stmt.body, None, inner)
            self._collect(stmt.otherwise, held, inner)
            return
        if isinstance(stmt, If) and stmt.otherwise is None and held is not None:
            held |= lasting(guard_parts(stmt.condition, None), inner)
        elif isinstance(stmt, For):
            inner |= {stmt.var}
        elif isinstance(stmt, Alloc):
            inner |= {var for var, _ in stmt.origin}
        for child in children(stmt):
            self._collect(child, held, inner)

    def _accesses(self, stmt: Stores, held: Conditions | None, inner: frozenset[Node]) -> None:
        begin = () if stmt.lanes is None else (stmt.lanes.lo,)
        for n in postorder(*begin):
            if isinstance(n, Load):
                self._read(n, None, held)
        for s in stmt.stores:
            own = lasting(guard_parts(s.guard, stmt.lanes), inner)
            self._place_of_access(s.buffer, s.index, stmt.lanes)
            guards = () if s.guard is None else (s.guard,)
            for n in postorder(*s.index, s.value, *guards):
                if isinstance(n, Load):
                    also = lasting(guard_parts(n.guard, stmt.lanes), inner)
                    self._read(n, stmt.lanes, None if held is None else held | own | also)

    def _place_of_access(
        self, buffer: Buffer, index: Sequence[Node], lanes: Lanes | None
    ) -> Place | None:
        place = self.place(buffer, index, lanes)
        if place is None:
            self.buffers.discard(buffer)
        else:
            self._places[place] = None
        return place

    def _read(self, load: Load, lanes: Lanes | None, held: Conditions | None) -> None:
        place = self._place_of_access(load.buffer, load.index, lanes)
        if place is None or held is None:
            return
        if not place.moves:  # a condition on lanes says which of them add, not whether it is there
            held = frozenset(x for x in held if LANE not in leaves_below(x))
        self._found[place] = self._found.get(place, held) & held

    def _shared(self) -> dict[Place, Conditions]:
        """For each place the conditions that all that read it have; none for buffers some of whose
        elements are accessed with others around them, and without."""
        owners: dict[tuple[Buffer, tuple[int, ...]], Place] = {}
        for place in self._places:
            for element in place.elements:
                if owners.setdefault((place.buffer, element), place) is not place:
                    self.buffers.discard(place.buffer)
        return {p: held for p, held in self._found.items() if p.buffer in self.buffers}
