"""A stream of small integers that decides all that is random about a program."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Makes choices, remembers them, and replays them.

    The first of several options is the simplest one, so smaller numbers are simpler programs, and
    a stream that has run out goes on with zeros.

    Args:
        seed: for what is not replayed; None for zeros.
        replay: the first choices; one that is too large is the last option.
    """

    def __init__(self, seed: int | None = None, replay: Sequence[int] = ()) -> None:
        self._random = None if seed is None else random.Random(seed)
        self._replay = replay
        self.taken: list[int] = []
        #: The stretches of `taken` that belong together: one expression, one definition.
        self.spans: list[tuple[int, int]] = []

    def below(self, count: int) -> int:
        """0 <= choice < count."""
        at = len(self.taken)
        if at < len(self._replay):
            choice = min(self._replay[at], count - 1)
        else:
            choice = 0 if self._random is None else self._random.randrange(count)
        self.taken.append(choice)
        return choice

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
        return self.below(100) >= 100 - percent

    @contextmanager
    def span(self) -> Iterator[None]:
        """What is chosen inside belongs together."""
        start = len(self.taken)
        yield
        self.spans.append((start, len(self.taken)))
