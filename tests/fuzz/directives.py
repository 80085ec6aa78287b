"""Random directives on a schedule or on a variant of it, as Python text."""

from __future__ import annotations

import re
from collections.abc import Mapping

import polysched as ps
from polysched.poly.tree.edits import loops_around, stages
from polysched.testing.choices import Choices
from polysched.testing.directives import random_directive
from polysched.testing.placements import is_placement, random_placement

EXTREMES = tuple(base + more for base in (2**20, 2**31, 2**60, 2**63, 2**64) for more in (-1, 0, 1))
"""Where counts, bounds and addresses leave the integers that machines and isl compute with."""
_LONG = ("align_storage", "compute_with", "fold_storage", "guard", "mask", '"pad"')
"""Signs of those that ask for as many elements, or iterations, as their numbers say."""
_ASKING = (".bound(", ".align_bounds(", "round_up", "assume(")
"""Signs of directives after which a call takes few sizes."""


def random_step(choices: Choices, schedules: Mapping[str, ps.Schedule], sizes: list[str]) -> str:
    """One step: a directive on one of the schedules, or a new variant of the first one.

    Args:
        schedules: the schedule as "s", its variants as "v0", "v1".
        sizes: the names of the program's sizes.
    """
    if choices.chance(4) and len(schedules) < 3 and sizes:
        condition = _condition(choices, sizes)
        return f"v{len(schedules) - 1} = s.specialize({condition})"
    if choices.chance(2) and sizes:
        return f"s.assume({_condition(choices, sizes)})"
    name = choices.pick((*schedules, list(schedules)[-1]))
    text = _directive(choices, schedules[name])
    told = _said_to(text, name)
    if not choices.chance(4):
        return told
    return _with_extreme(choices, told, _runs_idle(schedules[name], text))


def _directive(choices: Choices, schedule: ps.Schedule) -> str:
    """One directive, seldom one that asks for sizes. Most places of Funcs are drawn among those
    that there are."""
    placement = random_placement(choices, schedule) if choices.chance(18) else None
    if placement is not None:
        return placement
    for _ in range(8):
        text = random_directive(choices, schedule)
        if is_placement(text) and choices.chance(92):
            continue
        if not is_asking(text) or choices.chance(25):
            break
    return text


def is_asking(text: str) -> bool:
    """Whether a step may ask for some sizes."""
    return any(sign in text for sign in _ASKING)


def _condition(choices: Choices, sizes: list[str]) -> str:
    n, extreme = choices.pick(sizes), choices.pick(EXTREMES)
    return choices.weighted(
        (4, f"{n} >= 3"), (4, f"{n} % 2 == 0"), (3, f"{n} == 5"), (4, f"{n} < 4"),
        (1, f"{n} < {extreme}"), (1, f"{n} % {extreme} == 3"), (1, f"{n} * {extreme} >= {n}"),
    )  # fmt: skip


def _said_to(text: str, name: str) -> str:
    """The directive on the schedule of this name."""
    return re.sub(r"\bs(?=\[\"|\.batch)", name, text)


def _runs_idle(schedule: ps.Schedule, text: str) -> bool:
    """Whether a directive asks for idle iterations: it shifts one of several stages in a loop, or
    skews a loop by the lane of a vector, and lanes run in step."""
    found = re.match(r's\["([^"]+)"\]\.(shift|skew)\("(\w+)"', text)
    if found is None:
        return False
    stage, directive, loop = found.groups()
    told = [s.name for s in stages(schedule.tree) if s.name.partition(".piece(")[0] == stage]
    around = [at for name in told or [stage] for at in loops_around(schedule.tree, name)]
    if directive == "shift":
        return any(len(list(stages(at.loop))) > 1 for at in around)
    return any(at.loop.kind == "vector" and at.loop.name == loop for at in around)


def _with_extreme(choices: Choices, text: str, is_long: bool) -> str:
    """One of its numbers, outside of names, becomes an extreme one.

    Args:
        is_long: whether the directive asks for as many iterations as its numbers say.
    """
    parts = text.split('"')
    found = [
        (k, m.span())
        for k in range(0, len(parts), 2)
        for m in re.finditer(r"(?<![\w.])\d+(?!\w)", parts[k])
    ]
    if not found:
        return text
    k, (start, stop) = choices.pick(found)
    asks = is_long or any(sign in text for sign in _LONG)
    fitting = [x for x in EXTREMES if not asks or x > 2**40]
    parts[k] = parts[k][:start] + str(choices.pick(fitting)) + parts[k][stop:]
    return '"'.join(parts)
