"""Copies of operands whose loops write along memory and read across it, one element at a time.

Panels of rows are such transposes: the innermost loop goes along the panel, and from row to row of
the operand. Where that loop is unrolled, and the one around it a vector, each row is loaded in full
vectors, and what interleaves in the panel is stored together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...lang.nodes.nodes import Read
from ..nests.loop_nest import NestLoop, NestStage, walk
from ..sets.lanes import MOST_INTERLEAVED
from .cost import Leaf, leaves, most
from .movement import accesses, is_along, steps
from .notes import LoopNote

if TYPE_CHECKING:
    from .analysis import Analysis


def panel_notes(a: Analysis, loop: NestLoop) -> Iterator[LoopNote]:
    """What a copy transposes in this loop, and the directives by which vectors do so."""
    if loop.loop.kind not in ("serial", "unrolled") or not any(
        isinstance(x, NestStage) and x.stage.statement.definition.is_added for x in walk(loop.body)
    ):
        return
    for leaf in leaves(a):
        if leaf.loops[-1:] == (loop,) and (around := _lanes(a, leaf)) is not None:
            (read,) = leaf.definition.values
            assert isinstance(read, Read)
            what = a.program.names.get(read.tensor, read.tensor.name)
            unrolls = "" if loop.loop.kind == "unrolled" else f'.unroll("{loop.loop.name}")'
            fix = f's["{leaf.name}"]{unrolls}.vectorize("{around.loop.name}", ps.native)'
            yield LoopNote("transposes", f"{what}, in vectors with {fix}")


def _lanes(a: Analysis, leaf: Leaf) -> NestLoop | None:
    """The loop whose iterations can be the lanes of a copy: the innermost one but one, which reads
    along memory, where the innermost one writes all that is between two of them."""
    values = leaf.definition.values
    if len(leaf.own) < 2 or len(values) != 1 or not isinstance(values[0], Read):
        return None
    around, inner = leaf.own[-2:]
    written, *read = accesses(leaf)
    far = steps(a, leaf, written, around)
    if (
        around.loop.kind != "serial"
        or (most(inner) or 0) not in range(2, MOST_INTERLEAVED + 1)
        or not is_along(a, leaf, written, inner)
        or far is None
        or far != (*[0] * (len(far) - 2), 1, 0)
    ):
        return None
    return around if all(is_along(a, leaf, x, around) for x in read) else None
