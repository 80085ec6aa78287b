"""Orders by brute force: which pairs of instances a schedule runs the wrong way round.

Every two accesses of one element, one of them a write, make a pair whose order the program fixes.
Where the loops put each instance has been seen by `check`; nothing here is symbolic.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from ..checking.execute import Path
from ..checking.report import Report
from ..interp.flow import Key, Place, Recorded

Kind = Literal["flow", "anti", "output"]


@dataclass(frozen=True, slots=True)
class InstanceDependence:
    """Two instances that must run in this order, and what of: a dependence."""

    kind: Kind
    source: Key
    sink: Key
    place: Place


@dataclass(frozen=True, slots=True)
class _Use:
    """An instance that touches an element, in the order of the program."""

    recorded: Recorded
    reads: bool
    writes: bool


def pairs(report: Report, among: Collection[Key] | None = None) -> Iterator[InstanceDependence]:
    """Every dependence between instances that ran, or some of them."""
    for place, uses in _uses(report, among).items():
        for a, b in itertools.combinations(uses, 2):
            x, y = a.recorded.key, b.recorded.key
            if a.writes and b.reads:
                yield InstanceDependence("flow", x, y, place)
            if a.reads and b.writes:
                yield InstanceDependence("anti", x, y, place)
            if a.writes and b.writes:
                yield InstanceDependence("output", x, y, place)


def _uses(report: Report, among: Collection[Key] | None) -> dict[Place, list[_Use]]:
    found: dict[Place, list[_Use]] = {}
    asked = report.ran if among is None else among
    ran = [r for r in report.flow.instances.values() if r.key in report.ran and r.key in asked]
    for r in sorted(ran, key=lambda r: r.number):
        reads = {place for place, _ in report.reads(r)}
        for place in sorted(reads | {r.place}, key=str):
            assert place is not None
            found.setdefault(place, []).append(_Use(r, place in reads, place == r.place))
    return found


def misordered(
    report: Report, among: Collection[Key] | None = None
) -> Iterator[InstanceDependence]:
    """The pairs that run in the wrong order, or in none; all, or those among some instances."""
    for pair in pairs(report, among):
        if _is_in_different_blocks(report, pair) or {pair.source, pair.sink} & report.again:
            continue
        order = compare(report.ran[pair.source], report.ran[pair.sink])
        same = pair.source[0] == pair.sink[0] and pair.source[0] in report.free
        own = report.flow.instances[pair.source].place == pair.place
        relaxed = same and own and report.flow.instances[pair.sink].place == pair.place
        if pair.sink[0] in report.partial and report.flow.instances[pair.sink].place == pair.place:
            continue  # each iteration has begun anew
        allowed = {"before", "together"} if pair.kind == "anti" else {"before"}
        if relaxed:
            allowed |= {"after", "lanes"}
        if relaxed and pair.source[0] in report.atomic:
            allowed |= {"concurrent"}
        if order not in allowed:
            yield pair


def _is_in_different_blocks(report: Report, pair: InstanceDependence) -> bool:
    """Whether the element is one of a Func that each iteration of a block has of its own: what one
    of them writes no other one reads."""
    home = pair.place[0].history.home if hasattr(pair.place[0], "history") else None
    if home is None:
        return False
    count = len(home.loops)
    a, b = pair.source[1][:count], pair.sink[1][:count]
    return a != b


def compare(a: Path, b: Path) -> Literal["before", "after", "together", "lanes", "concurrent"]:
    """In which order the instances at two paths run. "together" is in one joint statement, where
    all reads come before all writes; "lanes" accumulate in any order, but are not "concurrent"."""
    for (kind, x), (_, y) in zip(a, b, strict=False):
        if x != y:
            if kind in ("parallel", "lanes"):
                return "concurrent" if kind == "parallel" else "lanes"
            return "before" if x < y else "after"
    return "together"


def dependence_text(report: Report, pair: InstanceDependence) -> str:
    """A dependence that a schedule breaks, in words."""

    def name(key: Key) -> str:
        d = report.stored[key[0]]
        return f"{d.name}{dict(zip([x.name for x in d.dims], key[1], strict=True))}"

    where = f"{pair.place[0].name}{list(pair.place[1])}"
    return f"{pair.kind} on {where}: {name(pair.sink)} does not wait for {name(pair.source)}"
