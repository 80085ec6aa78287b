"""A pause for Python's collector of reference cycles while a schedule is proven or compiled.

Expressions, trees and sets are immutable and make no cycles, but there are many: to look through
all of them again and again takes a good part of the time.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pauses = 0
_was_enabled = False


@contextmanager
def uncollected() -> Iterator[None]:
    """No collection of cycles in the block, whichever thread is in it; as it was behind the last
    of them."""
    global _pauses, _was_enabled
    with _lock:
        if not _pauses:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses = max(0, _pauses - 1)  # none is left in a process that was forked in one
            if not _pauses and _was_enabled:
                gc.enable()


def _in_child() -> None:
    """A forked process has none of the threads that would end their pauses."""
    global _lock, _pauses
    _lock = threading.Lock()
    if _pauses and _was_enabled:
        gc.enable()
    _pauses = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
