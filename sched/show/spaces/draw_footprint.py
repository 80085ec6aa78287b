"""Footprints as drawings: a grid of elements for each array."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from ...lang.errors.words import counted
from ...poly.report.executed import Point
from ...records import dataclass
from ..parts.drawing import Drawing
from ..parts.theme import SERIES, colour
from .footprint import Footprint, Touched
from .picture import Picture
from .sizes import shown

WIDE = 64
"""Elements along an axis that are drawn; of more, those near to what is touched."""

READ, WRITTEN, BOTH = SERIES[0], SERIES[1], SERIES[4]
LEFT, TOP, GAP = 40.0, 62.0, 34.0


def drawn(made: Footprint, notes: Sequence[str]) -> Picture:
    """The picture of a footprint."""
    at = ", ".join(f"{k}={v}" for k, v in made.iteration.items())
    where = f", at {shown(made.sizes)}" if made.sizes else ""
    title = f"One iteration of {made.loop} ({at}) of {made.stage}{where}"
    views = [_view(x) for x in made.touched]
    cell = max(5.0, min(16.0, 620.0 / max((v.columns for v in views), default=1)))
    d = Drawing(0.0, 0.0, title)
    d.text(8, 18, title, bold=True, size=12.5)
    x, y, deepest, widest = 8.0, 26.0, 26.0, 8.0 + 8.2 * len(title)
    for view in views:
        width = max(LEFT + view.columns * cell, 6.9 * max(map(len, view.words)))
        if x > 8.0 and x + width > 1100:
            x, y = 8.0, deepest
        view.draw(d, x, y, cell)
        widest = max(widest, x + width + 8.0)
        deepest = max(deepest, y + TOP + view.rows * cell + 18.0)
        x += width + GAP
    d.width, d.height = max(widest, 330.0), deepest + 18.0
    for k, (shade, word) in enumerate(((READ, "read"), (WRITTEN, "written"), (BOTH, "both"))):
        d.rect(8 + 100 * k, deepest, 11, 11, fill=shade)
        d.text(24 + 100 * k, deepest + 10, word)
    return Picture(d, made, (*notes, *(n for v in views for n in v.notes), *_said(made)))


def _said(made: Footprint) -> Iterator[str]:
    count = sum(len(x.elements) for x in made.touched)
    place = "more than the caches hold" if made.fits is None else f"which fit into {made.fits}"
    yield f"Together {counted(count, 'element')}, {counted(made.bytes, 'byte')}, {place}."
    if any(x.lines is not None for x in made.touched):
        yield f"Cache lines have {made.line} bytes; each array is taken to begin at one."
    more = [x for x in made.stages if x != made.stage]
    if more:
        yield f"What runs in it: {', '.join(made.stages)}."
    inexact = [x.tensor for x in made.touched if not x.is_exact]
    if inexact:
        yield (
            f"Which elements of {', '.join(inexact)} are touched is decided by data or by a "
            "condition: all that may be are drawn."
        )


@dataclass
class _View:
    """What is drawn of one array: two axes, from a first row and column on."""

    of: Touched
    rest: Point
    top: int
    left: int
    rows: int
    columns: int
    notes: list[str]

    @property
    def words(self) -> tuple[str, str, str]:
        x = self.of
        inside = ", ".join(map(str, (*self.rest, *(":" for _ in x.box[len(self.rest) :]))))
        lines = "" if x.lines is None else f" in {counted(x.lines, 'cache line')}"
        return (
            f"{x.tensor}[{inside}]",
            f"{len(x.reads)} read, {len(x.writes)} written",
            f"{counted(x.bytes, 'byte')}{lines}",
        )

    def draw(self, d: Drawing, x: float, y: float, cell: float) -> None:
        for k, line in enumerate(self.words):
            d.text(x, y + 14 + 13 * k, line, bold=k == 0, fill=None if k == 0 else colour("faint"))
        left, top = x + LEFT, y + TOP
        wide, high = self.columns * cell, self.rows * cell
        d.rect(left, top, wide, high, fill=colour("line"))
        for row in range(self.rows):
            for first, last, shade in self._runs(row):
                d.rect(
                    left + first * cell, top + row * cell, (last - first + 1) * cell, cell,
                    fill=shade, hint=self._hint(row, first, last),
                )  # fmt: skip
        # The elements, by lines over all: a shape for each of them would make large files.
        for k in range(self.rows + 1):
            d.line(left, top + k * cell, left + wide, top + k * cell, stroke=colour("paper"))
        for k in range(self.columns + 1):
            d.line(left + k * cell, top, left + k * cell, top + high, stroke=colour("paper"))
        self._numbers(d, left, top, cell)

    def _runs(self, row: int) -> Iterator[tuple[int, int, str]]:
        """The elements of a row that are touched, neighbours that are alike together."""
        shades = [
            self._shade(_point(self, self.top + row, self.left + k)) for k in range(self.columns)
        ]
        for shade, run in groupby(range(self.columns), key=shades.__getitem__):
            columns = list(run)
            if shade is not None:
                yield columns[0], columns[-1], shade

    def _hint(self, row: int, first: int, last: int) -> str:
        at = _point(self, self.top + row, self.left + first)
        inside = list(map(str, at))
        if last > first:
            inside[-1] = f"{self.left + first}:{self.left + last + 1}"
        return f"{self.of.tensor}[{', '.join(inside)}]"

    def _shade(self, at: Point) -> str | None:
        read, written = at in self.of.reads, at in self.of.writes
        return BOTH if read and written else READ if read else WRITTEN if written else None

    def _numbers(self, d: Drawing, left: float, top: float, cell: float) -> None:
        if not self.of.box:
            return
        faint = colour("faint")
        last = self.left + self.columns - 1
        d.text(left + cell / 2, top - 4, self.left, anchor="middle", size=9, fill=faint)
        if self.columns * cell > 30:
            end = left + (self.columns - 0.5) * cell
            d.text(end, top - 4, last, anchor="middle", size=9, fill=faint)
        if len(self.of.box) > 1:
            d.text(left - 4, top + 8, self.top, anchor="end", size=9, fill=faint)
            if self.rows * cell > 22:
                below = top + self.rows * cell - 1
                d.text(left - 4, below, self.top + self.rows - 1, anchor="end", size=9, fill=faint)


def _point(view: _View, row: int, column: int) -> Point:
    rank = len(view.of.box)
    return (*view.rest, row, column)[-rank:] if rank else ()


def _view(x: Touched) -> _View:
    """What is drawn: the last two axes, where most elements are touched."""
    notes: list[str] = []
    rest: Point = ()
    if len(x.box) > 2:
        slices = Counter(p[:-2] for p in x.elements)
        most = max(slices.values())
        rest = min(p for p, count in slices.items() if count == most)
        if len(slices) > 1:
            notes.append(f"Of {x.tensor}, {len(slices)} slices are touched; one is drawn.")
    shown_elements = [p for p in x.elements if p[: len(rest)] == rest]
    top, rows = (0, 1) if len(x.box) < 2 else _part(x, shown_elements, -2, notes)
    left, columns = (0, 1) if not x.box else _part(x, shown_elements, -1, notes)
    return _View(x, rest, top, left, rows, columns, notes)


def _part(x: Touched, elements: Sequence[Point], axis: int, notes: list[str]) -> tuple[int, int]:
    """The first index and the number of those that are drawn along an axis."""
    lo, hi = x.box[axis]
    if hi - lo + 1 <= WIDE:
        return lo, hi - lo + 1
    first = min(p[axis] for p in elements)
    last = max(p[axis] for p in elements)
    start = max(lo, min(first - 1, hi + 1 - WIDE))
    count = min(WIDE, hi - start + 1)
    notes.append(
        f"Along axis {len(x.box) + axis}, {x.tensor} has {hi - lo + 1} elements; "
        f"{start} to {start + count - 1} are drawn"
        + ("." if last < start + count else f", and it touches those up to {last}.")
    )
    return start, count
