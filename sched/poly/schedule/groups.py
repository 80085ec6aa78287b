"""Directives under way that count together: batches, and those that are made of several."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..legality.checker import Change
from ..state.record import Directive
from ..state.state import State


@dataclass(frozen=True)
class Batch:
    """A batch under way: how many directives were before it, and its own."""

    start: int
    changes: tuple[Change, ...] = ()
    #: Whether it is a sketch, which is proven only on demand.
    is_sketch: bool = False

    def with_change(self, change: Change) -> Batch:
        return replace(self, changes=(*self.changes, change))


@dataclass(frozen=True)
class Compound:
    """A directive under way that consists of several, which are accepted or refused together.

    Attributes:
        text: what the user has written.
        state, records: those before the first of the directives.
    """

    text: str
    state: State
    records: tuple[Directive, ...]
