"""Which accumulations of an atomic stage may run concurrently, and which meet in copies.

An accumulation that is atomic may run concurrently with others into the same element. One in
private storage is copied there and back, and these copies are not atomic. Where a `Keep` stands
inside of d loops, of the pairs of instances of its stage only

    { x -> y : x and y are in the same iteration of the d loops }

may run concurrently: they add to the same private storage. So may the parts of the stage that are
in no `Keep`, which add to the Func itself; one in a `Keep` and one in none may not.
"""

from __future__ import annotations

from dataclasses import replace

from ..tree.looptree import Keep, Loop, Path, Seq, Stage
from ..tree.times import alike, placed
from .proof import Violation


def non_atomic_copies(tree: Seq, v: Violation) -> Violation | None:
    """The pairs of a violation between accumulations of one atomic stage that meet in copies."""
    pairs = v.pairs
    parts = [p for p in placed(tree) if p.stage.statement is v.source]
    keeps = [_kept_in(p.path, p.stage) for p in parts]
    if all(keep is None for keep, _ in keeps):
        return None
    for a, (keep, depth) in zip(parts, keeps, strict=True):
        for b, (other, _) in zip(parts, keeps, strict=True):
            if keep is other:
                pairs = pairs.subtract(alike(a, b, depth))
    return None if pairs.is_empty() else replace(v, pairs=pairs, has_non_atomic_copies=True)


def _kept_in(path: Path, stage: Stage) -> tuple[Keep | None, int]:
    """The storage of its own in which a stage accumulates, and inside of how many loops it is."""
    depth = 0
    for _, node in path:
        if isinstance(node, Keep) and node.is_of(stage):
            return node, depth
        depth += isinstance(node, Loop)
    return None, 0
