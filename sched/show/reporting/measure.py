"""How long the kernel of a report takes on the arguments of a call, which stay as they are."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from ...codegen.runtime.threads import get_num_threads, threads
from ...lang.nodes.dtypes import Array
from ...lang.tensors.inout import InOut
from ...records import dataclass
from .arguments import Asked

SECONDS, FEWEST, MOST = 0.25, 5, 200
"""For how long runs are repeated, and how many there are at least and at most."""

LONG = 2.0
"""Seconds after which there need not be so many."""


@dataclass(frozen=True, slots=True)
class Timed:
    """Times of calls on one number of threads, in seconds.

    Attributes:
        seconds: the median.
        least, most: the shortest and the longest one.
        runs: how many there were.
    """

    threads: int
    seconds: float
    least: float
    most: float
    runs: int


def measured(asked: Asked) -> tuple[Timed, ...]:
    """Times on one thread, and on as many as a call may have, where that is more and the code has
    parallel loops."""
    if asked.bound is None:
        return ()
    call = Repeated(asked)
    most = get_num_threads() if asked.chosen._variant(asked.strided).is_threaded else 1
    return tuple(_on(count, call) for count in sorted({1, most}))


def _on(count: int, call: Repeated) -> Timed:
    with threads(count):
        call.run()  # warm: pages and caches, and the call is prepared
        times: list[float] = []
        while _goes_on(times):
            call.restore()
            start = time.perf_counter()
            call.run()
            times.append(time.perf_counter() - start)
    return Timed(count, median(times), min(times), max(times), len(times))


def _goes_on(times: list[float]) -> bool:
    """Whether there is one more run."""
    total = sum(times)
    return (len(times) < FEWEST and total < LONG) or (len(times) < MOST and total < SECONDS)


class Repeated:
    """A call that can be repeated: InOuts are copies, and outputs arrays of its own.

    Attributes:
        args, kwargs: those of the call, with these arrays.
    """

    def __init__(self, asked: Asked) -> None:
        bound, program = asked.bound, asked.kernel._program
        assert bound is not None
        self._copies: list[tuple[Array, Array]] = []
        replaced: dict[int, Array] = {}
        for func, given in bound.returned.items():
            if isinstance(func, InOut):
                (array,) = bound.out[func]
                copy = _like(array)
                replaced[id(given)] = copy
                self._copies.append((copy, array))
        given = {k: v for k, v in asked.kwargs.items() if k != "out"}
        args = tuple(replaced.get(id(x), x) for x in asked.args)
        kwargs = {k: replaced.get(id(x), x) for k, x in given.items()}
        self.args, self.kwargs = args, kwargs
        self._run: Callable[[], Any] = lambda: asked.kernel(*args, **kwargs)
        results = self._run()
        found = results if len(program.outputs) > 1 else (results,)
        out = {
            program.names[f]: r
            for f, r in zip(program.outputs, found, strict=True)
            if not isinstance(f, InOut)
        }
        if out:
            kwargs["out"] = out if len(program.outputs) > 1 else next(iter(out.values()))
            kwargs.pop("shape", None)
        self.restore()

    @property
    def restores(self) -> bool:
        """Whether there are InOuts."""
        return bool(self._copies)

    def restore(self) -> None:
        """Gives InOuts the values that they had."""
        for copy, array in self._copies:
            copy[...] = array

    def run(self) -> None:
        """Calls the kernel once."""
        self._run()


def _like(array: Array) -> Array:
    """A copy that lies in memory as an array does: the same code runs on it."""
    steps = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True) if n]
    before = -sum(step for step in steps if step < 0)
    room = np.empty(before + sum(s for s in steps if s > 0) + array.itemsize, np.uint8)
    found: Array = np.ndarray(array.shape, array.dtype, room, before, array.strides)
    found[...] = array
    return found
