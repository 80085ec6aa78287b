"""The state of a call that its kernel reads: the threads that it may use, and whether to stop.

Native code on the main thread keeps Python from running the handlers of signals. Long loops call
`_ask` now and then (`llvm/functions/polls.py`), which does nothing: being entered is enough. What a
handler raises there, as Ctrl-C does, stops the kernel and is raised by the call.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Generator
from types import TracebackType
from typing import Any

from ...forks import at_fork
from ...targets.host import default_target
from ..llvm import kept_module
from ..llvm.functions.polls import POLL, emit_poll
from ..llvm.text.layout import CALL
from .pool import keep_for_ever, native, pool

_NATIVE = ctypes.CFUNCTYPE(None, ctypes.c_int64)


STOP, _CALLBACK, _THREADS = (CALL[name] // 8 for name in ("stop", "callback", "threads"))


class Call:
    """One call of a kernel, around which it is entered. Leaving it raises what stopped the kernel.

    Attributes:
        words: what the kernel is told, `CALL`; `address` is where they are.
        error: what stopped it.
    """

    def __init__(self, threads: int) -> None:
        self.words = words = (ctypes.c_int64 * len(CALL))()
        self.error: BaseException | None = None
        self.address = ctypes.addressof(words)
        self._threads = threads
        self._pool = there = pool(threads) if threads > 1 else None
        words[CALL["poll"] // 8] = poll_address()  # of which the pool may have brought the code
        if there is not None:
            words[CALL["run"] // 8] = there.native.run
            words[CALL["pool"] // 8] = there.address
            words[_THREADS] = threads

    def __enter__(self) -> Call:
        _mine.calls.append(self)
        # Handlers of signals run on the main thread only. One that calls a kernel is not
        # interrupted by others: it runs inside of the generator, which cannot be entered twice.
        if threading.current_thread() is threading.main_thread() and not _mine.is_asking:
            self.words[_CALLBACK] = _mine.callback()
            _mine.asked.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        # Behind it may be calls that were interrupted before they had begun.
        for calls in (_mine.calls, _mine.asked):
            if self in calls:
                del calls[calls.index(self) :]
        if self.error is not None and kind is None:
            raise self.error

    def hold(self) -> None:
        """Waits until no worker is at work for it; none begins until `go_on`."""
        if self._pool is not None:
            self._pool.native.hold(self._pool.address, self.address)

    def go_on(self) -> None:
        """Lets workers take part again."""
        if self._pool is not None:
            self.words[_THREADS] = self._threads


def poll_address() -> int:
    """The function that kernels poll by, compiled when first needed: that of the pool, where there
    is one. Several threads may do that at once, without harm; a lock might be held by what a
    handler of a signal has interrupted."""
    global _poll
    if _poll is None:
        known = native()
        if known is not None:
            _poll = known.poll
            return _poll
        target = default_target()
        code = kept_module("poll", (), lambda: emit_poll(target), target)
        keep_for_ever(code)
        _poll = code.address(POLL)
    return _poll


_poll: int | None = None


class _Mine(threading.local):
    """The calls of a thread that are in progress, the innermost last; and of the main thread, the
    function that kernels call to ask, and which of the calls do."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.asked: list[Call] = []
        self._generator: Any = None

    def _ask(self) -> Generator[None, int, None]:
        """A generator, since it is entered inside of the `try`: a function would be entered before
        its first statement, and ctypes drops what is raised there."""
        while True:
            try:
                while True:
                    yield
            except BaseException as error:
                if not self.asked:  # it is the generator that is to end
                    return
                # Nothing is called here, where another handler could run.
                call = self.asked[-1]
                call.error = error if call.error is None else call.error
                call.words[STOP] = 1

    @property
    def is_asking(self) -> bool:
        return self._generator is not None and bool(self._generator.gi_running)

    def callback(self) -> int:
        """The address of the function. It is made when first needed, and again if a second signal
        came while one was dealt with."""
        if self._generator is None or self._generator.gi_frame is None:
            self._generator = self._ask()
            next(self._generator)
            self._native = _NATIVE(self._generator.send)
        return ctypes.cast(self._native, ctypes.c_void_p).value or 0


_mine = _Mine()


def _hold() -> None:
    """A handler of a signal that forks may have interrupted a loop on several threads. What the
    others have begun they end before, and in the child, where they are not, the one that is left
    does what remains."""
    for call in _mine.calls:
        call.hold()


def _go_on() -> None:
    for call in _mine.calls:
        call.go_on()


at_fork(before=_hold, after_in_parent=_go_on)
