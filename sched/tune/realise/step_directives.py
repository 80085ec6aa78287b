"""The directives that make tiles of several steps."""

from __future__ import annotations

from collections.abc import Sequence

from ...lang.expr.symbols import Var
from ...poly.schedule.stages import StageHandle
from ..facts.facts import StatementFacts
from ..plans.planned import Nest
from .splits import splits


def tile_steps(
    stage: StageHandle, own: Sequence[StageHandle], statement: StatementFacts, nest: Nest
) -> None:
    """Tiles along a loop over steps, in which each step is behind the one before.

    Args:
        own: the other stages of the Func in that loop, which run before it.
    """
    assert nest.block is not None
    first = statement.loops[0].name
    for other in own:
        other.fission(first, after=other)
    for k, behind in nest.block.skews:
        if behind:
            stage.skew(first, statement.loops[k].name, behind)
    for loop, by, outer, inner in splits(nest, statement):
        stage.split(loop, by, names=(outer, inner))
    stage.reorder(*(x.name for x in nest.loops))


def run_along_diagonals(stage: StageHandle, nest: Nest) -> None:
    """Puts tiles in an order in which threads can share them."""
    stage.wavefront(*(x.name for x in nest.loops[:2]))


def block_steps(stage: StageHandle, statement: StatementFacts, nest: Nest) -> StageHandle:
    """Computes the elements that are pivots in a block of steps step by step, with all else in the
    loop over steps, and then the rest by tiles; the rest."""
    assert nest.block is not None
    block, (steps, *loops) = nest.block, [x.name for x in statement.loops]
    near, rest = stage, stage
    for k in block.pivots:
        condition = Var(statement.loops[k].name) // block.steps == Var(steps) // block.steps
        near, rest = rest.partition(condition)
        for name in reversed(loops):
            near.fission(name)
        across = statement.loops[nest.plan.number("vector")].name
        if across != loops[-1]:
            near.reorder(*(x for x in loops if x != across), across)
        near.vectorize(across, nest.plan.number("lanes"))
    for loop, by, outer, inner in splits(nest, statement):
        rest.split(loop, by, names=(outer, inner))
    near.fission(steps)
    rest.reorder(*(x.name for x in nest.loops[1:]))
    return rest
