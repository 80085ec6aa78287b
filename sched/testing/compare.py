"""`check`: runs a schedule as compiled kernels and step by step, and compares it with the reference
interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..checking.examine import Examiner
from ..checking.report import CheckError, Report
from ..lang.call.binding import bind
from ..lang.errors.errors import CallError, CallValueError
from ..lang.errors.frames import bounded
from ..lang.tensors.tensors import Func
from ..poly.schedule.schedule import Schedule
from . import calls
from .calls import Arguments, Call
from .failures import Failure, details, shrunk
from .native import Difference, Kernels, Mismatch, copied, difference
from .progress import progress

_DANGEROUS = frozenset({"bounds", "guard"})
"""Breaches after which the compiled kernel is not run, since it may access other memory."""


@bounded
def check(
    what: Schedule | Func | Sequence[Func],
    /,
    *,
    sizes: dict[str, int] | None = None,
    seed: int = 0,
    **arguments: Any,
) -> None:
    """Checks that a schedule computes what its program means.

    It is run natively (also with the iterations of parallel loops in the opposite order) and
    compared with the interpreter bit for bit; and its loops are executed one by one, to find
    instances that run twice or not at all, read what the wrong instance wrote, race, or leave
    their arrays. That takes about a second for 2,500 instances.

    A failure is shown with the schedule's `source()`, at the smallest sizes and for the simplest
    arguments found that fail in the same way, and with the first element that differs.

    Args:
        what: a Schedule; or a Func or several, with the default schedule.
        sizes: the sizes of one call with random arrays. Without sizes and arguments, a few small
            sizes that the schedule accepts are tried, for about a second.
        seed: the seed of the random arrays.
        **arguments: the arguments of one call, in place of random ones.

    Raises:
        Mismatch: results differ.
        CheckError: an instance runs, reads or writes what it must not. This is a fault of
            polysched, or of trusted directives, which it names with their reasons.
        CallError: the arguments or sizes do not fit, or no small sizes do.
        LanguageError: the program has an extern stage, whose instances cannot be checked.

    Warns:
        SlowCheck: so many instances run that the check takes long; with an estimate.
    """
    schedule = what if isinstance(what, Schedule) else Schedule.default(what)
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise CallValueError(f"seed= is an integer that is not negative, and {seed!r} is none")
    checker = _Checker(schedule, seed)
    if arguments:
        checker.run(calls.given(schedule, arguments))
    elif sizes is not None:
        checker.run(calls.at(schedule, calls.complete(schedule, sizes), seed))
    else:
        checker.run_small()


class _Checker:
    """Checks one schedule with several calls; its kernels and loop IR are made once."""

    def __init__(self, schedule: Schedule, seed: int) -> None:
        self.schedule, self.seed = schedule, seed
        self.kernels, self.examiner = Kernels(schedule), Examiner(schedule)

    def run_small(self) -> None:
        """Checks calls at small sizes, the cheapest first, and at least one with instances."""
        left, ran = calls.CHEAP, 0
        for call in calls.small(self.schedule, self.seed):
            if ran and call.instances > left:
                return
            try:
                self.run(call)
            except CallError:
                continue  # the schedule does not accept these sizes
            left, ran = left - call.instances, ran + call.instances
        if not ran and self.schedule.parameters:
            raise CallValueError(
                "no small sizes were found that the schedule takes and at which anything runs",
                hint="give some: check(s, sizes={...})",
            )

    def run(self, call: Call) -> None:
        """Checks one call; a failure is shrunk and raised."""
        calls.warn_if_slow(call)
        with progress("check", call.instances) as tick:
            failure = self._failure(call.arguments, tick)
        if failure is not None:
            call, failure = shrunk(
                call, failure, self._failure, self._at, bool(self.schedule.trusted)
            )
            failure.throw(self.schedule, details(self.schedule, call))

    def _at(self, sizes: dict[str, int]) -> Call:
        return calls.at(self.schedule, sizes, self.seed)

    def _failure(
        self, arguments: Arguments, tick: Callable[[int], object] = lambda count: None
    ) -> Failure | None:
        """The failure of a call, None if it has none."""
        report = execute(self.examiner, arguments, tick)
        breaches = () if report is None else tuple(report.breaches)
        mismatch = None
        if _DANGEROUS.isdisjoint(b.kind for b in breaches):
            try:
                self.kernels.compare(arguments, None if report is None else report.flow.results)
            except Mismatch as error:
                mismatch = error
        return Failure(breaches, mismatch) if breaches or mismatch else None


def execute(
    examiner: Examiner, arguments: Arguments, tick: Callable[[int], object]
) -> Report | None:
    """Executes the loops step by step with the instance checker."""
    given = copied(arguments)
    asked = {k: given.pop(k, None) for k in ("shape", "out")}
    return examiner.report(bind(examiner.schedule.program, (), given, **asked), tick)


__all__ = [
    "CheckError",
    "Difference",
    "Kernels",
    "Mismatch",
    "check",
    "copied",
    "difference",
]
