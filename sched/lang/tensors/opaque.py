"""The value of an extern stage, which the language does not look into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...records import dataclass
from ..nodes import nodes
from ..nodes.dtypes import Type
from ..nodes.nodes import Node, Read

if TYPE_CHECKING:
    from .extern import Extern


@dataclass(frozen=True, slots=True, eq=False)
class Opaque(nodes.Node):
    """The value of an extern stage. Its operands are, for each region that it reads, a read of the
    first element and the upper bound along each axis."""

    stage: Extern
    component: int
    operands: tuple[Node, ...]
    type: Type

    @property
    def args(self) -> tuple[Node, ...]:
        return self.operands

    def with_args(self, args: tuple[Node, ...]) -> Node:
        if args == self.operands:
            return self
        return Opaque(self.stage, self.component, args, self.type)

    def written(self, arg: Callable[[Node], str]) -> str:
        """The text for listings."""
        return f"{self.stage.name}({', '.join(self.read(arg))})"

    def read(self, arg: Callable[[Node], str]) -> list[str]:
        """The texts of the regions that are read."""
        shown = []
        for first, highs in self.regions:
            axes = zip(first.index, highs, strict=True)
            inside = ", ".join(f"{arg(lo)}:{arg(hi)}" for lo, hi in axes)
            shown.append(f"{first.tensor.name}[{inside or '()'}]")
        return shown

    @property
    def regions(self) -> list[tuple[Read, tuple[Node, ...]]]:
        """The regions that are read: the first element of each, and its upper bound along each
        axis."""
        found: list[tuple[Read, tuple[Node, ...]]] = []
        at = 0
        while at < len(self.operands):
            first = self.operands[at]
            assert isinstance(first, Read)
            rank = len(first.index)
            found.append((first, self.operands[at + 1 : at + 1 + rank]))
            at += 1 + rank
        return found


def opaque_of(values: Sequence[Node]) -> Opaque | None:
    """The value of the extern stage that computes a definition, if one does."""
    first = values[0]
    return first if isinstance(first, Opaque) else None
