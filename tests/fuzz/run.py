"""Fuzzing for as long as you like: `python -P tests/fuzz/run.py schedules --minutes 15 --seed 7`.

Experiments: "programs", native code of schedules that nobody changed against the interpreter;
"schedules", the same under random directives; "auto", the same as automatic schedules. Each
finding is shrunk once, and written to the output folder: as a script that prints PASS or FAIL, and
as a case to run again by `--replay`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzz import script
from fuzz.compare import Report
from fuzz.experiments import EXPERIMENTS
from fuzz.outcomes import Finding
from fuzz.worker import Worker
from polysched.testing.shrink import smallest


class Hunt:
    """Cases one after the other, and what was found in them. Several threads may hunt.

    Args:
        folder: for the findings.
        attempts: at shrinking a finding, and `patience` the seconds that they may take.
        ignored: how kinds of findings begin that are counted, and no more.
    """

    def __init__(
        self, folder: Path | None, attempts: int, patience: float, ignored: tuple[str, ...] = ()
    ) -> None:
        self.folder = folder
        self.ignored = ignored
        self.attempts = attempts
        self.patience = patience
        self.cases = 0
        self.counts: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.first: dict[str, int] = {}
        self._lock = threading.Lock()

    def seed(self, worker: Worker, seed: int) -> None:
        """The case of one seed."""
        case, report = worker.seed(seed)
        slow = {f.signature for f in report.findings if f.kind.startswith("slow")}
        if slow:  # the better of two: another process may have had the machine
            slow -= {f.signature for f in worker.seed(seed)[1].findings}
            report.findings = [f for f in report.findings if f.signature not in slow]
        for finding in self._new(seed, report):
            print(f"seed {seed}: {finding.kind} ({finding.variant} {finding.call})\n  "
                  f"{finding.text[:300]}", flush=True)  # fmt: skip
            if self.folder is not None and case is not None:
                self._keep(worker, seed, finding, case)

    def _new(self, seed: int, report: Report) -> Iterator[Finding]:
        """The findings that are the first of their kind."""
        with self._lock:
            self.cases += 1
            self.counts.update(report.counts)
            self.notes.update(set(report.notes))
            findings = {f.signature: f for f in reversed(report.findings)}
            self.found.update(findings.keys())
            new = {k: f for k, f in findings.items() if k not in self.first}
            self.first.update(dict.fromkeys(new, seed))
        yield from new.values()

    def _keep(self, worker: Worker, seed: int, finding: Finding, case: Any) -> None:
        assert self.folder is not None
        if finding.kind.startswith(self.ignored):
            return
        again = worker.run(case, finding.variant).findings
        if finding.signature not in [f.signature for f in again]:
            print("  not again", flush=True)
        case, finding = self._shrunk(worker, finding, case)
        self.folder.mkdir(parents=True, exist_ok=True)
        name = re.sub("[^a-z]+", "-", f"{worker.name} {finding.kind}".lower()).strip("-")
        path = self.folder / f"{name}-{seed}.py"
        path.with_suffix(".json").write_text(json.dumps(case.to_dict()))
        path.write_text(script.plain(case, finding))
        if passes(path):  # what is wrong needs arrays between walls, or else the fuzzer
            path.write_text(script.walled(worker.name, case, finding))

    def _shrunk(self, worker: Worker, finding: Finding, case: Any) -> tuple[Any, Finding]:
        """A smaller case that gives a finding of the same sort."""
        end = time.monotonic() + self.patience
        last = finding

        def fails(smaller: Any) -> bool:
            nonlocal last
            if time.monotonic() > end:
                return False
            findings = worker.run(smaller, finding.variant).findings
            alike = [f for f in findings if f.signature == finding.signature]
            last = alike[0] if alike else last
            return bool(alike)

        return smallest(case, worker.experiment.edits, fails, self.attempts), last

    def summary(self, seconds: float) -> str:
        """All of it."""
        lines = [f"{self.cases} cases in {seconds:.0f} s"]
        lines += [f"  {count:7} {what}" for what, count in sorted(self.counts.items())]
        lines.append("refused or accepted natively alone, perhaps rightly (cases):")
        lines += [f"  {count:7} {what}" for what, count in self.notes.most_common(40)]
        lines.append(f"findings: {len(self.found)}")
        for what, count in self.found.most_common():
            lines.append(f"  {count:7} {what}  (first: seed {self.first[what]})")
        return "\n".join(lines)


def passes(path: Path) -> bool:
    """Whether a script finds nothing wrong."""
    command = [sys.executable, "-P", str(path)]
    return subprocess.run(command, capture_output=True, timeout=600).returncode == 0


def hunt(given: argparse.Namespace) -> Hunt:
    """Runs until the time is up, or all seeds have been tried."""
    found = Hunt(given.out, given.attempts, given.patience, tuple(given.ignore))
    seeds = iter(range(given.seed, given.seed + (given.cases or sys.maxsize)))
    start = time.monotonic()

    def work(job: int) -> None:
        said = start
        with Worker(given.experiment) as worker:
            while time.monotonic() - start < 60 * given.minutes:
                seed = next(seeds, None)
                if seed is None:
                    return
                found.seed(worker, seed)
                if job == 0 and time.monotonic() - said > 20:
                    said = time.monotonic()
                    print(f"{said - start:6.0f} s: {found.cases} cases, "
                          f"{len(found.found)} findings", flush=True)  # fmt: skip

    with ThreadPoolExecutor(given.jobs) as pool:
        for _ in pool.map(work, range(given.jobs)):
            pass
    print(found.summary(time.monotonic() - start))
    return found


def replay(experiment: str, path: Path) -> Report:
    """A case that was kept."""
    with Worker(experiment) as worker:
        return worker.run(worker.experiment.read(json.loads(path.read_text())))


def main(arguments: Sequence[str] | None = None) -> int:
    """1 if anything was found."""
    os.environ["POLYSCHED_CACHE"] = "0"
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("experiment", choices=tuple(EXPERIMENTS), nargs="?", default="programs")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--cases", type=int, default=None, help="stop after so many")
    parser.add_argument("--seed", type=int, default=0, help="of the first case; they count up")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--out", type=Path, default=None, help="where findings are written")
    parser.add_argument("--attempts", type=int, default=300, help="at shrinking a finding")
    parser.add_argument("--patience", type=float, default=240, help="seconds for these attempts")
    parser.add_argument("--ignore", action="append", default=[], help="findings to count alone")
    parser.add_argument("--replay", type=Path, default=None, help="a kept case to run again")
    given = parser.parse_args(arguments)
    if given.replay is not None:
        report = replay(given.experiment, given.replay)
        print(*report.findings, *report.notes, report.counts, sep="\n")
        return int(bool(report.findings))
    return int(bool(hunt(given).found))


if __name__ == "__main__":
    sys.exit(main())
