"""Kernels of schedules, and of Funcs that are called as they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .codegen.runtime.kernel import Kernel
from .codegen.runtime.threads import get_num_threads
from .forks import reentrant
from .lang.call.binding import Binding
from .lang.errors.errors import LanguageError, ScheduleError
from .lang.tensors.tensors import Func
from .poly.schedule.schedule import Schedule

VARIABLE = "POLYSCHED_AUTO"
"""The environment variable that is 0 where Funcs shall run in the loops as written."""

MOST = 3
"""Schedules that are found for a Func; at further sizes it runs with that for the nearest ones."""


def compile_schedule(schedule: Schedule, *, checks: bool = False, **sizes: int) -> Kernel:
    """The kernel of a schedule, specialised to the given sizes if there are any."""
    if sizes:
        schedule = schedule.fixed(sizes)
    return Kernel(schedule, checks=checks)


def call(func: Func, /, *args: Any, **kwargs: Any) -> Any:
    """Calls a Func without a schedule: what it needs is compiled at the first call."""
    return default_kernel(func)(*args, **kwargs)


_kernels_lock = reentrant()


def default_kernel(func: Func) -> Kernel:
    """What a Func without a schedule runs, which is cached with the Func."""
    with _kernels_lock:
        kernel: Kernel | None = func.__dict__.get("_default_kernel")
        if kernel is None:
            schedule = Schedule.default(func)
            kernel = Kernel(schedule) if os.environ.get(VARIABLE) == "0" else AutoKernel(schedule)
            func.__dict__["_default_kernel"] = kernel
        return kernel


class AutoKernel(Kernel):
    """A kernel with a schedule that is found for about the sizes of a call, at the first one of
    them. Where the loops as written take no time, these are run."""

    _schedule: Schedule

    def __init__(self, schedule: Schedule) -> None:
        super().__init__(schedule, later=True)
        self._found: dict[tuple[int, ...], Kernel] = {}

    def _chosen(self, bound: Binding) -> Kernel:
        from .tune.classes import class_of, distance

        # A call that does not fit is refused before anything is looked for.
        values = self._preconditions.check(bound)
        sizes = class_of(values, self._schedule.rewritten.model.params)
        key = tuple(sizes.values())
        with _kernels_lock:
            if key not in self._found:
                have = [k for k, kernel in self._found.items() if kernel is not self]
                if len({self._found[k] for k in have}) < MOST:
                    self._found[key] = self._made(sizes)
                else:
                    self._found[key] = self._found[min(have, key=lambda k: distance(k, key))]
            return self._found[key]

    def _made(self, sizes: Mapping[str, int]) -> Kernel:
        """A kernel with the schedule that is found for sizes; this one where there is no better."""
        from .tune.auto import found
        from .tune.effort import effort_for
        from .tune.facts.facts import facts_of

        try:
            effort = effort_for(facts_of(self._schedule.rewritten, None, sizes))
            if effort is None:
                return self
            # Another call may have several threads where this one has not.
            threads = max(2, get_num_threads())
            schedule = found(self._schedule, threads, usual=sizes, effort=effort)
        except (LanguageError, ScheduleError):
            return self  # too intricate to be proven in any other order
        return Kernel(schedule) if schedule.directives else self

    def _of(self, schedule: Any) -> Kernel:
        return AutoKernel(schedule)
