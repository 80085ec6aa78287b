"""`Profile`: where the time of a call goes, as data."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from ...records import dataclass
from ..advice.predicted import Hint
from ..parts.displayed import Displayed
from ..parts.place import page_at
from . import display, table
from .picture import picture

How = Literal["clock", "sampled", "estimated", "inlined"]


@dataclass(frozen=True, slots=True)
class StageTime:
    """What a stage takes.

    Attributes:
        name: of the stage.
        seconds: of the call; where threads share a loop, its time is split as that of the threads
            is. Those of all stages add up to the call without what Python needs of it.
        error: a standard error of `seconds`, of sampling; 0 where there is a clock.
        how: whether it was timed by a clock, by looking which stage runs at random moments, or
            split by the cost model because it runs too briefly at a time for both; the weakest one
            that a part of it needed. "inlined" ones are computed inside of others.
        threads: seconds of each thread.
        begun: how often one of its regions was begun.
        instances: elements that it stores; None where data decide.
        operations, loaded, stored: operations of numbers, bytes; None where data decide.
        rate: operations a second. of_peak: the same as a part of what the threads can do.
    """

    name: str
    seconds: float
    error: float = 0.0
    how: How = "clock"
    threads: tuple[float, ...] = ()
    begun: int = 0
    instances: int | None = None
    operations: int | None = None
    loaded: int | None = None
    stored: int | None = None
    rate: float | None = None
    of_peak: float | None = None


@dataclass(frozen=True, slots=True)
class LoopTime:
    """What a loop takes that threads share.

    Attributes:
        seconds: from its beginning to its end, all times that it ran.
        threads: seconds that each thread was at work in it.
        efficiency: the part of the threads' time that they were at work.
        imbalance: by how much the busiest thread exceeds the mean, as a part of that.
        stages: those that run in it.
    """

    name: str
    seconds: float
    threads: tuple[float, ...]
    efficiency: float
    imbalance: float
    stages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """What a thread did from `start` to `end`, in seconds from the beginning of the call; `what`
    is the names of stages, or "waiting"."""

    thread: int
    start: float
    end: float
    what: str


@dataclass(frozen=True, slots=True)
class Profile(Displayed):
    """Where the time of a call goes; `print` shows it as a table.

    Attributes:
        signature: the arguments and results of the kernel.
        seconds: of the median run, by a clock around its native code, with what a call takes
            around that: checks, and what Python needs. What marks cost is taken out of all times,
            by the same part of each.
        least, most: the shortest and the longest run. runs: how many there were.
        plain: the median of calls of the ordinary kernel, between these.
        overhead: by which part the shortest run takes longer than the shortest of these.
        inside: seconds of the median run by the clock in its loops.
        stages, loops: where they go.
        threads: how many a call may have. efficiency: the part of their time that they work.
        spans: what threads did one after the other, up to `cut` seconds of the call.
        peak: operations a second of all threads, and `machine` where that is from.
        hints: what is likely to cost time, predicted; `kernel.advice` measures it.
        samples: random looks. least_region: nanoseconds of a region that has a clock.
    """

    signature: str
    seconds: float
    least: float
    most: float
    runs: int
    plain: float
    overhead: float
    inside: float
    stages: tuple[StageTime, ...]
    loops: tuple[LoopTime, ...]
    threads: int
    efficiency: float
    spans: tuple[Span, ...]
    cut: float | None
    peak: float
    machine: str
    samples: int
    least_region: float
    hints: tuple[Hint, ...] = ()

    @property
    def calling(self) -> float:
        """Seconds outside of the loops: checks, memory, and the way from Python and back."""
        return self.seconds - sum(s.seconds for s in self.stages)

    def to_dict(self) -> dict[str, Any]:
        """All of it as dicts, lists and numbers, which JSON can hold."""
        found: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return {**found, "calling": self.calling}

    def picture(self) -> str:
        """What each thread did over time, as SVG in a page of its own."""
        return str(display.whole(self, picture(self)))

    def trace(self, path: str | os.PathLike[str]) -> Path:
        """Writes the spans for Perfetto or Chrome's about:tracing. An existing file is replaced.

        Raises:
            OSError: the path cannot be written to.
        """
        whole = {"displayTimeUnit": "ns", "traceEvents": list(self._events())}
        with page_at(path, "trace", 'profile.trace("trace.json")') as place:
            place.write(json.dumps(whole, allow_nan=False))
            return place.path

    def _events(self) -> Iterator[dict[str, Any]]:
        yield _metadata("process_name", 0, name=self.signature)
        for thread in range(self.threads):
            name = "caller" if thread == 0 else f"worker {thread}"
            yield _metadata("thread_name", thread, name=name)
            yield _metadata("thread_sort_index", thread, sort_index=thread)
        for s in self.spans:
            times = {"ts": s.start * 1e6, "dur": (s.end - s.start) * 1e6}
            yield {"ph": "X", "cat": "stage", "name": s.what, "pid": 1, "tid": s.thread, **times}

    def __str__(self) -> str:
        return table.text(self)

    def __repr__(self) -> str:
        return f"Profile({self.seconds * 1e6:.6g} us, {len(self.stages)} stages)"

    def _repr_html_(self) -> str:
        return str(display.display_of(self))


def _metadata(name: str, thread: int, /, **args: str | int) -> dict[str, Any]:
    """An event of a trace that says what something is called, or where it stands."""
    return {"ph": "M", "name": name, "pid": 1, "tid": thread, "args": args}
