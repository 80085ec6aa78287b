"""Which marks there are, and where they are kept: each thread has words of its own, `WORDS`; its
first `EVENTS` changes, when and to which region; and for each region the ticks that were spent in
it, and how often it was begun."""

from __future__ import annotations

from .ir import For, Mark, Stmt

WORDS = {"region": 0, "since": 1, "events": 2, "part": 3}
"""The region that the thread is in, and since when; how many changes there were; and where it is by
marks without a clock."""

EVENTS = 4096
"""Changes of each thread that are kept. There is room for one more, which later ones overwrite:
less memory is touched so than by a ring."""

FIRST_EVENT = 8
FIRST_REGION = FIRST_EVENT + 2 * (EVENTS + 1)
"""The words where changes and regions begin, two words each."""


def pitch_for(regions: int) -> int:
    """Words of a thread; no two threads share a line, nor lines that are fetched together."""
    return -(-(FIRST_REGION + 2 * regions) // 16) * 16


def marks_in(stmt: Stmt) -> tuple[Mark, ...]:
    """The marks directly in a statement."""
    match stmt:
        case Mark():
            return (stmt,)
        case For(begins=begins, ends=ends):
            return (*begins, *ends)
        case _:
            return ()
