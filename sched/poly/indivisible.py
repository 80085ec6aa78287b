"""Accumulations that may happen at once, since each is indivisible.

What is accumulated in storage of its own, is copied there and back: these copies can be divided.
Where a `Keep` stands inside of d loops, of the pairs of instances of its stage only

    { x -> y : x and y are in the same iteration of the d loops }

may happen at once: they meet in the storage itself.
"""

from __future__ import annotations

from dataclasses import replace

from .looptree import Keep, Loop, Path, Seq, Stage
from .proof import Violation
from .times import alike, placed


def divided(tree: Seq, v: Violation) -> Violation | None:
    """What remains of a violation between accumulations of one indivisible stage."""
    pairs = v.pairs
    parts = [p for p in placed(tree) if p.stage.statement is v.source]
    depths = [_kept_at(p.path, p.stage) for p in parts]
    if all(depth is None for depth in depths):
        return None
    for a, depth in zip(parts, depths, strict=True):
        for b in parts:
            pairs = pairs.subtract(alike(a, b, depth or 0))
    return None if pairs.is_empty() else replace(v, pairs=pairs)


def _kept_at(path: Path, stage: Stage) -> int | None:
    """Inside of how many loops the storage is in which a stage accumulates."""
    depth = 0
    for _, node in path:
        if isinstance(node, Keep) and node.is_of(stage):
            return depth
        depth += isinstance(node, Loop)
    return None
