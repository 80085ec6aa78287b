"""One program, run by the interpreter and by native code in every way there is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

import polysched as ps
from polysched.lang.program.program import Program
from polysched.poly.sets.budget import counted
from polysched.testing.trials import is_affine

from . import limits
from .calls import Call, make_calls
from .outcomes import Finding, Outcome, difference, normalised, outcome
from .programs import Case
from .scratch import walled_scratch

#: Name: how a schedule is made, and whether divisions are counted.
VARIANTS: dict[str, tuple[Callable[..., Any], bool]] = {
    "default": (ps.Schedule.default, False),
    "written": (ps.Schedule, False),
    "default, checked": (ps.Schedule.default, True),
    "written, checked": (ps.Schedule, True),
}
COSTLY = 10_000_000
"""Operations of isl, some seconds: a compilation that takes more is a finding."""

Phase = Callable[[str], None]


@dataclass
class Report:
    """What came of one program.

    Attributes:
        findings: what is wrong.
        notes: refusals by native code of what the interpreter runs, where that may be right.
        counts: calls by what came of them.
    """

    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def compare(
    case: Case, variants: Iterable[str] = VARIANTS, phase: Phase = lambda text: None
) -> Report:
    """Runs a case. `phase` is told what comes next, in case it is the last thing that happens."""
    return _Comparison(case, phase).run(variants)


class _Comparison:
    def __init__(self, case: Case, phase: Phase) -> None:
        self.case = case
        self.phase = phase
        self.report = Report()

    def run(self, variants: Iterable[str]) -> Report:
        namespace: dict[str, Any] = {"ps": ps, "np": np}
        try:
            exec(self.case.source, namespace)
            outputs = tuple(namespace[name] for name in self.case.outputs)
            calls = make_calls(self.case, Program(outputs))
        except (
            ps.LanguageError,
            TypeError,
            NameError,
            KeyError,
            ArithmeticError,
            ValueError,
            SyntaxError,
        ):
            self.report.counts["no program"] += 1  # a shrunk one, most often
            return self.report
        wanted = [self._interpret(outputs, call, checks=False) for call in calls]
        checked: list[Outcome] | None = None

        @cache
        def schedule(make: Callable[..., Any]) -> ps.Schedule | ps.LanguageError:
            """Proven or refused once, for being compiled with checks and without."""
            try:
                return make(outputs)
            except ps.LanguageError as error:
                return error

        for name in variants:
            make, checks = VARIANTS[name]
            if checks and checked is None:
                checked = self._interpret_checked(outputs, calls, wanted)
            expected = checked if checks and checked is not None else wanted
            self._variant(name, lambda make=make: schedule(make), checks, calls, expected)
        return self.report

    # the interpreter --------------------------------------------------------------------------
    def _interpret(self, outputs: tuple[ps.Func, ...], call: Call, checks: bool) -> Outcome:
        self.phase(f"interpret at {call.label}")
        found = outcome(lambda: ps.interpret(outputs, checks=checks, **call.plain()))
        if found.kind == "fault":
            self._finding("interpreter fails", "interpreter", call.label, found.text)
        return found

    def _interpret_checked(
        self, outputs: tuple[ps.Func, ...], calls: list[Call], wanted: list[Outcome]
    ) -> list[Outcome]:
        """With divisions by zero refused; the same as without where there is no division."""
        if not any(sign in self.case.source for sign in ("//", "%", "boundary")):
            return wanted
        return [
            self._interpret(outputs, call, checks=True) if w.kind == "values" else w
            for call, w in zip(calls, wanted, strict=True)
        ]

    # native code ------------------------------------------------------------------------------
    def _variant(
        self, name: str, make: Callable[[], ps.Schedule | ps.LanguageError], checks: bool,
        calls: list[Call], wanted: list[Outcome],
    ) -> None:  # fmt: skip
        self.phase(f"compile {name}")
        made: list[Any] = []

        def compile_it() -> None:
            schedule = make()
            if isinstance(schedule, ps.LanguageError):
                raise schedule
            made.append(schedule.compile(checks=checks))

        with counted() as tally:
            found = self._timed("compile", name, "", compile_it)
        if tally.operations > COSTLY:
            self._finding("costly compilation", name, "", f"{tally.operations:,} operations")
        if found.kind == "program refused":
            self._program_refused(name, found, calls, wanted)
        elif found.kind != "values":
            self._finding(f"compiler fails ({found.kind})", name, "", found.text)
        else:
            with ExitStack() as stack:
                stack.enter_context(walled_scratch(made[0], separate=self.case.seed % 3 > 0))
                for call, w in zip(calls, wanted, strict=True):
                    self._call(name, made[0], call, w)

    def _program_refused(
        self, name: str, found: Outcome, calls: list[Call], wanted: list[Outcome]
    ) -> None:
        """Fine where the interpreter refuses all, too, but for calls that compute nothing."""
        ran = [
            c for c, w in zip(calls, wanted, strict=True)
            if w.kind == "values" and any(a.size for a in w.arrays)
        ]  # fmt: skip
        self.report.counts["program refused" if not ran else "over-refused"] += len(calls)
        if ran and "checked" not in name:
            often = "always" if len(ran) >= sum(not c.is_empty for c in calls) else "sometimes"
            self.report.notes.append(f"interpreter {often} runs it: {normalised(found.text)}")

    def _call(self, name: str, kernel: Any, call: Call, wanted: Outcome) -> None:
        self.phase(f"call {name} at {call.label}")
        arguments = call.walled()
        act = lambda: kernel(*arguments.args, **arguments.kwargs)
        found = self._timed("call", name, call.label, act)
        self.report.counts[f"{found.kind} / {wanted.kind}"] += 1
        if not arguments.is_intact():
            self._finding("written beside the elements", name, call.label, arguments.layouts)
        if found.kind in ("fault", "program refused"):
            self._finding("call fails", name, call.label, found.text)
        elif found.kind == "values" and wanted.is_refusal:
            self._accepted(name, kernel, call, wanted)
        elif found.is_refusal and wanted.kind == "values":
            self._call_refused(name, kernel, call, found)
        elif wanted.kind == "values":
            where = difference(found.arrays, wanted.arrays)
            if where is not None:
                self._finding("different values", name, call.label, where)

    def _accepted(self, name: str, kernel: Any, call: Call, wanted: Outcome) -> None:
        """A Func that is computed where it is read divides only there."""
        schedule = kernel._schedule
        inlined = len(schedule.funcs) < len(schedule.program.funcs)
        if inlined and "divides an integer by zero" in wanted.text:
            self.report.notes.append(f"not divided: {normalised(wanted.text)}")
        else:
            self._finding("accepted natively alone", name, call.label, wanted.text)

    def _call_refused(self, name: str, kernel: Any, call: Call, found: Outcome) -> None:
        """Native code may refuse more only where an index, or whether it is used, depends on data
        or on a condition that is not affine.
        """
        proven = kernel._schedule.proven
        may = any(c.text in found.text for c in proven.sizes if not c.access.must)
        checked = "which is used as an index" in found.text
        # A Func is computed where it may be read: it divides there, or chooses among nothing.
        computed = re.search("divisions? by zero|an empty reduction", found.text)
        if may or checked or (computed and not is_affine(kernel._schedule)):
            self.report.notes.append(f"at the call: {normalised(found.text)}")
        else:
            self._finding("refused natively alone", name, call.label, found.text)

    def _timed(self, step: str, variant: str, call: str, act: Callable[[], Any]) -> Outcome:
        """What comes of a step, which must not take long."""
        span = limits.Span()
        with limits.limited(span):
            found = outcome(act)
        lines = len(self.case.source.splitlines())
        if span.seconds > limits.SECONDS * max(1.0, lines / limits.LINES):
            text = f"{span.seconds:.1f} s of processor time"
            self._finding(f"slow ({step})", variant, call, text)
        return found

    def _finding(self, kind: str, variant: str, call: str, text: str) -> None:
        self.report.findings.append(Finding(kind, variant, call, text))
