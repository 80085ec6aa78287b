"""The calls of a schedule's kernels, compared with the interpreter bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import polysched as ps
from polysched.checking.examine import examine
from polysched.checking.report import Breach
from polysched.codegen.runtime.kernel import Kernel
from polysched.lang.arguments.admission import LOOP_LIMIT
from polysched.testing.choices import Choices
from polysched.testing.native import backwards

from . import limits
from .calls import Arguments, Call
from .directives import is_asking
from .limits import TooLong, TooMuch, counted, given_up
from .outcomes import Array, Outcome, difference, flat
from .scratch import walled_scratch

if TYPE_CHECKING:
    from .trial import Trial

Kernels = dict[str, Any]


class Calling:
    """All calls of one schedule."""

    def __init__(self, trial: Trial, calls: list[Call]) -> None:
        self.trial = trial
        self.calls = calls
        self.schedule = trial.schedule
        self.choices = Choices.from_seed(trial.case.program.seed)
        self.exact = self.schedule.bit_exact
        self.interpreted: list[Call] = []

    def run(self) -> None:
        """In every way there is; loop by loop at the smallest sizes that are not empty."""
        trial, choices = self.trial, self.choices
        trial.counts["exact" if self.exact else "not exact"] += 1
        kernel = trial.finished("compile", self.schedule.compile)
        kernels = {"plain": kernel}
        for name, made in trial.reworded.items():
            kernels[name] = trial.finished("compile", made.compile)
        if "parallel" in str(trial.case.steps):
            kernels["shuffled"] = trial.finished("compile", lambda: backwards(self.schedule))
        fixed, parts = choices.below(2 * len(self.calls)), choices.below(2 * len(self.calls))
        for number, call in enumerate(self.calls):
            wanted = self._interpreted(call)
            if wanted is None:
                continue
            here = {**kernels, **(self._fixed(call) if number == fixed else {})}
            if trial.case.auto and number == parts and len(trial.outputs) == 1 and not call.changed:
                here["bare"] = trial.outputs[0]  # finds a schedule by itself, for these sizes
            for name, kernel in here.items():
                self._call(name, kernel, call, wanted)
            if number == parts:
                self._part(kernels["plain"], call, wanted)
        self._examined()

    def _interpreted(self, call: Call) -> Outcome | None:
        """None where that takes too long, as for a Func that is indexed by any uint16."""
        outputs = self.trial.outputs
        try:
            with given_up(limits.INTERPRETED):
                act = lambda: ps.interpret(outputs, **call.plain())
                found = self._outcome("interpret", call, act)
        except TooLong:
            self.trial.counts["too long to interpret"] += 1
            return None
        self.interpreted.append(call)
        return found

    def _outcome(self, name: str, call: Call, act: Callable[[], Any]) -> Outcome:
        """Values or a refusal; anything else is a finding."""
        try:
            return Outcome("values", flat(self.trial.step(name, act, call.label)))
        except ps.CallError as error:
            return Outcome("call refused", text=str(error))
        except ps.LanguageError as error:
            return Outcome("program refused", text=str(error))
        except ps.ScheduleError as error:  # what is accepted compiles, for regions too
            self.trial.finding("refused", name, str(error), call.label)
        raise AssertionError("a finding raises")

    def _fixed(self, call: Call) -> Kernels:
        """A kernel for the sizes of this call alone, unless the schedule takes others."""
        if not call.sizes:
            return {}
        make = lambda: self.schedule.compile(**call.sizes)
        try:
            return {"fixed": self.trial.step("compile fixed", make, call.label)}
        except (ps.LanguageError, ps.ScheduleError, ps.CallError):
            self.trial.counts["fixed sizes refused"] += 1
            return {}

    # one call ---------------------------------------------------------------------------------
    def _call(self, name: str, kernel: Any, call: Call, wanted: Outcome) -> None:
        trial, arguments = self.trial, call.walled()
        separate = trial.case.program.seed % 2 > 0
        is_kernel = isinstance(kernel, Kernel)
        with walled_scratch(kernel, separate=separate) if is_kernel else nullcontext():
            found = self._outcome(f"call {name}", call, lambda: _called(kernel, arguments))
        trial.counts[f"calls: {found.kind} / {wanted.kind}"] += 1
        if not arguments.is_intact():
            trial.finding("written beside the elements", name, arguments.layouts, call.label)
        if found.kind == "program refused":
            trial.finding("call fails", name, found.text, call.label)
        self._compare(name, call, found, wanted)

    def _compare(self, name: str, call: Call, found: Outcome, wanted: Outcome) -> None:
        trial = self.trial
        if found.kind == "values" and wanted.kind == "values":
            where = difference(found.arrays, wanted.arrays) if self.exact else None
            if where is not None:
                trial.finding("different values", name, where, call.label)
        elif found.kind == "values":
            self.trial.report.notes.append(f"accepted natively alone: {wanted.text[:120]}")
        elif wanted.kind == "values" and not self._may_refuse(call, found):
            trial.finding("refused natively alone", name, found.text, call.label)

    def _may_refuse(self, call: Call, refusal: Outcome) -> bool:
        """Whether the schedule asks for something, or has loops that a Param bounds which is too
        large for that and bounds none in the program, or the program as written refuses, too."""
        if "a loop begins or ends by it" in refusal.text and self._bounds_more(call):
            return True
        schedules = self.trial.schedules.values()
        if any(map(is_asking, self.trial.case.steps)):
            return True
        if any(s.requirements.assumed for s in schedules):
            return True
        kernel, arguments = self.as_written, call.walled()
        found = self._outcome("call as written", call, lambda: _called(kernel, arguments))
        return found.is_refusal

    def _bounds_more(self, call: Call) -> bool:
        """Whether a Param of a call is beyond the ends of loops, and bounds some in a schedule
        alone."""
        for s in self.trial.schedules.values():
            alone = set(s.requirements.bounding) - s.program.near
            if any(abs(int(call.scalars[name])) > LOOP_LIMIT for name in alone):
                return True
        return False

    @cached_property
    def as_written(self) -> Any:
        """A kernel of the program without any directive."""
        return self.trial.finished("compile as written", self.written.compile)

    @cached_property
    def written(self) -> ps.Schedule:
        """The program without any directive."""
        make = ps.Schedule.default if self.trial.case.default else ps.Schedule
        return make(self.trial.outputs)

    # parts ------------------------------------------------------------------------------------
    def _part(self, kernel: Any, call: Call, wanted: Outcome) -> None:
        """A part of each output is that part of the whole."""
        names = [f.name for f in self.trial.outputs]
        if call.changed or wanted.kind != "values" or not all(call.results[n][1] for n in names):
            return
        region = {name: self._region(call.results[name][1]) for name in names}
        given = {k: v for k, v in call.plain().items() if k != "shape"}
        found = self._outcome("part", call, lambda: kernel(**given, region=region))
        self.trial.counts[f"parts: {found.kind} / {wanted.kind}"] += 1
        parts = list(_parts(call, region, wanted.arrays))
        if found.kind == "values":
            self._compare("part", call, found, Outcome("values", tuple(parts)))

    def _region(self, shape: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
        ends = [sorted((self.choices.below(n + 1), self.choices.below(n + 1))) for n in shape]
        return tuple((lo, hi) for lo, hi in ends)

    # loop by loop -----------------------------------------------------------------------------
    def _examined(self) -> None:
        """The loops, executed and counted one by one, at one call."""
        calls = [c for c in self.interpreted if not c.is_empty]
        if not calls or not self.trial.case.steps:
            return
        call = min(calls, key=lambda c: sum(c.sizes.values()))
        report = self._report(call)
        breaches = [b for b in report.breaches if _matters(b)] if report is not None else []
        if breaches:
            first = breaches[0]
            self.trial.finding(f"breach: {first.kind}", "examine", str(first), call.label)

    def _report(self, call: Call) -> Any:
        try:
            return self.trial.step("examine", lambda: self._counted(call), call.label)
        except TooLong:
            self.trial.counts["too long to examine"] += 1
        except (ps.LanguageError, ps.CallError):
            pass
        return None

    def _counted(self, call: Call) -> Any:
        """Raises TooLong where the program as written takes many iterations itself, or directives
        ask for as many."""
        try:
            with counted(limits.ITERATIONS):
                return examine(self.schedule, **call.plain())
        except TooMuch:
            if limits.widest_skew(self.trial.case.steps) > limits.ITERATIONS // 10:
                raise TooLong from None
            try:
                with counted(limits.ITERATIONS // 10):
                    examine(self.written, **call.plain())
            except TooMuch:
                raise TooLong from None
            raise


def _matters(breach: Breach) -> bool:
    """Not where a value is not looked at because it decides nothing, as in `x & False`."""
    return "(it is not read)" not in breach.text


def _called(kernel: Any, arguments: Arguments) -> Any:
    return kernel(*arguments.args, **arguments.kwargs)


def _parts(call: Call, region: dict[str, Any], arrays: tuple[Array, ...]) -> Iterator[Array]:
    left = iter(arrays)
    for name, ends in region.items():
        for _ in call.results[name][0]:
            yield np.asarray(next(left))[tuple(slice(lo, hi) for lo, hi in ends)]
