"""What a kernel is told at a call: the threads that it may use, and whether it is to stop.

Native code on the main thread keeps Python from running the handlers of signals. Long loops call
`_ask` now and then (`llvm/polls.py`), which does nothing: being entered is enough. What a handler
raises there, as Ctrl-C does, stops the kernel and is raised by the call.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Generator
from types import TracebackType
from typing import Any

from .llvm import compile_module, host
from .llvm.layout import CALL
from .llvm.polls import POLL, emit_poll
from .pool import keep_for_ever, pool

_NATIVE = ctypes.CFUNCTYPE(None, ctypes.c_int64)


class Call:
    """One call of a kernel, around which it is entered: `address` says where the words are.

    Leaving it raises what stopped the kernel.
    """

    def __init__(self, threads: int) -> None:
        self._words = words = (ctypes.c_int64 * len(CALL))()
        self.error: BaseException | None = None
        self.address = ctypes.addressof(words)
        words[CALL["poll"] // 8] = _poll_address()
        there = pool(threads) if threads > 1 else None
        if there is not None:
            words[CALL["run"] // 8] = there.native.run
            words[CALL["pool"] // 8] = there.address
            words[CALL["threads"] // 8] = threads
        self.is_asked = False

    def __enter__(self) -> Call:
        # Handlers of signals run on the main thread only. One that calls a kernel is not
        # interrupted by others: it runs inside of the generator, which cannot be entered twice.
        if threading.current_thread() is threading.main_thread() and not _asked.is_running:
            self._words[CALL["callback"] // 8] = _asked.address()
            _asked.calls.append(self)
            self.is_asked = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if self.is_asked:
            _asked.calls.remove(self)
        if self.error is not None and kind is None:
            raise self.error

    def stop(self) -> None:
        """Lets the kernel end early."""
        self._words[CALL["stop"] // 8] = 1


def _poll_address() -> int:
    """The function that kernels poll by, compiled when first needed. Several threads may do that
    at once, without harm; a lock might be held by what a handler of a signal has interrupted."""
    global _poll
    if _poll is None:
        code = compile_module(emit_poll(host()), host())
        keep_for_ever(code)
        _poll = code.address(POLL)
    return _poll


_poll: int | None = None


class _Asked:
    """The function that kernels on the main thread call."""

    def __init__(self) -> None:
        #: The calls that may ask; the innermost one, which a handler of another may have made,
        #: is the last.
        self.calls: list[Call] = []
        self._begin()

    def _begin(self) -> None:
        self._generator: Any = self._ask()
        next(self._generator)
        self._native = _NATIVE(self._generator.send)

    def _ask(self) -> Generator[None, int, None]:
        """A generator, since it is entered inside of the `try`: a function would be entered before
        its first statement, and ctypes drops what is raised there."""
        while True:
            try:
                while True:
                    yield
            except GeneratorExit:
                return
            except BaseException as error:
                call = self.calls[-1]
                call.error = error
                call.stop()

    @property
    def is_running(self) -> bool:
        return bool(self._generator.gi_running)

    def address(self) -> int:
        if self._generator.gi_frame is None:  # a second signal came while one was dealt with
            self._begin()
        return ctypes.cast(self._native, ctypes.c_void_p).value or 0


_asked = _Asked()
