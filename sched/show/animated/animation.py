"""`polysched.show.animation(s)`: a schedule computes its Funcs, step by step.

made = animation(s, n=8)    # at small sizes, or animation(s, A, B) on arrays
made.steps[3].work          # what is read and written
made.save("blur.html")      # a page with a slider
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, Literal

from ...checking.arguments import random_arguments
from ...codegen.build.build import build
from ...codegen.ir.ir import Buffer, Module
from ...codegen.runtime.preconditions import Preconditions
from ...interp.evaluate import Symbols, symbol_value
from ...lang.call.binding import Binding, bind
from ...lang.errors.errors import LanguageTypeError, ScheduleError
from ...lang.errors.frames import bounded
from ...poly.nests.loop_nest import NestStage
from ...poly.report.listing import lines
from ...poly.schedule.schedule import Schedule
from ...poly.tree.edits import stages
from ...records import dataclass
from ..parts.displayed import Displayed
from ..parts.markup import Markup
from ..parts.place import page_at
from ..spaces.picture import Picture
from ..spaces.sizes import chosen, shown
from ..spaces.space import in_time
from .steps import Element, Point, Step, Thread, Work, name_of, steps_of

CELLS = 2000
"""So many elements of all arrays together are shown at most."""


@dataclass(frozen=True, slots=True)
class Grid:
    """An array.

    Attributes:
        name: of the array; copies and private accumulators are arrays of their own.
        kind: whether the call brings it ("given"), or gets it ("output"); "stored" is what the
            schedule keeps in between.
        box: the first index and the last one along each axis, of what is shown.
        about: what is special about its storage; empty for most.
        bytes: of one element.
    """

    name: str
    kind: Literal["given", "output", "stored"]
    box: tuple[tuple[int, int], ...]
    about: str
    bytes: int

    @property
    def count(self) -> int:
        """Of its elements."""
        return prod(hi - lo + 1 for lo, hi in self.box)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the loops: how deep it stands, its text, and the definition that runs there."""

    depth: int
    text: str
    serial: int | None = None
    func: str | None = None


@bounded
@dataclass(frozen=True, eq=False)
class Animation(Displayed):
    """A schedule that computes its Funcs: what a notebook shows, with a slider.

    Attributes:
        title: what it shows.
        sizes: at which it runs.
        grids: the arrays, those that a call brings first, the others as they are written.
        steps: what happens, in order. Parallel iterations and the lanes of a vector take the same
            steps.
        threads: the parallel iterations, in order.
        lines: the loops.
        notes: sentences below it.
    """

    title: str
    sizes: Mapping[str, int]
    grids: tuple[Grid, ...]
    steps: tuple[Step, ...]
    threads: tuple[Thread, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()

    def picture(self, step: int) -> Picture:
        """What is there in a step: the elements that it reads and writes, and those that are kept.

        Args:
            step: its number, from 0; from -1 down, from the last one.

        Raises:
            LanguageTypeError: there is no such step.
        """
        from .draw import still

        count = len(self.steps)
        if not isinstance(step, int) or not -count <= step < count:
            raise LanguageTypeError(f"there is no step {step!r}: there are {count}")
        return still(self, step % count)

    @property
    def html(self) -> Markup:
        """The animation for a page. Without scripts it is a few pictures of steps."""
        from .player import shown_in_page

        return shown_in_page(self)

    def _repr_html_(self) -> str:
        return str(self.html)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes a page of its own, which needs no network, and returns its path.

        Raises:
            LanguageTypeError: the name does not end in .html.
            OSError: it cannot be written.
        """
        from .player import whole_page

        if Path(path).suffix.lower() not in (".html", ".htm"):
            raise LanguageTypeError(
                f"an animation is an HTML file, and not {Path(path).name}",
                hint='animation(s).save("blur.html"); picture(step).save("step.svg") draws a step',
            )
        with page_at(path, "page", 'save("page.html")') as place:
            place.write(str(whole_page(self)))
            return place.path

    def __repr__(self) -> str:
        return f"<animation: {self.title}, {len(self.steps)} steps>"


@bounded
def animation(schedule: Schedule, /, *args: Any, **kwargs: Any) -> Animation:
    """A schedule that computes its Funcs: in each step the elements that are read and written, and
    which ones are kept. Its loops are run, slowly, at small sizes.

    Args:
        args, kwargs: the arguments of a call; or sizes alone, for arrays with random elements.
            Without any, small sizes are chosen.

    Returns:
        What a notebook shows and `save("x.html")` writes; it has all that is shown as data.

    Raises:
        LanguageTypeError: this is no schedule, or there is no such size.
        ScheduleError: there is too much to be shown, or a stage computes all elements at once.
        CallError: as a call.
    """
    if not isinstance(schedule, Schedule):
        raise LanguageTypeError(
            f"an animation is of a Schedule, and not of {schedule!r}",
            hint="Schedule(f) computes f as it is written",
        )
    for d in schedule.program.definitions:
        if d.opaque is not None:
            raise ScheduleError(
                f"{d.func.name} is an extern stage, which computes all of its elements at once"
            )
    binding, notes = _bound(schedule, args, kwargs)
    program = schedule.program
    values = Preconditions(schedule.requirements, program).check(binding)
    symbols = Symbols(values, binding.params)
    start = {program.names[t]: a.copy() for t, a in binding.arrays.items()}
    start |= {program.names[a]: binding.arrays[a.initial].copy() for a in program.inouts}
    module = build(schedule.loop_program)
    made = steps_of(module, symbols, start)
    grids = _grids(module, symbols, made)
    threads = tuple(sorted({w.thread for s in made for w in s.work}))
    names = ", ".join(program.names[f] for f in program.outputs)
    sizes = {k: v for k, v in {**values, **binding.params}.items() if k in schedule.parameters}
    title = f"{names}, at {shown(sizes)}" if sizes else names
    own = tuple(_lines(schedule))
    return Animation(title, sizes, grids, made, threads, own, tuple(notes))


def _bound(s: Schedule, args: Any, kwargs: Mapping[str, Any]) -> tuple[Binding, tuple[str, ...]]:
    """The arguments of a call: those that are given, or some at small sizes."""
    if args or any(not isinstance(x, int) for x in kwargs.values()):
        return bind(s.program, args, kwargs), ()
    with in_time(s.rewritten):
        found = chosen(s, list(stages(s.tree)), kwargs)
    return bind(s.program, (), random_arguments(s.program, found.sizes)), found.notes


def _lines(s: Schedule) -> Iterator[Line]:
    a = s.analysis
    for nest in a.nests:
        for x in lines(nest, a.program.names):
            text = x.text + (f"  # {x.note}" if x.note else "")
            if isinstance(x.node, NestStage):
                statement = x.node.stage.statement
                name = s.program.names[statement.func]
                yield Line(x.depth, text, statement.definition.origin, name)
            else:
                yield Line(x.depth, text)


def lines_of(made: Animation, work: Work) -> list[int]:
    """The lines that run in a step, by their numbers."""
    written = {name for name, _ in work.writes}
    if work.serial is not None:
        own = [k for k, x in enumerate(made.lines) if x.serial == work.serial]
        if own:
            return own
    return [k for k, x in enumerate(made.lines) if x.func in written]


# the arrays ---------------------------------------------------------------------------------------
def _grids(module: Module, symbols: Symbols, steps: Sequence[Step]) -> tuple[Grid, ...]:
    touched: dict[str, list[Point]] = {}
    for name, point in _elements(steps):
        touched.setdefault(name, []).append(point)
    buffers: dict[str, Buffer] = {}
    for b in module.buffers:
        buffers.setdefault(name_of(b), b)
    written = {name: None for s in steps for w in s.work for name, _ in w.writes}
    first = [n for n, b in buffers.items() if n in touched and n not in written]
    found = tuple(_grid(buffers[n], touched[n], symbols) for n in (*first, *written))
    count = sum(g.count for g in found)
    if count > CELLS:
        raise ScheduleError(
            f"{count} elements are too many to be shown: at most {CELLS}",
            hint="give smaller sizes",
        )
    return found


def _elements(steps: Sequence[Step]) -> Iterator[Element]:
    for s in steps:
        for w in s.work:
            yield from w.reads
            yield from w.writes


def _grid(b: Buffer, points: Sequence[Point], symbols: Symbols) -> Grid:
    ends = [(min(x), max(x)) for x in zip(*points, strict=True)]
    kind: Literal["given", "output", "stored"] = "stored"
    if b.kind in ("input", "output"):
        kind = "given" if b.kind == "input" else "output"
        whole = [int(symbol_value(n, symbols)) for n in b.extents]
        ends = [(min(lo, 0), max(hi, n - 1)) for (lo, hi), n in zip(ends, whole, strict=True)]
    elif b.kind == "const":
        kind = "given"
    about = ""
    if b.fold is not None:
        about = f"{b.fold.planes} at a time along axis {b.fold.axis}"
    return Grid(name_of(b), kind, tuple(ends), about, b.dtype.itemsize)


__all__ = ["Animation", "Grid", "Line", "animation", "lines_of"]
