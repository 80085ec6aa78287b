"""The picture beside the nest: the iteration space of the stage that is looked at."""

from __future__ import annotations

from typing import Any

from ...lang.errors.errors import PolyschedError
from ...poly.schedule.schedule import Schedule
from ...poly.sets.budget import budget
from ...records import dataclass
from ..spaces.space import space_as_scheduled

MOST = 1_500_000
"""isl's operations for a picture, about a second: the candidates wait for it."""


@dataclass(frozen=True)
class Sketch:
    """A picture, or why there is none.

    Attributes:
        svg: the drawing as an element of SVG; empty where there is none.
        notes: what is said below it.
    """

    svg: str
    notes: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"svg": self.svg, "notes": list(self.notes)}


def sketched(schedule: Schedule, stage: str) -> Sketch:
    """The iteration space of a stage at small sizes, as it is scheduled."""
    try:
        with budget(MOST):
            made = space_as_scheduled(schedule, stage)
    except PolyschedError as error:
        return Sketch("", (f"There is no picture: {error.what}.",))
    except Exception as error:  # a fault of pictures says nothing of candidates
        return Sketch("", (f"There is no picture: {type(error).__name__}: {error}",))
    return Sketch(str(made.drawing.svg()), (made.data.title, *made.notes))
