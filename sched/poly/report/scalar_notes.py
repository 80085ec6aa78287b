"""Innermost loops that run one element at a time, where others are vectors.

The listing of a schedule without any vector loop has one note instead, while `explain` has one for
each loop. The listing of a program as written has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...lang.nodes import index as ix
from ..nests.loop_nest import NestLoop, NestStage, walk
from ..sets.linear import cancelled
from .notes import LoopNote

if TYPE_CHECKING:
    from .analysis import Analysis

FEW = 4
"""So many iterations are not worth a vector."""


def scalar_notes(a: Analysis, loop: NestLoop) -> Iterator[LoopNote]:
    """A serial loop without another one in it, that is in no vector loop and computes something."""
    inside = list(walk(loop.body))
    if loop.loop.kind not in ("serial", "parallel") or constant_extent(loop) in range(FEW + 1):
        return
    if any(isinstance(x, NestLoop) and not _is_short(x) for x in inside):
        return
    vectors = (x for x in walk(*a.nests) if isinstance(x, NestLoop) and x.loop.kind == "vector")
    if any(x is loop or y is loop for x in vectors for y in walk(x)) or any(
        isinstance(x, NestLoop) and x.loop.kind == "vector" for x in inside
    ):
        return
    stages = [x.stage.statement.definition for x in inside if isinstance(x, NestStage)]
    if any(d.opaque is None for d in stages):
        yield LoopNote("one element at a time")


def has_vectors(a: Analysis) -> bool:
    """Whether any loop is a vector."""
    return any(isinstance(x, NestLoop) and x.loop.kind == "vector" for x in walk(*a.nests))


def _is_short(loop: NestLoop) -> bool:
    """Whether a loop is part of the body of the one around it."""
    return loop.loop.kind == "unrolled" or constant_extent(loop) in range(FEW + 1)


def constant_extent(loop: NestLoop) -> int | None:
    """How many iterations a loop has; None if that depends on anything."""
    return ix.constant(cancelled(ix.sub(loop.hi, loop.lo)))
