"""Notes beside single loops: facts first, their text second.

A rule finds the notes of one loop. A new one is a function in `RULES`, in a file of its own if it
is long; listings and `explain` show whatever is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from ..nests.loop_nest import NestLoop, walk
from ..sets.budget import BudgetExceeded, attempt
from .accumulator_notes import accumulator_notes, beginning_notes
from .again_notes import again_notes
from .lane_notes import lane_notes
from .narrow_notes import narrow_notes
from .notes import LoopNote
from .panel_notes import panel_notes
from .scalar_notes import has_vectors, scalar_notes
from .share_notes import share_notes

if TYPE_CHECKING:
    from ..tree.looptree import Loop
    from .analysis import Analysis

Rule = Callable[["Analysis", NestLoop], Iterator[LoopNote]]

RULES: tuple[Rule, ...] = (
    lane_notes, again_notes, accumulator_notes, beginning_notes, narrow_notes, panel_notes,
    share_notes,
)  # fmt: skip

WITH_VECTORS: tuple[Rule, ...] = (scalar_notes,)
"""What goes without saying in a schedule without any vector loop."""


def loop_notes(a: Analysis, loop: NestLoop) -> tuple[LoopNote, ...]:
    """What is to be said beside a loop, each thing once."""
    return _found(a, loop, (*RULES, *WITH_VECTORS) if has_vectors(a) else RULES)


def notes_of(a: Analysis, loop: Loop) -> tuple[LoopNote, ...]:
    """All that can be said of a loop of the tree, which may have become several."""
    nests = a.nests_if_known or ()
    loops = [x for x in walk(*nests) if isinstance(x, NestLoop) and x.loop is loop]
    rules = (*RULES, *WITH_VECTORS) if a.directives else RULES
    found = (_found(a, x, rules) for x in loops)
    return tuple(dict.fromkeys(note for notes in found for note in notes))


def _found(a: Analysis, loop: NestLoop, rules: tuple[Rule, ...]) -> tuple[LoopNote, ...]:
    found: dict[LoopNote, None] = {}
    for rule in rules:
        with suppress(BudgetExceeded), attempt(OPERATIONS):
            found |= dict.fromkeys(rule(a, loop))
    return tuple(found)


OPERATIONS = 250_000
"""So much work may isl put into the notes of a loop."""


def note_text(notes: tuple[LoopNote, ...]) -> str:
    """Notes in one line: those of one kind together."""
    kinds: dict[str, list[str]] = {}
    for note in notes:
        kinds.setdefault(note.verb, []).append(note.subject)
    parts = (" ".join([verb, ", ".join(filter(None, about))]) for verb, about in kinds.items())
    return "; ".join(part.strip() for part in parts)


__all__ = ["RULES", "LoopNote", "loop_notes", "note_text", "notes_of"]
