"""Profiles beside a clock outside of them, as a table:

python benchmarks/profiles.py

Each program is called as usual, half of the calls before its profile and half of them behind it,
and timed around the call; five times, with new arrays each time, since the pages of memory that
these happen to get make a call of a few microseconds up to a fifth longer or shorter. The row is
the profile whose difference is in the middle; `on` and `off` are medians of all. The median call is
compared with the stages of the profile, which add up to its time with the way to the loops and
back. What profiling costs stands beside it: `on` is by which part marks make the shortest run
longer than the shortest one without, in turns with these; `off` by which part the shortest call
behind the profile is longer than the shortest one before, which is to be nothing, since a kernel
itself has no marks. The exit status is 1 where times differ by more than 5% and the standard error
that is said, or where marks cost more than 5%. Others on the machine must not disturb it.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from advice import blur, costly, image, product, smooth

import polysched as ps

LIMIT = 0.05
"""By which part times may differ, and marks make a run longer."""

ROUNDS, SECONDS, FEWEST = 5, 0.3, 20
"""How many profiles there are of a program; for how long calls are timed before each and behind it,
and how many there are at least."""

Case = tuple[ps.Schedule, tuple[Any, ...]]


def rows() -> Case:
    """Two stages, each in loops that threads share."""
    s = ps.Schedule(blur())
    for stage in ("across", "f"):
        s[stage].vectorize("j", 8).parallel("i")
    return s, (image(2050, 2050),)


def in_turns() -> Case:
    """A producer for each row of its consumer: too short for a clock of its own."""
    s = ps.Schedule(blur())
    s["f"].vectorize("j", 8)
    s["across"].compute_at("f", "i").vectorize("j", 8)
    return s, (image(1026, 514),)


def in_turns_by_threads() -> Case:
    """The same in iterations that threads share."""
    s, _ = in_turns()
    s["f"].parallel("i")
    return s, (image(2050, 2050),)


def tiles() -> Case:
    """A product in tiles that threads share."""
    s = ps.Schedule(product())
    s["C"].vectorize("j", 8).parallel("i")
    u = s["C.update(0)"]
    u.tile("i", "j", 8, 16)
    u.reorder("io", "jo", "k", "ii", "ji").accumulate_at("jo").vectorize("ji", 8)
    u.unroll("ji").unroll("ii").parallel("io")
    return s, (image(512, 512), image(512, 512))


def sums() -> Case:
    """A producer that takes long, and a sum of it, on one thread."""
    s = ps.Schedule(costly())
    s["g"].compute_root().vectorize("j", 8)
    s["f"].vectorize("j", 8)
    s["f.update(0)"].reorder("i", "k", "j").vectorize("j", 8)
    return s, (image(520, 512),)


def short() -> Case:
    """A call of some tens of microseconds."""
    s = ps.Schedule(smooth())
    s["f"].vectorize("j", 8)
    return s, (image(256, 512),)


CASES: tuple[Callable[[], Case], ...] = (rows, in_turns, in_turns_by_threads, tiles, sums, short)


def called(kernel: ps.Kernel, args: tuple[Any, ...], out: Any) -> list[float]:
    """Seconds of calls."""
    found: list[float] = []
    total = 0.0
    while len(found) < FEWEST or total < SECONDS:
        start = time.perf_counter()
        kernel(*args, out=out)
        found.append(time.perf_counter() - start)
        total += found[-1]
    return found


@dataclass(frozen=True)
class Round:
    """A profile, and seconds of the calls around it."""

    profile: Any
    before: list[float]
    behind: list[float]

    @property
    def outside(self) -> float:
        """Seconds of the median call, by a clock outside of it."""
        return median(self.before + self.behind)

    @property
    def stages(self) -> float:
        return sum(s.seconds for s in self.profile.stages)

    @property
    def error(self) -> float:
        """The standard error that is said, as a part of the call."""
        return math.hypot(*(s.error for s in self.profile.stages)) / self.outside

    @property
    def differs(self) -> float:
        """By which part the profile is longer than the calls."""
        return (self.stages + self.profile.calling) / self.outside - 1

    @property
    def off(self) -> float:
        """By which part calls behind the profile are longer than those before it."""
        return min(self.behind) / min(self.before) - 1


def measured(kernel: ps.Kernel, given: tuple[Any, ...]) -> Round:
    """A profile and calls, with arrays of their own."""
    args = tuple(x.copy() for x in given)
    out = kernel(*args)
    before = called(kernel, args, out)
    profile = kernel.profile(*args, out=out)
    return Round(profile, before, called(kernel, args, out))


def row(name: str, case: Case) -> tuple[str, bool]:
    """A line of the table, and whether all is within the limits."""
    schedule, args = case
    kernel = schedule.compile()
    rounds = sorted((measured(kernel, args) for _ in range(ROUNDS)), key=lambda r: r.differs)
    r = rounds[ROUNDS // 2]
    p, marks = r.profile, median(r.profile.overhead for r in rounds)
    how = ", ".join(dict.fromkeys(s.how for s in p.stages))
    shown = (
        f"| {name} | {r.outside * 1e3:.4g} | {p.seconds * 1e3:.4g} | {r.differs:+.1%} "
        f"| {r.error:.1%} | {r.stages / p.seconds:.1%} | {p.calling / p.seconds:.1%} "
        f"| {marks:+.1%} | {median(r.off for r in rounds):+.1%} | {how} |"
    )
    return shown, abs(r.differs) <= LIMIT + r.error and marks <= LIMIT


def main() -> int:
    """Prints the table."""
    print(
        "| program | ms of a call | of the profile | differs | error | stages | the call itself "
        "| on | off | how |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|---|")
    is_good = True
    for make in CASES:
        shown, holds = row(make.__name__.replace("_", " "), make())
        is_good = is_good and holds
        print(shown, flush=True)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
