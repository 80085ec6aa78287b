"""What a nest of loops costs, apart for what limits it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, zip_longest

from ...cached import cached_property
from ...records import dataclass

ALONGSIDE = 0.3
"""The part of what takes less long that is not hidden behind what takes the longest."""


@dataclass(frozen=True)
class Cost:
    """What a nest costs, in seconds.

    Attributes:
        compute: what the units of a core take.
        memory: by cache, the nearest first, what it takes to bring what the cache does not hold.
        starts: what it takes to hand work to threads.
        within: the statement in whose innermost block it runs, beside what that computes there;
            None where it runs before or after all others.
    """

    compute: float
    memory: tuple[float, ...]
    starts: float
    within: str | None = None

    @cached_property
    def seconds(self) -> float:
        """The whole, as much of it as runs at the same time taken once."""
        parts = (self.compute, *self.memory)
        return max(parts) + ALONGSIDE * (sum(parts) - max(parts)) + self.starts

    def plus(self, other: Cost, share: float = 1.0) -> Cost:
        """The same with a part of another one. What costs nothing has fewer caches."""
        memory = zip_longest(self.memory, other.memory, fillvalue=0.0)
        return Cost(
            self.compute + share * other.compute,
            tuple(a + share * b for a, b in memory),
            self.starts + share * other.starts,
            self.within,
        )

    @property
    def limit(self) -> str:
        """What takes the longest."""
        most = max(self.compute, *self.memory)
        if most == self.compute:
            return "arithmetic"
        level = self.memory.index(most) + 1
        return f"cache {level + 1}" if level < len(self.memory) else "memory"


def seconds_of(costs: Mapping[str, Cost]) -> float:
    """What statements take together: a block that runs in one of another statement may compute
    while that waits for memory.

    Args:
        costs: by statement, consumers before what they read.
    """
    return sums_of(dict(costs), costs, {}, ())[-1] if costs else 0.0


def sums_of(
    costs: dict[str, Cost],
    changed: Iterable[str],
    before: Mapping[str, Cost],
    sums: tuple[float, ...],
) -> tuple[float, ...]:
    """What the first statements take together, up to each of them. Only what comes after the first
    change is added up again, in the same order: the sums are the same to the last bit.

    Args:
        costs: by statement, consumers before what they read.
        changed: statements that cost something else than before, or are new.
        before: the costs before.
        sums: those of the costs before; none of them if they are not known.
    """
    if len(sums) < len(before):
        changed, before = costs, {}
    left = {x for name in changed for known in (costs, before) for x in _around(known, name)}
    rest: dict[str, Cost] = {}
    for name in reversed(costs):
        if not left:
            break
        left.discard(name)
        rest[name] = costs[name]
    for name in rest:  # the last one first: a block in a block is one with both around it
        host = rest[name].within
        if host in rest:
            rest[host] = rest[host].plus(rest[name])
    known = sums[: len(costs) - len(rest)]
    seconds = (0.0 if x.within is not None else x.seconds for x in reversed(rest.values()))
    return (*known[:-1], *accumulate(seconds, initial=known[-1] if known else 0.0))[not known :]


def _around(costs: Mapping[str, Cost], name: str | None) -> Iterator[str]:
    """A statement, and those in whose blocks it runs, if it costs anything yet."""
    while name is not None and name in costs:
        yield name
        name = costs[name].within
