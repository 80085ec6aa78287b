"""The nests that a statement may have at a place, of which the model chooses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from math import ceil

from ...targets.target import Target
from ..facts.facts import StatementFacts
from . import step_plans
from .effort import Effort
from .fused import is_row
from .parts import COPIES, has_copies, part_of
from .places import Spot
from .plan import NONE, NestPlan, Place, Template
from .planned import Nest
from .statements import free_loops, is_reduction, waits
from .strides import gathers, is_dense, looks_up, suits_vectors
from .suited import (
    ROWS,
    SHORTEST,
    TERMS,
    arrangements,
    different,
    has_others,
    jams_of,
    plan_of,
    reduced_in_lanes,
    terms_of,
    widths_of,
)
from .templates import Templates

CHUNK = 4096
"""Elements of the only loop that a thread takes at a time."""

BESIDE_OTHERS = 256
"""The same where there are other loops."""

SHARE, SHARED = 4, 2
"""The part of the last cache that results may take and stay there, of one thread and of several."""

LARGE = 32 << 20
"""Bytes of results that are found in no cache: the last one of a server is not one program's."""


class Candidates:
    """The nests that statements may have.

    Args:
        statements: by Func.
        varying: Funcs and places at which loops are known to be of no constant extent.
        effort: how many are looked at.
        reassociates: whether sums of floats may be added in any order.
        outputs: the names of Funcs that nobody needs in the program but its caller.
        threads: how many a call shall use.
    """

    def __init__(
        self,
        target: Target,
        statements: Mapping[str, Sequence[StatementFacts]],
        varying: Collection[tuple[str, Place | None]],
        effort: Effort,
        reassociates: bool,
        outputs: Collection[str],
        threads: int = 1,
    ) -> None:
        self.target, self.statements, self.varying = target, statements, varying
        self.threads = threads
        self.effort, self.reassociates, self.outputs = effort, reassociates, outputs
        self._found: dict[object, list[Nest]] = {}
        self._templates: dict[object, Templates] = {}

    def of(self, s: StatementFacts, spot: Spot) -> Sequence[Nest]:
        """The nests of a statement at a place; the first one is that as written."""
        templates = self.templates(s, spot)
        key = s.name, templates.extents, templates.short, spot.at is None
        if key not in self._found:
            plans = dict.fromkeys((NestPlan(s.name), *self._plans(s, spot, templates)))
            made = (templates.nest(plan) for plan in plans)
            self._found[key] = [nest for nest in made if nest is not None]
        return self._found[key]

    def templates(self, s: StatementFacts, spot: Spot) -> Templates:
        """What makes nests of plans for a statement at a place."""
        varies = (s.func, spot.at) in self.varying
        short = tuple([x.is_short for x in s.loops]) if varies else spot.has_few(s)
        key = s.name, spot.extents(s), short
        if key not in self._templates:
            self._templates[key] = Templates(s, key[1], short)
        return self._templates[key]

    def wants_tiles(self, s: StatementFacts) -> bool:
        """Whether a statement waits for itself, or reads sums: then it, or they, gain by tiles."""
        reads = (p for a in s.accesses if a.tensor != s.func for p in self._computing(a.tensor))
        return waits(s) or any(is_reduction(p) for p in reads)

    def shares_rows(self, s: StatementFacts, spot: Spot) -> bool:
        """Whether rows of a statement touch what others of them do, and what they read may be
        computed for a tile of them."""
        return bool(self.templates(s, spot).overlapping) and self._reads_others(s)

    def _reads_others(self, s: StatementFacts) -> bool:
        """Whether it reads what may be computed in its loops."""
        return any(a.tensor != s.func and self._computing(a.tensor) for a in s.accesses)

    def _computing(self, tensor: str) -> Sequence[StatementFacts]:
        return self.statements.get(tensor, ())

    # plans ------------------------------------------------------------------------------------
    def _plans(self, s: StatementFacts, spot: Spot, templates: Templates) -> Iterator[NestPlan]:
        if s.kind == "extern":
            return
        if any(x.is_ragged for x in s.loops):
            yield from self._of_ragged(s, spot, templates)
            return
        for reduction in self._reduced_in_lanes(s):
            parallel, _ = self._threads(s, spot, templates.extents, reduction)
            for columns in self._columns(reduction):
                tile = reduction, self._partials(s), columns, NONE, 1
                yield plan_of(s, "lanes", tile, parallel=parallel)
        yield from self._parted(s, spot, templates)
        yield from step_plans.plans(s, spot, self.statements, templates, self.target, self.effort)
        yield from self._rows_of_two(s, spot, templates)
        for vector in (*self._vectors(s, templates.extents), NONE):
            turned = 0 if templates.turned(vector) is None else 1
            for template, taps in arrangements(s, templates):
                tiles = self._tiles(s, spot, templates, template, vector, taps)
                widths = widths_of(self._lanes(s), vector, templates.extents)
                for (jam, rows, columns), lanes in product(tiles, widths):
                    tile = vector, lanes, columns, jam, rows
                    dense = is_dense(s, vector, jam, templates.extents)
                    stream = int(dense and self.streams(s, spot))
                    found = self._shared(s, spot, templates, vector, (jam, rows))
                    for parallel, chunk in found:
                        if jam != parallel or chunk % rows == 0:
                            knobs = {"parallel": parallel, "chunk": chunk, "taps": taps}
                            knobs |= {"turned": turned, "stream": stream}
                            yield plan_of(s, template, tile, **knobs)
                    if template == "tile" and not taps and spot.at is None:
                        for panels, shared in self._panels(templates, vector, jam):
                            yield plan_of(s, template, tile, parallel=shared, panels=panels)

    def _parted(self, s: StatementFacts, spot: Spot, templates: Templates) -> Iterator[NestPlan]:
        """Parts of a reduction with results of their own, where nothing else is for threads."""
        is_sum = s.is_exact or (self.reassociates and s.kind == "float reduction")
        if not is_sum or spot.at is not None or len(self.statements[s.func]) != 2:
            return
        extents, lanes = templates.extents, self._lanes(s)
        found = part_of(s, extents, templates.short, self.threads)
        if found is None or has_others(s, extents):
            return
        shared = {"parallel": found[0], "chunk": found[1]}
        for reduction in self._reduced_in_lanes(s):
            for columns in self._columns(reduction):
                partials = self._partials(s)
                if reduction != found[0] or found[1] % (columns * partials) == 0:
                    yield plan_of(s, "lanes", (reduction, partials, columns, NONE, 1), **shared)
        if has_copies(s, self.target.caches[0].bytes):
            sums = [k for k, x in enumerate(s.loops) if x.is_reduction]
            yield plan_of(s, "rows", (NONE, lanes, 1, sums[-1], COPIES), **shared)
            return
        for vector in (*self._vectors(s, extents), NONE):
            for jam, rows, columns in self._tiles(s, spot, templates, "rows", vector, 0):
                if jam != found[0] or found[1] % rows == 0:
                    yield plan_of(s, "rows", (vector, lanes, columns, jam, rows), **shared)

    def _of_ragged(self, s: StatementFacts, spot: Spot, templates: Templates) -> Iterator[NestPlan]:
        """Where data say how many iterations some loops have: the loops as written, of which the
        outermost one may be parallel, or sums side by side in vectors that have these loops in
        common."""
        if spot.at is None and s.loops[0].parallel and not s.loops[0].is_ragged:
            yield NestPlan(s.name, "leave", (("parallel", 0),))
        if not is_reduction(s) or not all(x.is_reduction for x in s.loops if x.is_ragged):
            return
        for vector in self._vectors(s, templates.extents):
            if not s.loops[vector].is_steering:
                parallel, _ = self._threads(s, spot, templates.extents, vector)
                for columns in self._columns(vector):
                    tile = vector, self._lanes(s), columns, NONE, 1
                    yield plan_of(s, "tile", tile, parallel=parallel)

    def _rows_of_two(
        self, s: StatementFacts, spot: Spot, templates: Templates
    ) -> Iterator[NestPlan]:
        """Vectors along two loops that are one row in memory."""
        if (s.func, spot.at) in self.varying or not is_row(s, templates.extents, templates.short):
            return
        vector, extents = len(s.loops) - 1, templates.extents[:-2]
        stream = int(self.streams(s, spot))
        parallel, chunks = self._threads(s, spot, extents, vector)
        size = sum(s.operations.values()) + len(s.accesses)
        for columns in self.effort.columns:
            if columns == 1 or columns * size <= self.effort.code:
                for chunk in chunks:
                    tile = vector, self._lanes(s), columns, NONE, 1
                    more = {"parallel": parallel, "chunk": chunk, "stream": stream, "row": 1}
                    yield plan_of(s, "rows", tile, **more)

    def streams(self, s: StatementFacts, spot: Spot) -> bool:
        """Whether results are better written past the caches: nobody reads them here, and they do
        not stay in the caches."""
        (written,) = (a for a in s.accesses if a.is_write)
        size = written.elements * written.bytes
        is_last = s.func in self.outputs and len(self.statements[s.func]) == 1
        share = SHARED if self.threads > 1 else SHARE
        fits = size < min(self.target.caches[-1].bytes / share, LARGE)
        return is_last and s.kind == "pointwise" and spot.at is None and not fits

    def _reduced_in_lanes(self, s: StatementFacts) -> list[int]:
        return reduced_in_lanes(s, self.statements[s.func], self.reassociates)

    def _vectors(self, s: StatementFacts, extents: Sequence[int]) -> list[int]:
        """The loops that vectors suit best."""
        loops = [k for k in free_loops(s) if extents[k] > 1]
        loops = [k for k in loops if suits_vectors(s, k) > 0 or looks_up(s, k)]
        loops = [k for k in loops if gathers(s, k) * self._lanes(s) <= self.effort.gathers]
        return sorted(loops, key=lambda k: -suits_vectors(s, k))[:2]

    def _threads(
        self, s: StatementFacts, spot: Spot, extents: Sequence[int], vector: int, jam: int = NONE
    ) -> tuple[int, list[int]]:
        """The loop that is for threads, and by how many iterations; not that of some rows."""
        if spot.at is not None:
            return NONE, [0]
        found = zip(s.loops, extents, strict=False)
        loops = [k for k, (x, e) in enumerate(found) if x.parallel and e > 1 and k != jam]
        others = [k for k in loops if k != vector]
        if others:
            strips = (x for x in self.effort.strips if x < extents[others[0]])
            return others[0], [0, *strips] if self._reads_others(s) else [0]
        if vector in loops:
            return vector, [CHUNK] if len(extents) == 1 else self._pieces(s, extents[vector])
        return NONE, [0]

    def _pieces(self, s: StatementFacts, extent: int) -> list[int]:
        """How many elements of a row threads may take at a time: few, many, or each thread an equal
        part in full tiles. The longer they are, the more is fetched ahead of its use."""
        if self.threads == 1:
            return [BESIDE_OTHERS, CHUNK]
        tile = self._lanes(s) * max(self.effort.columns)
        equal = ceil(extent / (tile * self.threads)) * tile
        return [BESIDE_OTHERS, *(x for x in sorted({CHUNK, equal}) if BESIDE_OTHERS < x < extent)]

    def _shared(
        self,
        s: StatementFacts,
        spot: Spot,
        templates: Templates,
        vector: int,
        tile: tuple[int, int],
    ) -> list[tuple[int, int]]:
        """The loops that may be for threads, and by how many iterations: also none, where threads
        would be asked in each iteration of a loop around."""
        parallel, chunks = self._beside(s, spot, templates, vector, tile)
        found = [(parallel, chunk) for chunk in chunks]
        is_inside = parallel > 0 and any(not x.parallel for x in s.loops[:parallel])
        return [*found, (NONE, 0)] if is_inside and not is_reduction(s) else found

    def _beside(
        self,
        s: StatementFacts,
        spot: Spot,
        templates: Templates,
        vector: int,
        tile: tuple[int, int],
    ) -> tuple[int, list[int]]:
        """The same beside rows of a loop: another one than this, where it is unrolled as a
        whole."""
        (jam, rows), extents = tile, templates.extents
        found = self._threads(s, spot, extents, vector)
        if jam == found[0] != NONE and rows >= extents[jam]:
            return self._threads(s, spot, extents, vector, jam)
        return found

    def _tiles(
        self,
        s: StatementFacts,
        spot: Spot,
        templates: Templates,
        template: Template,
        vector: int,
        taps: int,
    ) -> Iterator[tuple[int, int, int]]:
        """Tiles: the loop of their rows, how many, and columns in vectors."""
        size = sum(s.operations.values()) + len(s.accesses)
        size *= templates.window_size if taps else 1
        most, lanes = self.effort.code, self._lanes(s)
        jams: Sequence[int] | None = None
        for columns in different(self._columns(vector), lanes, vector, templates):
            copied = columns * lanes * gathers(s, vector)
            if columns > 1 and (columns * size > most or copied > self.effort.gathers):
                continue
            yield NONE, 1, columns
            if jams is None and template == "rows" and is_reduction(s):
                jams = terms_of(s, templates, vector)  # with rows of results it is a tile
            elif jams is None:
                jams = jams_of(s, self.statements, spot, templates, vector)
            for jam in jams:
                for rows in self._rows(s, templates, template, jam, columns, vector):
                    copied = rows * columns * lanes * gathers(s, vector, jam)
                    if rows * columns * size <= most and copied <= self.effort.gathers:
                        yield jam, rows, columns

    def _columns(self, vector: int) -> Sequence[int]:
        return self.effort.columns[:1] if vector == NONE else self.effort.columns

    def _rows(
        self,
        s: StatementFacts,
        templates: Templates,
        template: Template,
        jam: int,
        columns: int,
        vector: int,
    ) -> Sequence[int]:
        if s.loops[jam].is_reduction:
            return TERMS
        if templates.short[jam]:
            extent = templates.extents[jam]
            return [x for x in (*ROWS, extent) if extent % x == 0 and x <= SHORTEST]
        if jam in templates.overlapping:
            return ROWS
        if template == "rows" and not self.wants_tiles(s):
            return ROWS[:2]
        most = ROWS[-1] if vector == NONE else self.target.rows_beside(columns)
        return sorted({*(x for x in ROWS if x <= most), most})

    def _panels(self, templates: Templates, vector: int, jam: int) -> Iterator[tuple[int, int]]:
        """How many tiles may have the operand that they share copied together, and which loop is
        for threads then: one around panels, or that over them."""
        panel = templates.panel(vector, jam)
        if panel is None or templates.short[vector]:
            return
        loops = templates.statement.loops
        around = [k for k in templates.around_panels(panel, vector) if loops[k].parallel]
        shared = around[0] if around else vector
        # What does not lie in vectors must be copied anyway.
        for panels in self.effort.panels or ((1,) if panel.strides[vector] != 1 else ()):
            yield panels, shared

    def _lanes(self, s: StatementFacts) -> int:
        return max(1, self.target.vector_bytes // s.widest)

    def _partials(self, s: StatementFacts) -> int:
        """Lanes of vectors that have partial results."""
        return max(1, self.target.vector_bytes // s.widest_beside)
