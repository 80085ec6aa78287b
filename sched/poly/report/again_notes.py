"""Loops at which stages are computed more than once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..nests.loop_nest import NestLoop
from .notes import LoopNote

if TYPE_CHECKING:
    from .analysis import Analysis


def again_notes(a: Analysis, loop: NestLoop) -> Iterator[LoopNote]:
    """What is computed at a loop, if iterations of the loops around compute some of it again; not
    copies of operands, which are there to be made anew."""
    for func, found in a.recomputed_at(loop.loop):
        is_copy = func.history.typed()[0].is_added
        if found is not None and found.total > found.distinct and not is_copy:
            yield LoopNote("runs", f"{a.program.names[func]} {found.ratio()}")
