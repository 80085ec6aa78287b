"""Two pieces of work at once: one of them is done by another thread, which is there for it alone.

It may hold no lock of llvmlite's for long, or the two wait for each other. Where there is no other
thread, as at the end of the interpreter or in the child of a fork, both are done here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

from ....forks import reentrant

T = TypeVar("T")


def both(first: Callable[[], T], second: Callable[[], T], at_once: bool) -> tuple[T, T]:
    """The results of two pieces of work.

    Args:
        at_once: whether another thread may be begun.
    """
    other = _Beside(second)
    if at_once:
        other.begin()
    return first(), other.result()


class _Beside(Generic[T]):
    """Work for whoever comes first."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._lock = reentrant()
        self._results: list[T] = []

    def begin(self) -> None:
        """Has another thread do it. It ends by itself, also where nobody waits for it any more, and
        before the interpreter does: nobody may take LLVM away from it."""
        with suppress(RuntimeError):  # there are no more threads, or the interpreter is ending
            threading.Thread(target=self._try, name="polysched-compile", daemon=False).start()

    def _try(self) -> None:
        with suppress(Exception):  # it is raised where somebody asks for the result
            self.result()

    def result(self) -> T:
        """What comes of it: waits for the thread that is at it, or does it."""
        with self._lock:
            if not self._results:
                self._results.append(self._work())
            return self._results[0]
