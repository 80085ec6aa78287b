"""The process in which candidates are tried and schedules are measured.

It reads lines of JSON from its standard input: first the program and the file of arguments, then
one question for each revision. A question that comes while another one is answered replaces it.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import Any

from ...codegen.runtime.kernel import Kernel
from ...lang.errors.errors import PolyschedError
from ...lang.program.program import Program
from ...lang.travel import text
from ...poly.schedule.schedule import Schedule
from .moves import Move, moves
from .picture import sketched

Say = Callable[[dict[str, Any]], None]
MOST_CALLS, ENOUGH = 25, 0.2
"""A schedule is called so often, or for so many seconds."""


class Trials:
    """Answers questions on the schedules of one program."""

    def __init__(self, start: dict[str, Any], questions: SimpleQueue[Any], say: Say) -> None:
        for module in start["modules"]:
            import_module(module)
        self.program: Program = text.read(start["program"]).program
        self.arguments = start["arguments"]
        self.questions, self.say = questions, say

    def answer(self, question: dict[str, Any]) -> None:
        """Draws, tries each candidate, then measures, unless another question comes."""
        revision = question["revision"]
        schedule = Schedule.from_json(
            self.program.outputs, question["schedule"], self.program.inputs
        )
        found = moves(schedule, question["stage"]) if question["stage"] else ()
        if [move.text() for move in found] != question["moves"]:
            self.say({"revision": revision, "failed": "the candidates differ in another process"})
            return
        if question["draws"]:
            picture = sketched(schedule, question["stage"])
            self.say({"revision": revision, **picture.plain()})
        for index, move in list(enumerate(found))[question["first"] :]:
            if not self.questions.empty():
                return
            kind, why = tried(move, schedule)
            self.say({"revision": revision, "index": index, "kind": kind, "why": why})
        if self.arguments is not None and self.questions.empty():
            self.say({"revision": revision, "seconds": self.measure(schedule)})
        self.say({"revision": revision, "done": True})

    def measure(self, schedule: Schedule) -> float:
        """The shortest of several calls, in seconds, each on fresh copies of the arguments."""
        kernel = Kernel(schedule.proven_copy())
        stored = Path(self.arguments).read_bytes()
        best, spent = float("inf"), 0.0
        for k in range(MOST_CALLS + 1):
            args, kwargs = pickle.loads(stored)
            start = perf_counter()
            kernel(*args, **kwargs)
            seconds = perf_counter() - start
            if k:  # the first call makes the code
                best, spent = min(best, seconds), spent + seconds
            if spent > ENOUGH or not self.questions.empty():
                break
        return best if best != float("inf") else seconds


def tried(move: Move, schedule: Schedule) -> tuple[str, str]:
    """Whether a candidate is legal, and why not. A fault of one says nothing of others."""
    try:
        move.apply(schedule.copy())
    except PolyschedError as error:
        return "refused", str(error)
    except Exception as error:
        return "unknown", f"{type(error).__name__}: {error}"
    return "legal", ""


def main() -> None:
    """Answers until the input ends."""
    # Ctrl-C is for whoever asks, in whose group of processes this one is.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # other output must not come between the lines of JSON

    def say(message: dict[str, Any]) -> None:
        out.write(json.dumps(message).encode() + b"\n")
        out.flush()

    questions: SimpleQueue[Any] = SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            questions.put(json.loads(line))
        os._exit(0)  # whoever asked is gone: nobody wants what is being tried

    threading.Thread(target=listen, daemon=True).start()
    try:
        answer = Trials(questions.get(), questions, say).answer
    except Exception as error:
        answer = partial(_failed, say, f"{type(error).__name__}: {error}")
    say({"ready": True})
    while True:
        question = questions.get()
        while True:  # only the last one counts
            try:
                question = questions.get_nowait()
            except Empty:
                break
        try:
            answer(question)
        except Exception as error:
            _failed(say, f"{type(error).__name__}: {error}", question)


def _failed(say: Say, why: str, question: dict[str, Any]) -> None:
    say({"revision": question["revision"], "failed": why})


if __name__ == "__main__":
    main()
