"""Which stage or loop of a schedule is meant by what, as it was found before or is found now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lang.tensors.tensors import Func
from ...later import later

if TYPE_CHECKING:
    from ..report import finding
    from .schedule import Schedule
else:
    finding = later("..report.finding", __package__)


def found(s: Schedule, what: Func | str) -> list[str]:
    """The name of the stage that is meant, then those of all pieces if there are several.

    Raises:
        ScheduleError: there is no such stage, or more than one.
    """

    def find() -> list[str]:
        return [finding.stage_name(s.analysis, what), *finding.pieces_of(s.analysis, what)]

    is_func = isinstance(what, Func)
    name = s._builder.name_of(what) if isinstance(what, Func) else what
    return s._builder.known(("stage", is_func, name), find) if isinstance(name, str) else find()


def existing_stage(s: Schedule, name: str) -> str:
    """The name of a stage, which must be there."""
    return s._builder.known(("is there", name), lambda: finding.existing(s.analysis, name))


def stage_in(s: Schedule, loop: str) -> str:
    """The first stage inside of a loop of that name."""
    return s._builder.known(("stage in", loop), lambda: finding.stage_in(s.analysis, loop))
