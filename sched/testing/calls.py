"""The calls for which `check` runs a schedule: at small sizes, the cheapest first, within a limit
on their cost."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from ..checking.arguments import random_arguments
from ..lang.call.binding import bind
from ..lang.errors.errors import CallTypeError, CallValueError, user_span
from ..poly.report.idle_iterations import Uncountable, sizes_from
from ..poly.report.recomputation import instances_at
from ..poly.schedule.schedule import Schedule
from ..poly.tree.edits import stages
from ..records import dataclass

Arguments = dict[str, Any]

UNIFORM = (0, 1, 2, 3)
MIXED = (5, 3, 4, 2)
"""Different sizes, so that a confusion of two of them shows."""

CHEAP = 1_500
"""The number of instances that a check without given sizes runs: about a second's work."""

SLOW = 20_000
"""The number of instances from which on a check warns how long it will take."""

A_SECOND = 2_500
"""The number of instances that are interpreted, executed and compared in about a second."""


class SlowCheck(UserWarning):
    """The warning before a check of so many instances that it takes long."""


@dataclass(frozen=True)
class Call:
    """
    Attributes:
        arguments: the keyword arguments of the call.
        sizes: the sizes for which the arguments were made; None if the user gave the arguments.
        instances: about how many instances the call runs.
        found: the sizes of the call, also where the user gave the arguments.
    """

    arguments: Arguments
    sizes: Mapping[str, int] | None
    instances: int
    found: Mapping[str, int]


def given(schedule: Schedule, arguments: Arguments) -> Call:
    """A call with arguments from the user.

    Raises:
        CallError: the arguments do not fit.
    """
    others = {k: v for k, v in arguments.items() if k not in ("shape", "out")}
    asked = {k: arguments.get(k) for k in ("shape", "out")}
    binding = bind(schedule.program, (), others, **asked)
    shapes = {
        f"{schedule.program.names[f]}.shape[{k}]": n
        for f, shape in binding.shapes.items()
        for k, n in enumerate(shape)
    }
    params = {k: int(v) for k, v in binding.params.items() if isinstance(v, int)}
    count = _instances(schedule, {**binding.sizes, **shapes, **params})
    return Call(arguments, None, count, binding.sizes)


def complete(schedule: Schedule, sizes: Mapping[str, int]) -> Mapping[str, int]:
    """Sizes from the user. Others than the program's may be among them, so that one text does for
    many programs.

    Raises:
        CallTypeError: they are no mapping.
        CallValueError: one is missing.
    """
    program = schedule.program
    shapes = (x for x in schedule.parameters if x not in program.sizes | program.params)
    needed = [*(x for x, size in program.sizes.items() if size.default is None), *shapes]
    form = f"sizes={dict.fromkeys(needed, 8)}"
    if not isinstance(sizes, Mapping):
        raise CallTypeError(f"sizes= is a dict of numbers by name, not {sizes!r}", hint=form)
    missing = [name for name in needed if name not in sizes]
    if missing:
        raise CallValueError(f"sizes= leaves out {', '.join(missing)}", hint=form)
    return sizes


def at(schedule: Schedule, sizes: Mapping[str, int], seed: int) -> Call:
    """A call with random arrays at given sizes."""
    only = {k: v for k, v in sizes.items() if k in schedule.parameters}
    made = random_arguments(schedule.program, only, seed)
    return Call(made, only, _instances(schedule, only), only)


def small(schedule: Schedule, seed: int) -> list[Call]:
    """Calls at small sizes, those with the fewest instances first."""
    found = [at(schedule, sizes, seed) for sizes in _small_sizes(schedule)]
    return sorted(found, key=lambda call: call.instances)


def _small_sizes(schedule: Schedule) -> list[dict[str, int]]:
    """Small sizes, and the smallest ones that the schedule accepts, without duplicates."""
    names = list(schedule.parameters)
    found = [dict.fromkeys(names, n) for n in UNIFORM]
    found.append({name: MIXED[k % len(MIXED)] for k, name in enumerate(names)})
    for least in (1, 4):
        try:
            known = sizes_from(least, names, schedule.accepted)
        except Uncountable:
            break
        found.append({name: known[name] for name in names})
    return list({tuple(sizes.items()): sizes for sizes in found}.values())


def _instances(schedule: Schedule, sizes: Mapping[str, int]) -> int:
    return instances_at(stages(schedule.tree), sizes)


def warn_if_slow(call: Call) -> None:
    """Warns of a check that will take long, with an estimate."""
    if call.instances >= SLOW:
        sizes = ", ".join(f"{k}={v}" for k, v in call.found.items())
        at = f" at {sizes}" if sizes else ""
        where = user_span()
        warnings.warn_explicit(
            f"check looks at {call.instances:,} instances{at}, one by one: "
            f"about {call.instances / A_SECOND:.0f} s; smaller sizes show most mistakes too",
            SlowCheck,
            where.file,
            where.line,
        )
