"""What is computed again, lies too long before it is read, or exceeds a cache."""

from __future__ import annotations

from collections.abc import Iterator

from ..explore.moves import Move
from .edits import Change
from .nests import StageSeen
from .suspicion import Subject, Suspicion, factor, runs

AGAIN = 1.25
"""How often an element is computed on average before recomputation is named."""


def again(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """What is computed in the loops of a consumer is computed more than once."""
    if x.own == len(x.loops) or not x.elements or any(y.reduces for y in x.loops):
        return
    times = x.runs / x.elements
    if times > AGAIN:
        evidence = f"{x.runs:,} instances run for {x.elements:,} elements, {times:.3g} times each"
        move = Move(x.func, "", "compute_root")
        yield Suspicion(x.name, "recomputation", evidence, Change((move,)))


def far(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
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


def large(of: Subject, x: StageSeen) -> Iterator[Suspicion]:
    """What the inner loops of a tile write is more than a cache holds, and is written again."""
    caches = of.schedule.target.caches
    sums = [k for k, y in enumerate(x.mine) if y.reduces]
    splits = [d for d in of.records(x.name, "split") if factor(d) > SMALLEST]
    if not sums or not splits or len(caches) < 2:
        return
    again = x.mine[sums[-1]]
    size = runs(tuple(y for y in x.mine[sums[-1] + 1 :] if y.strides[0])) * x.widths[0]
    level = max((k for k in (0, 1) if size > caches[k].bytes), default=None)
    if level is None:
        return
    evidence = (
        f"a tile of {size / 1e3:,.4g} kB is written again in each iteration of {again.name}, and "
        f"the {('first', 'second')[level]} cache has {caches[level].bytes / 1e3:,.4g} kB"
    )
    most = max(factor(d) for d in splits)
    for small in (k for k in SMALLER if k < most):
        instead = tuple((d, small) for d in splits if factor(d) > small)
        change = Change(instead=instead)
        yield Suspicion(x.name, "tile larger than a cache", evidence, change)


SMALLER = (256, 128, 64, 32)
"""The factors that are tried for the splits of a tile that is too large."""

SMALLEST = SMALLER[-1]
