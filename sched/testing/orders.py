"""The check of orders by brute force: the pairs of instances that a schedule runs in the wrong
order.

Any two accesses to one element, at least one of them a write, are a pair whose order the program
determines. The paths of instances in the executed loops come from a report of the instance checker;
nothing here is symbolic.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from typing import Literal

from ..checking.execute import Path
from ..checking.report import Report
from ..interp.flow import Key, Place, Recorded
from ..records import dataclass

Kind = Literal["flow", "anti", "output"]


@dataclass(frozen=True, slots=True)
class InstanceDependence:
    """A dependence between two instances: they must run in this order, because of the accesses to
    `place`."""

    kind: Kind
    source: Key
    sink: Key
    place: Place


@dataclass(frozen=True, slots=True)
class _Use:
    """An instance that accesses an element, and how."""

    recorded: Recorded
    reads: bool
    writes: bool


def pairs(report: Report, among: Collection[Key] | None = None) -> Iterator[InstanceDependence]:
    """Every dependence between instances that ran, or between those of a given set."""
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
    """The dependences whose instances run in the wrong order, or in no order: all, or those between
    instances of a given set."""
    for pair in pairs(report, among):
        if _is_in_different_blocks(report, pair) or {pair.source, pair.sink} & report.again:
            continue
        order = compare(report.ran[pair.source], report.ran[pair.sink])
        same = pair.source[0] == pair.sink[0] and pair.source[0] in report.free
        own = report.flow.instances[pair.source].place == pair.place
        relaxed = same and own and report.flow.instances[pair.sink].place == pair.place
        if pair.sink[0] in report.partial and report.flow.instances[pair.sink].place == pair.place:
            continue  # each iteration starts a partial result of its own
        allowed = {"before", "together"} if pair.kind == "anti" else {"before"}
        if relaxed:
            allowed |= {"after", "lanes"}
        if relaxed and pair.source[0] in report.atomic:
            allowed |= {"concurrent"}
        if order not in allowed:
            yield pair


def _is_in_different_blocks(report: Report, pair: InstanceDependence) -> bool:
    """Whether the element belongs to a Func that each iteration of a block computes anew, and the
    instances belong to different iterations: no value passes between them."""
    home = pair.place[0].history.home if hasattr(pair.place[0], "history") else None
    if home is None:
        return False
    count = len(home.loops)
    a, b = pair.source[1][:count], pair.sink[1][:count]
    return a != b


def compare(a: Path, b: Path) -> Literal["before", "after", "together", "lanes", "concurrent"]:
    """The order of the instances at two paths. Instances run "together" in one joint statement, in
    which all reads come before all writes. Instances in different "lanes" of a vector loop may
    accumulate in any order, but not concurrently."""
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
