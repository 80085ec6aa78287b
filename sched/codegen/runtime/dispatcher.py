"""The function that native code calls back."""

from __future__ import annotations

import ctypes
from collections.abc import Generator, Sequence

from ..build.callbacks import Arrays
from ..ir.ir import Callback
from .calls import STOP, Call

_NATIVE = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_int64))


class Dispatcher:
    """The function that one run of a kernel calls back; what it raises stops the call.

    It is a generator: what arrives while native code runs, as a KeyboardInterrupt, is raised
    where Python code is entered next. That is inside of the `try` here, whereas in a function it
    would be before the first statement, from where ctypes drops it.
    """

    def __init__(self, callbacks: Sequence[Callback], arrays: Arrays, call: Call) -> None:
        self._is_over = False
        self._serving = self._serve(callbacks, arrays, call)
        next(self._serving)
        self._native = _NATIVE(self._serving.send)

    def _serve(
        self, callbacks: Sequence[Callback], arrays: Arrays, call: Call
    ) -> Generator[None, Sequence[int], None]:
        while True:
            try:
                while True:
                    words = yield
                    if call.error is None:  # else the kernel is about to end
                        callbacks[words[0]](words, arrays)
            except BaseException as error:  # a callback may raise GeneratorExit, too
                if self._is_over:
                    return
                # Kept before anything is called, where a handler of a signal could run.
                call.error = error if call.error is None else call.error
                call.words[STOP] = 1

    def finish(self) -> None:
        """Lets go of the arrays."""
        self._is_over = True
        self._serving.close()

    @property
    def address(self) -> int:
        """Where native code finds it."""
        return ctypes.cast(self._native, ctypes.c_void_p).value or 0
