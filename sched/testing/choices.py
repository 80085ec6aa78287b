"""The source of random choices for programs and directives: a seed, or hypothesis."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Makes choices by `below(count)`, which gives an integer 0 <= choice < count."""

    def __init__(self, below: Callable[[int], int]) -> None:
        self.below = below

    @classmethod
    def from_seed(cls, seed: int) -> Choices:
        """Choices by a random generator with this seed."""
        return cls(random.Random(seed).randrange)

    def between(self, lo: int, hi: int) -> int:
        """An integer between `lo` and `hi`, both included."""
        return lo + self.below(hi - lo + 1)

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, all with equal probability."""
        return options[self.below(len(options))]

    def weighted(self, *options: tuple[int, T]) -> T:
        """One of the options, with probabilities in proportion to the weights."""
        at = self.below(sum(weight for weight, _ in options))
        for weight, option in options:
            if at < weight:
                return option
            at -= weight
        raise AssertionError("the weights are positive")

    def chance(self, percent: int) -> bool:
        """True with a probability of `percent`."""
        return self.below(100) < percent

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in random order."""
        left, found = list(items), []
        while left:
            found.append(left.pop(self.below(len(left))))
        return found
