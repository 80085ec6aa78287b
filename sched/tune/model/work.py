"""What the model is told of a statement in the loops that a plan gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from ...records import dataclass, replace
from ..facts.accesses import MemoryAccess
from ..facts.facts import StatementFacts
from ..plans.alike import Alike, Several
from ..plans.places import OuterLoop, Spot
from ..plans.planned import Nest, PlannedLoop
from ..plans.statements import is_reduction
from .footprint import Touch
from .model import Work

PARTIAL = {True: 2.0, False: 4.0}
"""Full tiles that one takes which is not full: of vectors, where it is masked, and of rows, where
each row is asked for."""


class Site:
    """A statement at a place: what the model is told of it, but for its loops there.

    Args:
        stored: by tensor, how many loops around use the same storage of it in each iteration.
        accesses: of the statement, by `alike`.
    """

    def __init__(
        self, s: StatementFacts, spot: Spot, stored: Mapping[str, int], accesses: Alike
    ) -> None:
        self.statement, self.spot = s, spot
        self.outer = [(o, spot.moves(s, o)) for o in spot.outer]
        self.whole = spot.extents(s)
        self._extents = [float(o.extent) for o in spot.outer]
        if spot.slides:
            self._extents[-1] += spot.again
        self._kinds = [o.kind for o in spot.outer]
        self._accesses = [
            _SiteAccess(a, depth, _around(a.one, self.outer, depth))
            for a in accesses
            for depth in (stored[a.one.tensor],)
        ]
        self._waits = [_waits(s, k) for k in range(len(s.loops))]
        self._changing = {
            by: [any(m and b for m, b in zip(moves, by, strict=True)) for _, moves in self.outer]
            for _, by, _ in s.varying
        }
        self._is_reduction, self._widest = is_reduction(s), s.widest
        self._in_registers = spot.at is not None and _is_of_sum(s)
        self._own = {a.tensor for a in s.accesses if a.is_write}

    def work(self, nest: Nest) -> Work:
        """The statement in its loops."""
        s, loops = self.statement, nest.loops
        changing = {
            by: (*around, *[_changes(by, x.loop, nest) for x in loops])
            for by, around in self._changing.items()
        }
        return Work(
            (*self._extents, *self._tiles(nest)),
            (*self._kinds, *[x.kind for x in loops]),
            tuple([self._touch(x, nest) for x in self._accesses]),
            tuple([(name, changing[by], count) for name, by, count in s.varying]),
            (*[False for _ in self.outer], *[self._waits[x.loop] for x in loops]),
            s.waiting or tuple(s.operations.items()),
            self._is_reduction,
            self._widest,
            nest.holds,
            nest.plan.knob("lanes"),
            _copied(s, self.spot, nest),
            self._partials(nest),
            self._in_registers,
        )

    def _partials(self, nest: Nest) -> float:
        """The results of lanes, which are put together one after the other for each result."""
        if nest.plan.template != "lanes":
            return 0.0
        pairs = zip(self.statement.loops, self.whole, strict=True)
        results = prod(self._extents) * prod(extent for x, extent in pairs if not x.is_reduction)
        return results * nest.plan.number("lanes") * nest.plan.number("columns")

    def _touch(self, x: _SiteAccess, nest: Nest) -> Touch:
        a, around = x.access.one, x.around
        if nest.packed is not None or nest.turned is not None:
            a = _as_copied(self.statement, a, nest, self.whole)
            around = around if a is x.access.one else _around(a, self.outer, x.stored)
        stored, strides = x.stored - len(self.outer), a.strides
        own = [
            0.0 if k < stored else None if (stride := strides[y.loop]) is None else stride * y.step
            for k, y in enumerate(nest.loops)
        ]
        if nest.packed == a.tensor and not a.is_write:
            own = _from_panel_to_panel(own, self.statement, nest, self.whole)
        is_own, streams = a.tensor in self._own, nest.streams and a.is_write
        elements = float(a.elements)
        moves, count = (*around, *own), x.access.count
        return Touch(a.bytes, elements, a.is_write, moves, count, is_own, streams, _gaps(x, nest))

    def _tiles(self, nest: Nest) -> list[float]:
        """How many iterations each loop has, in full tiles. Tiles are counted from index 0: where
        loops around move a loop by parts of a tile, its first one is not full either."""
        found: list[float] = []
        seen: set[int] = set()
        last = len(self.whole) - 1
        knobs: Mapping[str, int] | None = None
        for x in nest.loops:
            extent = float(x.extent)
            if x.step > 1 and x.loop not in seen:
                knobs = knobs or dict(nest.plan.knobs)
                is_moved = any(moves[x.loop] % x.step for _, moves in self.outer)
                whole = prod(self.whole[-2:]) if nest.row and x.loop == last else self.whole[x.loop]
                full, rest = divmod(max(1, whole), x.step)
                is_vector = any(y.loop == x.loop and y.kind == "vector" for y in nest.loops)
                # Of a block of several tiles only those that there are, and one that is not full.
                border = PARTIAL[is_vector] * _tile(knobs, x) / x.step
                extent = full + ((rest > 0) + is_moved) * max(rest / x.step, border)
            found.append(extent)
            seen.add(x.loop)
        return found


def _is_of_sum(s: StatementFacts) -> bool:
    """Whether a statement adds to sums, or begins them with a constant. What else is computed in
    blocks of others is stored, and loaded there in vectors that begin elsewhere."""
    if any(x.is_ragged for x in s.loops):
        return False
    return is_reduction(s) or (not s.operations and all(a.is_write for a in s.accesses))


@dataclass(frozen=True, slots=True, eq=False)
class _SiteAccess:
    """Accesses that move alike, at a place.

    Attributes:
        access: all of them.
        stored: how many loops around use the same storage in each iteration.
        around: by loop around, how many elements further an iteration is.
    """

    access: Several
    stored: int
    around: tuple[float | None, ...]


def _gaps(x: _SiteAccess, nest: Nest) -> tuple[tuple[int, ...], ...]:
    """By loop, those of a nest and those around it, after how many iterations that run side by side
    accesses touch again what others have; nothing where they never do, or in other iterations."""
    if nest.skew or not any(x.access.gaps):
        return ()
    own = [x.access.gaps[y.loop] if _is_side_by_side(y) else () for y in nest.loops]
    return (*((),) * len(x.around), *own) if any(own) else ()


def _is_side_by_side(loop: PlannedLoop) -> bool:
    return loop.kind == "unrolled" and loop.step == 1


def _changes(by: Sequence[bool], loop: int, nest: Nest) -> bool:
    """Whether an operand changes along a loop, which may be two as they are written."""
    return by[loop] or (nest.row is not None and loop == len(by) - 1 and by[loop - 1])


def _waits(s: StatementFacts, loop: int) -> bool:
    """Whether each iteration of a loop waits for the one before. Where any number of them needs
    what one has written, as all of a row may need one element of it, most find it there."""
    if s.loops[loop].parallel:
        return False
    carried = [d.spans[loop] for d in s.distances if d.is_carried_by(loop)]
    return is_reduction(s) or not carried or any(low == high for low, high in carried)


Around = Sequence[tuple[OuterLoop, Sequence[float]]]
"""The loops around a statement's own, and how far each moves these."""


def _tile(knobs: Mapping[str, int], x: PlannedLoop) -> int:
    """How many iterations of a loop as written a tile in registers takes, at most those of one of
    its parts."""
    if x.loop == knobs.get("vector"):
        return min(x.step, knobs["lanes"] * knobs["columns"])
    return min(x.step, knobs["rows"]) if x.loop == knobs.get("jam") else 1


def _as_copied(
    s: StatementFacts, a: MemoryAccess, nest: Nest, extents: Sequence[int]
) -> MemoryAccess:
    """An access as it is where the tensor is copied: what vectors take lies side by side, as far as
    the panel or the axis goes, and behind it what the next iteration of a reduction reads."""
    if a.tensor not in (nest.packed, nest.turned) or a.is_write:
        return a
    vector, lanes = nest.plan.number("vector"), nest.plan.number("lanes")
    strides = list(a.strides)
    step = lanes * nest.plan.number("columns") if nest.packed else extents[vector]
    for k in reversed(range(len(s.loops))):
        if k != vector and strides[k] and (nest.turned or s.loops[k].is_reduction):
            strides[k] = step
            step *= extents[k]
    strides[vector] = 1
    return replace(a, strides=tuple(strides))


def _from_panel_to_panel(
    own: Sequence[float | None], s: StatementFacts, nest: Nest, extents: Sequence[int]
) -> list[float | None]:
    """How far loops move in panels: those around them go on in other panels, which lie one behind
    the other."""
    vector, width = nest.plan.number("vector"), nest.plan.number("lanes")
    width *= nest.plan.number("columns")
    deep = prod(e for x, e in zip(s.loops, extents, strict=True) if x.is_reduction)
    return [
        float(y.step * deep) if y.loop == vector and y.step >= width and moved else moved
        for y, moved in zip(nest.loops, own, strict=True)
    ]


def _copied(s: StatementFacts, spot: Spot, nest: Nest) -> Touch | None:
    """What is copied, each element once."""
    if nest.parts is not None:
        return _added(s, nest)
    if nest.packed is None and nest.turned is None:
        return None
    for a in s.accesses:
        if a.tensor in (nest.packed, nest.turned) and not a.is_write:
            moves = zip(a.strides, spot.extents(s), strict=True)
            elements = float(prod(extent for stride, extent in moves if stride))
            return Touch(a.bytes, elements, False, (a.strides[nest.plan.number("vector")],))
    return None


def _added(s: StatementFacts, nest: Nest) -> Touch:
    """The results of parts, which are added up in the end."""
    (a,) = (x for x in s.accesses if x.is_write)
    parts = next(x.extent for x in nest.loops if x.name == nest.parts)
    return Touch(a.bytes, float(parts * a.elements), False, (1,))


def _around(a: MemoryAccess, outer: Around, stored: int) -> tuple[float | None, ...]:
    """By loop around, how many elements further an iteration is."""
    return tuple([0.0 if k < stored else _moved(a, moves) for k, (_, moves) in enumerate(outer)])


def _moved(a: MemoryAccess, moves: Sequence[float]) -> float | None:
    found: float = 0
    for stride, move in zip(a.strides, moves, strict=True):
        if move:
            if stride is None:
                return None
            found += stride * move
    return found
