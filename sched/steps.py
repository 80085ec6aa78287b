"""POLYSCHED_LOG: a log of the compiler's steps, with their times and results.

Set it to `1` to see the IR after each pass that changed it, and times; to `times` for times alone.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Log:
    """Times the steps of one compilation. `seconds` has them by name."""

    def __init__(self) -> None:
        level = os.environ.get("POLYSCHED_LOG", "")
        self.level = "" if level == "0" else level
        self.seconds: dict[str, float] = {}

    def step(
        self, name: str, function: Callable[[], T], show: Callable[[T], str] | None = None
    ) -> T:
        """Runs one step; prints its result if the log is enabled and `show` gives a text."""
        start = time.perf_counter()
        result = function()
        taken = time.perf_counter() - start
        self.seconds[name] = self.seconds.get(name, 0.0) + taken
        if self.level:
            print(f"-- {name}: {taken * 1e3:.2f} ms", file=sys.stderr)
            if self.level != "times" and show is not None and (text := show(result)):
                print(text, file=sys.stderr)
        return result
