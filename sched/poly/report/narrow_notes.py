"""Loops that add up in a float of 16 bits, whose digits a sum soon exceeds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...lang.nodes.nodes import RVar, postorder
from ..nests.loop_nest import NestLoop, NestStage, walk
from ..program.accumulation import is_rounded_to_16_bits
from .notes import LoopNote

if TYPE_CHECKING:
    from .analysis import Analysis


def narrow_notes(a: Analysis, loop: NestLoop) -> Iterator[LoopNote]:
    """What gets its terms from the iterations of a loop, if from no loop inside."""
    inside = [x for x in walk(loop.body) if isinstance(x, NestLoop)]
    for x in walk(loop.body):
        if not isinstance(x, NestStage) or not _has_terms(loop, x):
            continue
        d = x.stage.statement.definition
        if is_rounded_to_16_bits(d) and not any(_has_terms(other, x) for other in inside):
            kept = d.func.dtypes[0].name
            yield LoopNote(f"accumulates in {kept}", a.program.names[d.func])


def _has_terms(loop: NestLoop, x: NestStage) -> bool:
    """Whether iterations of a loop are terms of the same elements."""
    own = x.stage.statement.definition.lhs
    return any(
        isinstance(dim, RVar) and dim not in own and loop.var in postorder(value)
        for dim, value in x.point.items()
    )
