"""Parallel loops with so few iterations that threads cannot have equally many.

An iteration is never divided, so all wait for those who have one more. How many threads a call has
is not known to a schedule: what is said holds for some numbers of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..directives.loops import Split
from ..nests.loop_nest import NestLoop
from .cost import Leaf, leaves, most
from .notes import LoopNote

if TYPE_CHECKING:
    from .analysis import Analysis

THREADS = (2, 4, 8)
"""Numbers of threads that are looked at."""

MUCH = 1 / 12
"""A share of the time of threads that is worth a word: of 11 iterations two threads have 6 and 5,
and one waits a sixth of the time. With ten iterations for each thread it is less."""


def share_notes(a: Analysis, loop: NestLoop) -> Iterator[LoopNote]:
    """For which part of their time threads wait, where a loop has a known number of iterations."""
    extent = most(loop)
    if loop.loop.kind != "parallel" or extent is None:
        return
    count = -(-extent // loop.step)
    idle = {n: waiting(count, n) for n in THREADS if n <= count}
    said = [f"{x:.0%} of {n}" for n, x in idle.items() if x >= MUCH]
    inside = [x for x in leaves(a) if loop in x.own and _is_divided(x.loops, loop)]
    if said and inside:
        waits = f"the share of their time that threads wait is {', '.join(said)}"
        yield LoopNote("uneven blocks:", f"{waits}, and less {_fix(a, inside, loop)}")


def _fix(a: Analysis, inside: Sequence[Leaf], loop: NestLoop) -> str:
    """What makes the blocks smaller: the split that made them, of whichever stage. What is computed
    in a block of another stage may come first, and have no split of its own."""
    names = {x.name for x in inside}
    for d in a.directives:
        if isinstance(d, Split) and d.stage in names and d.made[0] == loop.loop.name:
            return f"with a smaller factor of {d.text()}"
    return "with another loop on threads"


def waiting(count: int, threads: int) -> float:
    """The share of the time of all threads for which they wait for the last one of so many equal
    iterations."""
    return 1 - count / (threads * -(-count // threads)) if count else 0.0


def _is_divided(around: tuple[NestLoop, ...], loop: NestLoop) -> bool:
    """Whether the iterations are divided: those of nested parallel loops are only of the first."""
    return next((x for x in around if x.loop.kind == "parallel"), None) is loop
