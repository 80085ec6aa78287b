"""Runs cases in a process of its own: a crash or a hang is a finding and not the end.

The worker reads a line of JSON a case from its standard input and answers in lines of JSON: what
it does next, and at last the report. Killed or silent for too long, it is replaced.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .compare import VARIANTS, Report, compare
from .outcomes import Finding
from .programs import Case

#: Seconds without a word after which a worker is killed.
PATIENCE = 60.0
#: Cases after which a worker is replaced: machine code is never given back.
CASES_EACH = 150


class Worker:
    """A process that compares. A context manager."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self.patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: Any = None
        self._cases = 0
        self._said = b""

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *reason: object) -> None:
        self.stop()

    def run(self, case: Case, variants: Iterable[str] = VARIANTS) -> Report:
        """The report of a case; a crash is a finding in it."""
        process = self._started()
        assert process.stdin is not None
        line = json.dumps({"case": case.to_dict(), "variants": list(variants)})
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
        phase = "start"
        while True:
            answer = self._line(process)
            if answer is None:
                return self._lost(phase)
            if "report" in answer:
                self._cases += 1
                return _report(answer["report"])
            phase = answer["phase"]

    def stop(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout, self._errors):
                if stream is not None:
                    stream.close()
        self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._cases >= CASES_EACH:
            self.stop()
        if self._process is None:
            self._cases, self._said = 0, b""
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - kept open as long as the process runs
            path = os.pathsep.join(p for p in sys.path if p)
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-X", "faulthandler", "-m", "fuzz.worker"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
                env={**os.environ, "PYTHONPATH": path},
            )  # fmt: skip
        return self._process

    def _line(self, process: subprocess.Popen[bytes]) -> dict[str, Any] | None:
        """What the worker says next; None if nothing comes any more."""
        assert process.stdout is not None
        pipe = process.stdout.fileno()
        while b"\n" not in self._said:
            ready, _, _ = select.select([pipe], [], [], self.patience)
            said = os.read(pipe, 1 << 16) if ready else b""
            if not said:
                return None
            self._said += said
        line, _, self._said = self._said.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _lost(self, phase: str) -> Report:
        assert self._process is not None
        code = self._process.poll()
        if code is None:
            try:
                code = self._process.wait(1.0)
            except subprocess.TimeoutExpired:
                code = None
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace")
        what = f"silent for {self.patience} s" if code is None else _death(code)
        variant = next((v for v in reversed(VARIANTS) if f" {v}" in phase), phase)
        self.stop()
        return Report([Finding("hang" if code is None else "crash", variant, phase,
                               f"{what}; {_tail(said)}")])  # fmt: skip


def _death(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _tail(text: str) -> str:
    """The interesting part of a traceback."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    kept = [line for line in lines if not line.startswith(("Extension modules", "File"))]
    return " | ".join(kept[-3:])


def _report(d: dict[str, Any]) -> Report:
    return Report([Finding(**f) for f in d["findings"]], d["notes"], Counter(d["counts"]))


def main(out: Any) -> None:
    """Answers cases until there are no more."""

    def say(message: dict[str, Any]) -> None:
        out.write(json.dumps(message).encode() + b"\n")
        out.flush()

    for line in sys.stdin:
        given = json.loads(line)
        case = Case.from_dict(given["case"])
        report = compare(case, given["variants"], lambda text: say({"phase": text}))
        findings = [asdict(f) for f in report.findings]
        say({"report": {"findings": findings, "notes": report.notes, "counts": report.counts}})


if __name__ == "__main__":
    # What the program prints by itself must not come between our lines.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.path = [p for p in sys.path if Path(p).name != "fuzz"]
    main(answers)
