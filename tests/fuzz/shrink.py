"""From choices that fail to fewer and smaller ones that fail in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator

Spans = list[tuple[int, int]]
Attempt = Callable[[list[int]], "tuple[list[int], Spans] | None"]
"""Replays choices: those that were taken and their spans if it fails still, else None."""


def shrink(taken: list[int], spans: Spans, attempt: Attempt, limit: int = 400) -> list[int]:
    """The simplest choices found with at most `limit` attempts."""
    left = limit
    tried: set[tuple[int, ...]] = {tuple(taken)}
    progress = True
    while progress and left > 0:
        progress = False
        for candidate in _candidates(taken, spans):
            if tuple(candidate) in tried:
                continue
            if left <= 0:
                break
            left -= 1
            tried.add(tuple(candidate))
            found = attempt(candidate)
            if found is not None and _is_simpler(found[0], taken):
                taken, spans = found
                progress = True
                break
    return taken


def _is_simpler(a: list[int], b: list[int]) -> bool:
    return (len(a), sum(a), a) < (len(b), sum(b), b)


def _candidates(taken: list[int], spans: Spans) -> Iterator[list[int]]:
    """Simpler choices, the boldest first."""
    for k in (1, 2, 4):
        yield taken[: len(taken) // (2 * k) * (2 * k - 1)]
    ordered = sorted(set(spans), key=lambda s: s[0] - s[1])
    for start, end in ordered:
        for zeros in range(min(3, end - start)):
            yield [*taken[:start], *[0] * zeros, *taken[end:]]
    for start, end in ordered:
        for a, b in ordered:
            if start < a and b <= end and b - a < end - start:
                yield [*taken[:start], *taken[a:b], *taken[end:]]
    for size in (8, 4, 2, 1):
        for at in range(0, len(taken) - size + 1):
            yield taken[:at] + taken[at + size :]
    for at, value in enumerate(taken):
        for smaller in dict.fromkeys((0, value // 2, value - 1)):
            if smaller < value:
                yield [*taken[:at], smaller, *taken[at + 1 :]]
