"""One schedule, from its program to the values of its calls.

Each step is limited in what it may take (`limits`), and announced before it begins, so that one
that does not come back is known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, TypeVar
from unittest import mock

import numpy as np

import polysched as ps
from polysched.lang.program.program import Program
from polysched.poly.legality import checker
from polysched.poly.schedule import schedule_builder
from polysched.poly.sets import budget
from polysched.testing.choices import Choices

from . import limits
from .calling import Calling
from .calls import Call, make_calls
from .compare import Report
from .directives import random_step
from .limits import Span, TooLong, TooMuch, limited
from .outcomes import Finding
from .scheduled import PRELUDE, Scheduled

T = TypeVar("T")
Say = Callable[[Scheduled, str], None]

NO_PROGRAM = (
    ps.LanguageError, TypeError, NameError, KeyError, ArithmeticError, ValueError, SyntaxError,
    AttributeError,
)  # fmt: skip
"""What programs raise that were made smaller so far that they are none."""


class Failed(Exception):
    """A step that ends a trial: it is a finding, or nothing can follow it."""


def run(case: Scheduled, choices: Choices | None, say: Say) -> tuple[Scheduled, Report]:
    """Tries a case. With choices, steps are drawn after those that it has.

    Args:
        say: is told the case and the step before each step.

    Returns:
        The case with the steps that were accepted, and the one that failed; what came of it.
    """
    trial = Trial(case, say)
    with suppress(Failed):
        trial.run(choices)
    return trial.case, trial.report


class Trial:
    """A case on its way."""

    def __init__(self, case: Scheduled, say: Say) -> None:
        self.case = case
        self.say = say
        self.report = Report()
        self.schedules: dict[str, ps.Schedule] = {}
        self.accepted: list[str] = []
        #: Equal schedules, written and read, whose loops are said in other words.
        self.reworded: dict[str, ps.Schedule] = {}

    @property
    def counts(self) -> Counter[str]:
        return self.report.counts

    @property
    def schedule(self) -> ps.Schedule:
        return self.schedules["s"]

    def run(self, choices: Choices | None) -> None:
        """Step by step, then the whole."""
        calls = self._program()
        self.counts["programs"] += 1
        for text in self.case.steps:
            self._step(text)
        count = choices.weighted((1, 2), (3, 5), (3, 9), (1, 14)) if choices else 0
        for _ in range(count):
            assert choices is not None
            self._drawn(choices)
        self._replayed("json", self._from_json)
        self._replayed("source", self._from_source)
        Calling(self, calls).run()

    # the program ------------------------------------------------------------------------------
    def _program(self) -> list[Call]:
        self.say(self.case, "program")
        self.names: dict[str, Any] = {"ps": ps, "np": np}
        program = self.case.program
        try:
            exec(f"{PRELUDE}\n{program.source}", self.names)
            self.outputs = tuple(self.names[name] for name in program.outputs)
            calls = make_calls(program, Program(self.outputs))
        except NO_PROGRAM:
            self.counts["no program"] += 1
            raise Failed from None
        except ps.InternalError as error:
            self.finding("internal error", "program", str(error))
        self.schedules["s"] = self.step("program", self._made)
        return calls

    def _made(self) -> ps.Schedule:
        try:
            exec(self.case.head, self.names)
        except ps.LanguageError:
            self.counts["program refused"] += 1
            raise Failed from None
        except ps.ScheduleError as error:
            if "sizes=" not in self.case.asked:
                self.finding("refused", "program", str(error))
            self.counts["sizes refused"] += 1
            raise Failed from None
        made: ps.Schedule = self.names["s"]
        try:
            made.compile()
        except ps.LanguageError:  # before anything is said to it
            self.counts["program refused"] += 1
            raise Failed from None
        except ps.ScheduleError as error:
            self.finding("refused", "program", str(error))
        return made

    # steps ------------------------------------------------------------------------------------
    def finding(self, kind: str, step: str, text: str, call: str = "") -> None:
        """Something is wrong, which ends the trial."""
        self.report.findings.append(Finding(f"{kind} ({step})", step, call, text))
        raise Failed

    def step(self, name: str, act: Callable[[], T], call: str = "") -> T:
        """Does something that should neither fail nor take long; refusals are the caller's."""
        self.say(self.case, f"{name} at {call}")
        span = Span()
        try:
            with limited(span):
                found = act()
        except (Failed, TooLong, ps.LanguageError, ps.ScheduleError, ps.CallError):
            self._check_time(name, span, call)
            raise
        except ps.InternalError as error:
            self.finding("internal error", name, str(error), call)
        except TooMuch as error:
            self.finding("too much", name, str(error), call)
        except Exception as error:
            self.finding("wrong exception", name, f"{type(error).__name__}: {error}", call)
        self._check_time(name, span, call)
        return found

    def _check_time(self, name: str, span: Span, call: str) -> None:
        if name in ("interpret", "examine"):  # which are slow by design
            return
        again = name in ("json", "source")  # all steps at once
        most = limits.SECONDS * max(1.0, len(self.case.program.source.splitlines()) / limits.LINES)
        # A call may compile once more: for the part that is asked for, or for how arrays lie.
        compiles = name in ("compile", "compile fixed", "part") or name.startswith("call")
        if compiles and span.seconds > most:
            most *= max(1.0, self._copies() / limits.COPIES)
        if span.seconds > most * (len(self.case.steps) + 1 if again else 1):
            self.finding("slow", name, f"{span.seconds:.1f} s of processor time", call)

    def _copies(self) -> int:
        """Of one statement, that unrolled loops make: also those with the extent of their loop."""
        with suppress(ps.LanguageError, ps.ScheduleError):
            return limits.copies(self.schedule.loop_program.nests)
        return 1

    def _drawn(self, choices: Choices) -> None:
        sizes = list(self.schedule.program.sizes)
        text = self.step("draw", lambda: random_step(choices, self.schedules, sizes))
        kept = self.case
        self.case = kept.with_step(text)
        if not self._step(text):
            self.case = kept

    def _step(self, text: str) -> bool:
        """Whether it is accepted."""
        name = step_name(text)
        names = {**self.names, **self.schedules}
        before = self._said()
        try:
            self.step(name, lambda: exec(text, names))
        except (ps.LanguageError, ps.ScheduleError) as error:
            status = getattr(error, "status", "malformed")
            self.counts[f"refused ({status}): {name}"] += 1
            if self._said() != before:
                self.counts["begun again"] += 1
                self.schedules = self.finished("begin again", self._begun_again)
            return False
        self.counts[f"accepted: {name}"] += 1
        self.accepted.append(text)
        self.schedules |= _variants(names)
        self.finished("print", lambda: str(self.schedule))
        self.finished("explain", self.schedule.explain)
        self.finished("compile", self.schedule.compile)
        return True

    def _said(self) -> list[tuple[int, int]]:
        """How much has been said to each schedule."""
        return [(len(s.directives), len(s.variants)) for s in self.schedules.values()]

    def _begun_again(self) -> dict[str, ps.Schedule]:
        """The schedules with the accepted steps alone. Of a chain that is refused, the first
        directives have been carried out, which no report would name."""
        names = dict(self.names)
        exec(self.case.head, names)
        for text in self.accepted:
            exec(text, names)
        return {"s": names["s"], **_variants(names)}

    def finished(self, name: str, act: Callable[[], T]) -> T:
        """What is accepted can be printed, explained and compiled."""
        try:
            return self.step(name, act)
        except ps.PolyschedError as error:
            self.finding("refused", name, f"{type(error).__name__}: {error}")
        raise AssertionError("a finding raises")

    # again ------------------------------------------------------------------------------------
    def _replayed(self, name: str, make: Callable[[], ps.Schedule]) -> None:
        """What was written makes an equal schedule.

        Its loops may be said in other words, as isl simplifies a set once somebody has asked about
        it; then they are run, too.
        """
        made = self.finished(name, make)
        if made != self.schedule:
            self.finding("another schedule", name, self.schedule.source())
        if unplaced(str(made)) != unplaced(str(self.schedule)):
            self.counts["another listing"] += 1
            self.reworded[name] = made

    def _from_json(self) -> ps.Schedule:
        return ps.Schedule.from_json(self.outputs, self.schedule.to_json())

    def _from_source(self) -> ps.Schedule:
        text = self.schedule.source()
        names = dict(self.names)
        # As `from_json` has it: how much work isl has depends on what it was asked before.
        twice = {"allowance": lambda n: 2 * budget.allowance(n)}
        budgets = SimpleNamespace(**vars(budget) | twice)
        with (
            mock.patch.object(schedule_builder, "budgets", budgets),
            mock.patch.multiple(checker, **twice),
        ):
            exec(text, names)
        made: ps.Schedule = names[re.findall(r"^(\w+) = ps\.Schedule", text, re.MULTILINE)[0]]
        return made


def _variants(names: dict[str, Any]) -> dict[str, ps.Schedule]:
    """The variants among all that a step can name."""
    return {k: v for k, v in names.items() if re.fullmatch(r"v\d", k)}


def step_name(text: str) -> str:
    """The directive in a step."""
    found = re.findall(r"\]\.(\w+)\(|^\w+ = s\.(\w+)\(|^s\.(\w+)\(", text)
    return "+".join(next(filter(None, groups)) for groups in found) or text


def unplaced(text: str) -> str:
    """A listing without the places where things were written."""
    return re.sub(r"\([^()]*:\d+\)", "", text)
