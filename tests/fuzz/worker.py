"""Runs cases in a process of its own: a crash or a hang is a finding and not the end."""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from compiled import FOLDER, Compiled

from polysched.codegen.llvm.machine import binding
from polysched.testing.process import Lost, Process, Say, answer

from .compare import Report
from .experiments import EXPERIMENTS, Tried
from .limits import limit_memory
from .outcomes import Finding

PATIENCE = 300.0
"""Seconds of silence after which a process is given up. Those of processor time end earlier."""


class Worker:
    """A process for one of the experiments. A context manager."""

    def __init__(self, experiment: str, patience: float = PATIENCE) -> None:
        self.name = experiment
        self.experiment = EXPERIMENTS[experiment]
        self._process = Process("fuzz.worker", patience)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *reason: object) -> None:
        self.stop()

    def seed(self, seed: int) -> tuple[Tried | None, Report]:
        """The case of a seed, and what came of it. None if there was no case yet."""
        return self._ask({"seed": seed})

    def run(self, case: Tried, only: str = "") -> Report:
        """What comes of a case; a crash is a finding in it."""
        return self._ask({"case": case.to_dict(), "only": only})[1]

    def _ask(self, question: dict[str, Any]) -> tuple[Tried | None, Report]:
        heard: list[dict[str, Any]] = []
        found = self._process.ask({"experiment": self.name, **question}, heard.append)
        if isinstance(found, Lost):
            said = heard[-1] if heard else {"case": None, "phase": "start"}
            case = said["case"] and self.experiment.read(said["case"])
            name, _, call = said["phase"].partition(" at ")
            kind = "hang" if "SIGXCPU" in found.text else found.kind
            variant = name.partition(" ")[2] or name
            return case, Report([Finding(f"{kind} ({name})", variant, call, found.text)])
        findings = [Finding(**f) for f in found["findings"]]
        report = Report(findings, found["notes"], Counter(found["counts"]))
        return self.experiment.read(found["case"]), report

    def stop(self) -> None:
        """Ends the process."""
        self._process.stop()


def _report(question: dict[str, Any], say: Say) -> dict[str, Any]:
    experiment = EXPERIMENTS[question["experiment"]]
    if "seed" in question:
        case, choices = experiment.draw(question["seed"])
    else:
        case, choices = experiment.read(question["case"]), None

    def begun(case: Tried, phase: str) -> None:
        say({"case": case.to_dict(), "phase": phase})

    case, report = experiment.run(case, choices, begun, question.get("only", ""))
    findings = [asdict(f) for f in report.findings]
    return {
        "case": case.to_dict(), "findings": findings, "notes": report.notes,
        "counts": report.counts,
    }  # fmt: skip


if __name__ == "__main__":
    sys.path = [p for p in sys.path if Path(p).name != "fuzz"]
    limit_memory()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    if folder := os.environ.get(FOLDER):
        binding.object_code = Compiled(Path(folder))
    # What is written and read, or asked for again, is often the same text once more.
    binding.object_code = lru_cache(maxsize=512)(binding.object_code)
    answer(_report)
