"""What may be tried: each experiment draws cases, runs them, and says what makes them smaller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from polysched.testing.choices import Choices

from . import scheduled, shrink, trial, understood
from .compare import VARIANTS, Report, compare
from .programs import Case, make_case
from .scheduled import Scheduled

Say = Callable[[Any, str], None]


class Tried(Protocol):
    """A case, of whatever experiment."""

    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Experiment:
    """One way to find faults.

    Attributes:
        draw: the case of a seed, and where more of it comes from while it runs.
        run: tries a case; `only` is the one variant that matters, if that is known.
        read: a case from what its `to_dict` gave.
        edits: what makes a case smaller.
    """

    draw: Callable[[int], tuple[Any, Choices | None]]
    run: Callable[[Any, Choices | None, Say, str], tuple[Any, Report]]
    read: Callable[[dict[str, Any]], Any]
    edits: tuple[Callable[[Any], Iterator[Any]], ...]


def _draw_program(seed: int) -> tuple[Case, None]:
    return make_case(Choices.from_seed(seed)), None


def _run_program(
    case: Case, choices: Choices | None, say: Say, only: str
) -> tuple[Case, Report]:  # fmt: skip
    variants = [only] if only in VARIANTS else VARIANTS
    return case, compare(case, variants, lambda phase: say(case, phase))


def _run_scheduled(
    case: Scheduled, choices: Choices | None, say: Say, only: str
) -> tuple[Scheduled, Report]:
    return trial.run(case, choices, say)


def _draw_understood(seed: int) -> tuple[Case, None]:
    return understood.draw(seed), None


def _run_understood(
    case: Case, choices: Choices | None, say: Say, only: str
) -> tuple[Case, Report]:  # fmt: skip
    return case, understood.run(case, say)


EXPERIMENTS = {
    "programs": Experiment(_draw_program, _run_program, Case.from_dict, shrink.EDITS),
    "schedules": Experiment(
        scheduled.make_scheduled, _run_scheduled, Scheduled.from_dict, scheduled.edits()
    ),
    "auto": Experiment(
        scheduled.make_found, _run_scheduled, Scheduled.from_dict, scheduled.edits()
    ),
    "meaning": Experiment(_draw_understood, _run_understood, Case.from_dict, shrink.EDITS),
}
