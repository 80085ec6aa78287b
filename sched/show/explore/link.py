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
from functools import partial
from queue import SimpleQueue
from typing import Any

from ...forks import reentrant
from .later import Later, later

WORKER = "polysched.show.explore.worker"
GRACE, START = 2.0, 60.0
"""Seconds that a process has to say anything of the last question, if it was busy with another; and
those in which it imports what it needs, which nobody hurries."""

Message = dict[str, Any]
Hear = Callable[[Message], None]


class Link:
    """Asks a process, and gives what it says to `hear`, in a thread of its own.

    Args:
        start: the first message to each process.
        hear: is called with each answer; when a process has ended by itself, with `{"lost": text,
            "ready": whether it had begun to answer}`.
        module: what the process runs.
        after: does something after some seconds.
    """

    def __init__(
        self, start: Message, hear: Hear, module: str = WORKER, after: Later = later
    ) -> None:
        self.start, self.hear, self.module, self._after = start, hear, module, after
        self._process: subprocess.Popen[bytes] | None = None
        self._busy = self._ready = False
        self._lock = reentrant()
        self._messages: SimpleQueue[bytes | None] = SimpleQueue()
        self._end: Any = None

    def ask(self, question: Message) -> None:
        """Asks, in the place of what was asked before. Answers come to `hear`."""
        with self._lock:
            if self._process is None:
                self._open()
            elif self._busy:
                self._waiting = question
                work = partial(self._replace, self._process, question)
                self._after(GRACE if self._ready else START, work)
            self._busy = True
            self._send(question)

    def close(self) -> None:
        """Ends the process."""
        with self._lock:
            process, self._process = self._process, None
            self._busy = False
            self._messages.put(None)
            if process is not None:
                _kill(process)

    def _replace(self, process: subprocess.Popen[bytes], question: Message) -> None:
        """A new process for a question of which the old one has not said anything."""
        with self._lock:
            if self._process is not process or self._waiting is not question:
                return
            self.close()
            self.ask(question)

    _waiting: Message | None = None

    def _open(self) -> None:
        path = os.pathsep.join(p for p in sys.path if p)
        process = self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", self.module],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        # Also where nobody closes this: at the end of Python, or when it is collected.
        self._end = weakref.finalize(self, _kill, process)
        self._ready, self._messages = False, SimpleQueue()
        for work, about in ((_listen, weakref.ref(self)), (_write, self._messages)):
            threading.Thread(target=work, args=(about, process), daemon=True).start()
        self._send(self.start)

    def _send(self, message: Message) -> None:
        # A pipe that nobody reads is full at some time, and whoever writes to it waits.
        self._messages.put(json.dumps(message).encode() + b"\n")

    def _heard(self, process: subprocess.Popen[bytes], message: Message) -> None:
        with self._lock:
            if process is not self._process:
                return  # of one that was replaced
            waiting = self._waiting
            if waiting is not None and message.get("revision") == waiting["revision"]:
                self._waiting = None
            if "ready" in message and "lost" not in message:
                self._ready = True
                return
            if "done" in message or "failed" in message:
                self._busy = False
            if "lost" in message:
                message = {**message, "ready": self._ready}
                self._process, self._busy = None, False
                self._messages.put(None)
        self.hear(message)


def _write(messages: SimpleQueue[bytes | None], process: subprocess.Popen[bytes]) -> None:
    """Gives a process its messages, as fast as it reads them."""
    assert process.stdin is not None
    # Where it has ended the thread that listens says so.
    with suppress(OSError, ValueError), process.stdin:
        while (message := messages.get()) is not None:
            process.stdin.write(message)
            process.stdin.flush()


def _listen(link: weakref.ref[Link], process: subprocess.Popen[bytes]) -> None:
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            try:
                message = json.loads(line)
            except ValueError:  # the last line of one that was killed is not whole
                process.kill()
                break
            there = link()
            if there is not None:
                there._heard(process, message)
            del there
    code = process.wait()
    there = link()
    if there is not None:
        how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        there._heard(process, {"lost": f"the process that tries directives has ended: {how}"})


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
