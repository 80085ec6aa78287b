"""The loops that a plan gives a statement: which are split, in which order, and what kinds they
have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, prod
from typing import Literal

from ..targets.words import Word, factor
from .facts.accesses import MemoryAccess
from .facts.facts import StatementFacts
from .facts.order import Spans, carried, is_in_order, is_independent
from .plan import NestPlan, Template

Kind = Literal["serial", "parallel", "vector", "unrolled"]

NONE = -1
"""A knob that names a loop by its number, where there is none."""

KNOBS = (
    *("vector", "lanes", "columns", "jam", "rows", "parallel", "chunk", "taps", "panels", "turned"),
    "stream",
)
"""What plans say of loops: which one is of vectors, of how many lanes, and how many of them are
side by side; which one is unrolled around these, by how many rows; which one is parallel, by how
many iterations at a time (0 for one); whether reductions over a window are unrolled (1); and how
many tiles side by side have the operand copied that they share with tiles below (0 for none);
whether an operand is copied as a whole, so that vectors lie in memory as such (1); and whether
results are written past the caches (1)."""

AGAIN = 8
"""How often an array must be read to be worth a copy."""

TAPS = 32
"""Elements of the largest window that is unrolled."""


@dataclass(frozen=True, slots=True)
class PlannedLoop:
    """A loop that a plan gives a statement.

    Attributes:
        name: its name.
        loop: the number of the loop as written that it is all or a part of.
        extent: how many iterations it has.
        step: how far an iteration moves along the loop as written.
        kind: how its iterations run.
    """

    name: str
    loop: int
    extent: int
    step: int
    kind: Kind = "serial"


@dataclass(frozen=True, slots=True)
class Nest:
    """The loops of a statement, as a plan has them.

    Attributes:
        plan: what they are made of.
        loops: outermost first.
        accumulates_at: the loop in whose iterations results are accumulated in registers; None
            where there is no such.
        packed: the tensor of which panels are copied; None where none is.
        turned: the tensor that is copied as a whole, its axes in the order in which loops read it;
            None where none is.
        streams: whether results are written past the caches.
        holds: whether results are in registers: a tile of them is accumulated there, or one.
    """

    plan: NestPlan
    loops: tuple[PlannedLoop, ...]
    accumulates_at: str | None = None
    packed: str | None = None
    holds: bool = False
    turned: str | None = None
    streams: bool = False

    def depth(self, name: str) -> int:
        """At which position a loop is."""
        return next(k for k, x in enumerate(self.loops) if x.name == name)


class Templates:
    """The nests that a statement can have where its loops have certain extents.

    Args:
        extents: by loop.
        short: which loops have at most so many iterations at any sizes.
    """

    def __init__(
        self, statement: StatementFacts, extents: Sequence[int], short: Sequence[bool]
    ) -> None:
        self.statement = statement
        self.extents = tuple(max(1, e) for e in extents)
        self.short = tuple(short)
        self.spans: list[Spans] = carried(statement.distances)

    def nest(self, plan: NestPlan) -> Nest | None:
        """The loops of a plan; None where dependences do not allow them."""
        written = tuple(range(len(self.extents)))
        knobs = dict(plan.knobs)
        if plan.template == "leave":
            return Nest(plan, tuple(self._whole(k, knobs) for k in written))
        steps = {k: self._steps(k, knobs) for k in written}
        # The loop for threads is outermost, or where it is written if others carry dependences.
        for shared in (knobs["parallel"], NONE):
            order = self._order(plan.template, knobs, steps, shared)
            loops = [self._loop(k, part, steps[k], knobs) for k, part in order]
            if plan.template == "lanes":
                return Nest(plan, tuple(loops), holds=True)
            if self._is_legal(loops):
                return self._made(plan, loops)
        return None

    def _is_legal(self, loops: Sequence[PlannedLoop]) -> bool:
        """Whether dependences allow these loops."""
        numbers = [x.loop for x in loops]
        if numbers != sorted(numbers) and not is_in_order(numbers, self.spans):
            return False
        return all(
            is_independent(numbers, at, self.spans)
            for at, x in enumerate(loops)
            if x.kind in ("parallel", "vector")
        )

    def _made(self, plan: NestPlan, loops: Sequence[PlannedLoop]) -> Nest:
        knobs = dict(plan.knobs)
        is_tile = plan.template == "tile"
        where = self._accumulates_at(loops) if is_tile else None
        panel = self.panel(knobs["vector"], knobs["jam"]) if knobs["panels"] else None
        packed = None if panel is None else panel.tensor
        turned = self.turned(knobs["vector"]) if knobs["turned"] else None
        return Nest(
            plan,
            tuple(loops),
            where,
            packed,
            is_tile or self._is_alone(loops),
            None if turned is None else turned.tensor,
            bool(knobs["stream"]),
        )

    def panel(self, vector: int, jam: int) -> MemoryAccess | None:
        """The operand whose panels rows of tiles have in common: read at one place, along the loop
        of vectors and the only reduction. Along other loops, which are around panels then, it may
        be read too, but for that of the rows."""
        s = self.statement
        sums = [k for k, x in enumerate(s.loops) if x.is_reduction]
        if len(sums) != 1 or NONE in (vector, jam):
            return None
        found = [a for a in s.accesses if not a.is_write and a.strides[jam] == 0]
        found = [a for a in found if a.strides[vector] and a.strides[sums[0]]]
        if len(found) != 1 or None in found[0].strides:
            return None
        places = sum(1 for a in s.accesses if a.tensor == found[0].tensor)
        return found[0] if places == 1 else None

    def turned(self, vector: int) -> MemoryAccess | None:
        """An array of the caller's whose elements lie far apart along the loop of vectors, and that
        is read again and again: each axis along a loop of its own, and not along all loops."""
        if vector == NONE:
            return None
        s = self.statement
        found = [a for a in s.accesses if a.is_input and abs(a.strides[vector] or 0) > 1]
        if len(found) != 1 or None in found[0].strides or found[0].strides[0]:
            return None
        (a,) = found
        along = prod(extent for x, extent in zip(a.strides, self.extents, strict=True) if x)
        again = prod(self.extents) // max(1, along)
        places = sum(1 for x in s.accesses if x.tensor == a.tensor)
        return a if places == 1 and again >= AGAIN and along == a.elements else None

    def around_panels(self, a: MemoryAccess, vector: int) -> list[int]:
        """The loops around panels of an operand."""
        loops = enumerate(self.statement.loops)
        return [k for k, x in loops if a.strides[k] and k != vector and not x.is_reduction]

    def _is_alone(self, loops: Sequence[PlannedLoop]) -> bool:
        """Whether one element is accumulated in the innermost loop."""
        return bool(loops) and self.statement.axes[loops[-1].loop] is None

    def is_window(self) -> bool:
        """Whether all reductions of the statement together are over a window that can be
        unrolled."""
        own = [k for k, x in enumerate(self.statement.loops) if x.is_reduction]
        return bool(own) and self.window_size <= TAPS and all(self.short[k] for k in own)

    @property
    def window_size(self) -> int:
        """How many iterations all reductions of the statement have together."""
        loops = zip(self.statement.loops, self.extents, strict=True)
        return prod(extent for x, extent in loops if x.is_reduction)

    def _whole(self, k: int, knobs: Mapping[str, int]) -> PlannedLoop:
        kind: Kind = "parallel" if knobs.get("parallel", NONE) == k else "serial"
        return PlannedLoop(self.statement.loops[k].name, k, self.extents[k], 1, kind)

    def _steps(self, k: int, knobs: Mapping[str, int]) -> list[int]:
        """How far the parts of a loop move, the outermost first."""
        inner: list[int] = []
        if k == knobs["vector"]:
            tile = knobs["lanes"] * knobs["columns"]
            inner = [tile * max(1, knobs["panels"]), tile, knobs["lanes"], 1]
        elif k == knobs["jam"]:
            inner = [knobs["rows"], 1]
        if k == knobs["parallel"] and knobs["chunk"]:
            inner = [knobs["chunk"], *inner]
        steps = sorted({*inner, 1}, reverse=True)
        # A part that has one iteration at any sizes is none.
        while self.short[k] and len(steps) > 1 and steps[0] >= self.extents[k]:
            del steps[0]
        return steps

    def _order(
        self,
        template: Template,
        knobs: Mapping[str, int],
        steps: Mapping[int, list[int]],
        parallel: int,
    ) -> list[tuple[int, int]]:
        """The loops outermost first: which one as written, and which of its parts.

        Args:
            parallel: the loop whose outer part is outermost; none for the order as written.
        """
        vector, jam = knobs["vector"], knobs["jam"]
        count = {k: len(steps[k]) for k in steps}
        # The innermost parts: rows, and vectors side by side.
        inner: list[tuple[int, int]] = []
        if jam != NONE:
            inner.append((jam, count[jam] - 1))
        if vector != NONE:
            columns = knobs["columns"] > 1 and knobs["lanes"] in steps[vector]
            inner += [(vector, count[vector] - 2)] * columns + [(vector, count[vector] - 1)]
        outer: list[tuple[int, int]] = []
        for k in steps:
            outer += [(k, part) for part in range(count[k]) if (k, part) not in inner]
        if template == "tile":
            is_reduction = [x.is_reduction for x in self.statement.loops]
            outer.sort(key=lambda x: is_reduction[x[0]])
        elif vector != NONE:
            outer.sort(key=lambda x: x[0] == vector)
        shared = sum(x.is_shared for x in self.statement.loops)
        panel = self.panel(vector, jam) if knobs["panels"] else None
        if panel is not None:
            around = list(range(shared)) + self.around_panels(panel, vector)
            outer.sort(key=lambda x: (x[0] not in around, x != (vector, 0)))
            outer.sort(key=lambda x: self.statement.loops[x[0]].is_reduction)
        if knobs["panels"] > 1:
            # The tiles of a panel are innermost of what is around reductions.
            reductions = sum(self.statement.loops[k].is_reduction for k, _ in outer)
            outer.remove((vector, 1))
            outer.insert(len(outer) - reductions, (vector, 1))
        if parallel != NONE and parallel >= shared:
            first = (parallel, 0)
            if first in outer:
                outer.remove(first)
                outer.insert(shared, first)
        return outer + inner

    def _loop(
        self, k: int, part: int, steps: Sequence[int], knobs: Mapping[str, int]
    ) -> PlannedLoop:
        last = len(steps) - 1
        whole = self.extents[k] if part == 0 else steps[part - 1]
        kind: Kind = "serial"
        if k == knobs["vector"] and part == last:
            kind = "vector"
        elif (k == knobs["vector"] and knobs["columns"] > 1 and steps[part] == knobs["lanes"]) or (
            k == knobs["jam"] and part == last
        ):
            kind = "unrolled"
        elif k == knobs["parallel"] and part == 0:
            kind = "parallel"
        elif knobs["taps"] and self.statement.loops[k].is_reduction:
            kind = "unrolled"
        name = self._name(k, part, len(steps))
        return PlannedLoop(name, k, ceil(whole / steps[part]), steps[part], kind)

    def _name(self, k: int, part: int, count: int) -> str:
        name = self.statement.loops[k].name
        if count == 1:
            return name
        name += "i" * part or "o"
        known = {x.name for x in self.statement.loops}
        while name in known:
            name += "_"
        return name

    def _accumulates_at(self, loops: Sequence[PlannedLoop]) -> str | None:
        """The loop around all reductions; None where there is none."""
        is_reduction = [self.statement.loops[x.loop].is_reduction for x in loops]
        at = is_reduction.index(True) if True in is_reduction else 0
        return loops[at - 1].name if at else None


def splits(nest: Nest, statement: StatementFacts) -> Iterator[tuple[str, Word | int, str, str]]:
    """The splits that make the loops of a nest: of which loop, by how much, and the names of the
    outer and the inner one."""
    for k, written in enumerate(statement.loops):
        parts = sorted((x for x in nest.loops if x.loop == k), key=lambda x: -x.step)
        name = written.name
        for outer, inner in pairwise(parts):
            yield name, factor_of(nest, statement, k, outer.step), outer.name, inner.name
            name = inner.name


def factor_of(nest: Nest, statement: StatementFacts, loop: int, step: int) -> Word | int:
    """By how much a loop is split, with a name that says what for, unless that is the lanes of a
    vector."""
    number = nest.plan.number
    if loop == number("vector") and step == number("lanes"):
        return step
    is_columns = loop == number("vector") and step == number("lanes") * number("columns")
    is_rows = loop == number("jam") and step == number("rows")
    is_chunk = loop == number("parallel") and step == number("chunk")
    means = "columns" if is_columns else "rows" if is_rows else "chunk" if is_chunk else "panel"
    return factor(f"{_identifier(statement.name)}_{means}", step)


def _identifier(name: str) -> str:
    """The name of a statement as one of Python: `C.update(0)` is `C_update0`."""
    return re.sub(r"\W+", "_", re.sub(r"\W(\d)", r"\1", name)).strip("_")
