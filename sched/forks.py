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

Lock = AbstractContextManager[Any]

_locks: WeakSet[Any] = WeakSet()
_whole: list[Lock] = []
_held: list[Lock] = []


def reentrant() -> Lock:
    """A lock for what Python code does."""
    lock = threading.RLock()  # noqa: TID251
    _locks.add(lock)
    return lock


def is_mine(lock: Any) -> bool:
    """Whether this thread holds a lock that `reentrant` has made."""
    return bool(lock._is_owned())


def whole(lock: Lock | None = None) -> Lock:
    """A lock, made here or by others, that no other thread holds when a process forks; forks take
    them in the order of these calls."""
    taken = threading.RLock() if lock is None else lock  # noqa: TID251
    _whole.append(taken)
    return taken


def at_fork(**hooks: Callable[[], None]) -> None:
    """`os.register_at_fork`, where there is one."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**hooks)


def _before() -> None:
    for lock in _whole:
        lock.__enter__()
        _held.append(lock)


def _behind() -> None:
    # Those that `_before` has taken last: it may have been interrupted by one that forks, too.
    for _ in range(min(len(_whole), len(_held))):
        _held.pop().__exit__(None, None, None)


def _in_child() -> None:
    _behind()
    for lock in _locks:
        if lock.acquire(blocking=False):
            lock.release()
        else:
            lock._at_fork_reinit()


at_fork(before=_before, after_in_parent=_behind, after_in_child=_in_child)
