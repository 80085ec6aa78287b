"""What a nest of loops costs, apart for what limits it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest

from ..cached import cached_property
from ..records import dataclass

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
    inside = [name for name, cost in costs.items() if cost.within is not None]
    if not inside:
        return sum(cost.seconds for cost in costs.values())
    whole = dict(costs)
    for name in reversed(inside):
        cost = whole.pop(name)
        if cost.within is not None:
            whole[cost.within] = whole[cost.within].plus(cost)
    return sum(cost.seconds for cost in whole.values())
