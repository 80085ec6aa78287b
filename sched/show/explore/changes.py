"""What a page is told: what has changed since it was told last, and that not too often.

Each change has a number. A page that meets another one than the next has missed something, and asks
for all. So nothing depends on when a page began to listen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...forks import reentrant
from .later import Later, later

PAUSE = 0.1
"""Seconds between two changes: a process that tries candidates says more than a page can show."""

View = dict[str, Any]
PENDING = ["pending", ""]


def changed(before: View | None, now: View) -> View:
    """What differs in two views, as a page takes it: keys with new values, and of the verdicts
    those of which the page does not know yet, with their numbers. Where the revision is a new one
    the page knows of none."""
    old = before or {}
    found = {k: x for k, x in now.items() if k != "verdicts" and (k not in old or old[k] != x)}
    verdicts = now["verdicts"]
    known = [PENDING] * len(verdicts) if "revision" in found else old["verdicts"]
    pairs = enumerate(zip(verdicts, known, strict=True))
    told = [[k, *new] for k, (new, last) in pairs if new != last]
    return {**found, "verdicts": told} if told else found


class Changes:
    """Tells a page of changes, from whichever thread they come, one after another.

    Args:
        view: gives what is to be shown now.
        send: gives a page what has changed.
        after: does something after some seconds.
    """

    def __init__(
        self,
        view: Callable[[], View],
        send: Callable[[View], None],
        after: Later = later,
    ) -> None:
        self._view, self._send, self._after = view, send, after
        # Held while a view is taken and sent, so that none overtakes a later one.
        self._lock = reentrant()
        self._number = 0
        self._sent: View | None = None
        self._rests = self._is_due = False

    def state(self) -> View:
        """All that is shown now, with the number of the last change, for a page that begins."""
        with self._lock:
            now = self._view()
            self._sent = now if self._sent is None else self._sent
            return {**now, "number": self._number}

    def tell(self) -> None:
        """Something may have changed: the page is told, if not at once then after a pause."""
        with self._lock:
            if self._rests:
                self._is_due = True
            else:
                self._tell()

    def asked(self, number: Any) -> None:
        """A page that knows of the changes up to `number` asks for what it has missed."""
        with self._lock:
            if number != self._number:
                self._sent = None
                self._tell()

    def _tell(self) -> None:
        now = self._view()
        change = changed(self._sent, now)
        if not change:
            return
        self._number += 1
        is_whole, self._sent = self._sent is None, now
        self._send({**change, "number": self._number, "whole": is_whole})
        if not self._rests:
            self._rests = True
            self._after(PAUSE, self._rested)

    def _rested(self) -> None:
        with self._lock:
            self._rests, is_due, self._is_due = False, self._is_due, False
            if is_due:
                self._tell()
