"""Fuzzing for as long as you like: `python -P tests/fuzz/run.py --minutes 15 --seed 7`.

Each finding is shrunk once, and written to the output folder: as a program to read and as a case
to run again by `--replay`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzz.compare import VARIANTS, Report
from fuzz.outcomes import Finding
from fuzz.programs import Case, make_case
from fuzz.shrink import shrink
from fuzz.worker import Worker
from polysched.testing.choices import Choices


class Hunt:
    """Programs one after the other, and what was found in them."""

    def __init__(self, worker: Worker, folder: Path | None, attempts: int) -> None:
        self.worker = worker
        self.folder = folder
        self.attempts = attempts
        self.programs = 0
        self.counts: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.first: dict[str, tuple[int, Finding]] = {}

    def seed(self, seed: int) -> None:
        """The program of one seed."""
        case = make_case(Choices.from_seed(seed))
        report = self.worker.run(case)
        self.programs += 1
        self.counts.update(report.counts)
        self.notes.update(set(report.notes))
        new: dict[str, Finding] = {}
        for finding in report.findings:
            new.setdefault(finding.signature, finding)
        self.found.update(new.keys())
        for signature, finding in new.items():
            if signature not in self.first:
                self.first[signature] = (seed, finding)
                print(f"seed {seed}: {finding.kind} ({finding.variant} {finding.call})\n  "
                      f"{finding.text[:300]}", flush=True)  # fmt: skip
                self._keep(seed, finding, case)

    def _keep(self, seed: int, finding: Finding, case: Case) -> None:
        if self.folder is None:
            return
        if finding.kind != "hang":  # each attempt would take as long again
            case = self.shrunk(finding, case)
        name = f"{len(self.first):03d}-{re.sub('[^a-z]+', '-', finding.kind)}-{seed}"
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{name}.json").write_text(json.dumps(case.to_dict()))
        (self.folder / f"{name}.py").write_text(listing(case, finding))

    def shrunk(self, finding: Finding, case: Case) -> Case:
        """A smaller case that gives a finding of the same kind and message."""
        variants = [finding.variant] if finding.variant in VARIANTS else list(VARIANTS)[:1]

        def fails(smaller: Case) -> bool:
            findings = self.worker.run(smaller, variants).findings
            return any(_alike(f, finding) for f in findings)

        return shrink(case, fails, self.attempts)

    def summary(self, seconds: float) -> str:
        """All of it."""
        lines = [f"{self.programs} programs in {seconds:.0f} s; calls (native / interpreter):"]
        lines += [f"  {count:7} {what}" for what, count in self.counts.most_common()]
        lines.append("refused natively alone, perhaps rightly (programs):")
        lines += [f"  {count:7} {what}" for what, count in self.notes.most_common(40)]
        lines.append(f"findings: {len(self.found)}")
        for what, count in self.found.most_common():
            lines.append(f"  {count:7} {what}  (first: seed {self.first[what][0]})")
        return "\n".join(lines)


def _alike(a: Finding, b: Finding) -> bool:
    """Different numbers are one finding, different messages are not."""
    loose = ("different values", "written beside the elements", "slow compilation", "crash", "hang")
    return a.kind == b.kind and (a.kind in loose or a.signature == b.signature)


def listing(case: Case, finding: Finding) -> str:
    """The program as a file, with what is wrong."""
    said = "\n# ".join(str(finding.text).splitlines())
    head = f"# {finding.kind}: {finding.variant}, {finding.call}\n# {said}\n"
    imports = "import numpy as np\n\nimport polysched as ps\n\n"
    calls = f"\n\n# outputs {case.outputs}, shapes {case.shapes}, seed {case.seed}\n# "
    return head + imports + case.source + calls + "\n# ".join(map(str, case.sizes)) + "\n"


def replay(worker: Worker, path: Path) -> Report:
    """A case that was kept."""
    return worker.run(Case.from_dict(json.loads(path.read_text())))


def main(arguments: Sequence[str] | None = None) -> int:
    """1 if anything was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--programs", type=int, default=None, help="stop after so many")
    parser.add_argument("--seed", type=int, default=0, help="of the first program; they count up")
    parser.add_argument("--out", type=Path, default=None, help="where findings are written")
    parser.add_argument("--attempts", type=int, default=300, help="at shrinking a finding")
    parser.add_argument("--replay", type=Path, default=None, help="a kept case to run again")
    given = parser.parse_args(arguments)
    with Worker() as worker:
        if given.replay is not None:
            report = replay(worker, given.replay)
            print(*report.findings, *report.notes, report.counts, sep="\n")
            return int(bool(report.findings))
        hunt = Hunt(worker, given.out, given.attempts)
        start = last = time.monotonic()
        seed = given.seed
        while time.monotonic() - start < 60 * given.minutes and hunt.programs != given.programs:
            hunt.seed(seed)
            seed += 1
            if time.monotonic() - last > 20:
                last = time.monotonic()
                print(f"{last - start:6.0f} s: {hunt.programs} programs, "
                      f"{len(hunt.found)} findings", flush=True)  # fmt: skip
        print(hunt.summary(time.monotonic() - start))
    return int(bool(hunt.found))


if __name__ == "__main__":
    sys.exit(main())
