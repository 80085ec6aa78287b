"""A pause for Python's collector of reference cycles while a schedule is proven or compiled.

Expressions, trees and sets are immutable and make no cycles, but there are many: to look through
all of them again and again takes a good part of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from .forks import at_fork, reentrant

_lock = reentrant()
_pauses = 0
_was_enabled = False


@contextmanager
def uncollected() -> Iterator[None]:
    """No collection of cycles in the block, whichever thread is in it; as it was behind the last
    of them."""
    global _pauses, _was_enabled
    # A handler of a signal may come in between any two steps here, and compile something: it
    # finds a pause or none, and leaves it so.
    with _lock:
        _pauses += 1
        if _pauses == 1:
            _was_enabled = gc.isenabled()
            gc.disable()
    try:
        yield
    finally:
        with _lock:
            if _pauses == 1 and _was_enabled:
                gc.enable()
            _pauses = max(0, _pauses - 1)  # none is left in a process that was forked in one


def _in_child() -> None:
    """A forked process has none of the threads that would end their pauses."""
    global _pauses
    if _pauses and _was_enabled:
        gc.enable()
    _pauses = 0


at_fork(after_in_child=_in_child)
