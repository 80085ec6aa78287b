"""A process that answers questions, so that a crash or a hang in it does not end the fuzzer.

It reads each question as a line of JSON from its standard input, and answers in lines of JSON: some
say what it does next, and the last one has a "report". If it dies or is silent for too long, that
counts as an answer, and the process is replaced.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from ..records import dataclass

Message = dict[str, Any]

#: Seconds without output after which a process is killed.
PATIENCE = 60.0
#: Questions after which a process is replaced, since the memory of machine code is never freed.
QUESTIONS_EACH = 150


@dataclass(frozen=True)
class Lost:
    """How a process ended: "crash" or "hang", and its last output."""

    kind: str
    text: str


class Process:
    """Runs `python -m module` and asks it questions. A context manager."""

    def __init__(self, module: str, patience: float = PATIENCE) -> None:
        self.module = module
        self.patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: Any = None
        self._questions = 0
        self._said = b""

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *reason: object) -> None:
        self.stop()

    def ask(self, question: Message, heard: Callable[[Message], None]) -> Message | Lost:
        """The report on a question. `heard` is called with each message before it."""
        process = self._started()
        assert process.stdin is not None
        process.stdin.write(json.dumps(question).encode() + b"\n")
        process.stdin.flush()
        while True:
            answer = self._line(process)
            if answer is None:
                return self._lost()
            if "report" in answer:
                self._questions += 1
                report: Message = answer["report"]
                return report
            heard(answer)

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
        if self._process is not None and self._questions >= QUESTIONS_EACH:
            self.stop()
        if self._process is None:
            self._questions, self._said = 0, b""
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
            path = os.pathsep.join(p for p in sys.path if p)
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-X", "faulthandler", "-m", self.module],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
                env={**os.environ, "PYTHONPATH": path},
            )  # fmt: skip
        return self._process

    def _line(self, process: subprocess.Popen[bytes]) -> Message | None:
        """The next message of the process; None if there will be none."""
        assert process.stdout is not None
        pipe = process.stdout.fileno()
        while b"\n" not in self._said:
            ready, _, _ = select.select([pipe], [], [], self.patience)
            said = os.read(pipe, 1 << 16) if ready else b""
            if not said:
                return None
            self._said += said
        line, _, self._said = self._said.partition(b"\n")
        answer: Message = json.loads(line)
        return answer

    def _lost(self) -> Lost:
        assert self._process is not None
        code = self._process.poll()
        if code is None:
            try:
                code = self._process.wait(1.0)
            except subprocess.TimeoutExpired:
                code = None
        self._errors.seek(0)
        said = _tail(self._errors.read().decode(errors="replace"))
        what = f"silent for {self.patience} s" if code is None else _death(code)
        self.stop()
        return Lost("hang" if code is None else "crash", f"{what}; {said}")


def _death(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _tail(text: str) -> str:
    """The interesting part of a traceback."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    kept = [line for line in lines if not line.startswith(("Extension modules", "File"))]
    return " | ".join(kept[-3:])


Say = Callable[[Message], None]


def answer(report: Callable[[Message, Say], Message]) -> None:
    """The loop of the process that is asked: it answers questions until there are no more."""
    # Other output must not come between the lines of JSON.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    def say(message: Message) -> None:
        out.write(json.dumps(message).encode() + b"\n")
        out.flush()

    for line in sys.stdin:
        say({"report": report(json.loads(line), say)})
