"""Trials of random programs under random directives, whose results are checked by independent
means.

A schedule with the accepted directives must pass `check` and compute the interpreter's bits.
Refused directives must be wrong (`confirm.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..checking.arguments import random_arguments
from ..checking.examine import examine
from ..checking.report import CheckError, Report
from ..lang.errors.errors import CallError, InternalError, LanguageError, ScheduleError
from ..poly.schedule.schedule import Schedule
from .cases import SIZES, Case, Outcome
from .choices import Choices
from .confirm import confirm
from .directives import apply, random_directive
from .native import Kernels, Mismatch
from .orders import dependence_text, misordered
from .programs import Sample, random_program

_NO_PROGRAM = (
    LanguageError, NameError, TypeError, ValueError, AttributeError, LookupError, SyntaxError
)  # fmt: skip


Phase = Callable[[Case], None]


def random_case(seed: int) -> tuple[Case, Choices]:
    """A program without directives, and the choices from which directives are drawn."""
    choices = Choices.from_seed(seed)
    while True:
        sample = random_program(choices)
        case = Case(sample.source, sample.outputs, (), choices.chance(25), seed)
        try:
            _schedule(case)
        except LanguageError:
            continue
        return case, choices


def _schedule(case: Case) -> tuple[Schedule, dict[str, Any]]:
    names = Sample(case.source, case.outputs).namespace()
    outputs = tuple(names[name] for name in case.outputs)
    make = Schedule.default if case.default else Schedule
    return make(outputs), names


def run(case: Case, choices: Choices | None = None, phase: Phase = lambda case: None) -> Outcome:
    """Tries a case. With choices, more directives are drawn after those of the case.

    Args:
        phase: called with the case before each step, so that it is known if a step crashes.
    """
    return _Trial(case, phase).run(choices)


class _Trial:
    def __init__(self, case: Case, phase: Phase) -> None:
        self.outcome = Outcome(case)
        self.phase = phase

    def run(self, choices: Choices | None) -> Outcome:
        """Tries the directives one by one, then the complete schedule."""
        case = self.outcome.case
        phase_counts = self.outcome.counts
        self.phase(case)
        try:
            self.schedule, self.names = _schedule(case)
        except _NO_PROGRAM:
            phase_counts["no program"] += 1  # shrinking may make invalid programs
            return self.outcome
        phase_counts["programs"] += 1
        for text in case.directives:
            self._directive(text)
        for _ in range(0 if choices is None else choices.weighted((2, 1), (4, 3), (4, 6), (1, 10))):
            assert choices is not None
            text = random_directive(choices, self.schedule)
            kept = (*self.outcome.case.directives, text)
            self.outcome.case = replace(self.outcome.case, directives=kept)
            accepted = self._directive(text)
            if self.outcome.findings:
                return self.outcome
            if not accepted:
                self.outcome.case = replace(self.outcome.case, directives=kept[:-1])
        if not self.outcome.findings:
            self._accepted_all()
        return self.outcome

    def _directive(self, text: str) -> bool:
        """Tries one directive. Returns whether it is accepted."""
        self.phase(self.outcome.case)
        before, counts = self.schedule.copy(), self.outcome.counts
        counts["directives"] += 1
        try:
            apply(self.schedule, text, self.names)
        except ScheduleError as error:
            counts[f"refused: {error.status}"] += 1
            if self.schedule != before or self.schedule.tree is not before.tree:
                self.outcome.found("refused, but changed", text, str(error))
            if error.status == "unproved" and is_affine(before):
                self.outcome.found("unproved though affine", text, str(error))
            elif error.status != "malformed":
                confirm(self.outcome, before, text, self.names, error)
        except InternalError as error:
            self.outcome.found("internal error", text, str(error))
        except (LanguageError, TypeError, ValueError) as error:
            counts["refused: malformed"] += 1
            if not isinstance(error, LanguageError):
                self.outcome.found("wrong exception", text, f"{type(error).__name__}: {error}")
        except Exception as error:
            self.outcome.found("wrong exception", text, f"{type(error).__name__}: {error}")
        else:
            counts["accepted"] += 1
            self._accepted(text, SIZES[:2], self.schedule)
            return True
        return False

    def _accepted(self, text: str, sizes: Any, schedule: Schedule) -> None:
        for at in sizes:
            report = self._examined(schedule, at, text)
            if report is None:
                continue
            where = ", ".join(f"{k}={v}" for k, v in at.items())
            if report.breaches:
                first = report.breaches[0]
                self.outcome.found(f"wrong acceptance ({first.kind})", text, f"{first} at {where}")
                return
            pair = next(misordered(report), None)
            if pair is not None:
                shown = dependence_text(report, pair)
                self.outcome.found(f"wrong order ({pair.kind})", text, f"{shown} at {where}")
                return

    def _accepted_all(self) -> None:
        """Checks the complete schedule: step by step at all sizes, and as compiled kernels."""
        counts = self.outcome.counts
        text = self.outcome.case.directives[-1] if self.outcome.case.directives else ""
        self._accepted(text, SIZES[2:], self.schedule)
        if self.outcome.findings:
            return
        kernels = Kernels(self.schedule)
        for number, at in enumerate(SIZES):
            call = random_arguments(self.schedule.program, at, number)
            try:
                kernels.compare(call)
                counts["native calls"] += 1
            except Mismatch as error:
                if error.__cause__ is None or not isinstance(error.__cause__, CallError):
                    self.outcome.found("mismatch", text, f"{error} at {at}")
                    return
            except InternalError as error:
                self.outcome.found("internal error", text, str(error))
                return
            except (CallError, LanguageError):
                continue

    def _examined(self, schedule: Schedule, at: dict[str, int], text: str) -> Report | None:
        """The report on an execution; None where the program does not accept these sizes."""
        program = schedule.program
        known = {k: v for k, v in at.items() if k in schedule.parameters}
        try:
            return examine(schedule, **random_arguments(program, known, self.outcome.case.seed))
        except InternalError as error:
            if not isinstance(error, CheckError):
                self.outcome.found("internal error", text, str(error))
            return None
        except (CallError, LanguageError):
            return None


def is_affine(schedule: Schedule) -> bool:
    """Whether the elements that each instance reads and writes are known at compile time."""
    statements = schedule.model.statements
    return all(a.must for s in statements for a in s.accesses) and not any(
        s.data_bounds for s in statements
    )
