"""Loops that add up in a float of 16 bits, whose digits a sum soon exceeds."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING

from ...lang.nodes.nodes import RVar, Var, postorder
from ..nests.loop_nest import NestLoop, NestStage, walk
from ..program.narrow_sums import sums_in_16_bits
from .notes import LoopNote

if TYPE_CHECKING:
    from .analysis import Analysis


def narrow_notes(a: Analysis, loop: NestLoop) -> Iterator[LoopNote]:
    """What gets its terms from the iterations of a loop, if from no loop inside."""
    inside = [x for x in walk(loop.body) if isinstance(x, NestLoop)]
    for x in walk(loop.body):
        if not isinstance(x, NestStage):
            continue
        d = x.stage.statement.definition
        for kept, along in sums_in_16_bits(d).items():
            loops = [other for other in (loop, *inside) if _has_terms(other, x, along)]
            if loops == [loop]:
                yield LoopNote(f"accumulates in {kept.name}", a.program.names[d.func])


def _has_terms(loop: NestLoop, x: NestStage, along: Set[Var | RVar]) -> bool:
    """Whether iterations of a loop are steps along some of these dimensions."""
    points = (value for dim, value in x.point.items() if dim in along)
    return any(loop.var in postorder(value) for value in points)
