"""`kernel.advice(*args)`: what costs a kernel time, and which directive was measured to help."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...codegen.runtime.kernel import Kernel
from ...codegen.runtime.threads import get_num_threads
from ...lang.errors.errors import PolyschedError
from ...poly.schedule.schedule import Schedule
from ..parts.markup import Markup, tag
from ..parts.theme import display
from ..profile.table import duration
from ..reporting.arguments import of_call
from ..reporting.measure import Repeated
from ..reporting.subject import schedule_of
from .causes import Subject, Suspicion, suspicions
from .nests import seen

HELPS = 1.1
"""How many times faster a change makes a call that is given as advice."""

SECONDS, FEWEST, MOST, ROUNDS = 0.2, 3, 100, 2
"""Seconds of a round of calls, its fewest and most pairs of calls, and how many rounds."""

TRIED = 24
"""Changes that are tried at most: each is proven and compiled."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A cause of lost time, and what to do about it.

    Attributes:
        stage: that it is about.
        cause: in a few words.
        evidence: the numbers that speak for it.
        directive: what to write, or to leave out.
        before, after: seconds of the shortest calls of the kernel and of the changed one.
        schedule: a copy of the schedule with the change.
    """

    stage: str
    cause: str
    evidence: str
    directive: str
    before: float
    after: float
    schedule: Schedule

    @property
    def faster(self) -> float:
        """How many times faster a call was."""
        return self.before / self.after

    def __str__(self) -> str:
        times = f"{duration(self.before)} to {duration(self.after)}, {self.faster:.3g} times faster"
        return f"{self.stage}: {self.cause}: {self.evidence}\n  {self.directive}\n  {times}"

    def _repr_html_(self) -> str:
        return str(display(_row(self)))


@dataclass(frozen=True, slots=True)
class Advice:
    """Pieces of advice on a kernel, those that help most first; none where none was measured to
    help.

    Attributes:
        tried: how many changes were legal and measured.
    """

    pieces: tuple[Piece, ...]
    tried: int

    def __iter__(self) -> Iterator[Piece]:
        return iter(self.pieces)

    def __len__(self) -> int:
        return len(self.pieces)

    def __getitem__(self, at: int) -> Piece:
        return self.pieces[at]

    def __str__(self) -> str:
        if not self.pieces:
            return f"no advice: none of {self.tried} changes that were measured helps"
        return "\n".join(map(str, self.pieces))

    def _repr_html_(self) -> str:
        return str(display(tag("div", f"{len(self)} of {self.tried} changes that were measured "
                   "help", class_="head"), [_row(p) for p in self.pieces]))  # fmt: skip


def _row(p: Piece) -> Markup:
    times = f"{duration(p.before)} to {duration(p.after)}, {p.faster:.3g} times faster"
    said = f": {p.cause}: {p.evidence}"
    return tag(
        "div",
        tag("div", tag("code", p.stage), said),
        tag("div", tag("code", p.directive)),
        tag("div", times, class_="faint"),
    )


def advice(
    kernel: Kernel, args: tuple[Any, ...], kwargs: Mapping[str, Any], side_effects: bool
) -> Advice:
    """See `Kernel.advice`."""
    asked = of_call(kernel, args, kwargs, side_effects, asker="advice")
    s = schedule_of(asked.chosen)
    of = Subject(s, seen(s, asked.values), get_num_threads())
    ordinary = Repeated(asked)
    found: list[tuple[Suspicion, Schedule, float]] = []
    best, tried = math.inf, 0
    for x in _different(of):
        try:
            made = x.change.made(s)
            other = Kernel(made, checks=kernel._checks, target=kernel._target)
        except PolyschedError:
            continue
        tried += 1
        call = Repeated(of_call(other, args, kwargs, side_effects, asker="advice"))
        rounds = [_shortest(ordinary, call) for _ in range(ROUNDS)]
        best = min(best, *(before for before, _ in rounds))
        if all(before >= HELPS * after for before, after in rounds):
            found.append((x, made, min(after for _, after in rounds)))
    pieces = [
        Piece(x.stage, x.cause, x.evidence, x.change.text(), best, after, made)
        for x, made, after in found
        if best >= HELPS * after  # not only as the kernel was disturbed in these rounds
    ]
    return Advice(tuple(sorted(pieces, key=lambda p: p.after)), tried)


def _different(of: Subject) -> list[Suspicion]:
    """What is tried: each change once."""
    found: dict[Any, Suspicion] = {}
    for x in suspicions(of):
        found.setdefault(x.change.text(), x)
    return list(found.values())[:TRIED]


def _shortest(ordinary: Repeated, other: Repeated) -> tuple[float, float]:
    _timed(other)  # warm: pages and caches, and the call is prepared
    before, after = [_timed(ordinary)], [_timed(other)]
    while len(after) < FEWEST or (len(after) < MOST and sum(before) + sum(after) < SECONDS):
        before.append(_timed(ordinary))
        after.append(_timed(other))
    return min(before), min(after)


def _timed(call: Repeated) -> float:
    call.restore()
    start = time.perf_counter()
    call.run()
    return time.perf_counter() - start
