"""What the model is told of a statement in the loops that a plan gives it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

from .candidates import is_reduction
from .facts.accesses import MemoryAccess
from .facts.facts import StatementFacts
from .footprint import Touch
from .model import Work
from .places import OuterLoop, Spot
from .templates import Nest, PlannedLoop

PARTIAL = {True: 2.0, False: 4.0}
"""Full tiles that one takes which is not full: of vectors, where it is masked, and of rows, where
each row is asked for."""


Alike = Sequence[tuple[MemoryAccess, int]]
"""Accesses of a statement, one of those that move alike, and how many these are."""


def alike(s: StatementFacts) -> Alike:
    """The accesses of a statement, those together that move alike."""
    counts = Counter(replace(a, elements=0) for a in s.accesses)
    each = {replace(a, elements=0): a for a in s.accesses}
    return [(a, counts[key]) for key, a in each.items()]


def kept(accesses: Alike, s: StatementFacts, loop: int) -> Alike:
    """Accesses of a recurrence of which as much is kept as the next iteration of a loop reads: each
    uses the same storage."""

    def folded(a: MemoryAccess) -> MemoryAccess:
        strides = (0 if k == loop else x for k, x in enumerate(a.strides))
        return replace(a, strides=tuple(strides)) if a.tensor == s.func else a

    return [(folded(a), count) for a, count in accesses]


def work(
    s: StatementFacts, spot: Spot, nest: Nest, stored: Callable[[str], int], accesses: Alike
) -> Work:
    """A statement at a place, in its loops.

    Args:
        stored: of a tensor by its name, how many loops around use the same storage of it in each
            iteration.
        accesses: of the statement, by `alike`.
    """
    outer = [(o, spot.moves(s, o)) for o in spot.outer]
    extents = [float(o.extent) for o in spot.outer]
    if spot.slides:
        extents[-1] += spot.again
    around = [any(moves[x.loop] % x.step for _, moves in outer) for x in nest.loops]
    extents += _tiles(spot.extents(s), nest, around)
    return Work(
        tuple(extents),
        (*(o.kind for o in spot.outer), *(x.kind for x in nest.loops)),
        _touches(s, outer, nest, spot.extents(s), stored, accesses),
        tuple((name, _changing(by, outer, nest), count) for name, by, count in s.varying),
        (*(False for _ in outer), *(_waits(s, x.loop) for x in nest.loops)),
        is_reduction(s),
        s.widest,
        nest.holds,
        _copied(s, spot, nest),
    )


def _waits(s: StatementFacts, loop: int) -> bool:
    """Whether each iteration of a loop waits for the one before. Where any number of them needs
    what one has written, as all of a row may need one element of it, most find it there."""
    if s.loops[loop].parallel:
        return False
    carried = [d.spans[loop] for d in s.distances if d.is_carried_by(loop)]
    return is_reduction(s) or not carried or any(low == high for low, high in carried)


Around = Sequence[tuple[OuterLoop, Sequence[float]]]
"""The loops around a statement's own, and how far each moves these."""


def _tiles(whole: Sequence[int], nest: Nest, moves: Sequence[bool]) -> list[float]:
    """How many iterations each loop has, in full tiles. Tiles are counted from index 0: where loops
    around move a loop by parts of a tile, its first one is not full either."""
    found: list[float] = []
    seen: set[int] = set()
    for x, is_moved in zip(nest.loops, moves, strict=True):
        extent = float(x.extent)
        if x.step > 1 and x.loop not in seen:
            full, rest = divmod(max(1, whole[x.loop]), x.step)
            is_vector = any(y.loop == x.loop and y.kind == "vector" for y in nest.loops)
            # Of a block of several tiles only those that there are, and one that is not full.
            border = PARTIAL[is_vector] * _tile(nest, x) / x.step
            extent = full + ((rest > 0) + is_moved) * max(rest / x.step, border)
        found.append(extent)
        seen.add(x.loop)
    return found


def _tile(nest: Nest, x: PlannedLoop) -> int:
    """How many iterations of a loop as written a tile in registers takes, at most those of one of
    its parts."""
    knobs = dict(nest.plan.knobs)
    if x.loop == knobs.get("vector"):
        return min(x.step, knobs["lanes"] * knobs["columns"])
    return min(x.step, knobs["rows"]) if x.loop == knobs.get("jam") else 1


def _touches(
    s: StatementFacts,
    outer: Around,
    nest: Nest,
    extents: Sequence[int],
    stored: Callable[[str], int],
    accesses: Alike,
) -> tuple[Touch, ...]:
    return tuple(
        Touch(
            a.bytes,
            float(a.elements),
            a.is_write,
            _strides(_as_copied(s, a, nest, extents), outer, nest, stored(a.tensor)),
            count,
            a.tensor == s.func,
            nest.streams and a.is_write,
        )
        for a, count in accesses
    )


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


def _copied(s: StatementFacts, spot: Spot, nest: Nest) -> Touch | None:
    """What is copied, each element once."""
    for a in s.accesses:
        if a.tensor in (nest.packed, nest.turned) and not a.is_write:
            moves = zip(a.strides, spot.extents(s), strict=True)
            elements = float(prod(extent for stride, extent in moves if stride))
            return Touch(a.bytes, elements, False, (a.strides[nest.plan.number("vector")],))
    return None


def _strides(a: MemoryAccess, outer: Around, nest: Nest, stored: int) -> tuple[float | None, ...]:
    """By loop, how many elements further an iteration is."""
    around = [0.0 if k < stored else _moved(a, moves) for k, (_, moves) in enumerate(outer)]
    own = [
        0.0 if k < stored else _times(a.strides[x.loop], x.step)
        for k, x in enumerate(nest.loops, len(outer))
    ]
    return (*around, *own)


def _moved(a: MemoryAccess, moves: Sequence[float]) -> float | None:
    steps = [_times(stride, move) for stride, move in zip(a.strides, moves, strict=True) if move]
    known = [x for x in steps if x is not None]
    return sum(known) if len(known) == len(steps) else None


def _times(stride: float | None, by: float) -> float | None:
    return None if stride is None else stride * by


def _changing(by: Sequence[bool], outer: Around, nest: Nest) -> tuple[bool, ...]:
    """By loop, whether it changes what some of the loops as written change."""
    around = (any(m and b for m, b in zip(moves, by, strict=True)) for _, moves in outer)
    return (*around, *(by[x.loop] for x in nest.loops))
