"""Kernels as pickles: the schedule and the options. They are compiled where they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...lang.errors.errors import LanguageError
from ...targets.target import Target
from .scheduled import Scheduled

if TYPE_CHECKING:
    from .kernel import Kernel


def key(kernel: Kernel) -> tuple[Any, ...]:
    """What equal kernels have in common: program, directives, options and target."""
    made_of = kernel._schedule.key, kernel._checks, kernel._target, tuple(kernel._first)
    return type(kernel), *made_of


def reduced(kernel: Kernel) -> Any:
    """How a kernel is pickled, as `__reduce__` says it.

    Raises:
        LanguageError: it was compiled with passes of its own, which are functions.
    """
    if kernel._first:
        raise LanguageError(
            "this kernel has passes of its own, which are code",
            hint="pickle its schedule, and compile it with them there",
        )
    schedule = kernel._schedule
    target = None if kernel._target == schedule.target else kernel._target
    return read, (type(kernel), schedule, kernel._checks, target)


def read(kind: type[Kernel], schedule: Scheduled, checks: bool, target: Target | None) -> Kernel:
    """The kernel of a pickle, compiled for this machine."""
    return kind._restored(schedule, checks, target)
