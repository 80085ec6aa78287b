"""Where the points of iteration spaces are drawn: grids for parts of statements, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from ...poly.report.executed import Point
from ...records import dataclass
from .space import Space

FACETS = 6
"""So many parts of a space of more than two dimensions are drawn; of more, one."""

Site = tuple[str, Point]
"""A statement of the algorithm, and an instance of it."""

WIDE, LARGEST, SMALLEST = 520.0, 44.0, 9.0
"""The width of a column, and the largest and smallest distance of points, in pixels."""

TOP = 34.0


@dataclass(frozen=True)
class Grid:
    """The instances of a statement that agree in the coordinates that are not drawn.

    Attributes:
        rest: the values of these coordinates.
        rows, columns: the first and the last value of the two that are drawn.
        x, y: the middle of the first point, from the corner of its column.
    """

    statement: str
    names: tuple[str, ...]
    rest: Point
    head: str
    rows: tuple[int, int]
    columns: tuple[int, int]
    x: float
    y: float
    cell: float

    @property
    def width(self) -> float:
        return (self.columns[1] - self.columns[0] + 1) * self.cell

    @property
    def height(self) -> float:
        return (self.rows[1] - self.rows[0] + 1) * self.cell


@dataclass
class Layout:
    """All grids of one column, which are those of every column, and its size.

    Attributes:
        notes: what is not drawn.
    """

    space: Space
    grids: list[Grid] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0
    cell: float = LARGEST
    left: float = 34.0
    notes: list[str] = field(default_factory=list)

    def place(self, site: Site) -> tuple[float, float] | None:
        """Where an instance is drawn, from the corner of a column; None where it is left out."""
        grid = self.grid(site)
        if grid is None:
            return None
        row, column = cell_of(self.space, *site)
        return (
            grid.x + (column - grid.columns[0]) * grid.cell,
            grid.y + (row - grid.rows[0]) * grid.cell,
        )

    def grid(self, site: Site) -> Grid | None:
        """The grid of an instance."""
        statement, point = site
        rest = _rest(self.space, statement, point)
        found = (g for g in self.grids if g.statement == statement and g.rest == rest)
        return next(found, None)


def layout(space: Space) -> Layout:
    """The layout of a space."""
    made = Layout(space)
    longest = max((len(x) for axes in space.axes.values() for x in axes), default=0)
    made.left = max(34.0, 24.0 + 6.2 * longest)
    blocks = [_block(made, name) for name in space.dims]
    most = max(
        (sum(c[1] - c[0] + 1 for *_, c in row) + len(row) for block in blocks for row in block),
        default=1,
    )
    made.cell = min(max(WIDE / most, SMALLEST), LARGEST)
    y = TOP
    for block in blocks:
        for row in block:
            y = _put(made, row, y)
    made.height = y
    made.width = max(made.width, 190.0)
    return made


Part = tuple[str, Point, str, tuple[int, int], tuple[int, int]]


def _put(made: Layout, row: Sequence[Part], y: float) -> float:
    """Puts grids side by side; where the next row begins."""
    x, cell, deepest = made.left, made.cell, y
    for statement, rest, head, rows, columns in row:
        names = made.space.axes[statement]
        first = y + 26.0
        grid = Grid(
            statement, names, rest, head, rows, columns, x + cell / 2, first + cell / 2, cell
        )
        made.grids.append(grid)
        x += max(grid.width, 7.0 * len(head)) + made.left
        deepest = max(deepest, first + grid.height + 12.0)
    made.width = max(made.width, x - made.left + 8.0)
    return deepest


def _block(made: Layout, statement: str) -> list[list[Part]]:
    """The grids of one statement, in rows of at most three."""
    space = made.space
    points = {x.point for c in space.columns for x in c.executions if x.statement == statement} or {
        (0,) * len(space.dims[statement])
    }
    rests = sorted({_rest(space, statement, p) for p in points})
    chosen = _chosen(made, statement, rests)
    places = [cell_of(space, statement, p) for p in points]
    rows = min(r for r, _ in places), max(r for r, _ in places)
    columns = min(c for _, c in places), max(c for _, c in places)
    hidden = [d for d in space.dims[statement] if d not in space.axes[statement]]
    parts = [
        (statement, rest, _head(made, statement, hidden, rest), rows, columns) for rest in chosen
    ]
    return [parts[k : k + 3] for k in range(0, len(parts), 3)]


def _chosen(made: Layout, statement: str, rests: list[Point]) -> list[Point]:
    """Which values of the coordinates that are not drawn have a grid."""
    space = made.space
    if space.pair is not None:
        ends = (space.pair.source, space.pair.sink)
        named = {_rest(space, *site) for site in ends if site[0] == statement}
        found = [r for r in rests if r in named]
        if len(found) < len(rests):
            made.notes.append(_left_out(space, statement, "those of the two instances"))
        return found
    if len(rests) <= FACETS:
        return rests
    middle = rests[len(rests) // 2]
    hidden = [d for d in space.dims[statement] if d not in space.axes[statement]]
    where = ", ".join(f"{d}={v}" for d, v in zip(hidden, middle, strict=True))
    made.notes.append(_left_out(space, statement, where))
    return [middle]


def _left_out(space: Space, statement: str, what: str) -> str:
    hidden = [d for d in space.dims[statement] if d not in space.axes[statement]]
    return f"Of the values of {', '.join(hidden)} in {statement}, only {what} are drawn."


def _head(made: Layout, statement: str, hidden: Sequence[str], rest: Point) -> str:
    where = ", ".join(f"{d}={v}" for d, v in zip(hidden, rest, strict=True))
    return f"{statement}, {where}" if where else statement


def _rest(space: Space, statement: str, point: Point) -> Point:
    axes = space.axes[statement]
    return tuple(v for d, v in zip(space.dims[statement], point, strict=True) if d not in axes)


def cell_of(space: Space, statement: str, point: Point) -> tuple[int, int]:
    """Row and column of an instance: one coordinate alone runs to the right."""
    at = dict(zip(space.dims[statement], point, strict=True))
    values = [at[d] for d in space.axes[statement]]
    return (0, 0) if not values else (0, values[0]) if len(values) == 1 else (values[0], values[1])


__all__ = ["Grid", "Layout", "Site", "cell_of", "layout"]
