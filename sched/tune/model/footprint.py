"""How much of tensors the loops of a nest touch, and how much of it moves between caches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import inf, prod

from ...cached import cached_property
from ...records import dataclass

LINE = 64
"""Bytes of a line of a cache."""

STREAMS = 16
"""Places in memory from which a core fetches ahead at a time."""

PAGE, NEAR = 4096, 512
"""Bytes beyond which nothing is fetched ahead of its use; and those beyond which the nearest cache
fetches nothing ahead."""

SIDE_BY_SIDE = 256.0
"""Bytes of memory that are fetched ahead where several places of a page go on, about."""

JUMPS = (2e-9, 6e-9, 13e-9)
"""Seconds until more comes from the second cache, from the last one, and from memory, where it was
not fetched ahead of its use; of many that are waited for at once."""


@dataclass(frozen=True, slots=True)
class Touch:
    """How a nest accesses a tensor.

    Attributes:
        bytes: of an element.
        elements: how many different ones there are at most.
        is_write: whether it is written.
        strides: by loop of the nest, how many elements further an iteration is; None where data
            say so.
        count: how many accesses there are that move alike, and so touch about the same lines.
        is_own: whether it is what the nest computes.
        streams: whether it is written past the caches.
        gaps: by loop, after how many iterations side by side one of them touches what another one
            does, a number for each of which that is so; nothing where no loop has such.
    """

    bytes: int
    elements: float
    is_write: bool
    strides: tuple[float | None, ...]
    count: int = 1
    is_own: bool = False
    streams: bool = False
    gaps: tuple[tuple[int, ...], ...] = ()


Moves = tuple[tuple[float | None, float], ...]
"""The loops that change what is accessed: by how many elements, and how many iterations they
have."""


def moves_from(t: Touch, extents: Sequence[float]) -> list[Moves]:
    """By position, the loops from there on that change what is accessed; the same object where the
    loop at a position does not."""
    moves: Moves = ()
    found = [moves]
    strides = t.strides
    for k in range(len(extents) - 1, -1, -1):
        stride, extent = strides[k], extents[k]
        if stride is None or (stride != 0 and extent != 1):
            moves = ((stride, extent), *moves)
        found.append(moves)
    found.reverse()
    return found


@lru_cache(1 << 16)
def footprint(each: int, elements: float, moves: Moves) -> float:
    """Bytes of the lines that loops touch of a tensor. Nests that differ in some loops have the
    others in common.

    Args:
        each: bytes of an element.
        elements: how many there are at most.
    """
    together: dict[float, float] = {}
    unknown = 1.0
    for stride, extent in moves:
        if stride is None:
            unknown *= extent
        else:
            together[abs(stride)] = together.get(abs(stride), 1.0) + extent - 1
    run, count, gap = 1.0, 1.0, 0.0
    for stride in sorted(together):
        if stride <= run:
            run += stride * (together[stride] - 1)
        else:
            count *= together[stride]
            gap = gap or stride * each
    size = count * max(run * each, min(LINE, gap))
    if unknown > 1:
        size = unknown * max(size, LINE)
    dense = run * each >= LINE or gap < LINE
    return min(max(size, LINE), elements * (each if dense else LINE) + LINE)


@dataclass(frozen=True, slots=True)
class Ahead:
    """How much the innermost loops touch of a tensor before they go on elsewhere.

    Attributes:
        far: bytes until that is too far away to be fetched ahead of its use; infinite where it
            never is, or loops come back soon, to go on where they were, or where nobody knows.
        near: the same of the nearest cache.
        is_beside: whether loops go on at several places of a page, which is taken for one. Places
            that are nearer to each other than what is fetched ahead are one.
    """

    far: float
    near: float
    is_beside: bool


@lru_cache(1 << 16)
def ahead(each: int, moves: Moves) -> Ahead:
    """What is fetched ahead of its use. Nests that differ in some loops have the others in common.

    Args:
        each: bytes of an element.
    """
    return Ahead(_run(each, moves, PAGE), _run(each, moves, NEAR), _is_side_by_side(each, moves))


def _run(each: int, moves: Moves, near: int) -> float:
    """Bytes until loops go on farther away than some others."""
    size, places = float(each), 1.0
    for stride, extent in reversed(moves):
        if extent <= 1:
            continue
        if stride is None:
            return inf
        step = abs(stride) * each
        if step < max(size + LINE, near):
            size += (extent - 1) * step
        else:
            places *= extent
            if places > STREAMS:
                return max(size, LINE)
    return inf


def _is_side_by_side(each: int, moves: Moves) -> bool:
    size = float(each)
    for stride, extent in reversed(moves):
        if stride is None:
            return False
        step = abs(stride) * each
        if extent > 1 and step < PAGE:
            if step > max(size + LINE, SIDE_BY_SIDE):
                return True
            size += (extent - 1) * step
    return False


@dataclass(frozen=True, slots=True)
class Level:
    """A cache, and what brings what it does not hold.

    Attributes:
        size: bytes that it holds of a nest.
        speed: bytes a second that come from behind it.
        jump: seconds more where they were not fetched ahead of their use.
        is_last: whether it is memory that brings it.
        is_first: whether it is the nearest one.
    """

    size: float
    speed: float
    jump: float
    is_last: bool = False
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class Sharing:
    """Threads that use a cache at the same time.

    Attributes:
        loop: whose iterations they have, by its position.
        threads: how many.
    """

    loop: int
    threads: float


class Traffic:
    """What a nest moves between caches.

    Args:
        touches: what it accesses.
        extents: of its loops.
    """

    def __init__(self, touches: Sequence[Touch], extents: Sequence[float]) -> None:
        self.touches, self.extents = touches, extents
        self._moves = [moves_from(t, extents) for t in touches]
        #: By position, bytes that the loops from there on touch of each tensor, and of all.
        self._each: list[list[float]] = []
        self._sums: list[float] = []

    @cached_property
    def _ahead(self) -> list[Ahead]:
        return [ahead(t.bytes, own[0]) for t, own in zip(self.touches, self._moves, strict=True)]

    def seconds(self, level: Level, sharing: Sharing | None = None) -> float:
        """What it takes to bring what a cache does not hold when it is needed.

        Args:
            sharing: the threads that share the cache: each has a place of its own there for what
                differs from one of their iterations to the next.
        """
        at = self._first_held(level.size, sharing)
        if at == 0:
            return 0.0
        total = 0.0
        times = prod(self.extents[: at - 1])
        self._from(at)
        inside, around = self._each[at], self._each[at - 1]
        for k, (t, fetched) in enumerate(zip(self.touches, self._ahead, strict=True)):
            # What does not change from an iteration to the next is still there, and so is what
            # neighbours have in common.
            once = inside[k]
            if t.strides[at - 1] != 0:
                once = min(once * self.extents[at - 1], around[k])
            moved = 2 if t.is_write and not t.streams else 1
            size = fetched.near if level.is_first else fetched.far
            if level.is_last and fetched.is_beside:
                size = min(size, SIDE_BY_SIDE)
            total += times * once * (moved / level.speed + level.jump / size)
        return total

    def _first_held(self, size: float, sharing: Sharing | None) -> int:
        """The outermost position from which on a cache holds all that loops touch."""
        for at, own in enumerate(self._sums):
            if (own if sharing is None else self._of_all(at, sharing)) <= size:
                return at
        for at in range(len(self._sums), len(self.extents)):
            if self._of_all(at, sharing) <= size:
                return at
        return len(self.extents)

    def _of_all(self, at: int, sharing: Sharing | None) -> float:
        """Bytes that the loops from a position on touch, in all threads."""
        own = self._from(at)
        if sharing is None or at <= sharing.loop:
            return own
        differs = (t.strides[sharing.loop] != 0 for t in self.touches)
        more = sum(x for x, is_own in zip(self._each[at], differs, strict=True) if is_own)
        return own + (sharing.threads - 1) * more

    def _from(self, at: int) -> float:
        """Bytes that the loops from a position on touch."""
        while len(self._sums) <= at:
            self._next()
        return self._sums[at]

    def _next(self) -> None:
        """Finds what is touched from the next position on: as much of a tensor as from the one
        before, if the loop there does not change what is accessed of it."""
        at = len(self._sums)
        each: list[float] = []
        for k, t in enumerate(self.touches):
            moves = self._moves[k]
            if at and moves[at] is moves[at - 1]:
                each.append(self._each[at - 1][k])
            else:
                each.append(footprint(t.bytes, t.elements, moves[at]))
        self._each.append(each)
        self._sums.append(sum(each))
