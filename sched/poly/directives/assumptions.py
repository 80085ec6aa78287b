"""Directives that say what holds of sizes. Each call checks them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...lang.nodes import Node
from .fields import loop_name, number, predicate
from .record import Directive

if TYPE_CHECKING:
    from ..editor import Editor


@dataclass(frozen=True)
class Assume(Directive, name="assume"):
    """Only sizes that meet a condition count. Legal: where some do."""

    condition: Node = predicate()

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.assume(self.condition)


@dataclass(frozen=True)
class AlignBounds(Directive, name="align_bounds"):
    """A loop begins and ends at multiples of a factor. Legal: where it can."""

    loop: str = loop_name()
    factor: int = number("factor", least=1)

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.align_bounds(self.loop, self.factor)


@dataclass(frozen=True)
class Bound(Directive, name="bound"):
    """A loop has so many iterations. Legal: where it can."""

    loop: str = loop_name()
    extent: int = number("extent", least=1)

    def edit(self, editor: Editor) -> tuple[str, ...]:
        return editor.bound(self.loop, self.extent)
