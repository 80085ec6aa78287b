"""The pool of threads: Python makes them, native code keeps them. See `llvm/threads/runtime.py`.

A worker is a daemon thread that calls the native loop once, by ctypes, which lets go of the GIL,
and never comes back: it needs no Python to work, and at the end of the process the system takes it
away, wherever it is. So the memory that a worker may touch then is never freed: the pool and the
code of the loop have one reference more than they have owners.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from dataclasses import astuple
from typing import Any

import numpy as np

from ...forks import at_fork
from ...targets.host import default_target
from ..llvm import CompiledCode, kept_module
from ..llvm.functions.polls import POLL
from ..llvm.text.layout import BOX, LINE, POOL
from ..llvm.threads.runtime import HOLD, NOW, RUN, STARTING, WORKER, Waiting, emit_runtime
from .threads import MOST

SPIN = 30e-6
"""Seconds that an idle thread looks for work before it sleeps: a few times as long as waking it
takes, and too short to be noticed by others on the machine."""


TICKS = 50e-6
"""Seconds in which the ticks of the processor's clock are counted: a hundred times as long as
reading it."""

INLINE, SHARE, CHUNK = 10e3, 5e3, 2e3
"""Nanoseconds of estimated work: below which a loop is not handed out, what each thread gets at
least, and what a chunk takes at least, so that counting costs nothing."""


class Native:
    """The compiled functions, and how the system lets a thread sleep."""

    def __init__(self) -> None:
        waiting, self.system = _waiting()
        target = default_target()
        told = astuple(waiting)
        code = kept_module("threads", told, lambda: emit_runtime(target, waiting), target)
        keep_for_ever(code)
        self.run, self.poll = code.address(RUN), code.address(POLL)
        self.hold = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code.address(HOLD))
        self.worker = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code.address(WORKER))
        self.ticks_a_second = _ticks_a_second(code)


class Pool:
    """Threads that wait for loops."""

    def __init__(self, native: Native) -> None:
        self.native = native
        self.lock = threading.Lock()  # noqa: TID251 - nobody waits for it
        self.started = 0
        # Zeros that the system gives: it has few pages that are written.
        self._memory = np.zeros((MOST + 2) * LINE, np.uint8)
        keep_for_ever(self._memory)
        self.address = -(-self._memory.ctypes.data // LINE) * LINE
        self._word(POOL["system"]).value = native.system
        self._word(POOL["spin"]).value = int(SPIN * native.ticks_a_second)
        self.thresholds(INLINE, SHARE, CHUNK)

    def thresholds(self, inline: float, share: float, chunk: float) -> None:
        """Says how much work is worth a thread; zeros hand out every loop, for tests."""
        for name, value in (("inline", inline), ("share", share), ("chunk", chunk)):
            ctypes.c_double.from_address(self.address + POOL[name]).value = value

    def grow(self, workers: int) -> None:
        """Starts threads until there are as many; fewer if the system refuses more, or another
        thread is about to start some."""
        if not self.lock.acquire(blocking=False):
            return
        try:
            while self.started < workers and self._start(self.started):
                self.started += 1
                self._word(POOL["workers"]).value = self.started
        finally:
            self.lock.release()

    def _start(self, number: int) -> bool:
        box = LINE * (1 + number)
        self._word(box + BOX["word"]).value = STARTING
        thread = threading.Thread(
            target=self.native.worker,
            args=(self.address, self.address + box),
            name=f"polysched-{number + 1}",
            daemon=True,
        )
        try:
            thread.start()
        except RuntimeError:  # no more threads, or the interpreter is about to end
            return False
        return True

    def work_done(self) -> list[tuple[int, int]]:
        """The chunks and the jobs that each worker has done so far."""
        boxes = [LINE * (1 + k) for k in range(self.started)]
        fields = [BOX["chunks"], BOX["jobs"]]
        counts = [[self._word(box + f).value for f in fields] for box in boxes]
        return [(chunks, jobs) for chunks, jobs in counts]

    def _word(self, offset: int) -> ctypes.c_int64:
        return ctypes.c_int64.from_address(self.address + offset)


_lock = threading.Lock()  # noqa: TID251 - nobody waits for it
_native: Native | None = None
_pool: Pool | None = None


def pool(threads: int) -> Pool | None:
    """The pool of this process, with enough threads for a loop on `threads` of them, if it can be
    had at once. Nobody waits for it: it may be this very thread that makes it, interrupted by a
    handler of a signal that calls a kernel."""
    found = _pool or _made()
    if found is not None and found.started < threads - 1:
        found.grow(threads - 1)
    return found


def native() -> Native | None:
    """The compiled functions, if this process has needed them before."""
    return _native


def _made() -> Pool | None:
    global _native, _pool
    lock = _lock
    if not lock.acquire(blocking=False):
        return None
    try:
        if _native is None:
            _native = Native()
        if _pool is None:
            _pool = Pool(_native)
        return _pool
    finally:
        lock.release()


def _after_fork() -> None:
    """Only the thread that forked lives on in the child, and a lock may be held by another."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()  # noqa: TID251


at_fork(after_in_child=_after_fork)


def _waiting() -> tuple[Waiting, int]:
    """How threads sleep here, and the address of the system's function for it."""
    if sys.platform == "win32":
        return Waiting(False, 1), _address(ctypes.WinDLL("kernel32").Sleep)
    process = ctypes.CDLL(None)
    if sys.platform == "linux" and sys.byteorder == "little":
        return Waiting(True), _address(process.syscall)
    return Waiting(False, 200), _address(process.usleep)


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _ticks_a_second(code: CompiledCode) -> float:
    """The frequency of the processor's clock, within a few per cent."""
    now = ctypes.CFUNCTYPE(ctypes.c_int64)(code.address(NOW))
    start, first = time.perf_counter(), now()
    while (passed := time.perf_counter() - start) < TICKS:
        pass
    return float(now() - first) / passed


def keep_for_ever(thing: object) -> None:
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
