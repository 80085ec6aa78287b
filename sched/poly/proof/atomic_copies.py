"""Which accumulations of an atomic stage may run concurrently, and which meet in copies.

An accumulation that is atomic may run concurrently with others into the same element. One in a
private accumulator has a copy-in and a copy-out, and these copies are not atomic. Where an
`Accumulator` stands inside of d loops, of the pairs of instances of its stage only

    { x -> y : x and y are in the same iteration of the d loops }

may run concurrently: they add to the same accumulator. So may the parts of the stage that are
in no `Accumulator`, which add to the Func itself; one in an `Accumulator` and one in none may not.
"""

from __future__ import annotations

from dataclasses import replace

from ..tree.looptree import Accumulator, Loop, Path, Seq
from ..tree.stage import Stage
from ..tree.times import alike, scheduled_stages
from .proof import Violation


def non_atomic_copies(tree: Seq, v: Violation) -> Violation | None:
    """The pairs of a violation between accumulations of one atomic stage that meet in copies."""
    pairs = v.pairs
    parts = [p for p in scheduled_stages(tree) if p.stage.statement is v.source]
    own = [_accumulator_of(p.path, p.stage) for p in parts]
    if all(mine is None for mine, _ in own):
        return None
    for a, (mine, depth) in zip(parts, own, strict=True):
        for b, (other, _) in zip(parts, own, strict=True):
            if mine is other:
                pairs = pairs.subtract(alike(a, b, depth))
    return None if pairs.is_empty() else replace(v, pairs=pairs, has_non_atomic_copies=True)


def _accumulator_of(path: Path, stage: Stage) -> tuple[Accumulator | None, int]:
    """The private accumulator of a stage, if any, and inside of how many loops it is."""
    depth = 0
    for _, node in path:
        if isinstance(node, Accumulator) and node.is_of(stage):
            return node, depth
        depth += isinstance(node, Loop)
    return None, 0
