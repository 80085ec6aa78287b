"""Vectors that interleave: lanes store every so many elements, and the copies of unrolled loops
store all elements between these. Code generation stores them together, as full vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...lang.nodes.nodes import Node, Read, postorder
from ..nests.loop_nest import LoopNest, NestIf, NestLoop, NestStage, children
from ..sets.lanes import MOST_INTERLEAVED, stride

if TYPE_CHECKING:
    from .analysis import Analysis


def interleaves(a: Analysis, loop: NestLoop, leaf: NestStage, at: Node) -> bool:
    """Whether the copies of a stage in a vector loop fill all elements between those of its lanes.

    Args:
        at: the element that the stage stores.
    """
    step = stride(at, loop.var, loop.step)
    lanes = -(-(loop.count or 0) // loop.step)
    definition = leaf.stage.statement.definition
    reads = (
        n.tensor for n in postorder(*definition.lhs, *definition.values) if isinstance(n, Read)
    )
    if (
        step is None
        or not 2 <= step <= MOST_INTERLEAVED
        or lanes & (lanes - 1)
        or leaf.stage.name in a.hints.streams
        or definition.func in reads
    ):
        return False
    places = [0]
    for copies in _unrolled(a.nests, leaf, loop):
        between = stride(at, copies.var, copies.step)
        if between is None or copies.count is None:
            return False
        count = -(-copies.count // copies.step)
        places = [k * between + place for k in range(count) for place in places]
    runs = [sorted(places[k : k + step]) for k in range(0, len(places), step)]
    return all(run == list(range(run[0], run[0] + step)) for run in runs)


def _unrolled(nests: tuple[LoopNest, ...], leaf: NestStage, vector: NestLoop) -> list[NestLoop]:
    """The unrolled loops around nothing but a stage and its vector loop, from the innermost on."""
    found: list[NestLoop] = []
    for node in _around(nests, leaf):
        if isinstance(node, NestLoop) and node.loop.kind == "unrolled":
            found.append(node)
        elif node is not vector and not isinstance(node, NestIf):
            break
    return found


def _around(nests: tuple[LoopNest, ...], leaf: NestStage) -> Iterator[LoopNest]:
    """What is around a stage, from the inside on."""
    for nest in nests:
        if nest is leaf:
            return
        found = list(_around(children(nest), leaf))
        if found or any(x is leaf for x in children(nest)):
            yield from found
            yield nest
            return
