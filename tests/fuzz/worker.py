"""Runs cases in a process of its own: a crash or a hang is a finding and not the end."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from polysched.testing.process import PATIENCE, Lost, Process, Say, answer

from .compare import VARIANTS, Report, compare
from .outcomes import Finding
from .programs import Case


class Worker:
    """A process that compares. A context manager."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._process = Process("fuzz.worker", patience)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *reason: object) -> None:
        self.stop()

    def run(self, case: Case, variants: Iterable[str] = VARIANTS) -> Report:
        """The report of a case; a crash is a finding in it."""
        phases = ["start"]
        question = {"case": case.to_dict(), "variants": list(variants)}
        found = self._process.ask(question, lambda said: phases.append(said["phase"]))
        if not isinstance(found, Lost):
            findings = [Finding(**f) for f in found["findings"]]
            return Report(findings, found["notes"], Counter(found["counts"]))
        phase = phases[-1]
        variant = next((v for v in reversed(VARIANTS) if f" {v}" in phase), phase)
        return Report([Finding(found.kind, variant, phase, found.text)])

    def stop(self) -> None:
        """Ends the process."""
        self._process.stop()


def _report(question: dict[str, Any], say: Say) -> dict[str, Any]:
    case = Case.from_dict(question["case"])
    report = compare(case, question["variants"], lambda text: say({"phase": text}))
    findings = [asdict(f) for f in report.findings]
    return {"findings": findings, "notes": report.notes, "counts": report.counts}


if __name__ == "__main__":
    sys.path = [p for p in sys.path if Path(p).name != "fuzz"]
    answer(_report)
