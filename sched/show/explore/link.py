"""The other end of the process in which candidates are tried.

It is a new process, never a fork: the threads and locks of the one that asks do not go with it. A
question that it does not put aside for the next one within a moment ends with it, and so does
whatever it was stuck in.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ...forks import reentrant

Hear = Callable[[dict[str, Any]], None]
WORKER = "polysched.show.explore.worker"
GRACE = 2.0
"""Seconds that a process has to say anything of the last question, if it was busy with another."""


class Link:
    """Asks a process, and gives what it says to `hear`, in a thread of its own.

    Args:
        start: the first message to each process.
        hear: is called with each answer; with `{"lost": text}` when a process has ended by itself.
        module: what the process runs.
    """

    def __init__(self, start: dict[str, Any], hear: Hear, module: str = WORKER) -> None:
        self.start, self.hear, self.module = start, hear, module
        self._process: subprocess.Popen[bytes] | None = None
        self._busy = False
        self._lock = reentrant()
        self._end: Any = None

    def ask(self, question: dict[str, Any]) -> None:
        """Asks, in the place of what was asked before. Answers come to `hear`."""
        with self._lock:
            if self._process is None:
                self._open()
            elif self._busy:
                timer = threading.Timer(GRACE, self._replace, (self._process, question))
                timer.daemon = True
                self._waiting = question
                timer.start()
            self._busy = True
            self._send(question)

    def close(self) -> None:
        """Ends the process."""
        with self._lock:
            process, self._process = self._process, None
            self._busy = False
            if process is not None:
                _kill(process)

    def _replace(self, process: subprocess.Popen[bytes], question: dict[str, Any]) -> None:
        """A new process for a question of which the old one has not said anything."""
        with self._lock:
            if self._process is not process or self._waiting is not question:
                return
            self.close()
            self.ask(question)

    _waiting: dict[str, Any] | None = None

    def _open(self) -> None:
        path = os.pathsep.join(p for p in sys.path if p)
        process = self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", self.module],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        # Also where nobody closes this: at the end of Python, or when it is collected.
        self._end = weakref.finalize(self, _kill, process)
        threading.Thread(target=_listen, args=(weakref.ref(self), process), daemon=True).start()
        self._send(self.start)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):  # it has ended, which the thread that listens will say
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def _heard(self, process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
        with self._lock:
            if process is not self._process:
                return  # of one that was replaced
            waiting = self._waiting
            if waiting is not None and message.get("revision") == waiting["revision"]:
                self._waiting = None
            if "done" in message or "failed" in message:
                self._busy = False
            if "lost" in message:
                self._process, self._busy = None, False
        self.hear(message)


def _listen(link: weakref.ref[Link], process: subprocess.Popen[bytes]) -> None:
    assert process.stdout is not None
    assert process.stdin is not None
    with process.stdout:
        for line in process.stdout:
            there = link()
            if there is not None:
                there._heard(process, json.loads(line))
            del there
    code = process.wait()
    with suppress(OSError):
        process.stdin.close()
    there = link()
    if there is not None:
        how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        there._heard(process, {"lost": f"the process that tries directives has ended: {how}"})


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
