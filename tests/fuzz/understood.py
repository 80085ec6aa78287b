"""The interpreter against a meaning of programs that was written apart from it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

import polysched as ps
from polysched.lang.program.program import Program
from polysched.testing.choices import Choices

from . import limits, meaning
from .calls import Call, make_calls
from .compare import Report
from .limits import TooLong, given_up
from .meaning.program import Program as Meaning
from .outcomes import Finding, Outcome, difference, outcome
from .programs import Case, make_case
from .trial import NO_PROGRAM

Say = Callable[[Case, str], None]
_INSTEAD = {
    "exp|log|tanh|sigmoid|rsqrt|fast_\\w+|sign|exp2|expm1|sinh|cosh|log2|log10|log1p": "sqrt",
    "sin|cos|tan|a(?:rc)?(?:sin|cos|tan)h?|cbrt|erfc?|l?gamma": "sqrt",
    "copysign|heaviside|hypot|nextafter|fmod|a(?:rc)?tan2|pow|power": "minimum",
    "signbit": "isnan",
}
"""Functions that are made of operators, and what a program has in their place."""


def draw(seed: int) -> Case:
    """A program without functions that are made of polynomials: those have tests of their own."""
    case = make_case(Choices.from_seed(seed))
    source = case.source
    for names, instead in _INSTEAD.items():
        source = re.sub(rf"ps\.({names})\(", f"ps.{instead}(", source)
    return Case(**{**vars(case), "source": source})


def run(case: Case, say: Say) -> Report:
    """Every call, by both."""
    report = Report()
    names: dict[str, Any] = {"ps": ps, "np": np}
    try:
        exec(case.source, names)
        outputs = tuple(names[name] for name in case.outputs)
        program = Program(outputs)
        calls = make_calls(case, program)
    except NO_PROGRAM:
        report.counts["no program"] += 1
        return report
    try:
        meant = Meaning(case.source, tuple(f.name for f in program.outputs))
    except meaning.Unknown as error:
        report.counts[f"not told: {error}"] += 1
        return report
    report.counts["programs"] += 1
    for number, call in enumerate(calls):
        say(case, f"interpret at {call.label}")
        try:
            with given_up(limits.INTERPRETED):
                wanted = outcome(lambda call=call: ps.interpret(outputs, **call.plain()))
            say(case, f"evaluate at {call.label}")
            with given_up(limits.INTERPRETED):
                found = _evaluated(meant, case.sizes[number], call)
        except TooLong:
            report.counts["calls given up"] += 1
            continue
        _compare(report, call, wanted, found)
    return report


def _evaluated(meant: Meaning, sizes: dict[str, int], call: Call) -> Outcome:
    arrays = {k: v for k, v in call.plain().items() if isinstance(v, np.ndarray)}
    try:
        found = meant({**sizes, **call.scalars}, arrays, call.shapes)
    except meaning.Unknown as error:
        return Outcome("program refused", text=str(error))
    except RecursionError:  # it evaluates what is read where it is read
        return Outcome("program refused", text="too deep for the evaluator")
    except meaning.Refused:  # by a precondition, which may be of a Func that is not asked for
        return Outcome("program refused", text="a precondition")
    except meaning.Outside as error:
        return Outcome("call refused", text=str(error))
    return Outcome("values", tuple(found))


def _compare(report: Report, call: Call, wanted: Outcome, found: Outcome) -> None:
    """The interpreter refuses more: it checks whole arrays. What it runs must be in bounds."""
    if found.kind == "program refused":
        report.counts[f"calls not told: {found.text}"] += 1
        return
    report.counts[f"calls: {found.kind} / {wanted.kind}"] += 1
    if wanted.kind != "values":
        if found.kind == "values":
            report.notes.append(f"refused by the interpreter alone: {wanted.text[:100]}")
        return
    where = found.text if found.is_refusal else difference(found.arrays, wanted.arrays)
    if where:
        kind = "refused" if found.is_refusal else "different"
        report.findings.append(Finding(f"{kind} values (meaning)", "meaning", call.label, where))
