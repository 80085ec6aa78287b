"""The axes of private accumulators along which lanes accumulate side by side: see
`Memory.by_lanes`."""

from __future__ import annotations

from collections.abc import Iterator

from ...lang.nodes.nodes import leaves_below, replaced_all
from .loop_nest import NestAccumulator, NestLoop, NestStage, walk


def axes_of_lanes(nest: NestAccumulator) -> frozenset[int]:
    """The axes along which the lanes of vector loops accumulate different elements."""
    return frozenset(_axes(nest))


def _axes(nest: NestAccumulator) -> Iterator[int]:
    for loop in walk(nest.body):
        if not isinstance(loop, NestLoop) or loop.loop.kind != "vector":
            continue
        for leaf in walk(loop.body):
            if isinstance(leaf, NestStage):
                statement = leaf.stage.statement
                if nest.accumulator.holds(leaf.stage, statement.write):
                    at = replaced_all(statement.definition.lhs, leaf.point)
                    yield from (k for k, x in enumerate(at) if loop.var in leaves_below(x))
