"""Tracebacks of refusals: text in terminals, and a display beside it in notebooks."""

from __future__ import annotations

import os
import sys
import traceback as tracebacks
from typing import Any
from weakref import WeakKeyDictionary

from ...lang.errors.errors import ScheduleError
from ...lang.errors.frames import FULL
from .display import html


def traceback(error: ScheduleError) -> list[str]:
    """The lines that IPython shows of a refusal that is about the order of instances, or of any
    other one. In a notebook the display is published first; the lines then say no more than the
    message, unless several lines of the user's have led to it."""
    shell = _shell()
    if shell is None:
        return tracebacks.format_exception(error)
    is_drawn = getattr(shell, "kernel", None) is not None and error._evidence is not None
    if is_drawn and _publish(error, _execution(shell)) and _is_of_one_line(error):
        return [f"{type(error).__name__}: {error}"]
    return _as_ever(shell, error)


_published: WeakKeyDictionary[ScheduleError, object] = WeakKeyDictionary()
"""The refusals that have been shown, each with the execution of a cell: IPython asks for the lines
of one again when it stores them."""


def _execution(shell: Any) -> object:
    """Which execution of a cell is under way."""
    asked: Any = getattr(shell, "get_parent", dict)()
    message = asked.get("header", {}).get("msg_id") if isinstance(asked, dict) else None
    return message or getattr(shell, "execution_count", None)


def _publish(error: ScheduleError, execution: object) -> bool:
    """Shows the display of a refusal. What fails here must not hide the refusal itself."""
    if _published.get(error, _published) == execution:
        return True
    try:
        from IPython.display import publish_display_data

        publish_display_data({"text/plain": "", "text/html": str(html(error))})
    except Exception:
        return False
    _published[error] = execution
    return True


def _is_of_one_line(error: ScheduleError) -> bool:
    trace = error.__traceback__
    return os.environ.get(FULL, "0") == "0" and (trace is None or _count(trace) <= _OF_IPYTHON + 1)


_OF_IPYTHON = 1
"""Frames of IPython's own at the beginning of a traceback: the one that runs cells."""


def _count(trace: Any) -> int:
    found = 0
    while trace is not None:
        found, trace = found + 1, trace.tb_next
    return found


def _as_ever(shell: Any, error: ScheduleError) -> list[str]:
    """What IPython would have shown."""
    made = shell.InteractiveTB.structured_traceback(type(error), error, error.__traceback__)
    lines: list[str] = made
    return lines


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()
