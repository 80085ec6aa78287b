"""The times of instances in a LoopTree, as maps that are compared lexicographically."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..model.statements import Statement
from ..sets.isl import Map, PwAff, coalesced, relation
from .looptree import Loop, Path, Tree, leaves
from .stage import Stage


def time_maps(tree: Tree, statements: Collection[Statement] | None = None) -> dict[Statement, Map]:
    """{ instance -> time } of some statements, or of every one, all of one depth.

    Entries that are the same constant for all of them say nothing and are left out: most, in a
    deep tree. Of constants only their order counts: they are numbers from 0, so that statements
    have the times that others have which run likewise elsewhere.
    """
    found = [
        (stage, _time(path, stage))
        for path, stage in leaves(tree)
        if statements is None or stage.statement in statements
    ]
    depth = max((len(time) for _, time in found), default=0)
    padded = [(stage, [*time, *[0] * (depth - len(time))]) for stage, time in found]
    kept = [k for k in range(depth) if len({_constant(time[k]) for _, time in padded}) > 1
            or not isinstance(padded[0][1][k], int)]  # fmt: skip
    ranks = {k: _ranks([time[k] for _, time in padded]) for k in kept}
    times: dict[Statement, Map] = {}
    for stage, time in padded:
        frame, entries = stage.statement.frame, list[PwAff]()
        for k in kept:
            x = time[k]
            entries.append(frame.constant(ranks[k].get(x, x)) if isinstance(x, int) else x)
        made = relation(entries, frame).intersect_domain(stage.instances)
        s = stage.statement
        times[s] = coalesced(times[s].union(made)) if s in times else made
    return times


def _ranks(entries: Sequence[PwAff | int]) -> dict[int, int]:
    """By constant, its number in their order, where all entries are constants."""
    constants = [x for x in entries if isinstance(x, int)]
    if len(constants) < len(entries):
        return {}
    return {x: k for k, x in enumerate(sorted({*constants}))}


def _time(path: Path, stage: Stage) -> list[PwAff | int]:
    """The position at each level and the coordinate of each loop."""
    coordinates = iter(stage.values)
    time: list[PwAff | int] = []
    for position, node in path:
        time.append(position)
        if isinstance(node, Loop):
            time.append(next(coordinates))
    return time


def _constant(entry: PwAff | int) -> int | None:
    return entry if isinstance(entry, int) else None
