"""Threads without work, with too little of it, or in each other's way."""

from __future__ import annotations

from collections.abc import Iterator

from ...poly.report.share_notes import waiting
from ..explore.moves import Move
from .edits import Change
from .nests import LoopSeen, StageSeen
from .suspicion import Subject, Suspicion, factor, is_along, outer, runs

LINE = 64
"""Bytes of a line of a cache."""

LITTLE = 10_000
"""So few instances are hardly worth threads."""

IDLE = 0.05
"""The share of their time for which threads wait that makes smaller blocks worth a try."""


def serial(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """One thread does all of it."""
    first = x.loops[0]
    if of.threads == 1 or len(x.mine) < len(x.loops) or first.kind != "serial":
        return
    if first.extent < 2 or any(y.kind == "parallel" for y in x.loops):
        return
    evidence = f"{first.extent:,} iterations of {first.name} run on one of {of.threads} threads"
    move = Move(x.name, first.name, "parallel", (first.name,))
    among = min(of.threads, first.extent) if len(of.stages) == 1 else 1
    yield Suspicion(x.name, "serial outer loop", evidence, Change((move,)), among)


def one_thread(of: Subject) -> Iterator[Suspicion]:
    """One thread does all of several stages: threads for each of them that accepts it."""
    found = [y for x in of.stages if x.mine for y in serial(of, x)]
    if len(found) < 2 or any(y.kind == "parallel" for x in of.stages for y in x.loops):
        return
    names = ", ".join(y.stage for y in found)
    evidence = f"all of {names} runs on one of {of.threads} threads"
    moves = tuple(move for y in found for move in y.change.moves)
    among = of.threads if len(found) == len(of.stages) else 1
    change = Change(moves, is_optional=True)
    yield Suspicion(names, "serial outer loop", evidence, change, among)


def fine(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """Work is handed out again in each iteration of a serial loop, or is too little."""
    at = next((k for k, y in enumerate(x.loops) if y.kind == "parallel"), None)
    mine = of.records(x.name, "parallel")
    if at is None or not mine:
        return
    begun, each = runs(x.loops[:at]), runs(x.loops[at + 1 :])
    first = x.loops[0]
    evidence = (
        f"threads are given work {begun:,} times, {x.loops[at].extent:,} tasks of {each:,} "
        "instances each"
    )
    if begun > 1 and x.own == len(x.loops) and not first.reduces:
        move = Move(x.name, first.name, "parallel", (first.name,))
        yield Suspicion(x.name, "tasks too fine", evidence, Change((move,), mine))
    if begun > 1 or x.runs < LITTLE:
        yield Suspicion(x.name, "tasks too fine", evidence, Change((), mine))


def uneven(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """Some threads have an iteration more than others, which wait for them meanwhile: smaller
    blocks, or, where a loop is in no blocks, the iterations of the next one."""
    shared = next((y for y in x.loops if y.kind == "parallel"), None)
    mine = of.records(x.name, "parallel")
    if shared is None or shared not in x.mine or not mine or x.runs < LITTLE:
        return
    idle = waiting(shared.extent, of.threads)
    if idle < IDLE:
        return
    most = -(-shared.extent // of.threads)
    evidence = (
        f"{shared.extent:,} iterations of the parallel loop {shared.name} on {of.threads} threads, "
        f"of which one has {most:,}: threads wait for {idle:.0%} of their time"
    )
    splits = [d for d in of.records(x.name, "split") if outer(d) == shared.name]
    for d in splits:
        for small in _finer(factor(d), shared.extent, of.threads):
            yield Suspicion(x.name, "uneven blocks", evidence, Change(instead=((d, small),)))
    following = _next(x, shared)
    if not splits and following is not None and following.extent > shared.extent:
        move = Move(x.name, following.name, "parallel", (following.name,))
        yield Suspicion(x.name, "uneven blocks", evidence, Change((move,), mine))


def _finer(factor: int, extent: int, threads: int) -> list[int]:
    """Smaller factors: that of as many blocks as all threads have alike, about, as the last one may
    be a part; and a quarter."""
    even = -(-extent // threads) * threads
    several = (-(-factor * extent // even), factor * extent // even, factor // 4)
    return [x for x in dict.fromkeys(several) if 0 < x < factor]


def _next(x: StageSeen, shared: LoopSeen) -> LoopSeen | None:
    """The loop right inside of another one, if threads may have its iterations."""
    inside = x.mine[x.mine.index(shared) + 1 :][:1]
    return next((y for y in inside if y.kind == "serial" and not y.reduces), None)


def shared_lines(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """Neighbouring iterations of a parallel loop write to one line. One that begins again and again
    is another cause, for which the same is tried."""
    parallel = next((y for y in x.mine if y.kind == "parallel"), None)
    mine = of.records(x.name, "parallel")
    if parallel is None or not mine or parallel.strides[0] is None:
        return
    distance = abs(parallel.strides[0]) * x.widths[0]
    others = [y for y in x.mine if (y.strides[0] or 0) * x.widths[0] >= LINE and y.kind == "serial"]
    if distance >= LINE or not others or runs(x.loops[: x.loops.index(parallel)]) > 1:
        return
    other = others[0]
    evidence = (
        f"iterations of the parallel loop {parallel.name} write {distance} bytes from each other, "
        f"in lines of {LINE} bytes that several threads write; those of {other.name} are not"
    )
    rest = [y.name for y in x.mine if y not in (other, parallel)]
    is_scalar = all(y.kind != "vector" for y in x.mine)
    order = (other.name, *rest, parallel.name) if is_scalar else (other.name, parallel.name, *rest)
    moves = [
        Move(x.name, other.name, "reorder", order),
        Move(x.name, other.name, "parallel", (other.name,)),
    ]
    if is_scalar and is_along(parallel):
        lanes = of.lanes(x)
        moves.append(Move(x.name, parallel.name, "vectorize", (parallel.name, lanes)))
    yield Suspicion(x.name, "false sharing", evidence, Change(tuple(moves), mine))
