"""The interface of a schedule to code generation: all that a kernel is compiled from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ...lang.errors.errors import LanguageTypeError
from ...lang.nodes.nodes import Node
from ...lang.program.program import Program
from ...steps import Log
from ...targets.target import Target

if TYPE_CHECKING:
    from ...poly.nests.loop_program import LoopProgram
    from ...poly.report.requirements import Requirements


class Scheduled(Protocol):
    """A schedule whose sets have become loops and conditions."""

    @property
    def log(self) -> Log:
        """How long its steps took."""

    @property
    def base(self) -> Program:
        """The program that is computed, as it was written."""

    @property
    def key(self) -> tuple[Any, ...]:
        """Hashable, and equal for schedules that say the same of equal programs."""

    @property
    def target(self) -> Target:
        """For which machine."""

    @property
    def digest(self) -> str | None:
        """What it is known by in any process: of the program and of what was said; None where it
        cannot be."""

    @property
    def loop_program(self) -> LoopProgram:
        """The loops that compute it."""

    @property
    def requirements(self) -> Requirements:
        """What a call must meet."""

    @property
    def conditions(self) -> tuple[str, ...]:
        """The preconditions as text."""

    @property
    def variants(self) -> Sequence[tuple[Node, Scheduled]]:
        """Others, for sizes that meet a condition."""

    def keep(self) -> None:
        """Keeps on disk that its directives were accepted."""

    def of(self, program: Program) -> Scheduled:
        """The same schedule for another program."""


def scheduled(given: object) -> Any:
    """What a kernel is compiled from, where it is that."""
    if isinstance(getattr(given, "base", None), Program):
        return given
    raise LanguageTypeError(
        f"a Kernel is made from a Schedule, not from what has type {type(given).__name__}",
        hint="ps.Schedule(f).compile() makes one",
    )
