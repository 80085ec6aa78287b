"""Logs of the compiler's steps: the logger `polysched` of Python's `logging`, and POLYSCHED_LOG.

Both tell the same: each step of a compilation and how long it took, what a pass has made of the
IR, and each kernel that is compiled. The logger has steps at the level DEBUG, IR at DEBUG under the
name `polysched.ir`, and kernels at INFO. POLYSCHED_LOG prints to stderr what programs without
handlers of their own shall show: `1` all of it, `times` all but the IR.

Text is made only where somebody listens.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LOGGER = logging.getLogger("polysched")
LOGGER.addHandler(logging.NullHandler())  # whether anything is shown is up to the program
IR = LOGGER.getChild("ir")


class Log:
    """Times the steps of one compilation. `seconds` has them by name."""

    def __init__(self) -> None:
        level = os.environ.get("POLYSCHED_LOG", "")
        self.level = "" if level == "0" else level
        self.seconds: dict[str, float] = {}

    def step(
        self, name: str, function: Callable[[], T], show: Callable[[T], str] | None = None
    ) -> T:
        """Runs one step, and tells of it.

        Args:
            show: gives a text of the result, empty where there is nothing new to see. It is called
                only where that is shown.
        """
        start = time.perf_counter()
        result = function()
        taken = time.perf_counter() - start
        self.seconds[name] = self.seconds.get(name, 0.0) + taken
        self._tell(logging.DEBUG, name, taken)
        is_printed = self.level not in ("", "times")
        if show is not None and (is_printed or IR.isEnabledFor(logging.DEBUG)):
            text = show(result)
            if text and is_printed:
                print(text, file=sys.stderr)
            if text:
                IR.debug("%s:\n%s", name, text, extra={"step": name})
        return result

    def compiled(self, name: Callable[[], str]) -> None:
        """Tells that the steps so far have compiled a kernel.

        Args:
            name: gives a text that says which one and for what. It is called only where that is
                shown.
        """
        if self.level or LOGGER.isEnabledFor(logging.INFO):
            self._tell(logging.INFO, f"compiled {name()}", sum(self.seconds.values()))

    def _tell(self, level: int, what: str, seconds: float) -> None:
        if LOGGER.isEnabledFor(level):
            extra = {"step": what, "seconds": seconds}
            LOGGER.log(level, "%s: %.2f ms", what, seconds * 1e3, extra=extra)
        if self.level:
            print(f"-- {what}: {seconds * 1e3:.2f} ms", file=sys.stderr)
