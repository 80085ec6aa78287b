"""All that is random about a program."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Makes the choices of which a program consists; the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, count: int) -> int:
        """0 <= choice < count."""
        return self._random.randrange(count)

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, each as likely as any other."""
        return options[self.below(len(options))]

    def weighted(self, *options: tuple[int, T]) -> T:
        """One of the options, each as likely as its weight says."""
        at = self.below(sum(weight for weight, _ in options))
        for weight, option in options:
            if at < weight:
                return option
            at -= weight
        raise AssertionError("the weights are positive")

    def chance(self, percent: int) -> bool:
        """True this often."""
        return self.below(100) < percent
