"""From the words that threads have kept to the times of stages and loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from math import sqrt

from ...codegen.ir.mark_words import EVENTS, FIRST_EVENT, WORDS
from ...lang.nodes.dtypes import Array
from ...records import dataclass
from .instrumented import Instrumented
from .profile import How, LoopTime, Span
from .runs import begun, ticks_of

WORSE: tuple[How, ...] = ("clock", "sampled", "estimated")

LEAST_LOOKS = 20
"""Looks at a region of which its parts are made; below it the cost model says more."""


@dataclass
class StageTotal:
    """What is known of a stage: seconds of the call, seconds of each thread, the variance."""

    seconds: float = 0.0
    variance: float = 0.0
    how: How = "clock"
    begun: int = 0
    threads: list[float] = field(default_factory=list)


@dataclass
class Totals:
    """Times of a run.

    Attributes:
        inside: seconds that the caller was in loops.
        busy: seconds that each thread was at work.
    """

    inside: float
    stages: dict[str, StageTotal]
    loops: tuple[LoopTime, ...]
    busy: list[float]


@dataclass(frozen=True)
class Split:
    """How a region is split: by stage, its part and the variance of that."""

    parts: Mapping[str, tuple[float, float]]
    how: How


def split(code: Instrumented, number: int, looks: Mapping[tuple[int, int], int]) -> Split:
    """How a region is split between its stages."""
    region = code.marked.regions[number]
    if len(region.parts) == 1:
        return Split({stage: (x, 0.0) for stage, x in region.parts.items()}, "clock")
    seen = {part: looks.get((number, part), 0) for part in region.sampled}
    count = sum(seen.values())
    if count < LEAST_LOOKS:
        return Split({stage: (x, 0.0) for stage, x in region.parts.items()}, "estimated")
    found: dict[str, float] = {}
    mixed = False
    for part, times in seen.items():
        shares = code.marked.parts[part]
        mixed = mixed or len(shares) > 1
        for stage, x in shares.items():
            found[stage] = found.get(stage, 0.0) + x * times / count
    # Of few looks none or all may be the same: a look more says how little is known then.
    errors = {s: max(p * (1 - p), 1 / (count + 1)) / count for s, p in found.items()}
    how: How = "estimated" if mixed else "sampled"
    return Split({s: (p, errors[s]) for s, p in found.items()}, how)


def totals(
    code: Instrumented, state: Array, ticks: float, looks: Mapping[tuple[int, int], int]
) -> Totals:
    """The times of a run; `ticks` are those of a second."""
    regions = code.marked.regions
    times = [[t / ticks for t in ticks_of(state, k)] for k in range(len(regions))]
    scales, idle, loops = _loops(code, times)
    stages: dict[str, StageTotal] = {}
    busy = [0.0] * len(state)
    for number, region in enumerate(regions):
        if not number or region.waits:
            continue
        own = times[number]
        busy = [a + b for a, b in zip(busy, own, strict=True)]
        seconds = sum(own)
        if region.loop is not None:
            seconds = seconds * scales[region.loop] + idle[region.loop]
        found = split(code, number, looks)
        for stage, (part, variance) in found.parts.items():
            total = stages.setdefault(stage, StageTotal(threads=[0.0] * len(state)))
            total.seconds += seconds * part
            total.variance += seconds**2 * variance
            if seconds:
                total.how = max(total.how, found.how, key=WORSE.index)
            total.begun += begun(state, number)
            total.threads = [a + b * part for a, b in zip(total.threads, own, strict=True)]
    inside = sum(x[0] for x in times[1:])
    return Totals(inside, stages, loops, busy)


def _loops(
    code: Instrumented, times: list[list[float]]
) -> tuple[list[float], list[float], tuple[LoopTime, ...]]:
    """For each loop that threads share seconds of the call for each second of a thread; seconds of
    each of its regions where no thread was in any, as in a loop without iterations; and its
    times."""
    found: list[LoopTime] = []
    scales: list[float] = []
    idle: list[float] = []
    for number, name in enumerate(code.marked.loops):
        mine = [k for k, r in enumerate(code.marked.regions) if r.loop == number]
        works = [k for k in mine if not code.marked.regions[k].waits]
        # Workers that wait do so for whatever comes next; the caller is in the loop until its end.
        wall = sum(times[k][0] for k in mine)
        busy = [sum(times[k][t] for k in works) for t in range(len(times[0]))]
        mean = sum(busy) / len(busy)
        scales.append(wall / sum(busy) if sum(busy) else 0.0)
        idle.append(0.0 if sum(busy) else wall / len(works))
        efficiency = mean / wall if wall else 0.0
        imbalance = max(busy) / mean - 1 if mean else 0.0
        inside = {stage: None for k in works for stage in code.marked.regions[k].parts if stage}
        found.append(LoopTime(name, wall, tuple(busy), efficiency, imbalance, tuple(inside)))
    return scales, idle, tuple(found)


def spans(code: Instrumented, state: Array, ticks: float) -> tuple[tuple[Span, ...], float | None]:
    """What threads did one after the other; and, where changes were too many to keep all, until
    when they are."""
    first = int(state[0, FIRST_EVENT])
    found: list[Span] = []
    cut: list[float] = []
    for thread, row in enumerate(state):
        total = int(row[WORDS["events"]])
        kept = min(total, EVENTS)
        events = row[FIRST_EVENT : FIRST_EVENT + 2 * kept].reshape(kept, 2)
        moments = [(int(t) - first) / ticks for t in events[:, 0]]
        if total > EVENTS:
            cut.append(moments[-1])
        for k in range(kept - 1):
            what = _what(code, int(events[k, 1]))
            if what and moments[k + 1] > moments[k]:
                found.append(Span(thread, moments[k], moments[k + 1], what))
    end = min(cut, default=None)
    if end is not None:
        found = [s for s in found if s.start < end]
    return tuple(_workers(found)), end


def _what(code: Instrumented, number: int) -> str:
    region = code.marked.regions[number]
    return "waiting" if region.waits else " + ".join(region.parts)


def _workers(found: list[Span]) -> Iterator[Span]:
    """Without what workers wait for outside of loops, which is nobody's time."""
    for s in found:
        if s.thread == 0 or s.what != "waiting":
            yield s


def error(total: StageTotal) -> float:
    """The standard error of a stage's seconds."""
    return sqrt(total.variance)
