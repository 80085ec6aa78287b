"""What a schedule says of caches; no part of the meaning."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Prefetch:
    """In a loop of a stage, what it reads of a tensor some iterations later is fetched."""

    stage: str
    tensor: str
    loop: str
    distance: int


@dataclass(frozen=True)
class Hints:
    """What a schedule says of caches; no part of the meaning."""

    streams: frozenset[str] = frozenset()
    prefetches: tuple[Prefetch, ...] = ()
