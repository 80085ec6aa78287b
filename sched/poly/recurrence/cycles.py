"""Cyclic dependences of a recurrence, found by enumeration of instances at small sizes."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from ..model.model import Model
from ..sets.isl import Map, isl, val

if TYPE_CHECKING:
    from .recurrence import OrderConstraint

Instance = tuple[str, tuple[int, ...]]

Found = tuple[dict[str, int], list[str]]

_SMALL, _LARGEST = 3, 6
"""Sizes up to these are tried; a cycle that needs more room is not found."""


def small_cycle(model: Model, pairs: Sequence[OrderConstraint]) -> Found | None:
    """The smallest sizes with a cycle of instances that must each run before the next."""
    return _smallest(model, pairs, itertools.product(range(_SMALL + 1), repeat=len(model.params)))


def larger_cycle(model: Model, pairs: Sequence[OrderConstraint]) -> Found | None:
    """A cycle of instances at larger sizes, if there are few enough of them to try."""
    count = len(model.params)
    if count > 2:
        return None
    trials = itertools.product(range(_LARGEST + 1), repeat=count)
    return _smallest(model, pairs, (v for v in trials if max(v, default=0) > _SMALL))


def _smallest(
    model: Model, pairs: Sequence[OrderConstraint], trials: Iterable[tuple[int, ...]]
) -> Found | None:
    for values in sorted(trials, key=lambda v: (sum(v), v)):
        sizes = dict(zip(model.params, values, strict=True))
        graph = _graph(pairs, sizes)
        if _is_cyclic(graph):
            cycles = [c for start in graph if (c := _cycle(graph, start)) is not None]
            best = min(cycles, key=len)
            return sizes, [f"{n}[{', '.join(map(str, at))}]" for n, at in best]
    return None


def _is_cyclic(graph: Mapping[Instance, list[Instance]]) -> bool:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        return True
    return False


def _graph(
    pairs: Sequence[OrderConstraint], sizes: Mapping[str, int]
) -> dict[Instance, list[Instance]]:
    """What each instance needs."""
    graph: dict[Instance, list[Instance]] = {}
    for p in pairs:
        for a, b in _points(p.map, sizes):
            graph.setdefault((p.second.name, b), []).append((p.first.name, a))
    return graph


def _points(
    relation: Map, sizes: Mapping[str, int]
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    count = int(relation.dim(isl.dim_type.param))
    for k in range(count):
        name = str(relation.get_dim_name(isl.dim_type.param, k))
        relation = relation.fix_val(isl.dim_type.param, k, val(sizes[name]))
    split, total = int(relation.dim(isl.dim_type.in_)), int(relation.dim(isl.dim_type.out))
    wrapped = relation.wrap().project_out(isl.dim_type.param, 0, count)
    found: list[tuple[tuple[int, ...], tuple[int, ...]]] = []

    def visit(point: isl.Point) -> None:
        at = [
            int(point.get_coordinate_val(isl.dim_type.set, k).to_python())
            for k in range(split + total)
        ]
        found.append((tuple(at[:split]), tuple(at[split:])))

    wrapped.foreach_point(visit)
    return found


def _cycle(graph: Mapping[Instance, list[Instance]], start: Instance) -> list[Instance] | None:
    """The shortest way from an instance back to itself."""
    came: dict[Instance, Instance] = {}
    waiting = deque([start])
    while waiting:
        at = waiting.popleft()
        for needed in graph.get(at, ()):
            if needed == start:
                path = [at]
                while path[-1] != start:
                    path.append(came[path[-1]])
                return path[::-1]
            if needed not in came:
                came[needed] = at
                waiting.append(needed)
    return None
