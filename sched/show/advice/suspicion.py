"""A cause that may be one, and what is looked at to find it."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from ...poly.schedule.schedule import Schedule
from ...poly.state.record import Directive
from ...records import dataclass
from .edits import Change
from .nests import LoopSeen, StageSeen

FEW = 4
"""So many iterations are not worth a vector."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A cause that may be one, the numbers that speak for it, and what to try.

    Attributes:
        threads: among how many threads the change divides all that a call does; 1 where it does
            not.
    """

    stage: str
    cause: str
    evidence: str
    change: Change
    threads: int = 1


@dataclass(frozen=True, slots=True)
class Subject:
    """What is looked at: a schedule, its stages, and how many threads a call may have.

    Attributes:
        spills: says how many registers the innermost loops of its code store and load again since
            there are too few; None where that is not known.
    """

    schedule: Schedule
    stages: tuple[StageSeen, ...]
    threads: int
    spills: Callable[[], int | None] = lambda: None

    def records(self, stage: str, *names: str) -> tuple[Directive, ...]:
        """The directives of a stage; of these names, if some are given."""
        every = self.schedule.directives
        return tuple(d for d in every if d.stage == stage and (not names or d.name in names))

    def lanes(self, x: StageSeen) -> int:
        """How many elements a vector of the target has."""
        return max(2, self.schedule.target.vector_bytes // max(x.widths))


def is_along(y: LoopSeen) -> bool:
    """Whether an iteration moves on by one element, or stays at one."""
    return not y.reduces and y.strides[0] == 1 and all(k in (0, 1) for k in y.strides)


def runs(loops: tuple[LoopSeen, ...]) -> int:
    """How many iterations loops have."""
    return prod(y.extent for y in loops)


def factor(d: Directive) -> int:
    """The factor of a split."""
    return int(str(dict(d.options)["factor"]))


def outer(d: Directive) -> str:
    """The outer one of the loops that a split makes."""
    return _made(d, 0)


def inner(d: Directive) -> str:
    """The inner one of them."""
    return _made(d, 1)


def _made(d: Directive, at: int) -> str:
    options = dict(d.options)
    names = options.get("names")
    return str(names[at]) if isinstance(names, tuple) else f"{options['loop']}{'oi'[at]}"
