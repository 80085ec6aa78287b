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
        asked: what else that is asked, as an argument.
    """

    program: Case
    default: bool = False
    steps: tuple[str, ...] = ()
    auto: bool = False
    asked: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, d: dict[str, Any]) -> Scheduled:
        """From what `to_dict` gave, by way of JSON too."""
        more = {k: d[k] for k in ("auto", "asked") if k in d}
        return cls(Case.from_dict(d["program"]), d["default"], tuple(d["steps"]), **more)

    @property
    def head(self) -> str:
        """How the schedule is made."""
        made = "ps.Schedule" + (".auto" if self.auto else ".default" if self.default else "")
        outputs = f"({''.join(f'{name}, ' for name in self.program.outputs)})"
        return f"s = {made}({outputs}{self.asked and ', '}{self.asked})"

    def with_step(self, text: str) -> Scheduled:
        return replace(self, steps=(*self.steps, text))


def make_scheduled(seed: int) -> tuple[Scheduled, Choices]:
    """A program that nothing is said to yet, and where steps are to come from."""
    choices = Choices.from_seed(seed)
    return Scheduled(make_case(choices), choices.chance(30)), choices


def make_found(seed: int) -> tuple[Scheduled, Choices | None]:
    """A program with the schedule that is found for it, which some directives and variants change
    now and then."""
    choices = Choices.from_seed(seed)
    program = make_case(choices)
    size = choices.pick(sorted(program.sizes[0]))
    asked = choices.weighted(
        (6, ""), (2, "threads=1"), (1, "threads=2"), (2, "threads=8"), (1, "reassociate=True"),
        (1, f"sizes={{{size!r}: 7}}"), (1, f"sizes={{{size!r}: 4096}}, threads=4"),
    )  # fmt: skip
    return Scheduled(program, auto=True, asked=asked), choices if choices.chance(30) else None


# shrinking --------------------------------------------------------------------------------------
def edits() -> tuple[Callable[[Scheduled], Iterator[Scheduled]], ...]:
    """What makes a case a little smaller."""
    return (_steps, *(_of_program(edit) for edit in shrink.EDITS))


def _steps(case: Scheduled) -> Iterator[Scheduled]:
    for kept in without(case.steps):
        yield replace(case, steps=kept)
    if case.default:
        yield replace(case, default=False)
    if case.asked:
        yield replace(case, asked="")


def _of_program(
    edit: Callable[[Case], Iterator[Case]],
) -> Callable[[Scheduled], Iterator[Scheduled]]:
    def edited(case: Scheduled) -> Iterator[Scheduled]:
        for program in edit(case.program):
            yield replace(case, program=program)

    return edited
