"""Random copies, clones, partial results, full tiles and orders on programs that have a use for
them: what is accepted passes `check`, and gives the interpreter's bits."""

from __future__ import annotations

import pytest

import polysched as ps
from polysched.checking.arguments import random_arguments
from polysched.checking.examine import examine
from polysched.testing.choices import Choices
from polysched.testing.compare import Kernels
from polysched.testing.directives import apply, random_directive
from polysched.testing.rewriting import random_rewriting

from .kernels import PROGRAMS

SIZES = ({"n": 3, "m": 2, "l": 3}, {"n": 0, "m": 3, "l": 2}, {"n": 1, "m": 0, "l": 1},
         {"n": 5, "m": 7, "l": 0}, {"n": 7, "m": 9, "l": 2})  # fmt: skip


def attacked(name: str, seed: int, most: int = 6) -> tuple[ps.Schedule, list[str]]:
    """A program under random directives, and those that it accepted."""
    choices = Choices.from_seed(seed)
    schedule = ps.Schedule(PROGRAMS[name]())
    n, m, l = ps.sizes("n m l")
    names = {"ps": ps, "n": n, "m": m, "l": l}
    accepted: list[str] = []
    for _ in range(3 * most):
        if len(accepted) == most:
            break
        made = random_rewriting(choices, schedule) if choices.chance(60) else None
        text = made or random_directive(choices, schedule)
        if "round_up" in text or "bound" in text:
            continue
        try:
            apply(schedule, text, dict(names))
        except (ps.ScheduleError, ps.LanguageError):
            continue
        accepted.append(text)
    return schedule, accepted


def verified(schedule: ps.Schedule, seed: int) -> None:
    """`check` finds nothing; native code equals the interpreter."""
    kernels = Kernels(schedule)
    for number, sizes in enumerate(SIZES):
        known = {k: v for k, v in sizes.items() if k in schedule.parameters}
        arguments = random_arguments(schedule.program, known, seed + number)
        report = examine(schedule, **arguments)
        assert not report.breaches, (sizes, *map(str, report.breaches[:2]))
        kernels.compare(arguments)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", range(3))
def test_accepted_is_right(name: str, seed: int) -> None:
    schedule, accepted = attacked(name, seed)
    print(*accepted, sep="\n")
    verified(schedule, seed)
