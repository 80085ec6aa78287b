"""Accumulations that may happen at once, since each is indivisible.

What is accumulated in storage of its own, is copied there and back: these copies can be divided.
Where a `Keep` stands inside of d loops, of the pairs of instances of its stage only

    { x -> y : x and y are in the same iteration of the d loops }

may happen at once: they meet in the storage itself. So do those of parts of the stage that are in
no `Keep`; what is kept and what is not do not.
"""

from __future__ import annotations

from dataclasses import replace

from ..tree.looptree import Keep, Loop, Path, Seq, Stage
from ..tree.times import alike, placed
from .proof import Violation


def divided(tree: Seq, v: Violation) -> Violation | None:
    """What remains of a violation between accumulations of one indivisible stage."""
    pairs = v.pairs
    parts = [p for p in placed(tree) if p.stage.statement is v.source]
    keeps = [_kept_in(p.path, p.stage) for p in parts]
    if all(keep is None for keep, _ in keeps):
        return None
    for a, (keep, depth) in zip(parts, keeps, strict=True):
        for b, (other, _) in zip(parts, keeps, strict=True):
            if keep is other:
                pairs = pairs.subtract(alike(a, b, depth))
    return None if pairs.is_empty() else replace(v, pairs=pairs, is_divided=True)


def _kept_in(path: Path, stage: Stage) -> tuple[Keep | None, int]:
    """The storage of its own in which a stage accumulates, and inside of how many loops it is."""
    depth = 0
    for _, node in path:
        if isinstance(node, Keep) and node.is_of(stage):
            return node, depth
        depth += isinstance(node, Loop)
    return None, 0
