"""The loops that a plan gives a statement: which are split, their order, and their kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, prod
from types import MappingProxyType

from ...cached import cached_property
from ...records import replace
from ..facts.accesses import MemoryAccess
from ..facts.facts import StatementFacts
from ..facts.order import Spans, carried, is_in_order, is_independent
from .alike import alike
from .fused import nest_of_row
from .plan import NONE, NestPlan, Template
from .planned import Kind, Nest, PlannedLoop
from .steps import nest_of_blocks, nest_of_steps

KNOBS = (
    *("vector", "lanes", "columns", "jam", "rows", "parallel", "chunk", "taps", "panels", "turned"),
    *("stream", "row", "steps", "axes"),
)
"""What plans say of loops: which one is of vectors, of how many lanes, and how many of them are
side by side; which one is unrolled around these, by how many rows; which one is parallel, by how
many iterations at a time (0 for one); whether reductions over a window are unrolled (1); and how
many tiles side by side have the operand copied that they share with tiles below (0 for none);
whether an operand is copied as a whole, so that vectors lie in memory as such (1); whether results
are written past the caches (1); whether the innermost two loops are one, of vectors (1); and how
many iterations of the outermost loop tiles have, and along which loops, a bit for each (0 for
none)."""

FEW_ROWS = 8
"""So many rows read an operand where it lies in less time than it takes to copy it for them."""

AGAIN = 8
"""How often an array must be read to be worth a copy."""

FARTHEST = 4
"""The most iterations that a row is behind the one before."""

TAPS = 32
"""Elements of the largest window that is unrolled."""

MAKERS = {"steps": nest_of_steps, "blocks": nest_of_blocks}
"""What makes the nests of some templates."""


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
        self._sums = [x.is_reduction and not x.parallel for x in statement.loops]
        self._has_sums = any(self._sums)
        self._shared = sum(x.is_shared for x in statement.loops)
        self._names: dict[tuple[int, int, int], str] = {}

    def nest(self, plan: NestPlan) -> Nest | None:
        """The loops of a plan; None where dependences do not allow them."""
        written = tuple(range(len(self.extents)))
        knobs = dict(plan.knobs)
        if plan.template == "leave":
            return Nest(plan, tuple(self.whole(k, knobs) for k in written))
        if plan.template == "wave":
            return self._wave(plan)
        if knobs.get("row"):
            return nest_of_row(self, plan)
        if plan.template in MAKERS:
            return MAKERS[plan.template](self, plan)
        steps = {k: self._steps(k, knobs) for k in written}
        # The loop for threads is outermost, or where it is written if others carry dependences.
        for shared in (knobs["parallel"], NONE):
            order = self._order(plan.template, knobs, steps, shared)
            loops = [self._loop(k, part, steps[k], knobs) for k, part in order]
            parts = self._parts(loops)
            if plan.template == "lanes":
                return Nest(plan, tuple(loops), holds=True, parts=parts)
            if parts is not None and shared == NONE:
                return None
            if self._is_legal(loops):
                return self._made(plan, loops)
        return None

    def _wave(self, plan: NestPlan) -> Nest | None:
        """Rows side by side that wait for each other: each behind the one before by as many
        iterations of the next loop as that takes."""
        jam, rows = plan.number("jam"), plan.number("rows")
        skew = self.skew(jam)
        if not skew:
            return None
        loops = [self.whole(k) for k in range(len(self.extents))]
        behind = loops[jam + 1]
        loops[jam + 1] = replace(behind, extent=behind.extent + skew * (rows - 1))
        outer, inner = (self.part_name(jam, part, 2) for part in (0, 1))
        loops[jam] = PlannedLoop(outer, jam, ceil(self.extents[jam] / rows), rows)
        loops.append(PlannedLoop(inner, jam, rows, 1, "unrolled"))
        return Nest(plan, tuple(loops), skew=skew)

    def skew(self, jam: int) -> int:
        """How far behind the one before rows of a loop must be, so that they do not wait for each
        other where they run side by side; 0 if no small number is enough."""
        s = self.statement
        spans = carried([d for d in s.distances if d.source == d.sink == s.name])
        order = [*range(len(self.extents)), jam]
        for skew in range(1, FARTHEST + 1) if spans else ():
            skewed = [_skewed(x, jam, skew) for x in spans]
            if is_in_order(order, skewed) and is_independent(order, len(order) - 1, skewed):
                return skew
        return 0

    def _is_legal(self, loops: Sequence[PlannedLoop]) -> bool:
        """Whether dependences allow these loops."""
        parts = self._parts(loops)
        loops = [x for x in loops if x.name != parts] if parts is not None else loops
        numbers = [x.loop for x in loops]
        if numbers != sorted(numbers) and not is_in_order(numbers, self.spans):
            return False
        return all(
            is_independent(numbers, at, self.spans)
            for at, x in enumerate(loops)
            if x.kind in ("parallel", "vector")
        )

    def _parts(self, loops: Sequence[PlannedLoop]) -> str | None:
        """The loop of a reduction that threads share: its iterations have results of their own."""
        if not self._has_sums:
            return None
        shared = (x.name for x in loops if x.kind == "parallel" and self._sums[x.loop])
        return next(shared, None)

    def _copies(self, loops: Sequence[PlannedLoop]) -> str | None:
        """The innermost loop of parts of what data choose, each iteration of which has results of
        its own, too."""
        if self.statement.kind != "scatter" or self._parts(loops) is None:
            return None
        last = loops[-1]
        is_sum = self.statement.loops[last.loop].is_reduction and last.kind == "unrolled"
        return last.name if is_sum else None

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
            parts=self._parts(loops),
            copies=self._copies(loops),
        )

    def panel(self, vector: int, jam: int) -> MemoryAccess | None:
        """The operand whose panels rows of tiles have in common: read at one place, along the loop
        of vectors and the only reduction. Along other loops, which are around panels then, it may
        be read too, but for that of the rows."""
        s = self.statement
        sums = [k for k, x in enumerate(s.loops) if x.is_reduction]
        if len(sums) != 1 or {NONE, sums[0]} & {vector, jam} or self.extents[jam] <= FEW_ROWS:
            return None
        found = [a for a in s.accesses if not a.is_write and a.strides[jam] == 0]
        found = [a for a in found if _moves(a, vector) and _moves(a, sums[0])]
        if len(found) != 1 or found[0].is_irregular:
            return None
        places = sum(1 for a in s.accesses if a.tensor == found[0].tensor)
        return found[0] if places == 1 else None

    def turned(self, vector: int) -> MemoryAccess | None:
        """An array of the caller's whose elements lie far apart along the loop of vectors, and that
        is read again and again: each axis along a loop of its own, and not along all loops."""
        if vector == NONE:
            return None
        s = self.statement
        found = [a for a in s.accesses if a.is_input and _moves(a, vector, 2)]
        if len(found) != 1 or found[0].is_irregular or found[0].strides[0]:
            return None
        (a,) = found
        along = prod(extent for x, extent in zip(a.strides, self.extents, strict=True) if x)
        again = prod(self.extents) // max(1, along)
        places = sum(1 for x in s.accesses if x.tensor == a.tensor)
        return a if places == 1 and again >= AGAIN and along == a.elements else None

    @cached_property
    def overlapping(self) -> frozenset[int]:
        """The loops of which a few iterations touch what others of them do, as those of a stencil:
        side by side they load it once."""
        found = alike(self.statement)
        return frozenset(k for k in range(len(self.extents)) if any(x.gaps[k] for x in found))

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

    def whole(self, k: int, knobs: Mapping[str, int] = MappingProxyType({})) -> PlannedLoop:
        """A loop as it is written."""
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
        shared = self._shared
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
        name = self.part_name(k, part, len(steps))
        return PlannedLoop(name, k, ceil(whole / steps[part]), steps[part], kind)

    def part_name(self, k: int, part: int, count: int) -> str:
        """What a part of a loop is called."""
        name = self._names.get((k, part, count))
        if name is None:
            name = self.statement.loops[k].name
            if count > 1:
                name += "i" * part or "o"
                known = {x.name for x in self.statement.loops}
                while name in known:
                    name += "_"
            self._names[k, part, count] = name
        return name

    def _accumulates_at(self, loops: Sequence[PlannedLoop]) -> str | None:
        """The loop around all reductions; None where there is none."""
        is_reduction = [self.statement.loops[x.loop].is_reduction for x in loops]
        at = is_reduction.index(True) if True in is_reduction else 0
        return loops[at - 1].name if at else None


def _moves(a: MemoryAccess, loop: int, least: int = 1) -> bool:
    """Whether each iteration of a loop moves an access alike, by at least so many elements."""
    stride = a.strides[loop]
    return isinstance(stride, int) and abs(stride) >= least


def _skewed(spans: Spans, loop: int, by: int) -> Spans:
    """Distances where the next loop is skewed by a loop."""
    if loop + 1 >= len(spans):
        return spans
    (low, high), (next_low, next_high) = spans[loop : loop + 2]
    added = None if low is None or next_low is None else next_low + by * low
    most = None if high is None or next_high is None else next_high + by * high
    return (*spans[: loop + 1], (added, most), *spans[loop + 2 :])
