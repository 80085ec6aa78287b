"""One random program under random directives, judged by what cannot be wrong in the same way.

What is accepted must pass `check` and give the interpreter's bits. What is refused must be wrong:
the directive is carried out regardless, the loops are executed at the sizes that the refusal
names, and the two instances that it names must run in the wrong order; and at no smaller sizes may
any two.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ..checking.examine import examine
from ..checking.report import CheckError, Report
from ..interp.flow import Key
from ..lang.errors.errors import CallError, Instance, InternalError, LanguageError, ScheduleError
from ..lang.tensors.definitions import Definition
from ..poly.schedule.schedule import Schedule
from ..poly.tree.edits import stages
from .arguments import random_arguments
from .choices import Choices
from .directives import apply, random_directive
from .native import Kernels, Mismatch
from .orders import InstanceDependence, misordered
from .programs import Sample, random_program

SIZES = ({"n": 3, "m": 4}, {"n": 5, "m": 2}, {"n": 1, "m": 3}, {"n": 0, "m": 2}, {"n": 7, "m": 6})
"""At which accepted schedules are judged."""
MOST_SIZES = 60
"""How many smaller sizes a witness is compared with."""
MOST_INSTANCES = 1000
"""How many of them are compared with each other."""
PATIENCE = 15.0
"""Seconds after which it is compared with no more."""
_NO_PROGRAM = (
    LanguageError, NameError, TypeError, ValueError, AttributeError, LookupError, SyntaxError
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A program, the directives given one after the other, and how the schedule begins."""

    source: str
    outputs: tuple[str, ...]
    directives: tuple[str, ...]
    default: bool = False
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, d: dict[str, Any]) -> Case:
        """From what `to_dict` gave, by way of JSON too."""
        return cls(
            d["source"], tuple(d["outputs"]), tuple(d["directives"]), d["default"], d["seed"]
        )

    def listing(self) -> str:
        """As a file."""
        outputs = ", ".join(self.outputs)
        made = "ps.Schedule.default" if self.default else "ps.Schedule"
        return "\n".join(["import numpy as np", "", "import polysched as ps", "", self.source,
                          f"s = {made}(({outputs},))", *self.directives, ""])  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """Something wrong: what kind, where (a directive), and in words."""

    kind: str
    directive: str
    text: str

    @property
    def name(self) -> str:
        """Of the directive."""
        return self.directive.partition("].")[2].partition("(")[0]

    @property
    def signature(self) -> str:
        """The same for findings of one cause, one hopes."""
        return f"{self.kind}: {self.name}"


@dataclass
class Outcome:
    """What came of a case: `case` is all of it, with the directives that were drawn."""

    case: Case
    findings: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


Phase = Callable[[Case], None]


def random_case(seed: int) -> tuple[Case, Choices]:
    """A program without directives, and where these are to come from."""
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
    """Tries a case. With choices, directives are drawn after those it has.

    Args:
        phase: is told the case before each step, in case it is the last thing that happens.
    """
    return _Trial(case, phase).run(choices)


class _Trial:
    def __init__(self, case: Case, phase: Phase) -> None:
        self.outcome = Outcome(case)
        self.phase = phase

    def run(self, choices: Choices | None) -> Outcome:
        """Directive by directive, then the whole."""
        case = self.outcome.case
        phase_counts = self.outcome.counts
        self.phase(case)
        try:
            self.schedule, self.names = _schedule(case)
        except _NO_PROGRAM:
            phase_counts["no program"] += 1  # a shrunk one
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

    def _finding(self, kind: str, directive: str, text: str) -> None:
        self.outcome.findings.append(Finding(kind, directive, text))

    # directives -------------------------------------------------------------------------------
    def _directive(self, text: str) -> bool:
        """Whether it is accepted."""
        self.phase(self.outcome.case)
        before, counts = self.schedule.copy(), self.outcome.counts
        counts["directives"] += 1
        try:
            apply(self.schedule, text, self.names)
        except ScheduleError as error:
            counts[f"refused: {error.status}"] += 1
            if self.schedule != before or self.schedule.tree is not before.tree:
                self._finding("refused, but changed", text, str(error))
            if error.status == "unproved" and _is_affine(before):
                self._finding("unproved though affine", text, str(error))
            elif error.status != "malformed":
                self._refused(before, text, error)
        except InternalError as error:
            self._finding("internal error", text, str(error))
        except (LanguageError, TypeError, ValueError) as error:
            counts["refused: malformed"] += 1
            if not isinstance(error, LanguageError):
                self._finding("wrong exception", text, f"{type(error).__name__}: {error}")
        except Exception as error:
            self._finding("wrong exception", text, f"{type(error).__name__}: {error}")
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
                self._finding(f"wrong acceptance ({first.kind})", text, f"{first} at {where}")
                return
            pair = next(misordered(report), None)
            if pair is not None:
                shown = _shown(report, pair)
                self._finding(f"wrong order ({pair.kind})", text, f"{shown} at {where}")
                return

    def _accepted_all(self) -> None:
        """The whole schedule: executed at all sizes, and natively."""
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
                    self._finding("mismatch", text, f"{error} at {at}")
                    return
            except InternalError as error:
                self._finding("internal error", text, str(error))
                return
            except (CallError, LanguageError):
                continue

    def _examined(self, schedule: Schedule, at: dict[str, int], text: str) -> Report | None:
        """The executed loops; None where the program does not take these sizes."""
        program = schedule.program
        known = {k: v for k, v in at.items() if k in schedule.parameters}
        try:
            return examine(schedule, **random_arguments(program, known, self.outcome.case.seed))
        except InternalError as error:
            if not isinstance(error, CheckError):
                self._finding("internal error", text, str(error))
            return None
        except (CallError, LanguageError):
            return None

    # refusals ---------------------------------------------------------------------------------
    def _refused(self, before: Schedule, text: str, error: ScheduleError) -> None:
        counts, sort = self.outcome.counts, f"{_name(text)} ({error.kind})"
        trusted = before.copy()
        try:
            with trusted.trust("to see what happens"):
                apply(trusted, text, {**self.names})
        except (LanguageError, ScheduleError, InternalError) as other:
            counts["refused, cannot be tried"] += 1
            if isinstance(other, InternalError):
                counts[f"internal error where trusted: {sort}"] += 1
            return
        if error.source is None or error.sink is None:
            counts[f"refused without a witness: {sort}"] += 1
            return
        try:
            report = self._trusted(trusted, error.sizes)
        except InternalError:
            counts[f"internal error where trusted: {sort}"] += 1
            return
        if error.status == "unproved":
            self._unproved(trusted, error, sort)
            return
        if report is None:
            self._finding("witness at sizes that no call takes", text, str(error))
        elif error.kind == "clobber":
            # Order is not at fault but the storage: what is read was overwritten.
            if report.counts["flow"] + report.counts["live-out"]:
                counts["confirmed"] += 1
            elif _is_copy(trusted, error.tensor):
                # Other elements of a copy may be copies of the same element.
                counts["refused, without effect at these sizes: a copy (clobber)"] += 1
            else:
                self._finding("over-refusal", text, str(error))
        elif error.kind == "uninitialised" or _is_repeated(trusted, error):
            self._confirm_by_effect(trusted, text, error, report)
        else:
            self._confirm_by_order(trusted, text, error, report)

    def _confirm_by_order(
        self, trusted: Schedule, text: str, error: ScheduleError, report: Report
    ) -> None:
        """The two instances that are named run in the wrong order."""
        assert error.source is not None
        assert error.sink is not None
        counts = self.outcome.counts
        pair = _keys(trusted, error.source), _keys(trusted, error.sink)
        among = [k for k in pair if k is not None]
        found = [p for p in misordered(report, among) if (p.source, p.sink) == pair]
        missing = [str(i) for k, i in zip(pair, (error.source, error.sink), strict=True)
                   if k not in report.ran]  # fmt: skip
        if missing and trusted.rewritten.rewrites:
            # What was rewritten runs as other instances.
            self._confirm_by_effect(trusted, text, error, report)
        elif missing:
            self._finding("witness that does not run", text, f"{missing} in {error}")
        elif not any(p.place[0].name == error.tensor for p in found):
            self._finding("over-refusal", text, str(error))
        else:
            counts["confirmed"] += 1
            if not report.breaches:
                sort = f"{_name(text)} ({error.kind})"
                counts[f"confirmed, without effect at these sizes: {sort}"] += 1
            self._minimal(trusted, text, error)

    def _confirm_by_effect(
        self, trusted: Schedule, text: str, error: ScheduleError, report: Report
    ) -> None:
        """Where instances run several times there is no one order: something else goes wrong."""
        counts, sort = self.outcome.counts, f"{_name(text)} ({error.kind})"
        if not report.breaches:
            counts[f"refused, without effect at these sizes: {sort}"] += 1
            return
        counts["confirmed"] += 1
        for at in _smaller(error.sizes):
            smaller = self._trusted(trusted, at)
            if smaller is not None and smaller.breaches:
                self._finding("witness not minimal", text,
                              f"{smaller.breaches[0]} at {at}, but said: {error}")  # fmt: skip
                return
        counts["minimal"] += 1

    def _trusted(self, trusted: Schedule, sizes: dict[str, int]) -> Report | None:
        known = {k: v for k, v in sizes.items() if k in trusted.parameters}
        try:
            return examine(
                trusted, **random_arguments(trusted.program, known, self.outcome.case.seed)
            )
        except InternalError:
            raise
        except (CallError, LanguageError):
            return None

    def _unproved(self, trusted: Schedule, error: ScheduleError, sort: str) -> None:
        """What depends on data is wrong for some data, if it is."""
        for at in (error.sizes, *SIZES[:2], SIZES[-1]):
            report = self._trusted(trusted, {**error.sizes, **at})
            if report is not None and next(misordered(report), None) is not None:
                self.outcome.counts["unproved, and wrong for some data"] += 1
                return
        self.outcome.counts[f"unproved, nothing wrong found: {sort}"] += 1

    def _minimal(self, trusted: Schedule, text: str, error: ScheduleError) -> None:
        """No smaller sum of sizes has any violation."""
        for at in _smaller(error.sizes):
            report = self._trusted(trusted, at)
            if report is not None and len(report.ran) > MOST_INSTANCES:
                continue
            pair = None if report is None else next(misordered(report), None)
            if pair is not None:
                assert report is not None
                self._finding("witness not minimal", text,
                              f"{_shown(report, pair)} at {at}, but said: {error}")  # fmt: skip
                return
        self.outcome.counts["minimal"] += 1


def _is_affine(schedule: Schedule) -> bool:
    """Whether it is known at compile time which elements each instance reads and writes."""
    statements = schedule.model.statements
    return all(a.must for s in statements for a in s.accesses) and not any(
        s.data_bounds for s in statements
    )


def _is_copy(schedule: Schedule, name: str | None) -> bool:
    """Whether a tensor is one that a directive has added."""
    added = [s.func for s in schedule.model.statements if s.definition.is_added]
    return name in [schedule.program.names[f] for f in added]


def _name(text: str) -> str:
    return text.partition("].")[2].partition("(")[0]


def _keys(schedule: Schedule, instance: Instance) -> Key | None:
    """The instance that a refusal names."""
    for s in schedule.model.statements:
        if s.name == instance.stage:
            return s.definition.serial, tuple(instance.point[x.name] for x in s.loops)
    return None


def _is_repeated(schedule: Schedule, error: ScheduleError) -> bool:
    """Whether one of the two instances of a refusal may run several times: what is computed at a
    loop of another stage, and clones."""
    names = {i.stage for i in (error.source, error.sink) if i is not None}
    return any(
        (s.statement.part_of is not None or _is_clone(s.statement.definition))
        and (s.statement.name in names or s.statement.func.name == error.tensor)
        for s in stages(schedule.tree)
    )


def _is_clone(d: Definition) -> bool:
    return d.origin != d.serial


def _shown(report: Report, pair: InstanceDependence) -> str:
    def name(key: Key) -> str:
        d = report.stored[key[0]]
        return f"{d.name}{dict(zip([x.name for x in d.dims], key[1], strict=True))}"

    where = f"{pair.place[0].name}{list(pair.place[1])}"
    return f"{pair.kind} on {where}: {name(pair.sink)} does not wait for {name(pair.source)}"


def _smaller(sizes: dict[str, int]) -> Iterator[dict[str, int]]:
    """Sizes with a smaller sum, the largest sums first, as far as there is time."""
    end = time.monotonic() + PATIENCE
    found = itertools.islice(_sizes_below(sizes), MOST_SIZES)
    return itertools.takewhile(lambda _: time.monotonic() < end, found)


def _sizes_below(sizes: dict[str, int]) -> Iterator[dict[str, int]]:
    total = sum(sizes.values())
    names = list(sizes)
    for s in range(total - 1, -1, -1):
        for values in itertools.product(range(s + 1), repeat=len(names)):
            if sum(values) == s:
                yield dict(zip(names, values, strict=True))
