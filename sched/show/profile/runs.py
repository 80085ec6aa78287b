"""Profiled runs of a call, between ordinary ones."""

from __future__ import annotations

import ctypes
import random
import threading
import time
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import field
from functools import cache
from statistics import median
from typing import Any, TypeVar

import numpy as np

from ...codegen.ir.mark_words import EVENTS, FIRST_EVENT, FIRST_REGION, WORDS
from ...codegen.llvm import kept_module
from ...codegen.llvm.functions.marks import CLOCK, clock_text
from ...codegen.llvm.functions.polls import CLOCK_NAME
from ...codegen.llvm.text.attributes import machine_attributes
from ...codegen.llvm.text.names import quoted, symbol
from ...codegen.runtime.arena import Pool
from ...codegen.runtime.variant import Prepared, Variant
from ...lang.nodes.dtypes import Array
from ...records import dataclass
from ...targets.host import default_target
from .instrumented import Instrumented

T = TypeVar("T")

SECONDS, FEWEST, MOST, LONG = 1.5, 5, 400, 9.0
"""For how long runs are repeated, how many of each kind count at least and at most, and seconds
after which there need not be so many."""

WARM, MOST_WARM, COUNTED, ALONE = 40e-3, 64, 8, 20e-3
"""For how long a call is repeated before its turn counts, and how often at most; how many runs of a
turn count. In a program that calls it again and again it finds in the caches what the calls before
have left, and not what runs of another kind have: some caches take thirty passes over the same
arrays until they hold what they can of them. A call of `ALONE` seconds is not repeated."""

PYTHON, NATIVE = 3.0, 3e-6
"""How many times as long a call takes around its native code, at most, as prepared code does; and
how many seconds where the call is entered without Python."""

LOOK = 0.5e-3, 1.5e-3
"""Seconds between two random looks: Python takes tens of microseconds for each."""


@dataclass(frozen=True)
class Run:
    """A profiled run: how long it took by a clock around it, and the words of all threads."""

    seconds: float
    state: Array


@dataclass
class Runs:
    """Profiled runs.

    Attributes:
        plain: seconds of the ordinary code, between them.
        called: seconds of whole calls of the kernel, between them.
        python: seconds that Python took around the ordinary code.
        native: whether calls are entered without Python.
        ticks: of the clock of marks, in a second.
        looks: how often a part was met at random moments, by region and part.
    """

    code: Instrumented
    profiled: list[Run] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    called: list[float] = field(default_factory=list)
    python: list[float] = field(default_factory=list)
    native: bool = False
    ticks: float = 1.0
    looks: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def middle(self) -> Run:
        """The median run; of an even number the shorter one of two."""
        ranked = sorted(self.profiled, key=lambda r: r.seconds)
        return ranked[(len(ranked) - 1) // 2]

    @property
    def overhead(self) -> float:
        """By which part marks make a run longer: of the shortest ones, which others on the machine
        disturb least."""
        return min(r.seconds for r in self.profiled) / min(self.plain) - 1

    @property
    def share(self) -> float:
        """The part of the median run with marks that the code without them takes in an ordinary
        call: what all times are multiplied by, so that they are those of one. Both are medians of
        runs in turns."""
        return (self.usual - self.way) / median(r.seconds for r in self.profiled)

    @property
    def usual(self) -> float:
        """Seconds of the median call."""
        return median(self.called)

    @property
    def way(self) -> float:
        """Seconds that a call takes around its native code, for checks and for Python.

        Others on the machine disturb medians, and the very shortest calls find in caches what usual
        ones do not: those are compared that a quarter is shorter than; but the shortest ones where
        loops wait for threads, which disturbs all others far more. What remains of that is told
        from what Python takes, of which a call has not many times as much. A call without Python
        takes a microsecond; the rest is that its intermediate results lie elsewhere.
        """
        part = 0.0 if self.code.variant.is_threaded else 0.25
        called, plain = (sorted(x)[int(part * len(x))] for x in (self.called, self.plain))
        most = NATIVE if self.native else PYTHON * median(self.python)
        return min(max(called - plain, 0.0), most)


class Timed:
    """Runs prepared code, with a clock around what is native alone: what Python does here before
    and behind is not what it does in a call of the kernel.

    Args:
        ready: called right before each run that counts.
    """

    def __init__(
        self,
        variant: Variant,
        prepared: Prepared,
        arrays: dict[str, Array],
        blocks: Pool,
        ready: Callable[[], None] = lambda: None,
    ) -> None:
        self._variant = copy(variant)
        self._native = variant.function
        self._variant.function = self._entered  # type: ignore[assignment]
        self._given = prepared, arrays, blocks
        self._ready = ready
        self._warm = 0
        self._seconds = self._inside = 0.0

    def __call__(self, warm: int) -> tuple[float, float]:
        """Runs it once, behind some runs that do not count; the seconds that it took, and those of
        Python around it."""
        self._warm = warm
        start = time.perf_counter()
        self._variant.run(*self._given)
        return self._seconds, time.perf_counter() - start - self._inside

    def _entered(self, slots: int) -> None:
        entered = time.perf_counter()
        for _ in range(self._warm):
            self._native(slots)
        self._ready()
        start = time.perf_counter()
        self._native(slots)
        end = time.perf_counter()
        self._seconds, self._inside = end - start, end - entered


@dataclass(frozen=True)
class Steps:
    """What runs are made of.

    Attributes:
        restore: gives InOuts their values.
        call: calls the kernel.
        plain: runs its code alone, and `marked` that with marks.
        repeats: whether a run may follow another one without `restore`: there are no InOuts, and no
            functions of the user's.
    """

    restore: Callable[[], None]
    call: Callable[[], Any]
    plain: Timed
    marked: Timed
    repeats: bool

    def called(self, warm: int) -> float:
        """Seconds of a call, behind others that do not count."""
        self.restore()
        for _ in range(warm):
            self.call()
        start = time.perf_counter()
        self.call()
        return time.perf_counter() - start

    def run(self, code: Timed, warm: int) -> tuple[float, float]:
        """The same of code alone: seconds that it took, and those of Python around it."""
        self.restore()
        return code(warm)


def runs(code: Instrumented, steps: Steps) -> Runs:
    """Runs a call as often as it takes."""
    found, now = Runs(code), _clock()
    # Pages and caches are touched, and the call is prepared, before anything counts.
    steps.called(0)
    steps.run(steps.plain, 0)
    steps.run(steps.marked, 0)
    warm = _warm(steps.called(0)) if steps.repeats else 0

    def marked(warm: int) -> Run:
        seconds, _ = steps.run(steps.marked, warm)
        return Run(seconds, copied(code.state))

    start, first = time.perf_counter(), now()
    sampler = _Sampler(code, found.looks)
    with sampler:
        while _goes_on(found, time.perf_counter() - start):
            found.called += _turn(warm, steps.called)
            for seconds, around in _turn(warm, lambda n: steps.run(steps.plain, n)):
                found.plain.append(seconds)
                found.python.append(around)
            found.profiled += _turn(warm, marked)
    found.ticks = (now() - first) / (time.perf_counter() - start)
    return found


def _warm(seconds: float) -> int:
    """How often a call is repeated before it is timed."""
    return 0 if seconds > ALONE else min(max(int(WARM / max(seconds, 1e-9)), 1), MOST_WARM)


# Most of what changes are kept in is never written to. It is left alone between two runs, which it
# would push out of the caches.
def clear(state: Array) -> None:
    """Makes words ready for a run."""
    state[:, :FIRST_EVENT] = 0
    state[:, FIRST_REGION:] = 0


def copied(state: Array) -> Array:
    """A copy of what a run has written."""
    made = np.empty_like(state)
    count = min(int(state[:, WORDS["events"]].max()), EVENTS)
    for part in (slice(FIRST_EVENT + 2 * count), slice(FIRST_REGION, None)):
        made[:, part] = state[:, part]
    return made


def _turn(warm: int, run: Callable[[int], T]) -> list[T]:
    """Runs of one kind: the first behind some that do not count, the others behind one each."""
    return [run(warm if k == 0 else 1) for k in range(COUNTED)] if warm else [run(0)]


def _goes_on(found: Runs, seconds: float) -> bool:
    """Whether there is one more turn of each kind, so many seconds behind the beginning."""
    count = len(found.profiled)
    return (count < FEWEST and seconds < LONG) or (count < MOST and seconds < SECONDS)


class _Sampler:
    """Looks at random moments which part each thread is at, if there are such parts."""

    def __init__(self, code: Instrumented, looks: dict[tuple[int, int], int]) -> None:
        self._parts: Mapping[int, frozenset[int]] = {
            number: frozenset(region.sampled)
            for number, region in enumerate(code.marked.regions)
            if region.sampled
        }
        self._state, self._looks = code.state, looks
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="polysched-profile", daemon=True)

    def __enter__(self) -> None:
        if self._parts:
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._end.set()
        if self._parts:
            self._thread.join()

    def _run(self) -> None:
        # Random, so that it does not keep step with loops.
        chance = random.Random(1)
        while not self._end.wait(chance.uniform(*LOOK)):
            self.look()

    def look(self) -> None:
        """Enters where each thread is. What a part says is about the region that the thread is in,
        or still of one before, which does not count."""
        for row in self._state:
            region, part = int(row[WORDS["region"]]), int(row[WORDS["part"]])
            if part in self._parts.get(region, ()):
                self._looks[region, part] = self._looks.get((region, part), 0) + 1


@cache
def _clock() -> Callable[[], int]:
    """The clock of marks."""
    target = default_target()
    name = "profile.clock"

    def text() -> str:
        body = f"  %t = call i64 {CLOCK}()\n  ret i64 %t"
        own = f"define i64 {quoted(symbol(name))}() #0 {{\n{body}\n}}"
        machine = f"attributes #0 = {{ nounwind {machine_attributes(target)} }}"
        head = f'target triple = "{target.triple}"'
        return "\n\n".join([head, clock_text(target), own, machine, CLOCK_NAME + "\n"])

    code = kept_module("profile clock", (), text, target)
    native = ctypes.CFUNCTYPE(ctypes.c_int64)(code.address(name))

    def now() -> int:
        assert code  # which must live as long as what points to it
        return int(native())

    return now


def ticks_of(state: Array, region: int) -> list[int]:
    """What each thread spent in a region, in ticks."""
    return [int(x) for x in state[:, FIRST_REGION + 2 * region]]


def begun(state: Array, region: int) -> int:
    """How often a region was begun, by all threads."""
    return int(state[:, FIRST_REGION + 2 * region + 1].sum())
