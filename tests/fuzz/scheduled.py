"""Rich programs under random directives: what is accepted can be printed, explained, compiled,
written and read again, and gives the interpreter's bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from polysched.testing.choices import Choices
from polysched.testing.shrink import without

from . import shrink
from .programs import Case, make_case

PRELUDE = 'n, m, l = ps.sizes("n m l")'
"""Sizes that directives may name although their program does not."""


@dataclass(frozen=True)
class Scheduled:
    """A program and what is said to its schedule.

    Attributes:
        program: with the calls of it.
        default: whether the schedule begins as what a bare call runs.
        steps: directives and variants, one after the other.
        auto: whether it begins as what the model of the machine finds.
    """

    program: Case
    default: bool = False
    steps: tuple[str, ...] = ()
    auto: bool = False

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, d: dict[str, Any]) -> Scheduled:
        """From what `to_dict` gave, by way of JSON too."""
        auto = d.get("auto", False)
        return cls(Case.from_dict(d["program"]), d["default"], tuple(d["steps"]), auto)

    @property
    def head(self) -> str:
        """How the schedule is made."""
        made = "ps.Schedule" + (".auto" if self.auto else ".default" if self.default else "")
        return f"s = {made}(({''.join(f'{name}, ' for name in self.program.outputs)}))"

    def with_step(self, text: str) -> Scheduled:
        return replace(self, steps=(*self.steps, text))


def make_scheduled(seed: int) -> tuple[Scheduled, Choices]:
    """A program that nothing is said to yet, and where steps are to come from."""
    choices = Choices.from_seed(seed)
    return Scheduled(make_case(choices), choices.chance(30)), choices


def make_found(seed: int) -> tuple[Scheduled, None]:
    """A program with the schedule that is found for it."""
    return Scheduled(make_case(Choices.from_seed(seed)), auto=True), None


# shrinking --------------------------------------------------------------------------------------
def edits() -> tuple[Callable[[Scheduled], Iterator[Scheduled]], ...]:
    """What makes a case a little smaller."""
    return (_steps, *(_of_program(edit) for edit in shrink.EDITS))


def _steps(case: Scheduled) -> Iterator[Scheduled]:
    for kept in without(case.steps):
        yield replace(case, steps=kept)
    if case.default:
        yield replace(case, default=False)


def _of_program(
    edit: Callable[[Case], Iterator[Case]],
) -> Callable[[Scheduled], Iterator[Scheduled]]:
    def edited(case: Scheduled) -> Iterator[Scheduled]:
        for program in edit(case.program):
            yield replace(case, program=program)

    return edited
