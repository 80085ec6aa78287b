"""`kernel.advice(*args)`: what costs a kernel time, and which directive was measured to help."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ...codegen.runtime.kernel import Kernel
from ...codegen.runtime.threads import get_num_threads
from ...lang.errors.errors import PolyschedError
from ...poly.schedule.schedule import Schedule
from ...records import dataclass
from ...targets.facts import machine
from ..parts.displayed import Displayed
from ..parts.markup import Markup, tag
from ..parts.theme import display
from ..profile.table import duration
from ..reporting.arguments import of_call
from ..reporting.instructions import COUNTED, counts
from ..reporting.measure import Repeated
from ..reporting.subject import Subject as Reported
from .causes import suspicions
from .nests import seen
from .parts import part_of
from .suspicion import Subject, Suspicion

HELPS = 1.1
"""How many times faster a change makes a call that is given as advice."""

SECONDS, FEWEST, MOST, ROUNDS = 0.2, 3, 100, 2
"""Seconds of a round of calls, its fewest and most pairs of calls, and how many rounds."""

BUSY = "where other programs leave the cores to it"

TRIED = 24
"""Changes that are tried at most: each is proven and compiled."""


@dataclass(frozen=True, slots=True)
class Piece(Displayed):
    """A cause of lost time, and what to do about it.

    Attributes:
        stage: that it is about.
        cause: in a few words.
        evidence: the numbers that speak for it.
        directive: what to write, or to leave out.
        before, after: seconds of the shortest calls of the kernel and of the changed one.
        predicted: whether `after` is predicted and not measured.
        schedule: a copy of the schedule with the change.
    """

    stage: str
    cause: str
    evidence: str
    directive: str
    before: float
    after: float
    schedule: Schedule
    predicted: bool = False

    @property
    def faster(self) -> float:
        """How many times faster a call was."""
        return self.before / self.after

    @property
    def times(self) -> str:
        """What it saves, in words."""
        said = f"{duration(self.before)} to {duration(self.after)}, {self.faster:.3g} times faster"
        return f"predicted, not measured: {said} {BUSY}" if self.predicted else said

    def __str__(self) -> str:
        return f"{self.stage}: {self.cause}: {self.evidence}\n  {self.directive}\n  {self.times}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return str(display(_row(self)))


@dataclass(frozen=True, slots=True)
class Advice(Displayed):
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
        return "\n".join(map(str, self.pieces)) or self.summary

    def __repr__(self) -> str:
        return str(self)

    @property
    def summary(self) -> str:
        """How many changes were measured, and how many help."""
        of = f"of {self.tried} changes that were measured"
        if not self.pieces:
            return f"no advice: none {of} helps"
        predicted = sum(p.predicted for p in self.pieces)
        found = len(self.pieces) - predicted
        more = f"; {predicted} more {'is' if predicted == 1 else 'are'} predicted to"
        return f"{found or 'none'} {of} {'help' if found > 1 else 'helps'}" + more * bool(predicted)

    def _repr_html_(self) -> str:
        return str(display(tag("div", self.summary, class_="head"), [_row(p) for p in self.pieces]))


def _row(p: Piece) -> Markup:
    said = f": {p.cause}: {p.evidence}"
    return tag(
        "div",
        tag("div", tag("code", p.stage), said),
        tag("div", tag("code", p.directive)),
        tag("div", p.times, class_="faint"),
    )


def advice(
    kernel: Kernel, args: tuple[Any, ...], kwargs: Mapping[str, Any], side_effects: bool
) -> Advice:
    """See `Kernel.advice`."""
    asked = of_call(kernel, args, kwargs, side_effects, asker="advice")
    part = part_of(kernel, asked.chosen)
    s = part.schedule
    spills = partial(spilled, Reported(kernel, asked.chosen, asked.values, s, asked.strided))
    of = Subject(s, seen(s, asked.values), get_num_threads(), spills)
    ordinary = Repeated(asked)
    found: list[Piece] = []
    predicted: list[Piece] = []
    best, tried = math.inf, 0
    for x in _different(of):
        try:
            x = replace(x, change=x.change.accepted(s))
            made = x.change.made(s)
            other = Kernel(made, checks=kernel._checks, target=kernel._target)
        except PolyschedError:
            continue
        tried += 1
        call = Repeated(of_call(other, args, kwargs, side_effects, asker="advice"))
        rounds = [_shortest(ordinary, call) for _ in range(ROUNDS)]
        best = min(best, *(before for before, _ in rounds))
        piece = Piece(
            x.stage, x.cause, x.evidence, part.text() + x.change.text(), best,
            min(after for _, after in rounds), part.replaced(made),
        )  # fmt: skip
        if all(before >= HELPS * after for before, after in rounds):
            found.append(piece)
        elif x.threads > 1 and _is_busy():
            after = best / x.threads + machine(kernel._target).wake
            predicted.append(replace(piece, after=after, predicted=True))
    return Advice(_given(found, best) + _given(predicted, best), tried)


def _given(pieces: list[Piece], before: float) -> tuple[Piece, ...]:
    """The pieces that help, the best of a stage and a cause.

    Args:
        before: the shortest call of all, as the kernel may have been disturbed in other rounds.
    """
    best_of: dict[tuple[str, str], Piece] = {}
    for p in sorted(pieces, key=lambda p: p.after):
        if before >= HELPS * p.after:
            best_of.setdefault((p.stage, p.cause), replace(p, before=before))
    return tuple(best_of.values())


def spilled(of: Reported) -> int | None:
    """How many registers the innermost loops store and load since there are too few."""
    if of.target.arch not in COUNTED:
        return None
    found = [counts(loop.lines) for loop in of.innermost]
    return sum(x.spills + x.reloads for x in found)


def _different(of: Subject) -> list[Suspicion]:
    """What is tried: each change once."""
    found: dict[Any, Suspicion] = {}
    for x in suspicions(of):
        if x.change.fits(of.schedule):
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


def _is_busy() -> bool:
    """Whether other programs keep the cores busy, so that threads cannot be measured."""
    load = getattr(os, "getloadavg", None)
    return load is not None and load()[0] > (os.cpu_count() or 1)
