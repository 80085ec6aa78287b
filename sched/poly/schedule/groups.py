"""Directives under way that count together: batches, and those that are made of several."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...records import dataclass
from .path import Place

if TYPE_CHECKING:
    from ..legality.checker import Change


@dataclass(frozen=True)
class Batch:
    """A batch under way.

    Attributes:
        first: where it began.
        changes: its directives, as far as they have been carried out.
    """

    first: Place
    changes: tuple[Change, ...] = ()
    #: Whether it is a sketch, which is proven only on demand.
    is_sketch: bool = False

    @property
    def start(self) -> int:
        """How many directives were before it."""
        return len(self.first.said)

    def with_change(self, change: Change) -> Batch:
        return replace(self, changes=(*self.changes, change))


@dataclass(frozen=True)
class Compound:
    """A directive under way that consists of several, which are accepted or refused together.

    Attributes:
        text: what the user has written.
        first: where it began.
    """

    text: str
    first: Place
