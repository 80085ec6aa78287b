"""The parent of all measurements: one process for each implementation, which take turns.

Between its turns a process is stopped (SIGSTOP): a pool of threads that spins for a while after
its last task takes nothing from the others then. No pool is told to be passive, which would cost
some of them speed.
"""

from __future__ import annotations

import json
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from case import Case, as_tuple
from peers import environments
from setting import Setting

CHILD = Path(__file__).resolve().parent / "child.py"
TURN_SECONDS = 0.05  # for one implementation before it is the next one's turn
ROUNDS = 12  # of turns
TOTAL_SECONDS = 2.0  # after which an implementation takes no more turns
READY_SECONDS = 300.0  # for a process to compile, and to check its results


class Failed(Exception):
    """A process ended, or took too long."""


@dataclass(slots=True)
class Measured:
    """What came out for one implementation.

    Attributes:
        times: seconds of the fastest call of each turn.
        medians: seconds of the median call of each turn.
        error: of its results, relative to the largest magnitude.
        prepare: seconds until the first results, by compiling where the peer does.
        nbytes: of arguments and results.
        problem: why there are no times.
        missing: whether that is because the peer cannot be imported.
    """

    peer: str
    variant: str = ""
    version: str = ""
    error: float = 0.0
    prepare: float = 0.0
    nbytes: float = 0.0
    times: list[float] = field(default_factory=list)
    medians: list[float] = field(default_factory=list)
    problem: str = ""
    missing: bool = False

    @property
    def best(self) -> float:
        return min(self.times)

    @property
    def median(self) -> float:
        return statistics.median(self.medians)


@dataclass(slots=True)
class _Process:
    """A child, stopped but for its turns."""

    measured: Measured
    popen: subprocess.Popen[str]
    errors: TextIO

    def wait(self, seconds: float) -> dict[str, Any]:
        """The next line of its answers."""
        assert self.popen.stdout is not None
        ready, _, _ = select.select([self.popen.stdout], [], [], seconds)
        line = self.popen.stdout.readline() if ready else ""
        if not line:
            raise Failed(self.last_words() if ready else f"no answer within {seconds:.0f} s")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def last_words(self) -> str:
        self.popen.wait()
        self.errors.seek(0)
        lines = self.errors.read().strip().splitlines()
        return lines[-1] if lines else f"ended with status {self.popen.returncode}"

    def signal(self, name: str) -> None:
        if hasattr(signal, name):
            self.popen.send_signal(getattr(signal, name))

    def turn(self) -> None:
        assert self.popen.stdin is not None
        self.signal("SIGCONT")
        with suppress(BrokenPipeError):
            print(TURN_SECONDS, file=self.popen.stdin, flush=True)
        answer = self.wait(READY_SECONDS)
        self.signal("SIGSTOP")
        self.measured.times.append(answer["best"])
        self.measured.medians.append(answer["median"])


def race(case: Case, setting: Setting, known_missing: dict[str, str]) -> list[Measured]:
    """Ours first, then the peers, in the order of the case.

    Args:
        known_missing: peers that could not be imported before, and why; new ones are added.
    """
    results = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        reference = folder / "reference.npz"
        sizes = case.check or case.sizes
        np.savez(reference, *as_tuple(case.reference(**case.arguments(sizes))))
        running = []
        for peer in case.implementations:
            for variant, told in environments(peer, case.kernel, setting).items():
                measured = Measured(peer, variant)
                results.append(measured)
                if peer in known_missing:
                    measured.problem, measured.missing = known_missing[peer], True
                    continue
                given = setting.environment(os.environ) | told
                process = stack.enter_context(_started(measured, case, given, reference))
                if _get_ready(process, case.tolerance):
                    running.append(process)
                elif measured.missing:
                    known_missing[peer] = measured.problem
        _take_turns(running)
    return results


@contextmanager
def _started(
    measured: Measured, case: Case, given: dict[str, str], reference: Path
) -> Iterator[_Process]:
    command = [sys.executable, str(CHILD), measured.peer, case.name, str(reference)]
    pipe = subprocess.PIPE
    with tempfile.TemporaryFile("w+") as errors:
        popen = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=errors, text=True, env=given
        )
        process = _Process(measured, popen, errors)
        try:
            yield process
        finally:
            popen.kill()  # ends a stopped process, too
            popen.communicate()


def _get_ready(process: _Process, tolerance: float) -> bool:
    """Whether it can take turns."""
    measured = process.measured
    try:
        state = process.wait(READY_SECONDS)
    except Failed as failed:
        measured.problem = str(failed)
        return False
    process.signal("SIGSTOP")
    if "missing" in state:
        measured.problem, measured.missing = state["missing"], True
        return False
    measured.version, measured.error = state["version"], state["error"]
    measured.prepare, measured.nbytes = state["prepare"], state["nbytes"]
    if measured.error > tolerance:
        measured.problem = f"WRONG: error {measured.error:.1e}, more than {tolerance:.0e}"
    return not measured.problem


def _take_turns(running: list[_Process]) -> None:
    spent = [0.0] * len(running)
    for _ in range(ROUNDS):
        for k, process in enumerate(running):
            if spent[k] > TOTAL_SECONDS or process.measured.problem:
                continue
            start = time.perf_counter()
            try:
                process.turn()
            except Failed as failed:
                process.measured.problem = str(failed)
            spent[k] += time.perf_counter() - start
