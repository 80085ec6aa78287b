"""Locks that are safe in forked processes, in which only the thread that forked lives on.

A lock that another thread held at the fork would never be released in the child. `reentrant` makes
locks that are free in the child, unless the forking thread itself held them. The state that they
guard is consistent between any two steps of Python, so a fork does not wait for them. It waits for
the locks of `whole`, which guard the state of native code that must not be interrupted.

All locks are reentrant: a handler of a signal may interrupt a function that holds one and call the
same function.
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
    """A lock for state that Python code changes; it is free in a forked child."""
    lock = threading.RLock()  # noqa: TID251
    _locks.add(lock)
    return lock


def is_mine(lock: Any) -> bool:
    """Whether this thread holds a lock that `reentrant` has made."""
    return bool(lock._is_owned())


def whole(lock: Lock | None = None) -> Lock:
    """A lock for which forks wait, so that no other thread holds it at a fork: a new one, or the
    given one. Forks take these locks in the order of the calls of this function."""
    taken = threading.RLock() if lock is None else lock  # noqa: TID251
    _whole.append(taken)
    return taken


def at_fork(**hooks: Callable[[], None]) -> None:
    """Calls `os.register_at_fork`, on systems that have it."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**hooks)


def _before() -> None:
    for lock in _whole:
        lock.__enter__()
        _held.append(lock)


def _behind() -> None:
    # Releases the locks that `_before` has taken last: a signal handler that forks, too, may have
    # interrupted another `_before`.
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
