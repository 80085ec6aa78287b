"""Pickles of what users hold: the entries of `Writer` as JSON, and the things that they need.

Each thing is pickled by itself, or, where things need each other, as all of the Funcs of a
recurrence or of a `sequential` do, with these. It refers to others as objects of the pickle, so
that things in one pickle stay shared, whoever pickles them, and by whatever library.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from ...forks import reentrant
from ..errors.errors import LanguageError, PolyschedError
from ..errors.frames import cut
from ..expr.expr import Expr
from ..nodes.nodes import Node, Param
from ..nodes.serials import reserved
from ..nodes.tensor import Tensor
from ..program.order import components
from ..program.program import Program
from ..program.requirements import Requirement
from ..tensors.inout import Final, Initial
from ..tensors.tensors import Func
from .functions import place_of
from .reader import Reader
from .text import FORMAT
from .things import Thing, needed_by, needed_in, owner, things_in
from .writer import Writer

STRIDE = 16
"""How many Funcs that read one another are pickled inside of each other: Python's stack is finite.
Others come before them."""
APART = 1 << 48
"""How far apart new serials are at most that follow one another."""
COUNT = 1 << 96
"""How many serials are reserved for what is read from one pickle."""


# serials ----------------------------------------------------------------------------------------
class Serials:
    """The serials of the process that pickles, of which there is one object in each pickle: what is
    read back from one has its own range of new serials, in the same order."""

    def __reduce__(self) -> Any:
        return NewSerials, ()


class NewSerials:
    """Serials for what is read from one pickle, in the order of those that it had. How many there
    are does not depend on how large those were: else each pickle that is read would make the
    serials of this process larger, and the next pickle of it, without end.

    They are as far apart as they were, up to a limit. So what comes later, and was in between,
    has its place there; things from far apart can come between each other in about 50 steps.
    """

    def __init__(self) -> None:
        self._first = reserved(COUNT)
        self._old: list[int] = []
        self._new: list[int] = []

    def of(self, old: int) -> int:
        """The serial of what had this one.

        Raises:
            LanguageError: there is none left between those of its neighbours.
        """
        k = bisect_left(self._old, old)
        if k == len(self._old) or self._old[k] != old:
            self._new.insert(k, self._between(old, k))
            self._old.insert(k, old)
        return self._new[k]

    def _between(self, old: int, k: int) -> int:
        """A new serial between the ones at k - 1 and k."""
        below = old - self._old[k - 1] if k else None
        above = self._old[k] - old if k < len(self._old) else None
        most = APART
        if below and above:
            most = (self._new[k] - self._new[k - 1]) // 2
        if not most:
            raise LanguageError("this pickle holds things of more pickles than can be ordered")
        if below and (not above or below <= above):
            return self._new[k - 1] + min(below, most)
        if above:
            return self._new[k] - min(above, most)
        return self._first + COUNT // 2

    def __reduce__(self) -> Any:
        raise LanguageError("the serials of a pickle are part of nothing else")


_SERIALS = Serials()


# parts ------------------------------------------------------------------------------------------
class Part:
    """Things that need each other, or one thing, or an expression; and what they need.

    Attributes:
        things: those that are written.
        needs: the things of other parts.
        depth: how many parts there are below, one inside of another.
        early: things of parts below that are pickled first, each with its depth.
    """

    def __init__(self, things: Sequence[Thing], needs: Sequence[Thing], below: list[Part]) -> None:
        self.things, self.needs = tuple(things), tuple(needs)
        self.depth: int = 1 + max((p.depth for p in below), default=0)
        early = [(p.depth, p.things[0]) for p in below if p.is_early]
        found = {t: d for d, t in (*(x for p in below for x in p.early), *early)}
        self.early: tuple[tuple[int, Thing], ...] = tuple(
            sorted(((d, t) for t, d in found.items()), key=lambda item: item[0])
        )
        self._seen = self._state()
        funcs = [t for p in below for t in p.unfinished]
        self.unfinished: tuple[Thing, ...] = tuple(
            dict.fromkeys((*funcs, *(t for t in things if _is_unfinished(t))))
        )
        self._unfinished = _states(self.unfinished)

    @property
    def is_early(self) -> bool:
        """Whether it is pickled before those that need it."""
        return self.depth % STRIDE == 0

    def _state(self) -> object:
        return tuple(len(t.requirements) for t in self.things if isinstance(t, Func))

    @property
    def holds(self) -> bool:
        """Whether nothing has been added since it was found."""
        return self._seen == self._state() and self._unfinished == _states(self.unfinished)

    def __reduce__(self) -> Any:
        objects: list[object] = list(self.needs)
        writer = _writer(objects)
        try:
            numbers = writer.things(self.things)
        except PolyschedError as error:
            cut(error)  # pickle calls this, and no other function of this package does
            raise
        before = tuple(t for _, t in self.early)
        return _read, (_SERIALS, before, tuple(objects), _text(writer, numbers))


def _is_unfinished(thing: Thing) -> bool:
    return isinstance(thing, Func) and thing.history.completed_by is None


def _states(things: Sequence[Thing]) -> tuple[object, ...]:
    funcs = [t for t in things if isinstance(t, Func)]
    return tuple((len(f.history.recorded), _is_unfinished(f)) for f in funcs)


def _writer(objects: list[object]) -> Writer:
    """A writer to whose entries some objects are given; it adds others."""
    numbers = {id(x): k for k, x in enumerate(objects)}

    def added(thing: object) -> int:
        objects.append(thing)
        return len(objects) - 1

    def function(name: str, function: Any) -> int:
        place_of(name, function)
        return added(function)

    return Writer(lambda thing: numbers.get(id(thing)), added, function, places=True)


def _text(writer: Writer, numbers: Sequence[int]) -> str:
    return json.dumps({"format": FORMAT, "entries": writer.entries, "things": list(numbers)})


def part_of(thing: Thing) -> Part:
    """The part to which a thing belongs. It is kept with its tensors, so that it is the same one
    for all things in it."""
    parts: dict[Thing, Part] = {}

    def needs(x: Thing) -> list[Thing]:
        return [] if _known(x) is not None else needed_by(x)

    with _lock:  # two threads would make two parts of Funcs that need each other
        for group in components([thing], needs):
            part = _known(group[0]) or _new(group, parts)
            parts.update(dict.fromkeys(group, part))
    return parts[thing]


_lock = reentrant()


def _new(group: Sequence[Thing], parts: dict[Thing, Part]) -> Part:
    known = next((p for t in group if (p := _known(t)) is not None), None)
    if known is not None and set(known.things) == set(group):
        return known
    needs = dict.fromkeys(n for t in group for n in needed_by(t) if n not in group)
    made = Part(group, list(needs), list({id(parts[n]): parts[n] for n in needs}.values()))
    for thing in group:
        if isinstance(thing, Tensor):
            thing.__dict__["_part"] = made
    return made


def _known(thing: Thing) -> Part | None:
    found: Part | None = getattr(thing, "__dict__", {}).get("_part")
    return found if found is not None and found.holds else None


# pickling ---------------------------------------------------------------------------------------
def reduced(thing: Any) -> Any:
    """How a thing or an expression is pickled, as `__reduce__` says it.

    Raises:
        LanguageError: it is made by a schedule, or still being written, or calls a function that
            another process could not find.
    """
    match thing:
        case Initial() | Final():
            return _value, (thing.array, isinstance(thing, Initial))
        case Func() if thing.is_reduction:
            return _reduction, (owner(thing), _path(thing))
        case Program():
            return _program(thing)
        case Expr():
            return _expr, (type(thing), thing.node)
        case Node() if not isinstance(thing, Param):
            return _expression(thing)
    part = part_of(thing)
    return _thing, (part, [x is thing for x in part.things].index(True))


def _expression(node: Node) -> Any:
    needs = needed_in(node)
    below = [part_of(x) for x in needs]
    objects: list[object] = list(needs)
    writer = _writer(objects)
    number = writer.node(node)
    early = sorted({t: d for p in below for d, t in p.early}.items(), key=lambda item: item[1])
    before = tuple(t for t, _ in early)
    return _read_one, (_SERIALS, before, tuple(objects), _text(writer, [number]))


def _path(func: Func) -> tuple[int, ...]:
    """Where the Func of an inline reduction is found among those of its owner."""
    above = func.made_for
    assert isinstance(above, Func)
    at = [x is func for x in above.history.reductions].index(True)
    return (*(_path(above) if above.is_reduction else ()), at)


def _program(p: Program) -> Any:
    written = {t for f in p.outputs for t in things_in(f)}
    added = [f.name for f in p.funcs if owner(f) not in written]
    if added or any(f.history.completed_by is None for f in p.funcs):
        what = f"a schedule has added {added[0]} to it" if added else "it is not complete"
        raise LanguageError(
            f"this program does not travel: {what}", hint="pickle its outputs, or the schedule"
        )
    own = {id(r) for f in p.funcs for r in f.requirements}
    others = tuple(r for r in p.requirements if id(r) not in own)
    partial = tuple(f for f in p.funcs if f in p._partial)
    return _read_program, (p.outputs, p.inputs, partial, others)


# reading ----------------------------------------------------------------------------------------
def _read(
    serials: NewSerials, before: object, given: tuple[object, ...], text: str
) -> tuple[object, ...]:
    """The things of a part."""
    try:
        data = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise LanguageError(f"this pickle has no JSON: {error}") from None
    match data:
        case {"format": number} if number != FORMAT or isinstance(number, bool):
            raise LanguageError(
                f"this pickle is written in format {number!r}, and this version reads {FORMAT}",
                hint="a newer version of polysched reads it",
                code="PS0502",
            )
        case {"entries": list(entries), "things": list(things)}:

            def there(number: Any) -> Any:
                if not isinstance(number, int) or not 0 <= number < len(given):
                    raise LanguageError(f"{number!r:.60} is no object of this pickle")
                return given[number]

            reader = Reader(given, serials.of, lambda data, *_: there(data), there)
            reader.read(entries)
            if all(isinstance(x, int) and 0 <= x < len(reader.table) for x in things):
                return tuple(reader.table[x] for x in things)
    raise LanguageError("this is no pickle of a part of a program")


def _read_one(*args: Any) -> object:
    return _read(*args)[0]


def _thing(part: tuple[object, ...], number: int) -> object:
    return part[number]


def _value(array: Any, is_initial: bool) -> Tensor:
    found: Tensor = array.initial if is_initial else array.final
    return found


def _reduction(func: Func, path: tuple[int, ...]) -> Func:
    for at in path:
        func = func.history.reductions[at]
    return func


def _expr(kind: type[Expr], node: Node) -> Expr:
    made = kind.__new__(kind)
    Expr.__init__(made, node)
    return made


def _read_program(
    outputs: tuple[Func, ...],
    inputs: Any,
    partial: tuple[Func, ...],
    requirements: tuple[Requirement, ...],
) -> Program:
    return Program(outputs, inputs, partial=frozenset(partial), requirements=requirements)
