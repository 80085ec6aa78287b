"""Kernels of schedules, and of Funcs that are called as they are.

All that a call needs is imported here, at the top: this module is loaded as a whole before a fork.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .codegen.runtime.call_cache import CachedCall, Key
from .codegen.runtime.call_record import Given
from .codegen.runtime.kernel import Kernel
from .codegen.runtime.python_api import native_calls
from .codegen.runtime.scheduled import Scheduled
from .codegen.runtime.threads import get_num_threads
from .forks import reentrant
from .lang.call.binding import Binding
from .lang.errors.errors import LanguageError, ScheduleError
from .lang.program.params import bounding
from .lang.program.program import Program
from .lang.tensors.tensors import Func
from .later import later
from .poly.schedule.performance import warn_of
from .poly.schedule.recorded import Called, Recorded
from .poly.schedule.schedule import Schedule
from .records import dataclass
from .steps import Log
from .targets.target import Target
from .tune.classes import class_of, distance
from .tune.kept_plans import StoredPlan, keep_plan, plan_key, read_plan
from .tune.plans.effort import Effort, effort_for, unhurried

if TYPE_CHECKING:
    from .tune import auto
    from .tune.facts import amount
else:
    auto = later(".tune.auto", __package__)
    amount = later(".tune.facts.amount", __package__)

VARIABLE = "POLYSCHED_AUTO"
"""The environment variable that is 0 where Funcs shall run in the loops as written."""

MOST = 3
"""Schedules that are looked for of a Func; at further sizes it runs with that for the nearest."""

AHEAD = 64
"""Calls that are counted before they run, which then need not be counted one by one."""

CLASSES, NEAR = 16, 2.0
"""Classes of sizes that are told apart; of further ones, those this near to one that is known are
taken for it, by the logarithms of their sizes."""


def compile_schedule(schedule: Schedule, *, checks: bool = False, **sizes: int) -> Kernel:
    """The kernel of a schedule, specialised to the given sizes if there are any."""
    if sizes:
        schedule = schedule.fixed(sizes)
    warn_of(schedule)
    schedule.keep()
    return Kernel(schedule, checks=checks)


def call(func: Func, /, *args: Any, **kwargs: Any) -> Any:
    """Calls a Func without a schedule: what it needs is compiled at the first call."""
    return default_kernel(func)(*args, **kwargs)


_kernels_lock = reentrant()


def default_kernel(func: Func) -> Kernel:
    """What a Func without a schedule runs, which is cached with the Func."""
    kernel: Kernel | None = func._default_kernel
    if kernel is not None:
        return kernel
    with _kernels_lock:
        kernel = func._default_kernel
        if kernel is None:
            log = Log()
            called = Called(log.step("program", lambda: Program(func)), log)
            kernel = Kernel(called) if os.environ.get(VARIABLE) == "0" else AutoKernel(called)
            func._default_kernel = kernel
        return kernel


@dataclass(slots=True)
class _Better:
    """A schedule that takes longer to get than a call waits.

    Attributes:
        effort: how much was looked at; None where another process has, and it is found anew.
        left: calls until it is looked for.
        plan: the key of what is kept for other processes.
    """

    sizes: Mapping[str, int]
    effort: Effort | None
    left: int
    plan: str | None


@native_calls
class AutoKernel(Kernel):
    """A kernel with a schedule that is found for about the sizes of a call, at the first one of
    them. Where the loops as written take no time, these are run; where a much better schedule takes
    long to get, it is looked for when there have been some calls, by number: nothing is timed."""

    def __init__(self, schedule: Scheduled) -> None:
        super().__init__(schedule, later=True)
        self._searches = 0
        self._found: dict[tuple[int, ...], Kernel] = {}
        self._better: dict[tuple[int, ...], _Better] = {}
        self._counting_lock = reentrant()
        program, outputs = schedule.base, (name for _, name, _ in self._preconditions.extents)
        #: What says how much there is to do: sizes, also of outputs, and Params that bound loops.
        self._counting = (*program.sizes, *bounding(program.definitions), *outputs)

    def _chosen(self, bound: Binding) -> Kernel:
        # A call that does not fit is refused before anything is looked for.
        sizes = class_of(self._preconditions.sizes(bound), self._counting)
        key = tuple(sizes.values())
        found = self._found.get(key)
        if found is not None:
            return self._bettered(key, found) if key in self._better else found
        with self._lock:
            if key not in self._found:
                near = min(self._found, key=lambda k: distance(k, key), default=None)
                is_known = near is not None and distance(near, key) < NEAR
                if near is not None and is_known and len(self._found) >= CLASSES:
                    return self._found[near]
                self._found[key] = self._made(sizes)
            return self._found[key]

    def _bettered(self, key: tuple[int, ...], found: Kernel) -> Kernel:
        """What runs where a better schedule is worth it after some calls, of which this is one."""
        with self._counting_lock:
            better = self._better.get(key)
            if better is None:
                return self._found[key]
            # Those that were counted ahead and did not come yet.
            better.left += sum(map(self._native.take_back, list(found._variants.values())))
            better.left -= 1
            if better.left != 0:
                return found  # also where another thread looks for it
        try:
            kernel = self._looked_for(better, found)
        except Exception as error:
            self._better.pop(key, None)  # it is not tried again
            if isinstance(error, (LanguageError, ScheduleError)):
                return found  # too intricate to be proven
            raise
        except BaseException:
            better.left = 1  # what interrupts it puts it off
            raise
        with self._lock:
            # What runs in the loops as written does so for reasons of its own.
            shared = None if found is self else found
            known = self._found.items()
            self._found = {k: kernel if k == key or x is shared else x for k, x in known}
            self._better.pop(key, None)
        return kernel

    def _looked_for(self, better: _Better, found: Kernel) -> Kernel:
        """A kernel with a better schedule; the one that there is where no other is found."""
        effort = better.effort or self._effort(better.sizes)
        made = None if effort is None else self._searched(better.sizes, unhurried(effort)).schedule
        if made is None or not made.directives:
            known = read_plan(better.plan)
            if known is not None:
                keep_plan(better.plan, replace(known, pays_after=None))
            return found
        kernel = Kernel(made)
        keep_plan(better.plan, StoredPlan(made.written, None, made.digest))
        return kernel

    def _remember(self, key: Key, call: CachedCall, given: Given) -> None:
        better = self._waiting_for(call)
        if better is None:
            super()._remember(key, call, given)
            return
        # Calls are counted as long as a better schedule may come: some at once, ahead.
        with self._counting_lock:
            calls = min(AHEAD, better.left - 1)
            if calls > 0 and self._native.keep(self, key, call, given, calls):
                better.left -= calls

    def _waiting_for(self, call: CachedCall) -> _Better | None:
        """The better schedule that may come in the place of what a call has run."""
        for sizes, better in list(self._better.items()):
            kernel = self._found.get(sizes)
            if kernel is not None and call.variant in list(kernel._variants.values()):
                return better
        return None

    def _effort(self, sizes: Mapping[str, int]) -> Effort | None:
        return effort_for(amount.amount_of(self._begun.rewritten, sizes))

    @property
    def _begun(self) -> Schedule:
        """The schedule from which one is looked for, which is made when that is."""
        found: Any = self._schedule
        schedule: Schedule = found.schedule if isinstance(found, Recorded) else found
        return schedule

    @property
    def _threads(self) -> int:
        """For how many a schedule is looked for: another call may have several."""
        return max(2, get_num_threads())

    def _searched(self, sizes: Mapping[str, int], effort: Effort) -> auto.ForCalls:
        return auto.found_for_calls(self._begun, self._threads, sizes, effort)

    def _made(self, sizes: Mapping[str, int]) -> Kernel:
        """A kernel with the schedule that is found for sizes; this one where there is no better."""
        plan = plan_key(self._digest, self._target, self._threads, sizes)
        try:
            kept = self._kept(plan, sizes)
            if kept is not None:
                return kept
            effort = self._effort(sizes)
            if effort is None:
                keep_plan(plan, StoredPlan(None, None))
                return self
            key = tuple(sizes.values())
            if self._searches >= MOST:
                others = [k for k, kernel in self._found.items() if kernel is not self]
                near = min(others, key=lambda k: distance(k, key), default=None)
                return self if near is None else self._found[near]
            self._searches += 1
            searched = self._searched(sizes, effort)
            made = Kernel(searched.schedule) if searched.schedule.directives else self
        except (LanguageError, ScheduleError):
            return self  # too intricate to be proven in any other order
        if searched.pays_after is not None:
            self._better[key] = _Better(sizes, effort, searched.pays_after, plan)
        found = None if made is self else searched.schedule
        said = (None, None) if found is None else (found.written, found.digest)
        keep_plan(plan, StoredPlan(said[0], searched.pays_after, said[1]))
        return made

    def _kept(self, plan: str | None, sizes: Mapping[str, int]) -> Kernel | None:
        """A kernel with what another process has found; None where that is nothing."""
        known = read_plan(plan)
        if known is None:
            return None
        made: Kernel = self
        try:
            if known.text is not None:
                recorded = Recorded(self._program, self._target, known.text, known.digest)
                made = Kernel(recorded, target=self._target)
        except (LanguageError, ScheduleError):
            return None  # its code is gone, and it could not be proven this time
        if known.pays_after is not None:
            key = tuple(sizes.values())
            self._better[key] = _Better(sizes, None, known.pays_after, plan)
        return made

    @property
    def cached(self) -> bool:
        kernels = {id(k): k for k in (self, *self._found.values())}.values()
        found = [v for k in kernels for v in list(k._variants.values())]
        return bool(found) and all(x.lowered is None for x in found)

    @classmethod
    def _restored(cls, schedule: Any, checks: bool, target: Target | None) -> Kernel:
        return cls(schedule)

    def _of(self, schedule: Any, *, later: bool = False) -> Kernel:
        return AutoKernel(schedule)
