"""The iterations around the two instances that a refusal names, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...lang.errors.errors import ScheduleError
from ...poly.legality.evidence import Evidence
from ...poly.model.statements import Statement
from ...poly.report.executed import NEAR_ALL, Arrow, Box, Near, Point, at_sizes, inside, points
from ..spaces.space import (
    Column,
    Space,
    arrows_of,
    axes_of,
    column_of,
    dependences_of,
    dims_of,
    in_time,
)

FEW = 300
"""Instances: where there are more, only those near to the two are drawn."""

FAR = 3
"""How far along each coordinate is near."""

Site = tuple[str, Point]


def of_evidence(evidence: Evidence, title: str = "") -> Space:
    """The space around the two instances that a refusal names, before and after what is refused.

    Raises:
        ScheduleError: there is too much to be drawn.
    """
    pair = evidence.pair
    assert pair is not None
    rewritten = evidence.after.rewritten
    names = tuple(dict.fromkeys(x.base.name for x in (pair.first, pair.second)))
    (a, out), (b, into) = (
        _own(x, at) for x, at in zip((pair.first, pair.second), pair.points, strict=True)
    )
    dims = dims_of(rewritten, names)
    with in_time(rewritten):
        near = _near(evidence, names, (a, b))
        columns = _columns(evidence, names, near)
        broken = _broken(evidence, near)
        known, notes = arrows_of(dependences_of(rewritten, names), pair.sizes, near)
    if near:
        notes.append(_said(dims, columns[1]))
    thick = next((x for x in known if (x.source, x.sink) == (a, b)), None)
    thick = thick or Arrow("", "", a, b, exact=True)
    differ = _differing(dims, a, b)
    axes = {x: axes_of(dims[x], columns[-1], x, (), differ) for x in names}
    return Space(
        title, pair.sizes, dims, axes, columns, tuple(known), broken, thick, tuple(notes),
        evidence.kind, (out, into),
    )  # fmt: skip


def _columns(evidence: Evidence, names: Sequence[str], near: Near) -> tuple[Column, Column]:
    assert evidence.pair is not None
    sizes = evidence.pair.sizes
    return (
        column_of("before", evidence.before.tree, names, sizes, near),
        column_of("after", evidence.after.tree, names, sizes, near),
    )


def _near(evidence: Evidence, names: Sequence[str], sites: Sequence[Site]) -> Near:
    """What is drawn of each statement: everything, where that is not too much."""
    try:
        if all(len(c.executions) <= FEW for c in _columns(evidence, names, NEAR_ALL)):
            return NEAR_ALL
    except ScheduleError:  # there are far more
        pass
    found: dict[str, Box] = {}
    for name in names:
        ends = [point for statement, point in sites if statement == name]
        found[name] = tuple((min(x) - FAR, max(x) + FAR) for x in zip(*ends, strict=True))
    return found


def _said(dims: Mapping[str, tuple[str, ...]], column: Column) -> str:
    drawn = {name: [x.point for x in column.executions if x.statement == name] for name in dims}
    where = (
        f"{d} of {name} from {min(x)} to {max(x)}"
        for name, own in drawn.items()
        for d, x in zip(dims[name], zip(*own, strict=True), strict=False)
    )
    return f"Only what is near to the two is drawn, and counted in steps: {', '.join(where)}."


def _broken(evidence: Evidence, near: Near) -> tuple[Arrow, ...]:
    """All pairs that go wrong in the same way."""
    pair, pairs = evidence.pair, evidence.pairs
    assert pair is not None
    count, first, second = len(pair.first.loops), pair.first, pair.second
    found = inside(
        at_sizes(pairs, pair.sizes).wrap(), len(first.around), near.get(first.base.name, ())
    )
    found = inside(found, count + len(second.around), near.get(second.base.name, ()))
    rows = points(found, "pairs that go wrong")
    ends = ((_own(first, r[:count])[0], _own(second, r[count:])[0]) for r in rows)
    return tuple(Arrow("", "", a, b, exact=True) for a, b in dict.fromkeys(ends))


def _own(statement: Statement, at: Sequence[int]) -> tuple[Site, Point]:
    """An instance of the algorithm, and the iteration of the loops that it is computed at."""
    outside = len(statement.around)
    return (statement.base.name, tuple(at[outside:])), tuple(at[:outside])


def _differing(
    dims: Mapping[str, tuple[str, ...]], a: tuple[str, Point], b: tuple[str, Point]
) -> tuple[str, ...]:
    """The coordinates in which two instances of one statement differ."""
    if a[0] != b[0]:
        return ()
    return tuple(d for d, x, y in zip(dims[a[0]], a[1], b[1], strict=True) if x != y)
