"""What a step may take: processor time, memory, iterations.

A step that takes more than it may is a finding. One that takes much more is ended by the system,
which the process that waits for it sees as a crash or as a hang.
"""

from __future__ import annotations

import re
import resource
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest import mock

from polysched.checking import examine, execute
from polysched.codegen.ir import ir
from polysched.interp.evaluate import Env
from polysched.poly.nests import loop_program as lp

SECONDS = 5.0
"""Of processor time: more for one directive, print, compilation or call is a finding."""
LINES = 30
"""Of a program: for longer ones it may take longer, in proportion."""
COPIES = 16
"""Of a loop's body that unrolling may ask for: to compile more may take longer, in proportion."""
KILLED = 40
"""Seconds of processor time after which the system ends the process."""
ADDRESSES = 12 << 30
"""Bytes of address space. Libraries reserve a few GiB that they never touch."""
SCRATCH = 64 << 20
"""Bytes that a kernel may ask for at the sizes that are tried, which are small."""
ITERATIONS = 100_000
"""Of all loops of a schedule together, at such sizes; more where the program as written takes a
tenth of as many."""

INTERPRETED = 8.0
"""Of processor time, for the interpreter: it is slow by design, and programs may ask for much."""


def copies(nests: Sequence[lp.Nest]) -> int:
    """How many copies of a statement the unrolled loops around it make at most."""
    most = 1
    for nest in nests:
        own = nest.count or 1 if isinstance(nest, lp.Loop) and nest.kind == "unrolled" else 1
        most = max(most, own * copies(lp.children(nest)))
    return most


def widest_skew(steps: Sequence[str]) -> int:
    """The largest number that a loop is skewed by: once a later directive brings that loop outside,
    it runs over as many values, and over what lies between them."""
    found = (re.search(r"\.skew\(.*?(\d+)\)$", step) for step in steps)
    return max((int(by[1]) for by in found if by), default=0)


class TooLong(BaseException):
    """What is slow by design was given up. What runs must not take it for an error of its own."""


class TooMuch(Exception):
    """More iterations or memory than small sizes can need."""


@dataclass
class Span:
    """How long a step has taken, in seconds of processor time, once it is over."""

    seconds: float = 0.0


@contextmanager
def limited(span: Span) -> Iterator[None]:
    """A step, timed by `span`. The process ends if it takes far too long."""
    start = time.process_time()
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(start) + KILLED, hard))
    try:
        yield
    finally:
        span.seconds = time.process_time() - start
        resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))


@contextmanager
def given_up(seconds: float) -> Iterator[None]:
    """Ends Python code that takes longer, by `TooLong`."""

    def end(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def limit_memory() -> None:
    """This process may not ask for more than a machine has."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, hard))


class _Counting(execute.Machine):
    """Counts what it runs."""

    def __init__(self, most: int, *args: Any) -> None:
        super().__init__(*args)
        self.most = self.left = most

    def _run(self, stmt: ir.Stmt, env: Env, at: execute.Step | None = None) -> None:
        if at is not None and at[0] != "seq":
            self._count()
        super()._run(stmt, env, at)

    def _joint(self, stmt: ir.Stores, envs: list[Env]) -> None:
        if self.path[-1:] and self.path[-1][0] == "lanes":
            self._count()
        super()._joint(stmt, envs)

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise TooMuch(f"more than {self.most} iterations")


@contextmanager
def counted(most: int) -> Iterator[None]:
    """Schedules that are examined inside may run so many iterations."""
    with mock.patch.object(examine, "Machine", partial(_Counting, most)):
        yield
