"""A schedule that is known by what was written of it, and made when somebody looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...cached import cached_property
from ...lang.nodes.nodes import Node
from ...lang.program.program import Program
from ...later import later
from ...steps import Log
from ...targets.host import default_target
from ...targets.target import Target
from .written import as_called

if TYPE_CHECKING:
    from ..nests.loop_program import LoopProgram
    from ..report.requirements import Requirements
    from . import schedule as schedules
    from .schedule import Schedule
else:
    schedules = later(".schedule", __package__)


class Recorded:
    """A schedule whose directives were accepted before. What a kernel is known by follows from its
    text; for anything else the directives are given again, and proven.

    Attributes:
        base: the program.
        target: for which machine it is.
    """

    variants: tuple[tuple[Node, Recorded], ...] = ()

    def __init__(self, base: Program, target: Target, text: str, digest: str | None = None) -> None:
        """
        Args:
            text: what `Schedule.written` gives of a schedule without variants.
            digest: of that schedule, as far as it is known.
        """
        self.base, self.target = base, target
        self._text, self._digest = text, digest
        self._log = Log()

    @property
    def digest(self) -> str | None:
        """That of the schedule."""
        return self._digest or self.schedule.digest

    @property
    def key(self) -> tuple[Any, ...]:
        """That of the schedule."""
        return self.schedule.key

    @cached_property
    def schedule(self) -> Schedule:
        """The schedule itself. ScheduleError if a directive is refused."""
        made = schedules.Schedule.from_json(self.base.outputs, self._text, self.base.inputs)
        made.chosen = len(made.directives)
        return made

    @property
    def log(self) -> Log:
        """How long its steps took, as far as there were any."""
        made = self.__dict__.get("schedule")
        return made.log if isinstance(made, schedules.Schedule) else self._log

    @property
    def requirements(self) -> Requirements:
        """What a call is checked for."""
        return self.schedule.requirements

    @property
    def conditions(self) -> tuple[str, ...]:
        """The preconditions as text."""
        return self.schedule.conditions

    @property
    def loop_program(self) -> LoopProgram:
        """The loops that compute it."""
        return self.schedule.loop_program

    def keep(self) -> None:
        """Keeps on disk that its directives were accepted."""
        self.schedule.keep()

    def of(self, program: Program) -> Schedule:
        """The same for another program."""
        return self.schedule.of(program)

    def __reduce__(self) -> Any:
        return self.schedule.__reduce__()

    def __str__(self) -> str:
        return str(self.schedule)


class Called(Recorded):
    """The schedule that a program begins with which is called as it is. Where its preconditions are
    kept it was found well-formed, and there is no more to be known of it."""

    def __init__(self, base: Program, log: Log) -> None:
        super().__init__(base, default_target(), "", as_called(base))
        self._log = log

    @cached_property
    def schedule(self) -> Schedule:
        """The schedule itself. LanguageError if the program is ill-formed."""
        return schedules.Schedule.default_of(self.base, self._log)
