"""The fuzzer, `python -m polysched fuzz`: random programs under random directives for some time.

The first finding of each signature is shrunk, and printed as a program.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .cases import Case, Finding, Outcome
from .directives import untried
from .process import Lost, Process
from .shrink import shrink

Print = Callable[[str], None]


class Hunt:
    """Runs cases one after the other, and collects their findings."""

    def __init__(self, process: Process, out: Path | None = None, attempts: int = 150) -> None:
        self.process = process
        self.out = out
        self.attempts = attempts
        self.counts: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.first: dict[str, int] = {}

    def seed(self, seed: int, print: Print = lambda text: None) -> None:
        """Runs the case of one seed."""
        outcome = self.ask({"seed": seed})
        self.counts.update(outcome.counts)
        new = {f.signature: f for f in reversed(outcome.findings)}
        self.found.update(new.keys())
        for signature, finding in new.items():
            if signature in self.first:
                continue
            self.first[signature] = seed
            case = outcome.case if finding.kind == "hang" else self._shrunk(outcome.case, finding)
            text = f"# {finding.kind}, seed {seed}\n{case.listing()}"
            said = "\n".join(f"# {line}" for line in finding.text.splitlines())
            print(f"\n{text}{said}\n")
            if self.out is not None:
                self.out.mkdir(parents=True, exist_ok=True)
                name = "".join(c if c.isalnum() else "-" for c in signature)
                (self.out / f"{seed}-{name}.py").write_text(text + said + "\n")

    def ask(self, question: dict[str, Any]) -> Outcome:
        """The outcome of a case that another process runs; a crash is a finding."""
        heard: list[dict[str, Any]] = []
        found = self.process.ask(question, heard.append)
        if isinstance(found, Lost):
            case = Case.from_dict(heard[-1]["case"]) if heard else Case("", (), ())
            last = case.directives[-1] if case.directives else ""
            return Outcome(case, [Finding(found.kind, last, found.text)])
        findings = [Finding(**f) for f in found["findings"]]
        return Outcome(Case.from_dict(found["case"]), findings, Counter(found["counts"]))

    def _shrunk(self, case: Case, finding: Finding) -> Case:
        def fails(smaller: Case) -> bool:
            outcome = self.ask({"case": smaller.to_dict()})
            return any(f.signature == finding.signature for f in outcome.findings)

        return shrink(case, fails, self.attempts)

    def summary(self, seconds: float) -> str:
        """A text with all counts and findings."""
        lines = [f"{self.counts['programs']} programs in {seconds:.0f} s"]
        lines += [f"  {count:7} {what}" for what, count in sorted(self.counts.items())]
        lines.append(f"findings: {sum(self.found.values())}")
        for what, count in self.found.most_common():
            lines.append(f"  {count:7} {what}  (first: seed {self.first[what]})")
        if untried():
            lines.append(f"directives that are not tried: {', '.join(untried())}")
        return "\n".join(lines)


def hunt(minutes: float, seed: int, out: Path | None = None, programs: int | None = None) -> bool:
    """Runs until the time is up, and prints findings. Returns whether there were none.

    Args:
        seed: the seed of the first program; each further one has the next seed.
        out: a folder for the findings.
        programs: the number of programs after which to stop.
    """
    with Process("polysched.testing.worker") as process:
        found = Hunt(process, out)
        start = last = time.monotonic()
        count = 0
        while time.monotonic() - start < 60 * minutes and count != programs:
            found.seed(seed + count, lambda text: print(text, flush=True))
            count += 1
            if time.monotonic() - last > 20:
                last = time.monotonic()
                print(f"{last - start:6.0f} s: {count} programs, "
                      f"{found.counts['directives']} directives, "
                      f"{sum(found.found.values())} findings", flush=True)  # fmt: skip
        print(found.summary(time.monotonic() - start))
    return not found.found
