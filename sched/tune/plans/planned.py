"""The loops that a plan gives a statement, as they come out."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from ...records import dataclass
from .plan import NestPlan

Kind = Literal["serial", "parallel", "vector", "unrolled"]

BLOCK: Collection[Kind] = ("vector", "unrolled")
"""Loops whose iterations run side by side in a core."""


@dataclass(frozen=True, slots=True)
class PlannedLoop:
    """A loop that a plan gives a statement.

    Attributes:
        name: its name.
        loop: the number of the loop as written that it is all or a part of.
        extent: how many iterations it has.
        step: how far an iteration moves along the loop as written.
        kind: how its iterations run.
    """

    name: str
    loop: int
    extent: int
    step: int
    kind: Kind = "serial"


@dataclass(frozen=True, slots=True)
class Block:
    """Several steps of the outermost loop of a statement that a tile computes.

    Attributes:
        steps: how many.
        skews: the other loops that are tiled, and by how many iterations each step is behind the
            one before along them.
        pivots: the loops along which elements in the block are computed before all others, as
            these need them.
        near: the loops of such elements; None where there are none.
        share: the part of all instances that these are.
    """

    steps: int
    skews: tuple[tuple[int, int], ...] = ()
    pivots: tuple[int, ...] = ()
    near: Nest | None = None
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class Nest:
    """The loops of a statement, as a plan has them.

    Attributes:
        plan: what they are made of.
        loops: outermost first.
        accumulates_at: the loop in whose iterations results are accumulated in registers; None
            where there is no such.
        packed: the tensor of which panels are copied; None where none is.
        turned: the tensor that is copied as a whole, its axes in the order in which loops read it;
            None where none is.
        streams: whether results are written past the caches.
        skew: how many iterations of the loop behind that of rows each row is behind the one before;
            0 where rows do not wait for each other.
        holds: whether results are in registers: a tile of them is accumulated there, or one.
        row: the name of the loop that the innermost two are; None where they are two.
        parts: the loop of a reduction each iteration of which has a result of its own, so that
            threads share it; None where there is none.
        copies: the innermost loop of such parts, where each iteration has results of its own, too.
        block: the steps that tiles compute together; None where each is computed as a whole.
    """

    plan: NestPlan
    loops: tuple[PlannedLoop, ...]
    accumulates_at: str | None = None
    packed: str | None = None
    holds: bool = False
    turned: str | None = None
    streams: bool = False
    skew: int = 0
    row: str | None = None
    parts: str | None = None
    copies: str | None = None
    block: Block | None = None

    @property
    def is_block(self) -> bool:
        """Whether no loop runs one iteration after the other."""
        return bool(self.loops) and all(x.kind in BLOCK for x in self.loops)

    def depth(self, name: str) -> int:
        """At which position a loop is."""
        return next(k for k, x in enumerate(self.loops) if x.name == name)
