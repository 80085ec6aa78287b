"""Loops that move sums between memory and private accumulators more often than they need to be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...lang.nodes.nodes import RVar, Var, postorder
from ..nests.loop_nest import LoopNest, NestAccumulator, NestLoop, NestStage, children, walk
from .notes import LoopNote

if TYPE_CHECKING:
    from .analysis import Analysis


def accumulator_notes(a: Analysis, loop: NestLoop) -> Iterator[LoopNote]:
    """What is accumulated inside, over a part of its terms at a time: a tile of sums stays in
    registers, but goes to memory and back between one part and the next."""
    for inside in walk(loop.body):
        if isinstance(inside, NestAccumulator) and _splits_the_terms(loop, inside):
            yield LoopNote("loads and stores", f"{a.program.names[inside.func]} again")


def beginning_notes(a: Analysis, loop: NestLoop) -> Iterator[LoopNote]:
    """What a nest writes before others accumulate it in tiles, which load it again: it is in no
    need of a pass of its own where each tile begins its sums."""
    if not any(x is loop for x in a.nests):
        return
    begun = {x.stage.statement.definition for x in walk(loop.body) if isinstance(x, NestStage)}
    if len(begun) != 1 or any(d.is_update or d.opaque is not None for d in begun):
        return
    (func,) = (d.func for d in begun)
    for nest in a.nests:
        for around, inside in _accumulators(nest, None):
            name, stage = a.program.names[inside.func], inside.accumulator.stage
            is_first = inside.func is func and stage == f"{name}.update(0)"
            if is_first and around is not None and _is_of_all(inside):
                fix = f's["{name}"].compute_at("{stage}", "{around.loop.name}")'
                yield LoopNote("writes", f"{name} in a pass of its own, or in its tiles with {fix}")
                return


def _is_of_all(inside: NestAccumulator) -> bool:
    """Whether what accumulates runs for all elements of its Func: tiles begin no others."""
    stages = (x.stage for x in walk(inside.body) if isinstance(x, NestStage))
    mine = [x.statement.definition for x in stages if inside.accumulator.is_of(x)]
    return all(not d.where and all(isinstance(v, Var) for v in d.lhs) for d in mine)


def _accumulators(
    nest: LoopNest, around: NestLoop | None
) -> Iterator[tuple[NestLoop | None, NestAccumulator]]:
    """The private accumulators of a nest, each with the loop that it is in."""
    if isinstance(nest, NestAccumulator):
        yield around, nest
    for child in children(nest):
        yield from _accumulators(child, nest if isinstance(nest, NestLoop) else around)


def _splits_the_terms(loop: NestLoop, inside: NestAccumulator) -> bool:
    """Whether the iterations of a loop have different terms of the same sums."""
    for x in walk(inside.body):
        if isinstance(x, NestStage) and inside.accumulator.is_of(x.stage):
            placing = set(postorder(*x.stage.statement.definition.lhs))
            for dim, value in x.point.items():
                if isinstance(dim, RVar) and dim not in placing and loop.var in postorder(value):
                    return True
    return False
