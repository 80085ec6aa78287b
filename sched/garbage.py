"""A pause for Python's collector of reference cycles while a schedule is proven or compiled.

Expressions, trees and sets are immutable and form no cycles, but there are very many of them, and
collections that traverse all of them repeatedly would take a good part of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from . import remembered
from .forks import at_fork, reentrant

_lock = reentrant()
_pauses = 0
_was_enabled = False


@contextmanager
def uncollected() -> Iterator[None]:
    """A context in which cycles are not collected, in any thread. Behind the last of concurrent
    contexts the collector is as it was before the first, and what was remembered is dropped."""
    global _pauses, _was_enabled
    # A signal handler may interrupt this between any two steps and compile something: it leaves
    # the number of pauses as it found it.
    with _lock:
        _pauses += 1
        if _pauses == 1:
            _was_enabled = gc.isenabled()
            gc.disable()
        remembered.begin()
    try:
        yield
    finally:
        with _lock:
            remembered.end()
            if _pauses == 1 and _was_enabled:
                gc.enable()
            _pauses = max(0, _pauses - 1)  # a process that was forked in a pause starts with 0


def _in_child() -> None:
    """Ends all pauses in a forked process, which lacks the threads that would end them."""
    global _pauses
    if _pauses and _was_enabled:
        gc.enable()
    for _ in range(_pauses):
        remembered.end()
    _pauses = 0


at_fork(after_in_child=_in_child)
