"""Answers that are kept while a schedule is proven or a kernel is compiled.

The passes ask the same of the same expressions again and again: the copies of an unrolled loop have
most of theirs in common. What they are told is kept until the work is done, and no longer: answers
hold expressions, and these hold tensors, that have to be freed with the last use of a program.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

_kept: list[Any] = []
_works = 0


def remembered(function: F) -> F:
    """A function of hashable arguments whose answers depend on nothing else, kept during work."""
    kept = cache(function)
    _kept.append(kept)

    @wraps(function)
    def answer(*args: Any) -> Any:
        return kept(*args) if _works else function(*args)

    return cast(F, answer)


def begin() -> None:
    """Work begins, maybe inside of other work or beside it."""
    global _works
    _works += 1


def end() -> None:
    """Work ends, and with the last work that is under way all answers are dropped."""
    global _works
    _works = max(0, _works - 1)
    if not _works:
        for kept in _kept:
            kept.cache_clear()
