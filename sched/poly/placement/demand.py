"""What statements at a loop are derived from: what the stages behind them read."""

from __future__ import annotations

from ...lang.nodes.nodes import Node
from ...records import dataclass
from ..model.statements import Access, Statement
from ..tree.stage import Stage


@dataclass(frozen=True)
class Demand:
    """The inputs from which the statements of a `Produce` are derived: a key of that derivation."""

    reads: tuple[tuple[Access, Stage], ...]
    times: tuple[Node, ...]
    fresh_depth: int
    #: The statements of the algorithm that those inside execute, each over its region.
    bases: tuple[Statement, ...]

    def is_same(self, other: object) -> bool:
        if not isinstance(other, Demand) or len(self.reads) != len(other.reads):
            return False
        count = len(self.times)
        same = all(
            a is b and (x is y or _is_same(x, y, count))
            for (a, x), (b, y) in zip(self.reads, other.reads, strict=True)
        )
        return same and (
            (self.times, self.fresh_depth, self.bases)
            == (other.times, other.fresh_depth, other.bases)
        )


def _is_same(a: Stage, b: Stage, count: int) -> bool:
    """Whether stages of one statement run the same instances in the outermost loops."""
    same = a.coordinates[:count] == b.coordinates[:count]
    return same and a.where is b.where and a.padding == b.padding
