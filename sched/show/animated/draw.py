"""Steps of an animation as drawings: a grid of elements for each array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from ...lang.errors.words import counted
from ...records import dataclass
from ..parts.drawing import Drawing
from ..parts.markup import tag
from ..parts.theme import SERIES, colour
from ..spaces.picture import Picture
from .animation import Animation, Grid
from .steps import Element

WIDE = 980.0
"""Pixels: arrays that do not fit beside each other stand below each other."""

EMPTY, GONE, GIVEN = -1, -2, -3
"""What an element is, if it is not kept by a thread, which has a number: not computed yet, no
longer kept, or brought by the call."""

LEFT, TOP, GAP = 26.0, 52.0, 30.0


@dataclass(frozen=True)
class Cell:
    """Where an element is drawn, in pixels, and how large."""

    x: float
    y: float
    size: float


@dataclass
class Layout:
    """Where all elements are drawn.

    Attributes:
        places: of each grid, its left upper corner.
        cells: of each element; they are numbered in this order.
    """

    width: float
    height: float
    places: list[tuple[float, float]]
    cells: dict[Element, Cell]

    @property
    def numbers(self) -> dict[Element, int]:
        return {e: k for k, e in enumerate(self.cells)}


def layout(grids: Sequence[Grid]) -> Layout:
    """Places the grids, line by line. Of more than two axes, the outer ones are parts beside each
    other."""
    found = Layout(320.0, 0.0, [], {})
    x, y, deepest = 8.0, 8.0, 8.0
    for grid in grids:
        size = _size(grid)
        own = dict(_cells(grid, size))
        words = 6.7 * max(len(w) for w in (*caption(grid), f"{grid.count} kept, 999 again"))
        right = max((c.x for c in own.values()), default=0.0) + size
        low = max((c.y for c in own.values()), default=0.0) + size
        width = LEFT + max(right, words)
        if x > 8.0 and x + width > WIDE:
            x, y = 8.0, deepest
        found.places.append((x, y))
        for e, c in own.items():
            found.cells[e] = Cell(x + LEFT + c.x, y + TOP + c.y, size)
        found.width = max(found.width, x + width + 8.0)
        deepest = max(deepest, y + TOP + low + 20.0)
        x += width + GAP
    found.height = deepest
    return found


def _size(grid: Grid) -> float:
    """Of a cell."""
    columns = _extent(grid, -1) * (_parts(grid) if len(grid.box) > 2 else 1)
    return max(6.0, min(20.0, 420.0 / max(columns, _extent(grid, -2), 1)))


def _extent(grid: Grid, axis: int) -> int:
    if len(grid.box) < -axis:
        return 1
    lo, hi = grid.box[axis]
    return hi - lo + 1


def _parts(grid: Grid) -> int:
    return grid.count // max(_extent(grid, -1) * _extent(grid, -2), 1)


def _cells(grid: Grid, size: float) -> Iterator[tuple[Element, Cell]]:
    """From the left upper corner of the first one on."""
    wide, high = _extent(grid, -1) * size + 8.0, _extent(grid, -2) * size + 8.0
    across = max(1, int(900.0 / wide))
    outer = [range(lo, hi + 1) for lo, hi in grid.box[:-2]]
    inner = [range(lo, hi + 1) for lo, hi in grid.box[-2:]]
    for part, rest in enumerate(product(*outer)):
        left, top = part % across * wide, part // across * high
        for point in product(*inner):
            at = [p - r.start for p, r in zip(point, inner, strict=True)]
            row, column = at if len(at) == 2 else (0, *at, 0)[:2]
            yield (grid.name, (*rest, *point)), Cell(left + column * size, top + row * size, size)


def caption(grid: Grid) -> tuple[str, str]:
    """The head of a grid, and what it is."""
    axes = ", ".join(f"{lo}:{hi + 1}" for lo, hi in grid.box)
    kinds = {"given": "given", "output": "output", "stored": "stored"}
    about = f", {grid.about}" if grid.about else ""
    return f"{grid.name}[{axes}]", f"{kinds[grid.kind]}{about}"


# what is there ------------------------------------------------------------------------------------
@dataclass
class State:
    """What is there in a step.

    Attributes:
        is_: of each element, the thread that wrote it, `EMPTY`, `GONE` or `GIVEN`.
        again: how many elements of each array have been written when they were not kept any more,
            though they had been computed before.
    """

    is_: dict[Element, int]
    again: dict[str, int]


def state_at(made: Animation, cells: Sequence[Element], step: int) -> State:
    """What is there when a step has been done."""
    given = {g.name for g in made.grids if g.kind == "given"}
    threads = {t: k for k, t in enumerate(made.threads)}
    found = State({e: GIVEN if e[0] in given else EMPTY for e in cells}, {})
    for one in made.steps[: step + 1]:
        for e in one.gone:
            found.is_[e] = GONE
        for work in one.work:
            for e in work.writes:
                if found.is_[e] == GONE:
                    found.again[e[0]] = found.again.get(e[0], 0) + 1
                found.is_[e] = threads[work.thread]
        for e in one.replaced:
            found.is_[e] = GONE
    return found


def tally(made: Animation, found: State) -> dict[str, str]:
    """A line for each array that is written: how many elements are kept."""
    lines = {}
    for grid in made.grids:
        if grid.kind == "given":
            continue
        kept = sum(1 for e, x in found.is_.items() if e[0] == grid.name and x >= 0)
        again = found.again.get(grid.name, 0)
        lines[grid.name] = f"{kept} kept" + (f", {again} again" if again else "")
    return lines


# drawings -----------------------------------------------------------------------------------------
def drawing(made: Animation, where: Layout, step: int) -> Drawing:
    """A step. The first shapes are the cells, in the order of their numbers."""
    d = Drawing(where.width, where.height, f"Step {step + 1} of {len(made.steps)}: {made.title}")
    found = state_at(made, list(where.cells), step)
    for element, cell in where.cells.items():
        d.shapes.append(
            tag(
                "rect", tag("title", f"{element[0]}[{', '.join(map(str, element[1]))}]"),
                class_="cell", x=cell.x, y=cell.y, width=cell.size, height=cell.size,
                **look(found.is_[element]),
            )
        )  # fmt: skip
    lines = tally(made, found)
    for grid, (x, y) in zip(made.grids, where.places, strict=True):
        head, about = caption(grid)
        d.text(x + LEFT, y + 14, head, bold=True)
        d.text(x + LEFT, y + 28, about, fill=colour("faint"))
        if grid.name in lines:
            d.shapes.append(
                tag("text", lines[grid.name], class_="tally", x=x + LEFT, y=y + 42,
                    style=f"fill:{colour('faint')}")
            )  # fmt: skip
        _axes(d, grid, where, x)
    d.shapes.append(tag("g", _now(made, where, step), class_="now"))
    return d


def look(is_: int) -> dict[str, str]:
    """The attributes of a cell. What is no longer kept has dashes around it."""
    if is_ == GIVEN:
        return {"fill": colour("line"), "fill_opacity": "0.6", "stroke": colour("paper")}
    if is_ == EMPTY:
        return {"fill": colour("panel"), "fill_opacity": "1", "stroke": colour("line")}
    if is_ == GONE:
        return {"fill": colour("paper"), "stroke": colour("faint"), "stroke_dasharray": "2 2"}
    return {"fill": SERIES[is_ % len(SERIES)], "fill_opacity": "0.55", "stroke": colour("paper")}


def _axes(d: Drawing, grid: Grid, where: Layout, x: float) -> None:
    """The first index of some rows, on the left."""
    if len(grid.box) < 2:
        return
    lo, hi = grid.box[-2]
    front = tuple(a for a, _ in grid.box[:-2])
    each = max(1, round(12.0 / _size(grid)))
    for row in range(lo, hi + 1, each):
        cell = where.cells[grid.name, (*front, row, grid.box[-1][0])]
        d.text(x + LEFT - 5, cell.y + cell.size / 2 + 3.5, row, anchor="end", size=9,
               fill=colour("faint"))  # fmt: skip


def _now(made: Animation, where: Layout, step: int) -> Iterator[str]:
    """What is read, as circles, and what is written, in frames."""
    threads = {t: k for k, t in enumerate(made.threads)}
    for work in made.steps[step].work:
        shade = SERIES[threads[work.thread] % len(SERIES)]
        for e in work.writes:
            c = where.cells[e]
            yield tag("rect", x=c.x, y=c.y, width=c.size, height=c.size, fill=shade,
                      stroke=colour("ink"), stroke_width=2)  # fmt: skip
        for e in work.reads:
            c = where.cells[e]
            yield tag("circle", cx=c.x + c.size / 2, cy=c.y + c.size / 2, r=c.size * 0.26,
                      fill=shade, stroke=colour("ink"))  # fmt: skip


def still(made: Animation, step: int) -> Picture:
    """A step as a picture."""
    where = layout(made.grids)
    d = drawing(made, where, step)
    for shape in range(len(d.shapes)):
        d.shapes[shape] = tag("g", d.shapes[shape], transform="translate(0 24)")
    d.height += 46.0
    head = f"{made.title}: step {step + 1} of {len(made.steps)}"
    d.text(8, 18, head, bold=True, size=12.5)
    d.width = max(d.width, 16 + 8.0 * len(head), 470.0)
    for k, (words, shape_) in enumerate(legend()):
        x = (8.0, 90.0, 180.0, 300.0)[k]
        d.shapes.append(tag("g", shape_, transform=f"translate({x:g} {d.height - 18:g})"))
        d.text(x + 18, d.height - 8, words)
    return Picture(d, made, (*said(made, step), *made.notes))


def legend() -> Iterator[tuple[str, str]]:
    """What the shapes mean."""
    ink, shade = colour("ink"), SERIES[0]
    yield "read", tag("circle", cx=6, cy=6, r=4, fill=shade, stroke=ink)
    yield "written", tag("rect", width=12, height=12, fill=shade, stroke=ink, stroke_width=2)
    yield "kept", tag("rect", width=12, height=12, **look(0))
    yield "no longer kept", tag("rect", width=12, height=12, **look(GONE))


def said(made: Animation, step: int) -> Iterator[str]:
    """What happens in a step, a line for each thread, of which there are few."""
    work = made.steps[step].work
    for w in work[:6]:
        loops = ", ".join(f"{k}={v}" for k, v in w.loops.items())
        name = w.writes[0][0]
        count = sum(1 for array, _ in w.writes if array == name)  # a tuple has several arrays
        lanes = f" ({counted(count, 'lane')})" if count > 1 else ""
        yield f"{name}{lanes}: {loops}" if loops else f"{name}{lanes}"
    if len(work) > 6:
        yield f"and {len(work) - 6} more threads"


__all__ = ["Layout", "caption", "drawing", "layout", "legend", "look", "said", "state_at", "still"]
