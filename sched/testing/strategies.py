"""Strategies for hypothesis: programs, schedules of them, and arguments for calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from ..checking.arguments import random_arguments
from ..lang.tensors.tensors import Func
from ..poly.schedule.schedule import Schedule
from .choices import Choices
from .directives import apply_random
from .programs import Sample, random_program

Draw = Callable[[st.SearchStrategy[Any]], Any]
Outputs = Func | Sequence[Func]


def _choices(draw: Draw) -> Choices:
    return Choices(lambda count: draw(st.integers(0, count - 1)))


@st.composite
def programs(draw: Draw) -> Sample:
    """Small random programs; `build()` gives the outputs, `source` is the text."""
    return random_program(_choices(draw))


@st.composite
def schedules(draw: Draw, outputs: Outputs, *, most: int = 5) -> Schedule:
    """Schedules of a program with up to `most` random directives that were accepted.

    @given(ps.testing.schedules(blur))
    def test_blur(schedule):
        ps.testing.check(schedule, sizes={"n": 7, "m": 9})
    """
    made = Schedule(outputs)
    apply_random(_choices(draw), made, draw(st.integers(0, most)), _names(made))
    return made


@st.composite
def arguments(draw: Draw, what: Schedule | Outputs, *, most: int = 8) -> dict[str, Any]:
    """Keywords of a call at random sizes up to `most`."""
    schedule = what if isinstance(what, Schedule) else Schedule.default(what)
    sizes = {name: draw(st.integers(0, most)) for name in schedule.parameters}
    return random_arguments(schedule.program, sizes, draw(st.integers(0, 1 << 16)))


def _names(schedule: Schedule) -> dict[str, object]:
    """The names that the text of a random directive may use: the package, and the sizes n and m."""
    import sys

    package = sys.modules[__name__.partition(".")[0]]
    n, m = package.sizes("n m")
    return {"ps": package, "n": n, "m": m}


__all__ = ["arguments", "programs", "schedules"]
