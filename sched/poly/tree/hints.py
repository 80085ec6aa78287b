"""Hints to caches, prefetches and streaming stores: they do not change what is computed."""

from __future__ import annotations

from ...records import dataclass


@dataclass(frozen=True)
class Prefetch:
    """In a loop of a stage, what it reads of a tensor some iterations later is fetched."""

    stage: str
    tensor: str
    loop: str
    distance: int


@dataclass(frozen=True)
class Hints:
    """All hints of a schedule: stages that stream their results, and prefetches."""

    streams: frozenset[str] = frozenset()
    prefetches: tuple[Prefetch, ...] = ()
