"""Iteration spaces as drawings."""

from __future__ import annotations

from collections import Counter
from math import hypot

from ...poly.report.executed import Arrow, Execution, Point, order_of
from ...records import dataclass
from ..parts.drawing import Drawing
from ..parts.theme import SERIES, colour
from .dependences import few
from .layout import Grid, Layout, Site, cell_of, layout
from .picture import Picture
from .space import Column, Space
from .words import named, said, status

NUMBERED = 26.0
"""Points that are so far apart have numbers, in pixels."""

SPACE = 30.0
"""Between columns, in pixels."""


def drawn(space: Space) -> Picture:
    """The picture of a space."""
    where = layout(space)
    notes = [*space.notes, *where.notes]
    arrows = few(space, where, notes)
    count = len(space.columns)
    width = count * where.width + (count - 1) * SPACE
    label = f"Iterations of {space.title}: " + ", ".join(c.title for c in space.columns)
    d = Drawing(width, where.height + 26.0, label)
    words: list[str] = []
    for k, column in enumerate(space.columns):
        painter = _Painter(d, space, column, where, k * (where.width + SPACE))
        painter.paint(arrows)
        words += said(space, column, painter.step)
    d.width = max(width, _legend(d, space, where.height + 14.0))
    for column in space.columns:
        again = Counter((e.statement, e.point) for e in column.executions)
        more = sum(1 for times in again.values() if times > 1)
        if not column.executions:
            notes.append(f"{column.title.capitalize()}: nothing runs at these sizes.")
        if more:
            notes.append(f"{column.title.capitalize()}: {more} instances run several times.")
    return Picture(d, space, (*notes, *words))


@dataclass
class _Painter:
    """Paints one column."""

    d: Drawing
    space: Space
    column: Column
    where: Layout
    x: float

    def __post_init__(self) -> None:
        shown = [(e, t) for e, t in zip(self.column.executions, self._tiles(), strict=True)
                 if self.place(e) is not None]  # fmt: skip
        self.shown = [e for e, _ in shown]
        self.tile_of = {(e.statement, e.point): t for e, t in shown}
        steps = sorted({e.step for e in self.shown})
        self.step = {step: k for k, step in enumerate(steps)}
        threads = sorted({e.of_kind("parallel") for e in self.shown})
        self.thread = {t: k for k, t in enumerate(threads)}
        self.times = Counter((e.statement, e.point) for e in self.shown)
        self.radius = self.where.cell * 0.3

    def _tiles(self) -> tuple[Point, ...]:
        return self.column.tiles or ((),) * len(self.column.executions)

    def place(self, e: Execution) -> tuple[float, float] | None:
        return self.at((e.statement, e.point))

    def at(self, site: Site) -> tuple[float, float] | None:
        found = self.where.place(site)
        return None if found is None else (self.x + found[0], found[1])

    def paint(self, arrows: list[Arrow]) -> None:
        short, fine = status(self.space, self.column)
        head = f"{self.column.title}: {short}" if short else self.column.title
        shade = None if fine else colour("bad")
        self.d.text(self.x + 8, 18, head, bold=True, size=12.5, fill=shade)
        self._lanes()
        self._path()
        for site in self.times:
            self._point(site)
        for grid in self.where.grids:
            self._outlines(grid)
        for arrow in arrows:
            self._arrow(arrow, colour("accent"), 1.2, dashed=not self._is_kept(arrow))
        self._pair(fine)
        for grid in self.where.grids:  # last, as arrows to grids below run across these words
            self._axes(grid)

    # what is around -------------------------------------------------------------------------------
    def _axes(self, grid: Grid) -> None:
        x, y = self.x + grid.x - grid.cell / 2, grid.y - grid.cell / 2
        self._word(x + 8, y - 16, grid.head, "start", 11)
        if not grid.names:
            return
        down = grid.names[0] if len(grid.names) == 2 else ""
        right = grid.names[-1]
        each = max(1, round(22.0 / grid.cell))
        for v in range(grid.columns[0], grid.columns[1] + 1, each):
            at = x + (v - grid.columns[0] + 0.5) * grid.cell
            self._word(at, y - 4, v, "middle", 9)
        self._word(x - 6, y - 4, right + " \u2192", "end", 10)
        if down:
            for v in range(grid.rows[0], grid.rows[1] + 1, max(1, round(12.0 / grid.cell))):
                at = y + (v - grid.rows[0] + 0.5) * grid.cell
                self._word(x - 4, at + 3, v, "end", 9)
            self._word(x - 6, y - 16, down + " \u2193", "end", 10)

    def _word(self, x: float, y: float, word: str | int, anchor: str, size: float) -> None:
        self.d.text(x, y, word, anchor=anchor, size=size, fill=colour("faint"), clear=True)

    def _outlines(self, grid: Grid) -> None:
        """Lines between points of different tiles, and around all of them."""
        if not self.column.tile_loops:
            return
        tile = {
            cell_of(self.space, *site): t
            for site, t in self.tile_of.items()
            if self.where.grid(site) is grid
        }
        x, y, c = self.x + grid.x - grid.cell / 2, grid.y - grid.cell / 2, grid.cell
        for (row, column), own in tile.items():
            left = x + (column - grid.columns[0]) * c
            top = y + (row - grid.rows[0]) * c
            sides = {
                (0, -1): (left, top, left, top + c),
                (0, 1): (left + c, top, left + c, top + c),
                (-1, 0): (left, top, left + c, top),
                (1, 0): (left, top + c, left + c, top + c),
            }
            for (dr, dc), line in sides.items():
                other = tile.get((row + dr, column + dc))
                if other is None or (other != own and (dr > 0 or dc > 0)):
                    self.d.line(*line, stroke=colour("storage"), width=1.6)

    # what runs ------------------------------------------------------------------------------------
    def _lanes(self) -> None:
        """A band behind the points of a grid that are lanes of one vector."""
        groups: dict[tuple[object, ...], list[tuple[float, float]]] = {}
        for e in self.shown:
            place = self.place(e)
            if e.of_kind("vector") and place is not None:
                rest = tuple((v.kind, v.at) for v in e.levels if v.kind != "vector")
                grid = self.where.grid((e.statement, e.point))
                groups.setdefault((e.stage, id(grid), rest), []).append(place)
        for places in groups.values():
            (x1, y1), (x2, y2) = min(places), max(places)
            wide = self.radius * 2 + 5
            self.d.line(x1, y1, x2 + 0.01, y2, stroke=colour("vector"), width=wide, round_=True,
                        opacity=0.4)  # fmt: skip

    def _path(self) -> None:
        """A line through the points in their order, one for each parallel iteration."""
        before: tuple[float, float] | None = None
        last: Execution | None = None
        for e in self.shown:
            place = self.place(e)
            if last is not None and e.of_kind("parallel") != last.of_kind("parallel"):
                before = None
            if last is not None and before is not None and e.step == last.step:
                continue  # other lanes
            if (
                last is not None
                and before is not None
                and place is not None
                and self._is_near(last, e)
            ):
                far = hypot(place[0] - before[0], place[1] - before[1]) > self.where.cell * 1.5
                self.d.line(*before, *place, stroke=colour("serial"), width=1.0, dashed=far)
            before, last = place, e

    def _is_near(self, a: Execution, b: Execution) -> bool:
        """Whether they are drawn in one grid, at different points."""
        first, second = (a.statement, a.point), (b.statement, b.point)
        return first != second and self.where.grid(first) is self.where.grid(second)

    def _point(self, site: Site) -> None:
        ran = [e for e in self.shown if (e.statement, e.point) == site]
        place = self.at(site)
        if place is None:
            return
        first = ran[0]
        fill = colour("panel")
        if len(self.thread) > 1:
            fill = SERIES[self.thread[first.of_kind("parallel")] % len(SERIES)]
        hint = f"{named(self.space, site)}: step {self.step[first.step]}"
        loops = ", ".join(f"{k}={v}" for k, v in first.loops.items())
        hint += f"\nloops {loops}" + (f"\nruns {len(ran)} times" if len(ran) > 1 else "")
        edge = colour("warn" if len(ran) > 1 else "serial")
        self.d.circle(*place, self.radius, fill=fill, stroke=edge, hint=hint)
        if self.where.cell >= NUMBERED:
            number = f"\u00d7{len(ran)}" if len(ran) > 1 else self.step[first.step]
            ink = "#ffffff" if len(self.thread) > 1 else colour("ink")
            size = 9.5 if len(str(number)) < 3 else 8.0
            self.d.text(place[0], place[1] + 3.5, number, anchor="middle", size=size, fill=ink)

    # what depends on what -------------------------------------------------------------------------
    def _is_kept(self, arrow: Arrow) -> bool:
        """Whether its source runs first, as far as each end runs once."""
        ends = [
            [e for e in self.shown if (e.statement, e.point) == site]
            for site in (arrow.source, arrow.sink)
        ]
        if any(len(x) != 1 for x in ends):
            return True
        return order_of(ends[0][0], ends[1][0]) in ("before", "same")

    def _arrow(self, a: Arrow, stroke: str, width: float, *, dashed: bool = False) -> None:
        start, end = self.at(a.source), self.at(a.sink)
        if start is None or end is None:
            return
        hint = f"{named(self.space, a.sink)} needs {named(self.space, a.source)}"
        hint += f" ({a.kind} on {a.tensor})" if a.kind else ""
        (x1, y1), (x2, y2) = start, end
        length = hypot(x2 - x1, y2 - y1)
        if length < 1:  # two executions of one instance
            self.d.arrow(
                x1 - self.radius, y1 - self.radius, x1 + self.radius, y1 - self.radius,
                stroke=stroke, width=width, bend=self.radius * 1.5, hint=hint,
            )  # fmt: skip
            return
        ux, uy, r = (x2 - x1) / length, (y2 - y1) / length, self.radius + 1
        self.d.arrow(
            x1 + ux * r, y1 + uy * r, x2 - ux * r, y2 - uy * r, stroke=stroke, width=width,
            dashed=dashed, hint=hint,
            bend=0.0 if length < 1.6 * self.where.cell else min(length * 0.14, 18.0),
        )  # fmt: skip

    def _pair(self, fine: bool) -> None:
        """The two instances of a refusal, and the arrow between them."""
        pair = self.space.pair
        if pair is None:
            return
        shade = colour("good" if fine else "bad")
        for site in (pair.source, pair.sink):
            place = self.at(site)
            if place is not None:
                self.d.ring(*place, self.radius + 2, stroke=shade, width=2.4)
        self._arrow(pair, shade, 2.4)


def _legend(d: Drawing, space: Space, y: float) -> float:
    """What lines and colours mean; returns where it ends."""
    x = 8.0
    executions = [e for c in space.columns for e in c.executions]
    tiles = dict.fromkeys(name for c in space.columns for name in c.tile_loops)
    x = _entry(d, x, y, "order", "serial", 1.0)
    if tiles:
        x = _entry(d, x, y, f"tiles: {', '.join(tiles)}", "storage", 1.6)
    if any(e.of_kind("vector") for e in executions):
        d.line(x, y - 4, x + 22, y - 4, stroke=colour("vector"), width=8.0, opacity=0.4)
        d.text(x + 28, y, "lanes of a vector")
        x += 28 + 6.8 * 17 + 14
    if len({e.of_kind("parallel") for e in executions}) > 1:
        for k in range(3):
            d.circle(x + 4 + 9 * k, y - 4, 4, fill=SERIES[k])
        d.text(x + 32, y, "parallel iterations")
        x += 32 + 6.8 * 19 + 14
    if space.arrows:
        x = _entry(d, x, y, "needs", "accent", 1.2, arrow=True)
    if space.pair is not None:
        x = _entry(d, x, y, "the two instances", "bad", 2.4, arrow=True)
    return x


def _entry(
    d: Drawing, x: float, y: float, words: str, shade: str, width: float, *, arrow: bool = False
) -> float:
    draw = d.arrow if arrow else d.line
    draw(x, y - 4, x + 22, y - 4, stroke=colour(shade), width=width)
    d.text(x + 28, y, words)
    return x + 28 + 6.8 * len(words) + 14
