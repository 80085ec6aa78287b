"""What may cost a kernel time, told from its loops, and the change of the schedule to try."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from ...poly.schedule.schedule import Schedule
from ...poly.state.record import Directive
from ..explore.moves import Move
from .edits import Change
from .nests import LoopSeen, StageSeen

LINE = 64
"""Bytes of a line of a cache."""

AGAIN = 1.25
"""How often an element is computed on average before recomputation is named."""

FEW = 4
"""So many iterations are not worth a vector."""


LITTLE = 10_000
"""So few instances are hardly worth threads."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A cause that may be one, the numbers that speak for it, and what to try."""

    stage: str
    cause: str
    evidence: str
    change: Change


@dataclass(frozen=True, slots=True)
class Subject:
    """What is looked at: a schedule, its stages, and how many threads a call may have."""

    schedule: Schedule
    stages: tuple[StageSeen, ...]
    threads: int

    def records(self, stage: str, *names: str) -> tuple[Directive, ...]:
        """The directives of a stage; of these names, if some are given."""
        every = self.schedule.directives
        return tuple(d for d in every if d.stage == stage and (not names or d.name in names))


def suspicions(of: Subject) -> Iterator[Suspicion]:
    """All that may be a cause."""
    for stage in of.stages:
        if stage.mine:
            for rule in RULES:
                yield from rule(of, stage)


def _strided(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """The innermost loop steps over lines, and another one runs along them."""
    inner = x.mine[-1]
    far = [t for t, k in zip(x.tensors, inner.strides, strict=True) if k is None or abs(k) > 1]
    best = [y for y in x.mine if y is not inner and _is_along(y) and y.extent > FEW]
    if not far or not best:
        return
    along = best[-1]
    if along.kind == "parallel":
        return  # threads write to the same lines, which is another cause
    lanes = _lanes(of, x)
    order = [*(y.name for y in x.mine if y is not along), along.name]
    moves = (
        Move(x.name, along.name, "reorder", tuple(order)),
        Move(x.name, along.name, "vectorize", (along.name, lanes)),
    )
    step = max(abs(k or 0) * w for k, w in zip(inner.strides, x.widths, strict=True))
    evidence = (
        f"the innermost loop {inner.name} moves {', '.join(dict.fromkeys(far))} by up to "
        f"{step:,} bytes an iteration, and {along.name} would move along the lines of caches"
    )
    vectors = tuple(d for d in of.records(x.name, "vectorize"))
    yield Suspicion(x.name, "strided inner access", evidence, Change(moves, vectors))


def _is_along(y: LoopSeen) -> bool:
    return not y.reduces and y.strides[0] == 1 and all(k in (0, 1) for k in y.strides)


def _lanes(of: Subject, x: StageSeen) -> int:
    return max(2, of.schedule.target.vector_bytes // max(x.widths))


def _scalar(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """No vector loop, though the innermost one moves along lines."""
    inner = x.mine[-1]
    is_scalar = all(y.kind != "vector" for y in x.loops)
    if is_scalar and not inner.reduces and inner.strides[0] == 1 and inner.extent > FEW:
        lanes = _lanes(of, x)
        evidence = f"{inner.extent:,} iterations of {inner.name} run one element at a time"
        move = Move(x.name, inner.name, "vectorize", (inner.name, lanes))
        yield Suspicion(x.name, "no vector loop", evidence, Change((move,)))


def _serial(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """One thread does all of it."""
    outer = x.loops[0]
    if of.threads == 1 or len(x.mine) < len(x.loops) or outer.kind != "serial":
        return
    if outer.extent < 2 or any(y.kind == "parallel" for y in x.loops):
        return
    evidence = f"{outer.extent:,} iterations of {outer.name} run on one of {of.threads} threads"
    move = Move(x.name, outer.name, "parallel", (outer.name,))
    yield Suspicion(x.name, "serial outer loop", evidence, Change((move,)))


def _fine(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """Work is handed out again in each iteration of a serial loop, or is too little."""
    at = next((k for k, y in enumerate(x.loops) if y.kind == "parallel"), None)
    mine = of.records(x.name, "parallel")
    if at is None or not mine:
        return
    begun, each = prod(y.extent for y in x.loops[:at]), prod(y.extent for y in x.loops[at + 1 :])
    outer = x.loops[0]
    evidence = (
        f"threads are given work {begun:,} times, {x.loops[at].extent:,} tasks of {each:,} "
        "instances each"
    )
    if begun > 1 and x.own == len(x.loops) and not outer.reduces:
        move = Move(x.name, outer.name, "parallel", (outer.name,))
        yield Suspicion(x.name, "tasks too fine", evidence, Change((move,), mine))
    if begun > 1 or x.runs < LITTLE:
        yield Suspicion(x.name, "tasks too fine", evidence, Change((), mine))


def _shared_lines(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """Neighbouring iterations of a parallel loop write to one line."""
    parallel = next((y for y in x.mine if y.kind == "parallel"), None)
    mine = of.records(x.name, "parallel")
    if parallel is None or not mine or parallel.strides[0] is None:
        return
    distance = abs(parallel.strides[0]) * x.widths[0]
    others = [y for y in x.mine if (y.strides[0] or 0) * x.widths[0] >= LINE and y.kind == "serial"]
    if distance >= LINE or not others:
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
    if is_scalar and _is_along(parallel):
        lanes = _lanes(of, x)
        moves.append(Move(x.name, parallel.name, "vectorize", (parallel.name, lanes)))
    yield Suspicion(x.name, "false sharing", evidence, Change(tuple(moves), mine))


def _again(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """What is computed in the loops of a consumer is computed more than once."""
    if x.own == len(x.loops) or not x.elements or any(y.reduces for y in x.loops):
        return
    times = x.runs / x.elements
    if times > AGAIN:
        evidence = f"{x.runs:,} instances run for {x.elements:,} elements, {times:.3g} times each"
        move = Move(x.func, "", "compute_root")
        yield Suspicion(x.name, "recomputation", evidence, Change((move,)))


def _far(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """All of a Func is stored before any of it is read, and caches do not hold it."""
    caches = of.schedule.target.caches
    if x.name != x.func or x.own < len(x.loops) or len(caches) < 2 or x.bytes < caches[1].bytes:
        return
    for y in of.stages:
        if x.func in y.tensors[1:] and y.func != x.func and y.own == len(y.loops):
            evidence = (
                f"{x.bytes / 1e6:.3g} MB of {x.func} are stored before {y.name} reads them, and "
                f"the cache of a core has {caches[1].bytes / 1e6:.3g} MB"
            )
            for loop in y.mine[:2]:
                if loop.kind in ("serial", "parallel") and not loop.reduces:
                    move = Move(x.func, "", "compute_at", (y.name, loop.name))
                    yield Suspicion(x.name, "producer far away", evidence, Change((move,)))


def _spilling(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """Copies of unrolled loops need more registers than there are."""
    unrolled, registers = of.records(x.name, "unroll"), of.schedule.target.vector_registers
    lanes = _lanes(of, x)
    held = prod(-(-y.extent // (lanes if y.kind == "vector" else 1)) for y in x.mine
                if y.kind in ("vector", "unrolled"))  # fmt: skip
    if unrolled and held > registers:
        evidence = f"its unrolled loops hold {held:,} vectors, and there are {registers} registers"
        for d in unrolled:
            yield Suspicion(x.name, "spills", evidence, Change((), (d,)))


def _large(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """What the inner loops of a tile write is more than a cache holds, and is written again."""
    caches = of.schedule.target.caches
    sums = [k for k, y in enumerate(x.mine) if y.reduces]
    splits = [d for d in of.records(x.name, "split") if d.to_json()["options"]["factor"] > TILE]
    if not sums or not splits or len(caches) < 2:
        return
    inner = [y for y in x.mine[sums[-1] + 1 :] if y.strides[0]]
    size = prod(y.extent for y in inner) * x.widths[0]
    if size > caches[0].bytes:
        evidence = (
            f"a tile of {size / 1e3:,.4g} kB is written again in each iteration of "
            f"{x.mine[sums[-1]].name}, and the first cache has {caches[0].bytes / 1e3:,.4g} kB"
        )
        smaller = tuple((d, TILE) for d in splits)
        yield Suspicion(x.name, "tile larger than a cache", evidence, Change((), (), smaller))


TILE = 32
"""The factor that is tried for the splits of a tile that is too large."""

RULES = (_strided, _scalar, _serial, _fine, _shared_lines, _again, _far, _large, _spilling)
