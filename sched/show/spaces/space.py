"""The iteration space of stages at small sizes, as data: what runs when, and what depends on what.

made = space(s, C, n=8)     # as written, and as scheduled
made.columns[1].executions  # each instance, with its step
made.arrows                 # each dependence between the instances
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ...lang.errors.errors import LanguageTypeError, ScheduleError
from ...lang.errors.frames import bounded
from ...lang.tensors.tensors import Func
from ...poly.proof.dependences import Dependence
from ...poly.report.executed import (
    NEAR_ALL,
    Arrow,
    Execution,
    Near,
    Point,
    arrows,
    executions,
)
from ...poly.schedule.handles.base import Handle, name_of
from ...poly.schedule.handles.pieces import PiecesHandle
from ...poly.schedule.schedule import Schedule
from ...poly.sets.budget import BudgetExceeded, allowance, budget
from ...poly.state.rewritten import RewrittenProgram
from ...poly.tree.edits import stages
from ...poly.tree.looptree import Tree
from ...poly.tree.stage import Stage
from ...records import dataclass
from .picture import Picture
from .sizes import LEAST, chosen, shown

DRAWN = 2000
"""So many executions are drawn at most."""

FEW = (3, 2, 1)
"""How many values coordinates have in small pictures, as in `sizes.LEAST`."""


@dataclass(frozen=True, eq=False)
class Column:
    """One order of execution.

    Attributes:
        title: "as written", "before", ...
        executions: all that runs, in an order in which one thread would run it.
        tiles: the tile of each execution: the iterations of the loops in `tile_loops`. These have
            one coordinate for several neighbours.
    """

    title: str
    executions: tuple[Execution, ...]
    tiles: tuple[Point, ...] = ()
    tile_loops: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Space:
    """Stages at some sizes.

    Attributes:
        dims: by statement of the algorithm, the names of its coordinates.
        axes: the coordinates that are drawn, by statement: at most two.
        columns: one for each order of execution.
        arrows: the dependences between the instances.
        broken: those pairs that a refusal is about.
        pair: the two instances that it names.
        notes: what is to be said about the picture.
    """

    title: str
    sizes: Mapping[str, int]
    dims: Mapping[str, tuple[str, ...]]
    axes: Mapping[str, tuple[str, ...]]
    columns: tuple[Column, ...]
    arrows: tuple[Arrow, ...] = ()
    broken: tuple[Arrow, ...] = ()
    pair: Arrow | None = None
    notes: tuple[str, ...] = ()
    #: What is wrong with `pair`, where that is not the order: "clobber", "uninitialised", "race".
    kind: str = ""
    #: Of `pair`, the iterations of the loops around, where the instances are computed at a loop.
    around: tuple[Point, Point] = ((), ())


@bounded
def space(schedule: Schedule, stage: Any, /, *loops: Any, **sizes: int) -> Picture:
    """The iteration space of a stage: as it is written, and as it is scheduled. Points are
    instances, with the order in which they run, tiles, lanes and parallel iterations; arrows are
    dependences.

    Args:
        stage: a Func, a handle, or a name.
        loops: the one or two coordinates of the algorithm that are drawn; by default those that the
            schedule cuts into tiles, lanes or threads, and then the last ones. For each value of
            the others there is a part of its own, or they have one value, which is said.
        sizes: at which it is drawn; small ones are chosen for the others.

    Returns:
        What a notebook shows and `save("x.svg")` writes; `data` has all of it as a `Space`.

    Raises:
        LanguageTypeError: there is no such size or coordinate.
        ScheduleError: there is too much to be drawn, or the stage has no loops.
    """
    return _space(schedule, stage, loops, sizes)


def space_as_scheduled(schedule: Schedule, stage: Any) -> Picture:
    """The same at smaller sizes, without the order as written.

    Raises:
        ScheduleError: there is too much to be drawn, or the stage has no loops.
    """
    return _space(schedule, stage, (), {}, beside=False, least=FEW)


def _space(
    schedule: Schedule,
    stage: Any,
    loops: tuple[Any, ...],
    sizes: Mapping[str, int],
    *,
    beside: bool = True,
    least: Sequence[int] = LEAST,
) -> Picture:
    """The iteration space of a stage.

    Args:
        beside: with the order as written, where that differs.
        least: how many values coordinates shall have, as in `sizes.LEAST`.
    """
    from .draw import drawn

    names = statements(schedule, stage)
    own = [x for x in stages(schedule.tree) if x.statement.base.name in names]
    state = schedule._builder.state
    with in_time(state.rewritten):
        at = chosen(schedule, own, sizes, least)
        columns = [column_of("as scheduled", schedule.tree, names, at.sizes)]
        if beside:
            written = column_of("as written", state.rewritten.written, names, at.sizes)
            if not _is_same(written, columns[0]):
                columns.insert(0, written)
        found = dependences_of(state.rewritten, names)
        made, more = arrows_of(found, at.sizes)
    dims = dims_of(state.rewritten, names)
    asked = tuple(name_of(x) for x in loops)
    axes = {x: axes_of(dims[x], columns[-1], x, asked) for x in names}
    title = f"{', '.join(names)}, at {shown(at.sizes)}" if at.sizes else ", ".join(names)
    notes = (*at.notes, *_said_of(made, own), *more)
    return drawn(Space(title, at.sizes, dims, axes, tuple(columns), tuple(made), notes=notes))


@contextmanager
def in_time(rewritten: RewrittenProgram) -> Iterator[None]:
    """A budget of isl's for a picture.

    Raises:
        ScheduleError: it is spent.
    """
    try:
        with budget(allowance(len(rewritten.model.statements))):
            yield
    except BudgetExceeded:
        raise ScheduleError(
            "this is too intricate to be drawn in the time allowed",
            hint="give smaller sizes",
            status="unproved",
        ) from None


def statements(s: Schedule, stage: Any) -> tuple[str, ...]:
    """The names of the statements of the algorithm that a stage runs.

    Raises:
        ScheduleError: there is no such stage, or it is inlined, or an extern one.
    """
    names = _named(s, stage)
    found = {x.name: x.statement for x in stages(s.tree)}
    missing = [x for x in names if x not in found]
    if missing:
        raise ScheduleError(
            f"{missing[0]} is inlined into its consumers: it has no iterations of its own",
            hint=f's["{missing[0]}"].compute_root() keeps it',
        )
    for x in names:
        if found[x].definition.opaque is not None:
            raise ScheduleError(f"{x} is an extern stage, which computes all elements at once")
    return tuple(dict.fromkeys(found[x].base.name for x in names))


def _named(s: Schedule, stage: Any) -> tuple[str, ...]:
    if isinstance(stage, Func):  # which may have been taken apart
        own = [x.name for x in stages(s.tree) if x.statement.func is stage]
        pure = [x.name for x in stages(s.tree)
                if x.statement.func is stage and not x.statement.definition.is_update]  # fmt: skip
        if own:
            return tuple(pure or own)
    handle = s[stage] if not isinstance(stage, Handle) else s[stage.name]
    return handle.pieces if isinstance(handle, PiecesHandle) else (handle.name,)


def column_of(
    title: str,
    tree: Tree,
    names: Collection[str],
    sizes: Mapping[str, int],
    near: Near = NEAR_ALL,
) -> Column:
    """The order of a tree.

    Raises:
        ScheduleError: there is too much to be drawn.
    """
    found = executions(tree, names, sizes, near)
    if len(found) > DRAWN:
        raise ScheduleError(
            f"{len(found)} instances are too many to be drawn: at most {DRAWN}",
            hint="give smaller sizes",
        )
    loops = tile_loops(found)
    tiles = tuple(tuple(x.loops[name] for name in loops if name in x.loops) for x in found)
    return Column(title, tuple(found), tiles, loops)


def tile_loops(found: Iterable[Execution]) -> tuple[str, ...]:
    """The loops that go over tiles: along some coordinate, some neighbours are in one iteration of
    them and some are in different ones."""
    kept: dict[str, None] = {}
    at = {(x.stage, x.around, x.point): x for x in found}
    seen: dict[tuple[str, int], set[bool]] = {}
    for (stage, around, point), x in at.items():
        for axis in range(len(point)):
            beside = (*point[:axis], point[axis] + 1, *point[axis + 1 :])
            other = at.get((stage, around, beside))
            if other is None:
                continue
            for name, value in x.loops.items():
                seen.setdefault((name, axis), set()).add(other.loops[name] == value)
    for (name, _), answers in seen.items():
        if len(answers) == 2:
            kept[name] = None
    return tuple(kept)


def _is_same(a: Column, b: Column) -> bool:
    """Whether two orders are one, without tiles, lanes and threads."""

    def order(c: Column) -> list[tuple[str, Point, int]]:
        return [(x.statement, x.point, x.step) for x in c.executions]

    return order(a) == order(b) and not (a.tile_loops or b.tile_loops)


def dependences_of(rewritten: RewrittenProgram, names: Collection[str]) -> list[Dependence]:
    """Those between some statements."""
    chosen_ones = [x for x in rewritten.model.statements if x.name in names]
    tensors = dict.fromkeys(t for x in chosen_ones for t in x.tensors)
    return [
        d
        for t in tensors
        for d in rewritten.prover.dependences_on(t)
        if d.source.name in names and d.sink.name in names
    ]


def arrows_of(
    found: Sequence[Dependence], sizes: Mapping[str, int], near: Near = NEAR_ALL
) -> tuple[list[Arrow], list[str]]:
    """The dependences as pairs of instances, and what is to be said of others."""
    made: list[Arrow] = []
    many: dict[str, dict[str, None]] = {}
    for d in found:
        try:
            made += arrows([d], sizes, near)
        except ScheduleError:
            many.setdefault(d.tensor.name, {})[d.kind] = None
    return made, [
        f"Of the dependences on {x}, {' and '.join(kinds)} ones are too many to be drawn."
        for x, kinds in many.items()
    ]


def dims_of(rewritten: RewrittenProgram, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    every = rewritten.model.statements
    return {x.name: tuple(v.name for v in x.loops) for x in every if x.name in names}


def axes_of(
    dims: tuple[str, ...],
    column: Column,
    statement: str,
    asked: tuple[Any, ...],
    first: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """The coordinates that are drawn: those asked for, or at most two."""
    if asked:
        unknown = [x for x in asked if x not in dims]
        if unknown or len(asked) > 2 or len(set(asked)) != len(asked):
            raise LanguageTypeError(
                "one or two coordinates of the algorithm are drawn, and not "
                + " and ".join(map(repr, unknown or asked)),
                hint=f"those of {statement} are {', '.join(dims) or 'none'}",
            )
        return tuple(asked)
    if len(dims) <= 2:
        return dims
    cut = _cut(dims, column, statement)
    ranked = sorted(dims, key=lambda d: (d not in first, d not in cut, -dims.index(d)))
    return tuple(d for d in dims if d in ranked[:2])


def _cut(dims: tuple[str, ...], column: Column, statement: str) -> set[str]:
    """The coordinates along which tiles, lanes or parallel iterations change."""
    found: set[str] = set()
    tiles = zip(column.executions, column.tiles, strict=True)
    at = {
        x.point: (tile, x.of_kind("vector"), x.of_kind("parallel"))
        for x, tile in tiles
        if x.statement == statement
    }
    for point, group in at.items():
        for axis, name in enumerate(dims):
            beside = (*point[:axis], point[axis] + 1, *point[axis + 1 :])
            if at.get(beside, group) != group:
                found.add(name)
    return found


def _said_of(made: Sequence[Arrow], own: Sequence[Stage]) -> Iterator[str]:
    """What data decide."""
    may = [x.name for x in own if x.statement.data_bounds or x.statement.guard is not None]
    if may:
        yield f"Data decide which instances of {', '.join(may)} run: all that may are drawn."
    if any(not x.exact for x in made):
        yield "Which elements are touched depends on data: some dependences are only possible."


__all__ = ["Column", "Space", "space", "tile_loops"]
