"""The elements of each array that one iteration of a loop touches, as data.

made = footprint(s, C, "io", n=64)
made.data.touched[0].reads     # elements of one array
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import dropwhile
from math import prod
from typing import Any

from ...lang.arithmetic.extents import extent_of
from ...lang.errors.frames import bounded
from ...lang.nodes.tensor import Tensor
from ...lang.tensors.inout import Initial
from ...lang.tensors.tensors import Func
from ...poly.report.executed import Point, at_sizes, points, ranges
from ...poly.schedule.schedule import Schedule
from ...poly.sets.isl import Map, Set, isl, val
from ...poly.tree.edits import node_at
from ...poly.tree.looptree import Alloc, Loop, Path, leaves
from ...poly.tree.memory import AS_WRITTEN
from ...poly.tree.stage import Stage
from ...records import dataclass
from .picture import Picture
from .sizes import chosen
from .space import in_time, statements

_SET = isl.dim_type.set


@dataclass(frozen=True, eq=False)
class Touched:
    """What an iteration touches of one array.

    Attributes:
        tensor: its name.
        reads, writes: elements, each once.
        is_exact: whether it touches all of them; where data say which, these are all it may touch.
        box: the first element and the last one of the array along each axis, at these sizes.
        bytes: of the elements that are touched.
        lines: the cache lines that they are in, where the array begins at one; None for storage
            that is not laid out as the array is indexed.
    """

    tensor: str
    reads: frozenset[Point]
    writes: frozenset[Point]
    is_exact: bool
    box: tuple[tuple[int, int], ...]
    bytes: int
    lines: int | None

    @property
    def elements(self) -> frozenset[Point]:
        return self.reads | self.writes


@dataclass(frozen=True, eq=False)
class Footprint:
    """What one iteration of a loop touches, with all that runs in it.

    Attributes:
        stages: those that run in it, by name.
        iteration: the coordinates of the loop and of those around it.
        line: the bytes of a cache line.
        touched: by array, in the order in which they are touched first in the program.
        fits: the nearest cache that has room for all of it; None if none has.
    """

    stage: str
    loop: str
    sizes: Mapping[str, int]
    stages: tuple[str, ...]
    iteration: Mapping[str, int]
    line: int
    touched: tuple[Touched, ...]
    fits: str | None

    @property
    def bytes(self) -> int:
        """Of all elements that are touched."""
        return sum(x.bytes for x in self.touched)


@bounded
def footprint(schedule: Schedule, stage: Any, loop: Any, /, **sizes: int) -> Picture:
    """Which elements of each array one iteration of a loop reads and writes: all that runs inside
    counts, also what is computed there for it. It is the first iteration, or of the first ones the
    one in which the stage has most instances.

    Args:
        stage: a Func, a handle, or a name.
        loop: one of its loops: a handle, a Var, or a name.
        sizes: at which it is drawn; small ones are chosen for the others.

    Returns:
        What a notebook shows and `save("x.svg")` writes; `data` has all of it as a `Footprint`.

    Raises:
        LanguageTypeError: there is no such size.
        ScheduleError: there is no such stage or loop, or there is too much to be drawn.
    """
    from .draw_footprint import drawn

    name = schedule[stage][loop].stage_name
    handle = schedule[name][loop]
    statements(schedule, name)  # which refuses what cannot be drawn
    at = schedule._find(name, handle.name)
    node = node_at(schedule.tree, at.place)
    inside = [(path, x) for path, x in leaves(schedule.tree) if any(n is node for _, n in path)]
    own = next(x for _, x in inside if x.name == name)
    with in_time(schedule.rewritten):
        size = chosen(schedule, [x for _, x in inside], sizes)
        iteration = _iteration(own, at.depth + 1, size.sizes)
        found = _Touching(schedule, size.sizes, iteration)
        for path, x in inside:
            found.add(path, x)
        touched = found.touched()
    total = sum(x.bytes for x in touched)
    caches = enumerate(schedule.target.caches, 1)
    fits = next((f"L{k} ({_size(c.bytes)})" for k, c in caches if c.bytes >= total), None)
    names = [x.name for x in schedule[name].loops][: at.depth + 1]
    made = Footprint(
        name, handle.name, size.sizes, tuple(x.name for _, x in inside),
        dict(zip(names, iteration, strict=True)), schedule.target.caches[0].line, touched, fits,
    )  # fmt: skip
    none = () if touched else ("No iteration of it touches anything at these sizes.",)
    return drawn(made, (*none, *size.notes))


LOOKED_AT = 64
"""Of so many iterations, the first ones, one is drawn."""


def _iteration(own: Stage, depth: int, sizes: Mapping[str, int]) -> Point:
    """An iteration of a loop with many instances of a stage: mostly the first one, or a full tile
    where that is part of one."""
    every = at_sizes(own.run.at(range(depth)), sizes)
    rows = points(every.range(), f"iterations of the loops around {own.name}")[:LOOKED_AT]
    if not rows:
        return (0,) * depth

    def count(row: Point) -> int:
        own_points = _in_iteration(every, row).domain()
        return prod(hi - lo + 1 for lo, hi in filter(None, ranges(own_points)))

    return max(rows, key=count)  # the first one of several


def _in_iteration(every: Map, row: Point) -> Map:
    for k, value in enumerate(row):
        every = every.fix_val(isl.dim_type.out, k, val(value))
    return every


class _Touching:
    """Collects what the stages in one iteration touch."""

    def __init__(self, s: Schedule, sizes: Mapping[str, int], iteration: Point) -> None:
        self.s, self.sizes, self.iteration = s, sizes, iteration
        self.reads: dict[Tensor, set[Point]] = {}
        self.writes: dict[Tensor, set[Point]] = {}
        self.inexact: set[Tensor] = set()
        self.anew: set[Tensor] = set()

    def add(self, path: Path, stage: Stage) -> None:
        """One stage, in the iteration."""
        every = at_sizes(stage.run.at(range(len(self.iteration))), self.sizes)
        there = _in_iteration(every, self.iteration).domain()
        for access in stage.statement.accesses:
            tensor = _array(access.tensor)
            found = points(
                at_sizes(access.map, self.sizes).intersect_domain(there).range(),
                f"elements of {tensor.name}",
            )
            to = self.writes if access.is_write else self.reads
            to.setdefault(tensor, set()).update(found)
            if not access.must:
                self.inexact.add(tensor)
        inside = [n for _, n in dropwhile(lambda at: not isinstance(at[1], Loop), path)]
        self.anew |= {func for n in inside if isinstance(n, Alloc) for func in n.funcs}

    def touched(self) -> tuple[Touched, ...]:
        every = dict.fromkeys((*self.reads, *self.writes))
        return tuple(self._of(t) for t in every if self.reads.get(t) or self.writes.get(t))

    def _of(self, tensor: Tensor) -> Touched:
        reads = frozenset(self.reads.get(tensor, ()))
        writes = frozenset(self.writes.get(tensor, ()))
        elements = reads | writes
        box = self._box(tensor, elements)
        sizes = [t.itemsize for t in tensor.dtypes]
        lines = None
        if not self._is_elsewhere(tensor):
            line = self.s.target.caches[0].line
            lines = sum(len(self._lines(tensor, elements, box, size, line)) for size in sizes)
        return Touched(
            tensor.name, reads, writes, tensor not in self.inexact, box,
            len(elements) * sum(sizes), lines,
        )  # fmt: skip

    def _box(self, tensor: Tensor, elements: frozenset[Point]) -> tuple[tuple[int, int], ...]:
        """The elements that the array has."""
        if tensor.extents is not None:
            lengths = [extent_of(e).value(self.sizes) for e in tensor.extents]
            return tuple((0, n - 1) for n in lengths)
        region = self.s.model.regions.get(tensor) if isinstance(tensor, Func) else None
        known = [] if region is None else _ranges(at_sizes(region, self.sizes))
        if region is not None and None not in known:
            return tuple(r for r in known if r is not None)
        return tuple((min(p[k] for p in elements), max(p[k] for p in elements))
                     for k in range(tensor.ndim))  # fmt: skip

    def _is_elsewhere(self, tensor: Tensor) -> bool:
        """Whether it is kept otherwise than as it is indexed: anew in iterations, or folded."""
        s = self.s
        folded = {f for f, _ in s._builder.state.folds} | set(s.windows)
        return tensor in self.anew or tensor in folded

    def _lines(
        self,
        tensor: Tensor,
        elements: frozenset[Point],
        box: Sequence[tuple[int, int]],
        size: int,
        line: int,
    ) -> set[int]:
        """The numbers of the cache lines that elements are in."""
        memory = self.s.memory.get(tensor, AS_WRITTEN) if isinstance(tensor, Func) else AS_WRITTEN
        pitches = [hi - lo + 1 for lo, hi in box]
        for axis, multiple in memory.multiples:
            pitches[axis] = -(-pitches[axis] // multiple) * multiple
        order = memory.order or tuple(range(len(box)))
        found = set()
        for p in elements:
            at = 0
            for axis in order:
                at = at * pitches[axis] + p[axis] - box[axis][0]
            found.add(at * size // line)
        return found


def _array(tensor: Tensor) -> Tensor:
    """The array that a tensor is in: the initial values of an InOut are in its own."""
    return tensor.array if isinstance(tensor, Initial) else tensor


def _ranges(where: Set) -> list[tuple[int, int] | None]:
    return [None] if where.is_empty() else ranges(where)


def _size(count: int) -> str:
    """`48 KiB`"""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:g} {name}"
    return f"{count} bytes"


__all__ = ["Footprint", "Touched", "footprint"]
