"""What a process owes one that is forked from it, where only the thread that forked lives on.

A lock that another thread held would be held there for ever: `reentrant` makes locks that nobody
holds in the child, unless it was the thread itself. What they guard is right between any two
steps of Python, so a fork does not wait for them. It waits for what `whole` was told of: native
code that leaves its own state half done.

All locks are reentrant: a handler of a signal may run in the midst of what it calls again.
"""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    from collections.abc import Callable

_locks: WeakSet[Any] = WeakSet()
_whole: list[AbstractContextManager[Any]] = []
_held: list[AbstractContextManager[Any]] = []


def reentrant() -> AbstractContextManager[Any]:
    """A lock for what Python code does."""
    lock = threading.RLock()
    _locks.add(lock)
    return lock


def is_mine(lock: Any) -> bool:
    """Whether this thread holds a lock that `reentrant` has made."""
    return bool(lock._is_owned())


def whole(lock: AbstractContextManager[Any]) -> None:
    """Lets forks wait until no other thread holds a lock; of two, for the one told first."""
    _whole.append(lock)


def at_fork(**hooks: Callable[[], None]) -> None:
    """`os.register_at_fork`, where there is one."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**hooks)


def _before() -> None:
    for lock in _whole:
        lock.__enter__()
        _held.append(lock)


def _behind() -> None:
    while _held:
        _held.pop().__exit__(None, None, None)


def _in_child() -> None:
    _behind()
    for lock in _locks:
        if lock.acquire(blocking=False):
            lock.release()
        else:
            lock._at_fork_reinit()


at_fork(before=_before, after_in_parent=_behind, after_in_child=_in_child)
