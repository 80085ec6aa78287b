"""The order in which a schedule computes elements, as data and as a picture.

    record = recorded(s, image)       # runs a schedule slowly, and notes what is computed when
    order_picture(record)             # a heat map for each Func, and how much is kept over time

The lowered loops are run by the executor that `check` uses. Time counts executed statements: the
lanes of a vector have one time, the iterations of a parallel loop run one after the other.
"""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from ..checking.execute import Location, Machine, Path as Place, Touch, Write
from ..checking.subject import module_of
from ..codegen.ir.ir import Buffer
from ..codegen.runtime.preconditions import Preconditions
from ..interp.evaluate import Symbols
from ..lang.call.binding import bind
from ..lang.errors.errors import InternalError, LanguageError
from ..lang.nodes.shown import Shown
from ..poly.schedule.schedule import Schedule
from ..records import dataclass
from .extras import need

Array = np.ndarray[Any, np.dtype[Any]]
Element = tuple[int, ...]

# In inches. A notebook makes what is wider than its page smaller, with all that is written in it.
_WIDTH = 9.6
_HEIGHT = 3.2  # of the pictures of Funcs, at most
_BELOW = 1.6  # of the number of values over time
_BAR = 0.9  # the width of the bar of colours
_DPI = 100
_SMALL = 9  # points: of what is written at axes
_LARGEST = 400  # elements whose numbers of repetition are written into them


@dataclass(eq=False)
class Computed:
    """The record of one Func.

    Attributes:
        first: the step at which each element was computed first, from 0.
        counts: how often each element was computed.
        live: int[steps], how many values exist behind each step that will still be read; for an
            output, how many exist.
        bytes: the size of all memory locations that it occupied.
    """

    first: dict[Element, int] = field(default_factory=dict)
    counts: Counter[Element] = field(default_factory=Counter)
    live: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    bytes: int = 0

    @property
    def origin(self) -> Array:
        """The smallest index along each axis."""
        found: Array = np.array(list(self.first), np.int64).min(axis=0)
        return found

    @property
    def times(self) -> Array:
        """float[...]: `first` over the bounding box of the computed elements, NaN for others."""
        return self._box(self.first, np.nan)

    @property
    def repeats(self) -> Array:
        """float[...]: `counts` over the bounding box of the computed elements."""
        return self._box(self.counts, 0)

    def _box(self, values: dict[Element, int], other: float) -> Array:
        points = np.array(list(self.first))
        found = np.full(points.max(axis=0) - self.origin + 1, other, np.float64)
        for point, value in values.items():
            found[tuple(np.array(point) - self.origin)] = value
        return found


@dataclass(frozen=True, eq=False)
class Record(Shown):
    """The record of one run: of each Func that was computed, by its name. These include the
    `outputs`."""

    steps: int
    funcs: dict[str, Computed]
    outputs: frozenset[str]


def recorded(schedule: Schedule, /, *args: Any, **kwargs: Any) -> Record:
    """Runs a schedule on the arguments of a call, slowly, and notes what is computed when.

    Raises:
        CallError: as a call.
        LanguageError: the program has an extern stage, whose instances cannot be recorded.
    """
    program = schedule.program
    for d in program.definitions:
        if d.opaque is not None:
            raise LanguageError(
                f"{d.func.name} is an extern stage, which computes all of its elements at once",
                where=d.span,
            )
    binding = bind(program, args, kwargs)
    start = {program.names[t]: a.copy() for t, a in binding.arrays.items()}
    start |= {program.names[a]: binding.arrays[a.initial].copy() for a in program.inouts}
    preconditions = Preconditions(schedule.requirements, schedule.program)
    symbols = Symbols(preconditions.check(binding), binding.params)
    names = {s.definition.serial: program.names[s.func] for s in schedule.model.statements}
    recorder = _Recorder(names)
    Machine(module_of(schedule), symbols, start, recorder).run()
    return recorder.record(frozenset(program.names[f] for f in program.outputs))


class _Recorder:
    """Observes an execution; `names` has the names of Funcs by the serials of their definitions."""

    def __init__(self, names: dict[int, str]) -> None:
        self.names = names
        self.steps = 0
        self.funcs = {name: Computed() for name in names.values()}
        #: The values in memory: the Func of each, when it was written, and when it was last read.
        self.there: dict[Location, tuple[str, int, int]] = {}
        self.lives: list[tuple[str, int, int]] = []
        self.places: dict[str, dict[tuple[Buffer, Element], int]] = {}

    def joint(self, path: Place, writes: list[Write]) -> None:
        for w in writes:
            self.looked(path, list(w.reads))
        for w in writes:
            owner = self._owner(w)
            if owner is not None:
                self._write(owner, w.to)
        for name, element in {(self.names[w.key[0]], w.to.element) for w in writes if w.key}:
            self.funcs[name].first.setdefault(element, self.steps)
            self.funcs[name].counts[element] += 1
        self.steps += any(w.key is not None for w in writes)

    def looked(self, path: Place, reads: list[Touch]) -> None:
        for r in reads:
            if r.location in self.there:
                owner, since, _ = self.there[r.location]
                self.there[r.location] = owner, since, self.steps

    def wrong(self, kind: str, text: str) -> None:
        raise InternalError(f"{kind}: {text}")

    def _owner(self, w: Write) -> str | None:
        """The name of the Func whose value is written; a value that is copied belongs to the source
        of the copy."""
        if w.key is not None:
            return self.names[w.key[0]]
        found = (self.there[r.location][0] for r in w.reads if r.location in self.there)
        return next(found, None)

    def _write(self, owner: str, to: Touch) -> None:
        if to.location in self.there:
            self.lives.append(self.there[to.location])
        self.there[to.location] = owner, self.steps, self.steps
        at = to.location[1][-len(to.element) :] if to.element else ()
        self.places.setdefault(owner, {})[to.buffer, at] = to.buffer.dtype.itemsize

    def record(self, outputs: frozenset[str]) -> Record:
        kept = [
            (owner, since, self.steps if owner in outputs else last)
            for owner, since, last in self.there.values()
        ]
        for name, computed in self.funcs.items():
            change = np.zeros(self.steps + 2, np.int64)
            for owner, since, last in (*self.lives, *kept):
                if owner == name:
                    change[since] += 1
                    change[last] -= 1
            computed.live = np.cumsum(change)[: self.steps]
            computed.bytes = sum(self.places.get(name, {}).values())
        found = {name: c for name, c in self.funcs.items() if c.first}
        return Record(self.steps, found, outputs)


class Picture:
    """A figure of matplotlib's, which notebooks show."""

    def __init__(self, figure: Any) -> None:
        self.figure = figure

    def _repr_png_(self) -> bytes:
        found = io.BytesIO()
        self.figure.savefig(found, format="png", dpi=_DPI)
        return found.getvalue()

    def save(self, path: Path) -> Path:
        """Writes a PNG file, and returns its path."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self._repr_png_())
        return path


def order_picture(record: Record) -> Picture:
    """A picture for each Func of one or two axes, with the time at which each element was first
    computed as a colour, and with a number in elements that were computed several times. Below, the
    number of values kept of Funcs that are not outputs, over time. At most 960 pixels wide, so that
    a notebook shows it at its size.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    need("drawing", "viz", "matplotlib")
    from matplotlib.figure import Figure

    drawn = {name: c for name, c in record.funcs.items() if c.times.ndim in (1, 2)}
    inside = {name: c for name, c in record.funcs.items() if name not in record.outputs}
    images = [np.atleast_2d(c.times) for c in drawn.values()]
    widths = [min(max(x.shape[1] / x.shape[0], 0.4), 4) for x in images]
    height = min(_HEIGHT, (_WIDTH - _BAR) / sum(widths)) + 0.6 if images else 0
    below = _BELOW if inside else 0
    size = (min(_WIDTH, _HEIGHT * max(sum(widths), 1) + _BAR), max(height + below, _BELOW))
    figure = Figure(figsize=size, layout="constrained")
    heights = [x for x in (height, below) if x]
    if not heights:
        figure.text(0.5, 0.5, "no Func has one or two axes", ha="center", size=_SMALL)
        return Picture(figure)
    parts = list(figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0])
    if images:
        _draw_times(parts.pop(0), drawn, widths, record.steps)
    if inside:
        _draw_live(parts.pop(0).subplots(), inside)
    return Picture(figure)


def _draw_times(part: Any, drawn: dict[str, Computed], widths: list[float], steps: int) -> None:
    """A picture for each Func, side by side, with one bar of colours at the right of all."""
    axes = part.subplots(1, len(widths), squeeze=False, width_ratios=widths)[0]
    for place, (name, computed) in zip(axes, drawn.items(), strict=True):
        image = np.atleast_2d(computed.times)
        (top, left), (height, width) = _corner(computed), image.shape
        edges = (left - 0.5, left + width - 0.5, top + height - 0.5, top - 0.5)
        shown = place.imshow(image, vmin=0, vmax=max(steps - 1, 1), extent=edges)
        place.set_title(name)
        place.tick_params(labelsize=_SMALL)
        _write_repeats(place, computed, steps)
    bar = part.colorbar(shown, ax=list(axes), pad=0.01, aspect=30)
    bar.set_label("first computed at", size=_SMALL)
    bar.ax.tick_params(labelsize=_SMALL)


def _corner(computed: Computed) -> tuple[int, int]:
    """The indices of the first row and the first column."""
    origin = [0, *map(int, computed.origin)]
    return origin[-2], origin[-1]


def _write_repeats(place: Any, computed: Computed, steps: int) -> None:
    """Numbers in elements that were computed several times, if there are few elements."""
    repeats, times = np.atleast_2d(computed.repeats), np.atleast_2d(computed.times)
    top, left = _corner(computed)
    if repeats.size <= _LARGEST:
        for row, column in zip(*np.nonzero(repeats > 1), strict=True):
            colour = "black" if times[row, column] > 0.7 * steps else "white"
            style = {"ha": "center", "va": "center", "fontsize": 8, "color": colour}
            place.text(left + column, top + row, f"{repeats[row, column]:.0f}", **style)


def _draw_live(place: Any, inside: dict[str, Computed]) -> None:
    for name, computed in inside.items():
        place.step(range(len(computed.live)), computed.live, where="post", label=name)
    place.set_ylim(bottom=0)
    place.set_title("values kept" if len(inside) > 1 else f"values of {next(iter(inside))} kept")
    place.set_xlabel("time", size=_SMALL)
    place.tick_params(labelsize=_SMALL)
    if len(inside) > 1:
        place.legend(fontsize=_SMALL)


__all__ = ["Computed", "Picture", "Record", "order_picture", "recorded"]
