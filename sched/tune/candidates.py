"""The nests that a statement may have at a place, of which the model chooses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from ..targets.target import Target
from .facts.facts import StatementFacts
from .places import Spot
from .plan import NestPlan, Place, Template
from .templates import KNOBS, NONE, Nest, Templates

COLUMNS = (1, 2, 4)
"""Vectors side by side."""

ROWS = (2, 4, 8)
"""Rows of a tile, beside as many as registers hold."""

PANELS = (1, 2, 4)
"""Tiles side by side whose common operand is copied."""

STRIPS = (16, 64)
"""Rows of a strip down which windows slide."""

CHUNK = 4096
"""Elements of the only loop that a thread takes at a time."""

BESIDE_OTHERS = 256
"""The same where there are other loops."""

SHORTEST = 32
"""Rows up to which a loop is unrolled as a whole."""

CODE = 400
"""Operators and accesses of a tile, all copies of rows and columns together."""

GATHERS = 64
"""Elements of a vector's operands that are loaded one by one, all together: each is code."""

NEAR = 4
"""The largest stride along which vectors are loaded as such."""


class Candidates:
    """The nests that statements may have.

    Args:
        statements: by Func.
        varying: Funcs and places of which it is known that their loops there are of no constant
            extent.
        is_quick: whether few are looked at, as the program is large.
        reassociates: whether sums of floats may be added in any order.
    """

    def __init__(
        self,
        target: Target,
        statements: Mapping[str, Sequence[StatementFacts]],
        varying: Collection[tuple[str, Place | None]],
        is_quick: bool,
        reassociates: bool,
    ) -> None:
        self.target, self.statements, self.varying = target, statements, varying
        self.is_quick, self.reassociates = is_quick, reassociates
        self._found: dict[object, list[Nest]] = {}

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
        short = tuple(x.is_short for x in s.loops) if varies else spot.has_few(s)
        return Templates(s, spot.extents(s), short)

    def wants_tiles(self, s: StatementFacts) -> bool:
        """Whether a statement waits for itself, or reads sums: then it, or they, gain by tiles."""
        reads = (p for a in s.accesses if a.tensor != s.func for p in self._computing(a.tensor))
        return _waits(s) or any(is_reduction(p) for p in reads)

    def _computing(self, tensor: str) -> Sequence[StatementFacts]:
        return self.statements.get(tensor, ())

    # plans ------------------------------------------------------------------------------------
    def _plans(self, s: StatementFacts, spot: Spot, templates: Templates) -> Iterator[NestPlan]:
        if s.kind == "extern":
            return
        if any(x.is_ragged for x in s.loops):
            yield from _of_ragged(s, spot)
            return
        for reduction in self._reduced_in_lanes(s):
            parallel, _ = self._threads(s, spot, templates.extents, reduction)
            for columns in self._columns(reduction):
                tile = reduction, self._lanes(s), columns, NONE, 1
                yield _plan(s, "lanes", *tile, parallel, 0, 0, 0)
        for vector in (*self._vectors(s, templates.extents), NONE):
            parallel, chunks = self._threads(s, spot, templates.extents, vector)
            for template, taps in _arrangements(s, templates):
                for jam, rows, columns in self._tiles(s, templates, template, vector):
                    lanes = self._lanes(s)
                    tile = vector, lanes, columns, jam, rows
                    for chunk in chunks:
                        if jam != parallel or chunk % rows == 0:
                            yield _plan(s, template, *tile, parallel, chunk, taps, 0)
                    if template == "tile" and not taps and spot.at is None:
                        for panels in self._panels(templates, vector, jam):
                            yield _plan(s, template, *tile, vector, 0, taps, panels)

    def _reduced_in_lanes(self, s: StatementFacts) -> list[int]:
        """The only reduction of a statement, where lanes of vectors may have partial results."""
        sums = [k for k, x in enumerate(s.loops) if x.is_reduction]
        if s.kind != "reduction" and not (self.reassociates and s.kind == "float reduction"):
            return []
        if len(sums) != 1 or len(self.statements[s.func]) != 2:
            return []
        if any(x.is_shared for x in s.loops):
            return []
        return sums if all(a.strides[sums[0]] in (0, 1) for a in s.accesses) else []

    def _vectors(self, s: StatementFacts, extents: Sequence[int]) -> list[int]:
        """The loops that vectors suit best."""
        loops = [k for k in _free(s) if extents[k] > 1 and _suits_vectors(s, k) > 0]
        loops = [k for k in loops if _gathers(s, k) * self._lanes(s) <= GATHERS]
        return sorted(loops, key=lambda k: -_suits_vectors(s, k))[:2]

    def _threads(
        self, s: StatementFacts, spot: Spot, extents: Sequence[int], vector: int
    ) -> tuple[int, list[int]]:
        """The loop that is for threads, and by how many iterations."""
        if spot.at is not None:
            return NONE, [0]
        loops = [k for k, x in enumerate(s.loops) if x.parallel and extents[k] > 1]
        others = [k for k in loops if k != vector]
        if others:
            strips = () if self.is_quick else STRIPS
            return others[0], [0, *(x for x in strips if x < extents[others[0]])]
        if vector in loops:
            return vector, [CHUNK if len(extents) == 1 else BESIDE_OTHERS]
        return NONE, [0]

    def _tiles(
        self, s: StatementFacts, templates: Templates, template: Template, vector: int
    ) -> Iterator[tuple[int, int, int]]:
        """Tiles: the loop of their rows, how many, and columns in vectors."""
        size = sum(s.operations.values()) + len(s.accesses)
        gathers = self._lanes(s) * _gathers(s, vector)
        for columns in self._columns(vector):
            if columns > 1 and (columns * size > CODE or columns * gathers > GATHERS):
                continue
            yield NONE, 1, columns
            if template == "rows" and is_reduction(s):
                continue  # with rows it is a tile
            for jam in self._jams(s, templates.extents, vector):
                for rows in self._rows(s, templates, template, jam, columns, vector):
                    copied = rows * columns * self._lanes(s) * _gathers(s, vector, jam)
                    if rows * columns * size <= CODE and copied <= GATHERS:
                        yield jam, rows, columns

    def _columns(self, vector: int) -> Sequence[int]:
        return COLUMNS[:1] if vector == NONE or self.is_quick else COLUMNS

    def _jams(self, s: StatementFacts, extents: Sequence[int], vector: int) -> list[int]:
        """The loops whose iterations gain from running side by side: they share what they read, or
        do not wait for each other."""
        loops = [k for k in _free(s) if k != vector and extents[k] > 1]
        if not _waits(s):
            loops = [k for k in loops if vector != NONE and _shares(s, k)]
        return loops[-2:]

    def _rows(
        self,
        s: StatementFacts,
        templates: Templates,
        template: Template,
        jam: int,
        columns: int,
        vector: int,
    ) -> Sequence[int]:
        if templates.short[jam]:
            extent = templates.extents[jam]
            return [x for x in (*ROWS, extent) if extent % x == 0 and x <= SHORTEST]
        if template == "rows" and not self.wants_tiles(s):
            return ROWS[:2]
        most = ROWS[-1] if vector == NONE else self.target.rows_beside(columns)
        return sorted({*(x for x in ROWS if x <= most), most})

    def _panels(self, templates: Templates, vector: int, jam: int) -> Sequence[int]:
        """How many tiles may have the operand that they share copied together."""
        if self.is_quick or templates.packed(vector, jam) is None or templates.short[vector]:
            return ()
        return PANELS

    def _lanes(self, s: StatementFacts) -> int:
        return max(1, self.target.vector_bytes // s.widest)


def is_reduction(s: StatementFacts) -> bool:
    """Whether a statement accumulates over loops of its own."""
    return s.kind in ("reduction", "float reduction")


def _plan(s: StatementFacts, template: Template, *knobs: int) -> NestPlan:
    return NestPlan(s.name, template, tuple(zip(KNOBS, knobs, strict=True)))


def _arrangements(s: StatementFacts, templates: Templates) -> list[tuple[Template, int]]:
    """The templates that suit a statement, and whether its reductions are unrolled."""
    if not is_reduction(s):
        return [("rows", 0)]
    window: list[tuple[Template, int]] = [("tile", 1)] if templates.is_window() else []
    return [*window, ("tile", 0), ("rows", 0)]


def _of_ragged(s: StatementFacts, spot: Spot) -> Iterator[NestPlan]:
    """The loops as written, where data say how many iterations some have: the outermost one may
    be parallel."""
    if spot.at is None and s.loops[0].parallel and not s.loops[0].is_ragged:
        yield NestPlan(s.name, "leave", (("parallel", 0),))


def _free(s: StatementFacts) -> list[int]:
    """The loops of a statement alone that carry no dependence."""
    return [k for k, x in enumerate(s.loops) if x.parallel and not x.is_shared]


def _waits(s: StatementFacts) -> bool:
    return any(not x.parallel for x in s.loops)


def _shares(s: StatementFacts, k: int) -> bool:
    """Whether iterations of a loop read what others of it read, too."""
    return any(a.strides[k] == 0 and any(a.strides) for a in s.accesses)


def _gathers(s: StatementFacts, vector: int, jam: int = NONE) -> int:
    """How many accesses vectors along a loop take one by one, and anew in each row."""
    if vector == NONE:
        return 0
    found = [a for a in s.accesses if (x := a.strides[vector]) is None or abs(x) > NEAR]
    return sum(1 for a in found if jam == NONE or a.strides[jam] != 0)


def _suits_vectors(s: StatementFacts, k: int) -> float:
    """How well the accesses of a statement suit vectors along a loop."""
    found = 0.0
    for a in s.accesses:
        stride = a.strides[k]
        if stride is None and a.is_write:
            return -1.0
        if stride is None or abs(stride) > NEAR:
            found -= 0.5
        elif stride:
            found += 1.0 if abs(stride) == 1 else 0.3
    return found
