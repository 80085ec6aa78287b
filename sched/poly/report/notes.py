"""A fact about a loop that is worth a word beside it."""

from __future__ import annotations

from ...records import dataclass


@dataclass(frozen=True, slots=True)
class LoopNote:
    """`gathers x`: what happens in the loop, and to what, if that is anything in particular."""

    verb: str
    subject: str = ""
