"""Doing something after a while."""

from __future__ import annotations

import threading
from collections.abc import Callable

Later = Callable[[float, Callable[[], None]], None]
"""Calls a function after some seconds."""


def later(seconds: float, work: Callable[[], None]) -> None:
    """Calls a function after some seconds, in a thread of its own, unless Python ends before."""
    timer = threading.Timer(seconds, work)
    timer.daemon = True
    timer.start()
