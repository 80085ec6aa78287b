"""Logs of the compiler's steps: the logger `polysched` of Python's `logging`, and POLYSCHED_LOG.

Both tell the same: each step of a compilation and how long it took, what a pass has made of the
IR, and each kernel that is compiled. The logger has steps at the level DEBUG, IR at DEBUG under the
name `polysched.ir`, and kernels at INFO. POLYSCHED_LOG prints to stderr what programs without
handlers of their own shall show: `1` all of it, `times` all but the IR.

Text is made only where somebody listens. `logging` is not imported here: a program that has not
done so has no handler. It would take a sixth of what importing polysched takes, and it registers
what is to be done at forks, which must not happen in the midst of one: forks wait for threads that
load modules of polysched.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from logging import Logger

T = TypeVar("T")

DEBUG, INFO, WARNING = 10, 20, 30  # as in `logging`

_loggers: tuple[Logger, Logger] | None = None


def loggers() -> tuple[Logger, Logger] | None:
    """The loggers of steps and of IR; None as long as the program has not imported `logging`."""
    global _loggers
    if _loggers is None and "logging" in sys.modules:
        import logging

        steps = logging.getLogger("polysched")
        steps.addHandler(logging.NullHandler())  # whether anything is shown is up to the program
        _loggers = steps, steps.getChild("ir")
    return _loggers


def tell(level: int, step: str, message: str, *args: object) -> None:
    """Tells the logger of something that takes no time, if there is anybody to hear it.

    Args:
        step: what it belongs to; handlers find it where they find the names of steps.
    """
    known = loggers()
    if known is not None:
        known[0].log(level, message, *args, extra={"step": step})


class Log:
    """Times the steps of one compilation. `seconds` has them by name; what a step takes for others
    is theirs, so that all together are the time that was taken."""

    def __init__(self) -> None:
        level = os.environ.get("POLYSCHED_LOG", "")
        self.level = "" if level == "0" else level
        self.seconds: dict[str, float] = {}
        self._inside = 0.0  # seconds of the steps within the one that is under way

    def step(
        self, name: str, function: Callable[[], T], show: Callable[[T], str] | None = None
    ) -> T:
        """Runs one step, and tells of it.

        Args:
            show: gives a text of the result, empty where there is nothing new to see. It is called
                only where that is shown.
        """
        before, self._inside = self._inside, 0.0
        start = time.perf_counter()
        try:
            result = function()
        except BaseException:
            self._inside += before  # its own time is that of the step around it
            raise
        whole = time.perf_counter() - start
        taken, self._inside = whole - self._inside, before + whole
        self.seconds[name] = self.seconds.get(name, 0.0) + taken
        self._tell(DEBUG, name, taken)
        if show is not None:
            self._show(name, show, result)
        return result

    def compiled(self, name: Callable[[], str]) -> None:
        """Tells that the steps so far have compiled a kernel.

        Args:
            name: gives a text that says which one and for what. It is called only where that is
                shown.
        """
        known = loggers()
        if self.level or (known is not None and known[0].isEnabledFor(INFO)):
            self._tell(INFO, f"compiled {name()}", sum(self.seconds.values()))

    def _tell(self, level: int, what: str, seconds: float) -> None:
        known = loggers()
        if known is not None and known[0].isEnabledFor(level):
            extra = {"step": what, "seconds": seconds}
            known[0].log(level, "%s: %.2f ms", what, seconds * 1e3, extra=extra)
        if self.level:
            print(f"-- {what}: {seconds * 1e3:.2f} ms", file=sys.stderr)

    def _show(self, name: str, show: Callable[[T], str], result: T) -> None:
        """Shows what a step has made, where somebody wants to see it."""
        known = loggers()
        is_printed = self.level not in ("", "times")
        is_logged = known is not None and known[1].isEnabledFor(DEBUG)
        text = show(result) if is_printed or is_logged else ""
        if text and is_printed:
            print(text, file=sys.stderr)
        if text and known is not None:
            known[1].debug("%s:\n%s", name, text, extra={"step": name})
