"""What is said of single loops, beside them: facts first, their text second.

A rule finds the notes of one loop. A new one is a function in `RULES`, in a file of its own if it
is long; listings and `explain` show whatever is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from .lane_notes import lane_notes
from .notes import LoopNote
from .scantree import ScanLoop, walk

if TYPE_CHECKING:
    from .looptree import Loop
    from .schedule import Schedule

Rule = Callable[["Schedule", ScanLoop], Iterator[LoopNote]]

RULES: tuple[Rule, ...] = (lane_notes,)


def loop_notes(s: Schedule, loop: ScanLoop) -> tuple[LoopNote, ...]:
    """What is to be said of a loop, each thing once."""
    return tuple(dict.fromkeys(note for rule in RULES for note in rule(s, loop)))


def notes_of(s: Schedule, loop: Loop) -> tuple[LoopNote, ...]:
    """The same of a loop of the tree, which may be scanned into several."""
    scans = [x for x in walk(*s.nests) if isinstance(x, ScanLoop) and x.loop is loop]
    return tuple(dict.fromkeys(note for x in scans for note in loop_notes(s, x)))


def note_text(notes: tuple[LoopNote, ...]) -> str:
    """Notes in one line: those of one kind together."""
    kinds: dict[str, list[str]] = {}
    for note in notes:
        kinds.setdefault(note.verb, []).append(note.subject)
    parts = (" ".join([verb, ", ".join(filter(None, about))]) for verb, about in kinds.items())
    return "; ".join(part.strip() for part in parts)


__all__ = ["RULES", "LoopNote", "loop_notes", "note_text", "notes_of"]
