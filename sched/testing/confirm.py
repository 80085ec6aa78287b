"""Confirmation of refusals by brute force.

A refused directive must be wrong. It is applied nevertheless, inside of `trust`, and its loops are
executed at the sizes that the refusal names: the two instances that it names must run in the wrong
order, and at smaller sizes no two instances may.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

from ..checking.arguments import random_arguments
from ..checking.examine import examine
from ..checking.report import Report
from ..interp.flow import Key
from ..lang.errors.errors import CallError, Instance, InternalError, LanguageError, ScheduleError
from ..lang.tensors.definitions import Definition
from ..poly.schedule.schedule import Schedule
from ..poly.tree.edits import stages
from ..records import dataclass
from .cases import SIZES, Outcome, directive_name
from .directives import apply
from .orders import dependence_text, misordered

MOST_SIZES = 60
"""The most smaller sizes at which a violation is searched for."""
MOST_INSTANCES = 1000
"""The most instances at one of these sizes; executions with more are skipped."""
PATIENCE = 15.0
"""Seconds after which the search at smaller sizes ends."""


def confirm(
    outcome: Outcome, before: Schedule, text: str, names: dict[str, Any], error: ScheduleError
) -> None:
    """Checks the refusal of a directive, and records the result in the outcome.

    Args:
        before: the schedule for which the directive was refused.
        text: the directive as a call.
        names: the names that the text of the program defines.
    """
    trusted = before.copy()
    refusal = _Refusal(outcome, trusted, text, error)
    try:
        with trusted.trust("to see what happens"):
            apply(trusted, text, {**names})
    except (LanguageError, ScheduleError, InternalError) as other:
        outcome.counts["refused, cannot be tried"] += 1
        if isinstance(other, InternalError):
            outcome.counts[f"internal error where trusted: {refusal.sort}"] += 1
        return
    refusal.confirm()


@dataclass(frozen=True)
class _Refusal:
    """A refusal, and the schedule to which the directive was applied nevertheless."""

    outcome: Outcome
    trusted: Schedule
    text: str
    error: ScheduleError

    @property
    def sort(self) -> str:
        """The key under which refusals are counted: the directive and the kind."""
        return f"{directive_name(self.text)} ({self.error.kind})"

    def confirm(self) -> None:
        """Counts the refusal by its sort, and adds a finding if it is wrong."""
        counts, error = self.outcome.counts, self.error
        if error.source is None or error.sink is None:
            counts[f"refused without a witness: {self.sort}"] += 1
            return
        try:
            report = self._executed(error.sizes)
        except InternalError:
            counts[f"internal error where trusted: {self.sort}"] += 1
            return
        if error.status == "unproved":
            self._confirm_unproved()
        else:
            self._confirm_witness(report)

    def _confirm_witness(self, report: Report | None) -> None:
        """Checks that the violation which the refusal names happens at the sizes that it names."""
        counts, trusted, text, error = self.outcome.counts, self.trusted, self.text, self.error
        if report is None:
            self.outcome.found("witness at sizes that no call takes", text, str(error))
        elif error.kind == "clobber":
            # The storage is at fault, not the order: a value was overwritten before its last read.
            if report.counts["flow"] + report.counts["live-out"]:
                counts["confirmed"] += 1
            elif _is_copy(trusted, error.tensor):
                # Other elements of a copy may be copies of the same element.
                counts["refused, without effect at these sizes: a copy (clobber)"] += 1
            else:
                self.outcome.found("over-refusal", text, str(error))
        elif error.kind == "uninitialised" or _is_repeated(trusted, error):
            self._confirm_by_effect(report)
        else:
            self._confirm_by_order(report)

    def _confirm_by_order(self, report: Report) -> None:
        """Checks that the two instances of the witness run in the wrong order."""
        trusted, text, error = self.trusted, self.text, self.error
        assert error.source is not None
        assert error.sink is not None
        counts = self.outcome.counts
        pair = _keys(trusted, error.source), _keys(trusted, error.sink)
        among = [k for k in pair if k is not None]
        found = [p for p in misordered(report, among) if (p.source, p.sink) == pair]
        missing = [str(i) for k, i in zip(pair, (error.source, error.sink), strict=True)
                   if k not in report.ran]  # fmt: skip
        if missing and trusted.rewritten.rewrites:
            # The program was rewritten, so other instances run in place of the witness.
            self._confirm_by_effect(report)
        elif missing:
            self.outcome.found("witness that does not run", text, f"{missing} in {error}")
        elif not any(p.place[0].name == error.tensor for p in found):
            self.outcome.found("over-refusal", text, str(error))
        else:
            counts["confirmed"] += 1
            if not report.breaches:
                counts[f"confirmed, without effect at these sizes: {self.sort}"] += 1
            self._check_minimal()

    def _confirm_by_effect(self, report: Report) -> None:
        """Checks that the execution has any breach: where instances run several times, the order of
        two instances is not defined."""
        counts, error = self.outcome.counts, self.error
        if not report.breaches:
            counts[f"refused, without effect at these sizes: {self.sort}"] += 1
            return
        counts["confirmed"] += 1
        for at in _smaller(error.sizes):
            smaller = self._executed(at)
            if smaller is not None and smaller.breaches:
                said = f"{smaller.breaches[0]} at {at}, but said: {error}"
                self.outcome.found("witness not minimal", self.text, said)
                return
        counts["minimal"] += 1

    def _executed(self, sizes: dict[str, int]) -> Report | None:
        """The report on an execution at some sizes; None if no call has such sizes."""
        trusted = self.trusted
        known = {k: v for k, v in sizes.items() if k in trusted.parameters}
        try:
            return examine(
                trusted, **random_arguments(trusted.program, known, self.outcome.case.seed)
            )
        except InternalError:
            raise
        except (CallError, LanguageError):
            return None

    def _confirm_unproved(self) -> None:
        """Counts whether a refusal that depends on data is right for the random data tried."""
        for at in (self.error.sizes, *SIZES[:2], SIZES[-1]):
            report = self._executed({**self.error.sizes, **at})
            if report is not None and next(misordered(report), None) is not None:
                self.outcome.counts["unproved, and wrong for some data"] += 1
                return
        self.outcome.counts[f"unproved, nothing wrong found: {self.sort}"] += 1

    def _check_minimal(self) -> None:
        """Checks that there is no violation at sizes with a smaller sum."""
        for at in _smaller(self.error.sizes):
            report = self._executed(at)
            if report is not None and len(report.ran) > MOST_INSTANCES:
                continue
            pair = None if report is None else next(misordered(report), None)
            if pair is not None:
                assert report is not None
                said = f"{dependence_text(report, pair)} at {at}, but said: {self.error}"
                self.outcome.found("witness not minimal", self.text, said)
                return
        self.outcome.counts["minimal"] += 1


def _is_copy(schedule: Schedule, name: str | None) -> bool:
    """Whether a directive has added the tensor of this name."""
    added = [s.func for s in schedule.model.statements if s.definition.is_added]
    return name in [schedule.program.names[f] for f in added]


def _keys(schedule: Schedule, instance: Instance) -> Key | None:
    """The key of an instance that a refusal names."""
    for s in schedule.model.statements:
        if s.name == instance.stage:
            return s.definition.serial, tuple(instance.point[x.name] for x in s.loops)
    return None


def _is_repeated(schedule: Schedule, error: ScheduleError) -> bool:
    """Whether one of the two instances of a refusal may run several times, as those of clones and
    of Funcs computed at a loop of another stage do."""
    names = {i.stage for i in (error.source, error.sink) if i is not None}
    return any(
        (s.statement.part_of is not None or _is_clone(s.statement.definition))
        and (s.statement.name in names or s.statement.func.name == error.tensor)
        for s in stages(schedule.tree)
    )


def _is_clone(d: Definition) -> bool:
    return d.origin != d.serial


def _smaller(sizes: dict[str, int]) -> Iterator[dict[str, int]]:
    """Sizes with a smaller sum, the largest sums first, until the time is up."""
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
