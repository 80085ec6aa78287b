"""Marks that say which stage a thread is at: put behind all passes into the loops of a kernel
that is profiled, and of no other.

    for y:                        for y:
        for x: A[x] = ...   ->        mark 1;  for x: A[x] = ...
        for x: B[y, x] = ...          mark 2;  for x: B[y, x] = ...

A mark with a clock stands where what follows takes `least` nanoseconds on average, as the cost
model says it. What is shorter is one region with its neighbours: of several stages then, and inside
of it marks without a clock may say which one a thread is at. The loops that threads share have
marks around what each thread gets, and a region of their own for what is no stage's: handing out
the iterations, and waiting for the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from ...codegen.ir.ir import (
    Alloc,
    Buffer,
    For,
    Function,
    If,
    Mark,
    Module,
    Seq,
    Stmt,
    map_children,
    walk,
)
from ...codegen.ir.mark_words import pitch_for
from ...codegen.ir.parallel import is_threaded
from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import int64
from ...lang.nodes.nodes import Node, integer
from ...records import dataclass
from .estimates import Parts, Times, only_known

STATE = ".marks"
"""The name of the buffer that marks are kept in; no tensor has such a one."""


@dataclass(frozen=True, slots=True)
class Region:
    """What a thread may be at.

    Attributes:
        parts: how large a part of it each stage is, by the cost model; they add up to 1.
        loop: the number of the threads' loop that it is in, if it is in one.
        waits: whether it is what a loop takes beside its iterations.
        sampled: the numbers of its parts, between which marks without a clock tell; none where
            there are no such marks.
    """

    parts: Mapping[str, float]
    loop: int | None = None
    waits: bool = False
    sampled: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Marked:
    """A kernel with marks.

    Attributes:
        regions: by number; the first one is outside of all nests.
        parts: what marks without a clock say by number, as parts of `Region`.
        loops: the names of the loops that threads share, by number.
        pitch: the words of a thread.
    """

    module: Module
    state: Buffer
    regions: tuple[Region, ...]
    parts: tuple[Mapping[str, float], ...]
    loops: tuple[str, ...]
    pitch: int


@dataclass(frozen=True, slots=True)
class Limits:
    """What is timed, in nanoseconds of the cost model.

    Attributes:
        least: a region with a clock takes so long on average.
        part: a part of a region that is sampled does.
    """

    least: float = 1000.0
    part: float = 15.0


LIMITS = Limits()


def mark_stages(
    module: Module,
    names: Mapping[int, str],
    known: Iterable[str],
    values: Mapping[str, Any],
    limits: Limits = LIMITS,
    threads: int = 1,
) -> Marked:
    """A module behind all passes with marks.

    Args:
        names: what the definitions are called, by their serials.
        known: the names of all stages, in order.
        values: the scalars of the call, by name.
        threads: how many have words in the buffer.
    """
    stages = tuple(known)
    marker = _Marker(Times(names, frozenset(stages), values), limits, stages)
    bodies = [marker.function(f) for f in module.functions]
    pitch = pitch_for(len(marker.regions))
    extent: Node = integer(pitch * threads)
    state = Buffer(STATE, int64, (extent,), (ix.ZERO,), "output")
    functions = tuple(
        replace(f, body=_located(body, state, pitch))
        for f, body in zip(module.functions, bodies, strict=True)
    )
    made = replace(module, buffers=(*module.buffers, state), functions=functions)
    loops = tuple(marker.loops)
    return Marked(made, state, tuple(marker.regions), tuple(marker.parts), loops, pitch)


_NOWHERE = Buffer(STATE, int64, (ix.ZERO,), (ix.ZERO,), "output")


def _mark(region: int, clock: bool = True) -> Mark:
    """A mark whose place is not known yet."""
    return Mark(_NOWHERE, region, 0, clock)


def _located(stmt: Stmt, state: Buffer, pitch: int) -> Stmt:
    """A statement whose marks know where they are kept."""
    if isinstance(stmt, Mark):
        return replace(stmt, buffer=state, pitch=pitch)
    made = map_children(stmt, lambda child: _located(child, state, pitch))
    if isinstance(made, For) and made.ends:
        begins, ends = (
            tuple(replace(m, buffer=state, pitch=pitch) for m in marks)
            for marks in (made.begins, made.ends)
        )
        return replace(made, begins=begins, ends=ends)
    return made


@dataclass(slots=True)
class _Marker:
    """Puts marks into nests; the regions and loops that it has made so far."""

    times: Times
    limits: Limits
    stages: tuple[str, ...]
    regions: list[Region] = field(default_factory=lambda: [Region({})])
    parts: list[Mapping[str, float]] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)
    #: The loop of threads that is being marked.
    loop: int | None = None
    title: str = ""

    def function(self, function: Function) -> Stmt:
        """The body of a nest with marks; it ends outside of all nests."""
        self.title = function.title
        body = self._marked(function.body, {})
        return Seq((*_flat(body), _mark(0)))

    def _marked(self, stmt: Stmt, at: Mapping[Node, Node]) -> Stmt:
        """A statement that begins with a mark."""
        parts = self.times.of(stmt, at)
        is_long = not at or sum(parts.values()) >= self.limits.least
        if isinstance(stmt, For) and self.loop is None and is_threaded(stmt) and is_long:
            return self._shared(stmt, at)
        if len(only_known(parts)) < 2 and not self._has_loop(stmt):
            return self._region(stmt, at)
        match stmt:
            case Seq():
                return self._sequence(list(_flat(stmt)), at)
            case For(body=body):
                inside = self.times.inside(stmt, at)
                if sum(self.times.of(body, inside).values()) < self.limits.least:
                    return self._region(stmt, at)
                return replace(stmt, body=self._marked(body, inside))
            case Alloc(body=body):
                return replace(stmt, body=self._marked(body, self.times.inside(stmt, at)))
            case If(body=body, otherwise=otherwise):
                other = None if otherwise is None else self._marked(otherwise, at)
                return replace(stmt, body=self._marked(body, at), otherwise=other)
            case _:
                return self._region(stmt, at)

    def _has_loop(self, stmt: Stmt) -> bool:
        """Whether there is a loop that threads share."""
        if self.loop is not None:
            return False
        return any(isinstance(s, For) and is_threaded(s) for s in walk(stmt))

    def _sequence(self, parts: list[Stmt], at: Mapping[Node, Node]) -> Stmt:
        """Parts with marks: those that are long enough for themselves, others in groups."""
        found: list[Stmt] = []
        for group in self._groups(parts, at, self.limits.least):
            whole = group[0] if len(group) == 1 else Seq(tuple(group))
            if len(group) == 1:
                found.extend(_flat(self._marked(whole, at)))
            else:
                found.extend(_flat(self._region(whole, at)))
        return Seq(tuple(found))

    def _groups(
        self, parts: list[Stmt], at: Mapping[Node, Node], least: float
    ) -> Iterator[list[Stmt]]:
        """Long parts for themselves, neighbours of one stage, and short ones until they are long
        together. There are at most two groups then for each `least` that the whole takes."""
        group: list[Stmt] = []
        stages: frozenset[str] = frozenset()
        length = 0.0
        for part in parts:
            times = self.times.of(part, at)
            own, total = only_known(times), sum(times.values())
            same = len(own) == 1 and own == stages and not self._has_loop(part)
            short = max(length, total) < least
            if group and own and not same and not short:
                yield group
                group, stages, length = [], frozenset(), 0.0
            group.append(part)
            stages |= own
            length += total
        if group:
            yield group

    def _region(self, stmt: Stmt, at: Mapping[Node, Node]) -> Stmt:
        """A statement as one region."""
        number, inside = self._numbered(stmt, at)
        return Seq((_mark(number), *_flat(inside)))

    def _numbered(self, stmt: Stmt, at: Mapping[Node, Node]) -> tuple[int, Stmt]:
        """The number of a region, and the statement with marks without a clock, if they help."""
        shares = self._shares(self.times.of(stmt, at))
        before = len(self.parts)
        inside = self._sampled(stmt, at) if len(shares) > 1 else stmt
        sampled = tuple(range(before, len(self.parts)))
        if len(sampled) == 1:
            del self.parts[before:]
            sampled, inside = (), stmt
        self.regions.append(Region(shares, self.loop, sampled=sampled))
        return len(self.regions) - 1, inside

    def _shares(self, times: Parts) -> dict[str, float]:
        """How large a part of some time each stage is."""
        known = {x: times[x] for x in self.stages if x in times}
        if sum(known.values()) <= 0.0:
            known = dict.fromkeys(known or (self.title,), 1.0)
        whole = sum(known.values())
        return {x: t / whole for x, t in known.items()}

    def _sampled(self, stmt: Stmt, at: Mapping[Node, Node]) -> Stmt:
        """A statement that begins with a mark without a clock, where stages take turns."""
        times = self.times.of(stmt, at)
        inside = self.times.inside(stmt, at)
        if len(only_known(times)) > 1:
            match stmt:
                case Seq():
                    found: list[Stmt] = []
                    for group in self._groups(list(_flat(stmt)), at, self.limits.part):
                        whole = group[0] if len(group) == 1 else Seq(tuple(group))
                        alone = len(group) == 1
                        found += _flat(self._sampled(whole, at) if alone else self._part(whole, at))
                    return Seq(tuple(found))
                case For(body=body) if self._is_part(body, inside):
                    return replace(stmt, body=self._sampled(body, inside))
                case Alloc(body=body):
                    return replace(stmt, body=self._sampled(body, inside))
                case If(body=body, otherwise=otherwise):
                    other = None if otherwise is None else self._sampled(otherwise, at)
                    return replace(stmt, body=self._sampled(body, at), otherwise=other)
                case _:
                    pass
        return self._part(stmt, at)

    def _is_part(self, stmt: Stmt, at: Mapping[Node, Node]) -> bool:
        """Whether a statement is long enough for a mark without a clock."""
        return sum(self.times.of(stmt, at).values()) >= self.limits.part

    def _part(self, stmt: Stmt, at: Mapping[Node, Node]) -> Stmt:
        """A statement behind its mark without a clock."""
        self.parts.append(self._shares(self.times.of(stmt, at)))
        return Seq((_mark(len(self.parts) - 1, clock=False), *_flat(stmt)))

    def _shared(self, loop: For, at: Mapping[Node, Node]) -> Stmt:
        """A loop that threads share."""
        self.loop = len(self.loops)
        self.loops.append(loop.name)
        self.regions.append(Region({}, self.loop, waits=True))
        waits = len(self.regions) - 1
        inside = self.times.inside(loop, at)
        body = loop.body
        times = self.times.of(body, inside)
        begins: tuple[Mark, ...]
        if len(only_known(times)) > 1 and sum(times.values()) >= self.limits.least:
            # Each iteration says where it begins: one more mark would count it twice.
            begins, body = (), self._marked(body, inside)
        else:
            first, body = self._numbered(body, inside)
            begins = (_mark(first),)
        self.loop = None
        # A worker is outside of all nests when it has nothing to do.
        made = replace(loop, body=body, begins=begins, ends=(_mark(waits),))
        return Seq((_mark(waits), made))


def _flat(stmt: Stmt) -> Iterator[Stmt]:
    if isinstance(stmt, Seq):
        for part in stmt.parts:
            yield from _flat(part)
    else:
        yield stmt
