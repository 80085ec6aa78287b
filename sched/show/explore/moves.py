"""Which directives may be given next to a stage: candidates, legal or not.

The candidates come from the records of the directives: whatever there is a record for turns up,
with loops, stages and axes of the schedule and the samples of its fields. Those for which that
would say too little have a row in `ROWS` with factors that make sense, and `LEFT_OUT` says which
are not offered, and why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, pairwise, product
from typing import Any

from ...lang.errors.errors import PolyschedError
from ...poly.directives import every as every  # which makes all directives known
from ...poly.schedule.schedule import Schedule
from ...poly.state.fields import key_of
from ...poly.state.record import KINDS, Directive, is_needed
from ...poly.tree.edits import stages
from ...records import dataclass
from ...targets.words import Word, native, tile_columns, tile_rows

MOST_EACH = 24
"""The most candidates that one directive has for a stage."""

LEFT_OUT = {
    "assume": "is about what a call may bring, which no list can guess",
    "bound": "makes calls with other sizes fail, which a click should not",
    "align_bounds": "makes calls with other sizes fail, which a click should not",
    "partition": "takes a condition that no list can guess",
    "rename": "changes nothing that runs",
    "transform": "takes a map of coordinates that no list can guess",
}
"""Directives that are not offered, and why."""


@dataclass(frozen=True)
class Move:
    """A call of a method of a stage: `s[stage].name(*args, **options)`.

    Attributes:
        stage: the name of the stage.
        loop: the loop that it is about; empty where it is about the stage as a whole.
        name: the method.
        args: names of loops and stages, numbers and words of a machine.
        options: arguments by name.
    """

    stage: str
    loop: str
    name: str
    args: tuple[Any, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()

    def apply(self, schedule: Schedule) -> None:
        """Gives the directive to a schedule.

        Raises:
            PolyschedError: it is refused, and the schedule is as before.
        """
        getattr(schedule[self.stage], self.name)(*self.args, **dict(self.options))

    def text(self) -> str:
        """As a user writes it: `s["C"].split('i', 8)`."""
        return f's["{self.stage}"].{self.name}({_listed(self.args, self.options)})'

    def label(self) -> str:
        """The same without what is said around it: the stage, and the loop in front."""
        args = self.args[1:] if self.loop and self.args[:1] == (self.loop,) else self.args
        said = tuple((key, x) for key, x in self.options if x != self.loop)
        return " ".join(filter(None, (self.name, _listed(args, said))))


def _listed(args: tuple[Any, ...], options: tuple[tuple[str, Any], ...]) -> str:
    return ", ".join([*map(repr, args), *(f"{key}={value!r}" for key, value in options)])


@dataclass(frozen=True)
class Surroundings:
    """What the candidates for a stage are made of.

    Attributes:
        schedule: the schedule.
        stage: the name of the stage.
        loops: its loops, outermost first.
        others: other stages with their loops; those first that read what it computes.
    """

    schedule: Schedule
    stage: str
    loops: tuple[str, ...]
    others: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def rank(self) -> int:
        """How many dimensions its Func has; 0 if it has no loops now."""
        found = [s for s in stages(self.schedule.tree) if s.name == self.stage]
        return found[0].statement.func.ndim if found else 0

    @property
    def tensors(self) -> tuple[str, ...]:
        """The tensors that it reads, by name."""
        found = [s for s in stages(self.schedule.tree) if s.name == self.stage]
        names = self.schedule.program.names
        reads = [r.tensor for s in found for r in s.statement.reads]
        return tuple(dict.fromkeys(names[t] for t in reads if t in names))


Row = Callable[[Surroundings], Iterator[Move]]


def moves(schedule: Schedule, stage: str) -> tuple[Move, ...]:
    """The candidates for a stage, by its loops from the outermost on, then for it as a whole.

    The same schedule has the same candidates in the same order in every process.
    """
    around = surroundings(schedule, stage)
    found: list[Move] = []
    for name in (*ROWS, *sorted(KINDS)):
        if name in ROWS or (name not in LEFT_OUT and KINDS[name].scope != "program"):
            row = ROWS.get(name) or _of_fields(KINDS[name])
            found += islice(row(around), MOST_EACH)
    place = {loop: k for k, loop in enumerate(around.loops)}
    return tuple(sorted(dict.fromkeys(found), key=lambda m: place.get(m.loop, len(place))))


def surroundings(schedule: Schedule, stage: str) -> Surroundings:
    """What the candidates for a stage are made of."""
    own = next((s for s in stages(schedule.tree) if s.name == stage), None)
    func = None if own is None else own.statement.func
    others = [
        s for s in stages(schedule.tree) if s.name != stage and s.statement.func is not func
    ]  # fmt: skip
    if func is not None:
        others.sort(key=lambda s: not s.statement.reads_from(func))
    return Surroundings(
        schedule,
        stage,
        _loops(schedule, stage),
        tuple((s.name, _loops(schedule, s.name)) for s in others),
    )


def stage_names(schedule: Schedule) -> tuple[str, ...]:
    """The stages that can be chosen: those that have loops, then the inlined ones."""
    program, stored = schedule.program, schedule.model.regions
    inlined = [program.names[f] for f in program.funcs if f not in stored]
    names = dict.fromkeys([*(s.name for s in stages(schedule.tree)), *inlined])
    return tuple(name for name in names if _is_known(schedule, name))


def _is_known(schedule: Schedule, name: str) -> bool:
    """Whether the name means one stage: several Funcs may have it."""
    try:
        return bool(schedule[name].name)
    except PolyschedError:
        return False


def _loops(schedule: Schedule, stage: str) -> tuple[str, ...]:
    try:
        return tuple(loop.name for loop in schedule[stage].loops)
    except PolyschedError:  # a name that several stages have
        return ()


# candidates with factors that make sense ----------------------------------------------------------
def _each(name: str, *factors: int | Word | None) -> Row:
    """A directive on each loop, with each factor; with None, without one."""

    def row(a: Surroundings) -> Iterator[Move]:
        for loop in a.loops:
            for factor in factors:
                yield Move(a.stage, loop, name, (loop,) if factor is None else (loop, factor))

    return row


def _neighbours(name: str, *more: tuple[Any, ...], swapped: bool = False) -> Row:
    """A directive on each two loops of which one is directly inside of the other."""

    def row(a: Surroundings) -> Iterator[Move]:
        for outer, inner in pairwise(a.loops):
            two = (inner, outer) if swapped else (outer, inner)
            for rest in more or ((),):
                yield Move(a.stage, outer, name, (*two, *rest))

    return row


def _at_consumers(name: str) -> Row:
    """A directive that names another stage and one of its loops."""

    def row(a: Surroundings) -> Iterator[Move]:
        for other, loops in a.others:
            for loop in loops:
                yield Move(a.stage, "", name, (other, loop))

    return row


def _peel(a: Surroundings) -> Iterator[Move]:
    for loop in a.loops:
        for end in ("first", "last"):
            yield Move(a.stage, loop, "peel", (loop,), ((end, 1),))


def _storage_orders(a: Surroundings) -> Iterator[Move]:
    axes = tuple(range(a.rank))
    for x, y in pairwise(axes):
        swapped = {x: y, y: x}
        order = tuple(swapped.get(k, k) for k in axes)
        yield Move(a.stage, "", "reorder_storage", order)


def _prefetch(a: Surroundings) -> Iterator[Move]:
    for loop, tensor in product(a.loops, a.tensors):
        yield Move(a.stage, loop, "prefetch", (tensor, loop, 2))


def _along_axes(name: str, *factors: int | Word) -> Row:
    """A directive on each axis of the Func, with each factor."""

    def row(a: Surroundings) -> Iterator[Move]:
        for axis, factor in product(range(a.rank), factors):
            yield Move(a.stage, "", name, (axis, factor))

    return row


ROWS: dict[str, Row] = {
    "parallel": _each("parallel", None),
    "vectorize": _each("vectorize", None, native),
    "unroll": _each("unroll", None, 4),
    "split": _each("split", 4, native, 32),
    "reorder": _neighbours("reorder", swapped=True),
    "tile": _neighbours("tile", (tile_rows, tile_columns), (32, 32)),
    "unroll_and_jam": _each("unroll_and_jam", 4),
    "fuse": _neighbours("fuse"),
    "skew": _neighbours("skew", (1,)),
    "wavefront": _neighbours("wavefront"),
    "reverse": _each("reverse", None),
    "peel": _peel,
    "compute_at": _at_consumers("compute_at"),
    "store_at": _at_consumers("store_at"),
    "fold_storage": _along_axes("fold_storage", 1, 2),
    "reorder_storage": _storage_orders,
    "align_storage": _along_axes("align_storage", native),
    "prefetch": _prefetch,
}
"""Candidates of directives, and of methods that stand for several, in the order in which they are
tried."""


# candidates from the fields of records ------------------------------------------------------------
def _of_fields(kind: type[Directive]) -> Row:
    """Calls with each combination of what the fields that must be given may be."""

    def row(a: Surroundings) -> Iterator[Move]:
        needed = [f for f in kind.declared() if is_needed(f)]
        keys = [key_of(f) for f in needed]
        loops = [k for k, f in zip(keys, needed, strict=True) if f.metadata["means"] == "loop"]
        for values in product(*(_values(a, f.metadata) for f in needed)):
            given = dict(zip(keys, values, strict=True))
            about = str(given[loops[0]]) if loops and given[loops[0]] in a.loops else ""
            yield replace(Move(a.stage, about, kind.name), options=tuple(given.items()))

    return row


def _values(a: Surroundings, field: Any) -> tuple[Any, ...]:
    match field["means"]:
        case "loop":
            return a.loops
        case "loops":
            return tuple(pairwise(a.loops))
        case "stage":
            return tuple(name for name, _ in a.others)
        case "tensor":
            return a.tensors
        case "axis":
            return tuple(range(a.rank))
    return tuple(field["samples"])
