"""Loops around private accumulators that load and store the same sums in each iteration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...lang.nodes.nodes import RVar, postorder
from ..nests.loop_nest import NestAccumulator, NestLoop, NestStage, walk
from .notes import LoopNote

if TYPE_CHECKING:
    from .analysis import Analysis


def accumulator_notes(a: Analysis, loop: NestLoop) -> Iterator[LoopNote]:
    """What is accumulated inside, over a part of its terms at a time: a tile of sums stays in
    registers, but goes to memory and back between one part and the next."""
    for inside in walk(loop.body):
        if isinstance(inside, NestAccumulator) and _splits_the_terms(loop, inside):
            yield LoopNote("loads and stores", f"{a.program.names[inside.func]} again")


def _splits_the_terms(loop: NestLoop, inside: NestAccumulator) -> bool:
    """Whether the iterations of a loop have different terms of the same sums."""
    for x in walk(inside.body):
        if isinstance(x, NestStage) and inside.accumulator.is_of(x.stage):
            placing = set(postorder(*x.stage.statement.definition.lhs))
            for dim, value in x.point.items():
                if isinstance(dim, RVar) and dim not in placing and loop.var in postorder(value):
                    return True
    return False
