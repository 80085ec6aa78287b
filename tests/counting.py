"""What must not grow is counted, never timed: so it is the same on a slow machine, or a busy one.

`polysched.poly.sets.budget.counted` counts isl's operations; here are the calls of Python.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from polysched.poly.sets.budget import counted

T = TypeVar("T")


class Calls:
    """How many functions were called, in Python and in C."""

    count = 0


@contextmanager
def calls(limit: int | None = None) -> Iterator[Calls]:
    """Counts the calls inside, by this thread; fails at the call that is one too many. What other
    tests left behind is collected before or after: its finalizers are none of these calls."""
    found = Calls()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event in ("call", "c_call"):
            found.count += 1
            if limit is not None and found.count > limit:
                sys.setprofile(None)
                raise AssertionError(f"more than {limit:,} calls")

    before, collects = sys.getprofile(), gc.isenabled()
    gc.disable()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()


def operations(work: Callable[[], object]) -> int:
    """How many operations isl needs for something."""
    with counted() as tally:
        work()
    return tally.operations
