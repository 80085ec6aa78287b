"""Simpler affine times that every pair obeys, for parts of statements."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Const, Node, RVar, Var, integer
from ..sets.coordinates import coordinate_map
from ..sets.isl import Map
from .isl_scheduler import Part, Times

if TYPE_CHECKING:
    from .recurrence import OrderConstraint


def with_fewer_times(times: Times, pairs: Sequence[OrderConstraint]) -> Times:
    """Times in which a part has the times of another part of its statement, where every pair obeys
    that: the statement has fewer parts then."""
    for a, b in itertools.permutations(times, 2):
        if a.statement is b.statement and times[a] != times[b]:
            times = _changed(times, a, times[b], pairs) or times
    return times


def with_plainer_times(times: Times, pairs: Sequence[OrderConstraint]) -> Times:
    """Times in which dimensions of the statements replace other expressions, where every pair obeys
    that."""
    for part in times:
        for level, node in enumerate(times[part]):
            if not isinstance(node, (Const, Var, RVar)):
                for plain in (x for v in part.statement.loops for x in (v, ix.sub(ix.ZERO, v))):
                    time = [*times[part][:level], plain, *times[part][level + 1 :]]
                    changed = times if plain is node else _changed(times, part, time, pairs)
                    if changed is not None:
                        times = changed
                        break
    return times


def _changed(
    times: Times, part: Part, time: list[Node], pairs: Sequence[OrderConstraint]
) -> Times | None:
    """The times with another one for one part, if every pair obeys them and no two instances have
    one time; else None."""
    times = {**times, part: time}
    own = [p for p in times if p.statement is part.statement]
    if not all(_differ(times, part, other) for other in own):
        return None
    forward = (_forward(times, p, a, b) for p in pairs for a, b in _moved_parts(times, p, part))
    return times if all(forward) else None


def _moved_parts(times: Times, pair: OrderConstraint, part: Part) -> Iterator[tuple[Part, Part]]:
    """The parts that a pair may connect, where one of them is this part."""
    for a in (p for p in times if p.statement is pair.first):
        for b in (p for p in times if p.statement is pair.second):
            if part in (a, b):
                yield a, b


def _differ(times: Times, a: Part, b: Part) -> bool:
    """Whether no two instances have one time."""
    first, second = _time_map(a, times[a]), _time_map(b, times[b])
    met = first.apply_range(second.reverse())
    return met.is_subset(Map.identity(met.get_space()))


def _forward(times: Times, pair: OrderConstraint, a: Part, b: Part) -> bool:
    first, second = _time_map(a, times[a]), _time_map(b, times[b])
    late = first.apply_range(Map.lex_ge(first.get_space().range()))
    return bool(pair.map.intersect(late.apply_range(second.reverse())).is_empty())


def _time_map(part: Part, time: Sequence[Node]) -> Map:
    return coordinate_map(part.statement.frame, time).intersect_domain(part.domain)


def with_levels_numbered(times: Times) -> Times:
    """Times in which the levels that hold constants alone count from 0."""
    times = {p: list(time) for p, time in times.items()}
    for level in range(max(map(len, times.values()), default=0)):
        here = {p: ix.constant(time[level]) for p, time in times.items()}
        numbers = sorted({number for number in here.values() if number is not None})
        count: dict[int | None, int] = {number: k for k, number in enumerate(numbers)}
        if None not in here.values():
            for p in times:
                times[p][level] = integer(count[here[p]])
    return times
