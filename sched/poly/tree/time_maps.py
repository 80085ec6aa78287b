"""The times of instances in a LoopTree, as maps that are compared lexicographically."""

from __future__ import annotations

from collections.abc import Collection

from ..model.statements import Statement
from ..sets.isl import Map, PwAff, coalesced, relation
from .looptree import Loop, Path, Tree, leaves
from .stage import Stage


def time_maps(tree: Tree, statements: Collection[Statement] | None = None) -> dict[Statement, Map]:
    """{ instance -> time } of some statements, or of every one, all of one depth.

    Entries that are the same constant for all of them say nothing and are left out: most, in a
    deep tree.
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
    times: dict[Statement, Map] = {}
    for stage, time in padded:
        frame = stage.statement.frame
        entries = [frame.constant(x) if isinstance(x, int) else x for x in (time[k] for k in kept)]
        made = relation(entries, frame).intersect_domain(stage.instances)
        s = stage.statement
        times[s] = coalesced(times[s].union(made)) if s in times else made
    return times


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
