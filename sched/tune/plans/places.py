"""Where Funcs are computed, and what their loops are there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from math import ceil, prod
from typing import Literal

from ...records import dataclass, replace
from ..facts.facts import StatementFacts
from ..facts.windows import Window
from ..facts.written_nest import SHORT
from .plan import Place
from .planned import Kind, Nest


@dataclass(frozen=True, slots=True)
class OuterLoop:
    """A loop of other statements in whose iterations a Func is computed.

    Attributes:
        place: the statement that it belongs to, and its name.
        extent: how many iterations it has.
        kind: how they run.
        moves: by axis of the Func, how far an iteration moves what is computed.
    """

    place: Place
    extent: int
    kind: Kind
    moves: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Spot:
    """A place where a Func can be computed.

    Attributes:
        at: the innermost loop around it; None for the root.
        outer: the loops around it.
        region: by axis, how many elements are computed there.
        short: by axis, whether these are few at any sizes.
        stored: how many of the loops around are outside of its storage: all of them, or one less
            where its window slides.
        again: how many iterations more the innermost loop has before its window is full.
        uneven: whether iterations of readers lie several elements from each other, so that what is
            needed there has no simple bounds.
    """

    at: Place | None
    outer: tuple[OuterLoop, ...] = ()
    region: tuple[int, ...] = ()
    short: tuple[bool, ...] = ()
    stored: int = 0
    again: float = 0.0
    uneven: bool = False

    @property
    def slides(self) -> bool:
        """Whether an iteration finds there what the one before has computed."""
        return self.stored < len(self.outer)

    @property
    def stored_at(self) -> Place | None:
        """The loop in whose iterations its storage is, where its window slides."""
        return self.outer[self.stored - 1].place if self.slides else None

    def extents(self, s: StatementFacts) -> tuple[int, ...]:
        """The extents of the loops of a statement."""
        if self.at is None:
            return tuple(x.middle for x in s.loops)
        return tuple(
            x.middle if axis is None else min(x.middle, self.region[axis])
            for x, axis in zip(s.loops, s.axes, strict=True)
        )

    def has_few(self, s: StatementFacts) -> tuple[bool, ...]:
        """Which loops of a statement have few iterations at any sizes."""
        return tuple(
            x.is_short or (axis is not None and self.at is not None and self.short[axis])
            for x, axis in zip(s.loops, s.axes, strict=True)
        )

    def moves(self, s: StatementFacts, outer: OuterLoop) -> tuple[float, ...]:
        """By loop of a statement, how far an iteration of an outer loop moves it."""
        return tuple(0.0 if axis is None else outer.moves[axis] for axis in s.axes)


ROOT = Spot(None)
"""The place outside of all loops."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A statement that reads a Func, in its loops.

    Attributes:
        spot: where its own Func is computed.
    """

    statement: StatementFacts
    window: Window
    spot: Spot
    nest: Nest

    def path(self) -> list[Place]:
        """The loops around it, outermost first."""
        own = [(self.statement.name, x.name) for x in self.nest.loops]
        return [o.place for o in self.spot.outer] + own

    def extents(self) -> list[int]:
        """How many iterations these have."""
        return [o.extent for o in self.spot.outer] + [x.extent for x in self.nest.loops]

    def step(self, depth: int) -> int:
        """How far an iteration of the loop at a depth moves along the loop as written."""
        own = depth - len(self.spot.outer)
        return self.nest.loops[own - 1].step if own > 0 else 0

    def is_row(self, depth: int) -> bool:
        """Whether the loop at a depth is of a row that two loops make."""
        own = depth - len(self.spot.outer)
        if self.nest.row is None or own <= 0:
            return False
        return self.nest.loops[own - 1].loop == len(self.statement.loops) - 1

    def kinds(self) -> list[Kind]:
        """How these run."""
        return [o.kind for o in self.spot.outer] + [x.kind for x in self.nest.loops]


def spots(readers: Sequence[Reader]) -> list[Spot]:
    """The places inside of loops where a Func can be computed: in those that are around all that
    read it, stored there or one loop further out."""
    kinds = readers[0].kinds()
    found: list[Spot] = []
    for depth in range(1, _in_common([r.path() for r in readers]) + 1):
        if kinds[depth - 1] in ("vector", "unrolled") or any(r.is_row(depth) for r in readers):
            break
        whole = _spot(readers, depth)
        found.append(whole)
        if depth > 1 and kinds[depth - 1] == "serial":
            found += _sliding(whole, readers[0].step(depth))
    return found


def _in_common(paths: Sequence[Sequence[Place]]) -> int:
    """How many loops all paths begin with."""
    together = takewhile(lambda loops: len(set(loops)) == 1, zip(*paths, strict=False))
    return sum(1 for _ in together)


def _sliding(whole: Spot, step: int) -> list[Spot]:
    """A place where a window slides along the innermost loop, one element for each iteration of the
    loop as written; none where it does not.

    Args:
        step: iterations of the loop as written for one of this loop.
    """
    moves = whole.outer[-1].moves
    if any(m and abs(m) != step for m in moves):
        return []
    axes = [a for a, step in enumerate(moves) if step and abs(step) < whole.region[a]]
    if len(axes) != 1 or sum(1 for step in moves if step) != 1:
        return []
    (axis,) = axes
    if axis == len(moves) - 1:
        return []  # vectors would begin anywhere
    fresh = max(1, ceil(abs(moves[axis])))
    region = tuple(fresh if a == axis else x for a, x in enumerate(whole.region))
    again = (whole.region[axis] - fresh) / fresh
    short = tuple(a == axis or x for a, x in enumerate(whole.short))
    return [replace(whole, region=region, short=short, stored=whole.stored - 1, again=again)]


def _spot(readers: Sequence[Reader], depth: int) -> Spot:
    needs = [_needed(r, depth) for r in readers]
    axes = range(len(needs[0].region))
    first = readers[0]
    outer = tuple(
        OuterLoop(place, extent, kind, moves)
        for place, extent, kind, moves in zip(
            first.path(), first.extents(), first.kinds(), needs[0].moves, strict=False
        )
    )
    return Spot(
        outer[-1].place,
        outer,
        tuple(max(n.region[a] for n in needs) for a in axes),
        tuple(all(n.short[a] for n in needs) for a in axes),
        depth,
        uneven=any(_is_uneven(r.window) for r in readers),
    )


def _is_uneven(window: Window) -> bool:
    return any(
        1 < abs(step) < width
        for x in window.loops
        for step, width in zip(x.steps, x.widths, strict=True)
    )


@dataclass(frozen=True, slots=True)
class _Needed:
    """What one iteration of a loop needs of a Func.

    Attributes:
        region: by axis, how many elements.
        short: by axis, whether these are few at any sizes.
        moves: by loop around, and by axis, how far an iteration moves that.
    """

    region: tuple[int, ...]
    short: tuple[bool, ...]
    moves: tuple[tuple[float, ...], ...]


def _needed(r: Reader, depth: int) -> _Needed:
    s, w = r.statement, r.window
    outer, around = r.spot.outer, depth - len(r.spot.outer)
    extents, few = list(r.spot.extents(s)), list(r.spot.has_few(s))
    # What iterations of loops around its Func's place, but inside of this loop, need together.
    for o in outer[depth:]:
        for k, move in enumerate(r.spot.moves(s, o)):
            extents[k] = min(s.loops[k].middle, extents[k] + ceil(abs(move) * (o.extent - 1)))
            few[k] = few[k] and not move
    if around > 0:
        for k in range(len(s.loops)):
            if r.nest.row is not None and k >= len(s.loops) - 2:
                continue  # nothing is computed in parts of a row: one needs it whole
            inner = [x.extent for x in r.nest.loops[around:] if x.loop == k]
            extents[k] = min(extents[k], prod(inner))
            few[k] = few[k] or any(x.loop == k for x in r.nest.loops[:around])
    steps = [x.steps for x in w.loops]
    one = w.loops[-1].widths if w.loops else w.widths
    region: list[int] = []
    short: list[bool] = []
    for axis, (width, most) in enumerate(zip(one, w.widths, strict=True)):
        along = [abs(step[axis]) for step in steps]
        size = width + sum(step * (e - 1) for step, e in zip(along, extents, strict=True))
        region.append(max(1, min(most, ceil(size))))
        is_fixed = all(f or not step for f, step in zip(few, along, strict=True))
        short.append(is_fixed and width < SHORT)
    by_loop = [r.spot.moves(s, o) for o in outer[:depth]]
    by_loop += [
        tuple(float(x.step) if k == x.loop else 0.0 for k in range(len(s.loops)))
        for x in r.nest.loops[: max(0, around)]
    ]
    moves = tuple(
        tuple(
            sum(step[axis] * m for step, m in zip(steps, one_loop, strict=True))
            for axis in range(len(region))
        )
        for one_loop in by_loop
    )
    return _Needed(tuple(region), tuple(short), moves)


def inside(s: StatementFacts, nest: Nest, depth: int) -> Spot:
    """The place in a loop of a statement where the elements that it changes there begin."""
    axes = range(1 + max((a for a in s.axes if a is not None), default=-1))
    loops, deeper = nest.loops[:depth], nest.loops[depth:]
    region: list[int] = []
    short: list[bool] = []
    for axis in axes:
        own = [k for k, a in enumerate(s.axes) if a == axis]
        region.append(prod(x.extent for x in deeper if x.loop in own))
        short.append(all(s.loops[k].is_short or any(x.loop == k for x in loops) for k in own))
    outer = tuple(
        OuterLoop(
            (s.name, x.name),
            x.extent,
            x.kind,
            tuple(float(x.step) if s.axes[x.loop] == axis else 0.0 for axis in axes),
        )
        for x in loops
    )
    return Spot(outer[-1].place, outer, tuple(region), tuple(short), depth)


def beginning(own: Sequence[StatementFacts], main: StatementFacts, nest: Nest, spot: Spot) -> Spot:
    """Where the pure definition is computed: inside of its update, where sums begin there."""
    if nest.accumulates_at is None or nest.block is not None or spot.at is not None:
        return spot
    if len(own) != 2 or own[0].is_update or any(x.is_shared for x in own[0].loops):
        return spot
    if {*own[0].axes} != {a for a in main.axes if a is not None}:
        return spot  # elements are left that it does not change
    return inside(main, nest, nest.depth(nest.accumulates_at) + 1)


def with_past(own: Sequence[StatementFacts], spot: Spot) -> Spot | None:
    """A place with all that a recurrence needs there of itself; None where it needs more of each
    step that is further back, but not all, which has no simple bounds."""
    if spot.slides or not any(s.kind == "recurrence" for s in own):
        return spot
    region, short = list(spot.region), list(spot.short)
    for s in own:
        for k, (x, axis) in enumerate(zip(s.loops, s.axes, strict=True)):
            if axis is None or region[axis] >= x.extent:
                continue
            widening = _widening(s, k)
            if widening == "cone":
                return None
            if widening == "whole":
                region[axis], short[axis] = x.extent, x.is_short
    return replace(spot, region=tuple(region), short=tuple(short))


def _widening(s: StatementFacts, loop: int) -> Literal["none", "cone", "whole"]:
    """How much more of a recurrence along one of its loops the steps before an element take."""
    if not s.loops[loop].parallel:
        return "whole"
    steps = [k for k, x in enumerate(s.loops) if not x.parallel]
    carried = [d for d in s.distances if any(d.is_carried_by(k) for k in steps)]
    spans = [d.spans[loop] for d in carried if loop < len(d.spans)]
    if any(None in span for span in spans):
        return "whole"
    return "cone" if any(span != (0, 0) for span in spans) else "none"
