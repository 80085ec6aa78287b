"""What the loops of a schedule do, step by step: the elements that each statement reads and writes,
and which of them are kept.

The loop IR is run by the executor that `check` uses, before passes copy any of its loops. A step is
what statements do that differ in lanes and parallel iterations alone, as if there were a thread for
each iteration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import groupby
from typing import Any

from ...checking.execute import Location, Machine, Path, Touch, Write
from ...codegen.ir.ir import Alloc, Buffer, For, Module, walk
from ...interp.evaluate import Env, Symbols
from ...lang.errors.errors import InternalError, ScheduleError
from ...lang.nodes.nodes import Node
from ...records import dataclass

Point = tuple[int, ...]
Element = tuple[str, Point]
"""An array, by its name, and an element of it."""
Thread = tuple[int, ...]
"""The iterations of the parallel loops around, by their numbers."""

STEPS = 1500
"""So many steps are shown at most."""
TOUCHES = 60_000
"""So many reads and writes are, in all steps together."""


@dataclass(frozen=True, slots=True)
class Work:
    """What one statement does: all of its lanes, if it has any.

    Attributes:
        number: its place in an execution by one thread, from 0.
        serial: the definition that it is an instance of, by the number that the program gave it;
            None for a copy that the schedule has added.
        thread: the iterations of the parallel loops around it.
        loops: the coordinates of the loops around it, by name, outermost first.
        reads: what it reads, each element once, before it writes.
        writes: what it writes, in the order of its lanes.
    """

    number: int
    serial: int | None
    thread: Thread
    loops: Mapping[str, int]
    reads: tuple[Element, ...]
    writes: tuple[Element, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """What happens in the same step.

    Attributes:
        work: one for each thread, in the order of an execution by one thread.
        gone: elements that are no longer kept when it begins, since their storage has ended.
        replaced: elements that are no longer kept when it ends, since others lie in their place.
    """

    work: tuple[Work, ...]
    gone: tuple[Element, ...] = ()
    replaced: tuple[Element, ...] = ()


@dataclass(frozen=True, slots=True)
class _Event:
    """What has happened at a place in the loops: a statement, or the end of storage."""

    at: tuple[float, ...]
    work: Work | None = None
    writes: tuple[Touch, ...] = ()
    ends: tuple[tuple[Buffer, int], ...] = ()


def steps_of(module: Module, symbols: Symbols, arrays: Mapping[str, Any]) -> tuple[Step, ...]:
    """Runs a module, and says what it does.

    Args:
        arrays: those of inputs, by the names of their buffers.

    Raises:
        ScheduleError: it does more than is shown.
    """
    watcher = _Watcher()
    machine = _Watched(module, symbols, arrays, watcher)
    watcher.names = _loop_names(module)
    watcher.machine = machine
    machine.run()
    return tuple(_Steps(watcher.events).found())


def _loop_names(module: Module) -> dict[Node, str]:
    """What the user calls the loops, by their variables."""
    every = (x for f in module.functions for x in walk(f.body))
    return {x.var: x.name for x in every if isinstance(x, For)}


class _Watched(Machine):
    """A machine that tells when storage inside of loops ends."""

    watcher: _Watcher

    def _alloc(self, stmt: Alloc, env: Env) -> None:
        super()._alloc(stmt, env)
        # It counts a life when it begins, and another one when it has ended.
        ends = tuple((b, self.lives[b] - 1) for b in stmt.buffers)
        self.watcher.ended(tuple(self.path), ends)


@dataclass
class _Watcher:
    """Notes what happens, in the order of an execution by one thread."""

    events: list[_Event] = field(default_factory=list)
    count: int = 0
    touches: int = 0
    asked: list[Touch] = field(default_factory=list)
    names: dict[Node, str] = field(default_factory=dict)
    machine: Machine | None = None

    def joint(self, path: Path, writes: list[Write]) -> None:
        reads = dict.fromkeys(_element(r) for r in self.asked)
        reads |= dict.fromkeys(_element(r) for w in writes for r in w.reads)
        self.asked = []
        made = tuple(_element(w.to) for w in writes)
        serial = next((w.key[0] for w in writes if w.key is not None), None)
        thread = tuple(number for kind, number in path if kind == "parallel")
        work = Work(self.count, serial, thread, self._loops(), tuple(reads), made)
        event = _Event(_step(path), work, tuple(w.to for w in writes))
        if self._is_next_lane(event):
            event = _joined(self.events.pop(), event)
        else:
            self.count += 1
        self.events.append(event)
        self.touches += len(reads) + len(made)
        if self.touches > TOUCHES:
            raise ScheduleError(
                f"more than {TOUCHES} reads and writes are too many to be shown one by one",
                hint="give smaller sizes",
            )

    def _is_next_lane(self, event: _Event) -> bool:
        """Whether the statement before is the same one in another lane: lanes that may add to one
        element run one after the other."""
        before = self.events[-1] if self.events else None
        if before is None or before.work is None or event.work is None:
            return False
        return (before.at, before.work.thread) == (event.at, event.work.thread)

    def _loops(self) -> dict[str, int]:
        assert self.machine is not None
        loops = self.machine.loops
        return {self.names[v]: int(x) for v, x in loops.items() if v in self.names}

    def looked(self, path: Path, reads: list[Touch]) -> None:
        self.asked += reads

    def ended(self, path: Path, ends: tuple[tuple[Buffer, int], ...]) -> None:
        # A thread has no more of it behind the last thing that it does there, whatever others do.
        last = self.events[-1].at if self.events else _step(path)
        self.events.append(_Event((*last, float("inf")), ends=ends))

    def wrong(self, kind: str, text: str) -> None:
        raise InternalError(f"{kind}: {text}")


def _joined(a: _Event, b: _Event) -> _Event:
    """What two lanes of a statement do."""
    assert a.work is not None
    assert b.work is not None
    reads = tuple(dict.fromkeys((*a.work.reads, *b.work.reads)))
    work = replace(a.work, reads=reads, writes=(*a.work.writes, *b.work.writes))
    return replace(a, work=work, writes=(*a.writes, *b.writes))


def _element(touch: Touch) -> Element:
    return name_of(touch.buffer), touch.element


def name_of(buffer: Buffer) -> str:
    """What an array is called, whichever copy of some code uses it."""
    return (buffer.original or buffer).name


def _step(path: Path) -> tuple[float, ...]:
    """When something happens, where each parallel iteration has a thread, and each lane, too."""
    return tuple(0 if kind in ("parallel", "lanes") else number for kind, number in path)


class _Steps:
    """Puts what has happened into steps, and follows what is kept."""

    def __init__(self, events: Sequence[_Event]) -> None:
        # Of one place all that one thread has done comes before what the next one does.
        self.events = sorted(events, key=lambda e: e.at)
        self.there: dict[Location, Element] = {}
        #: In how many places an element is kept: threads have storage of their own.
        self.copies: dict[Element, int] = {}

    def found(self) -> Iterator[Step]:
        count = len({e.at for e in self.events if e.work})
        if count > STEPS:
            raise ScheduleError(
                f"{count} steps are too many to be shown: at most {STEPS}",
                hint="give smaller sizes",
            )
        ended: list[Element] = []
        for _, together in groupby(self.events, key=lambda e: e.at):
            work: list[Work] = []
            replaced: list[Element] = []
            for event in together:
                ended += self._end(event)
                replaced += self._write(event.writes)
                work += [] if event.work is None else [event.work]
            if work:
                yield Step(tuple(work), tuple(ended), tuple(replaced))
                ended = []

    def _write(self, writes: Sequence[Touch]) -> Iterator[Element]:
        """What lies where something else lay; the latter, if it is kept nowhere else."""
        for touch in writes:
            new, old = _element(touch), self.there.get(touch.location)
            if old == new:
                continue
            if old is not None and self._less(old):
                yield old
            self.there[touch.location] = new
            self.copies[new] = self.copies.get(new, 0) + 1

    def _end(self, event: _Event) -> Iterator[Element]:
        lives = set(event.ends)
        buffers = {b for b, _ in lives}
        for location in [x for x in self.there if x[0] in buffers and (x[0], x[1][0]) in lives]:
            old = self.there.pop(location)
            if self._less(old):
                yield old

    def _less(self, old: Element) -> bool:
        """One place less; whether it was the last one."""
        self.copies[old] -= 1
        return self.copies[old] == 0
