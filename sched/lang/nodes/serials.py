"""Serials: numbers that say which of two things was made first."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ...forks import reentrant
from ..errors.errors import LanguageError

_serial = itertools.count()
_lock = reentrant()


class _Numbered(threading.local):
    """Serials that a thread was told to use in place of new ones."""

    numbers: Iterator[int] | None = None


_numbered = _Numbered()


def next_serial() -> int:
    """A number that is larger than those of all that was made before."""
    if _numbered.numbers is not None:
        return next(_numbered.numbers)
    with _lock:
        return next(_serial)


def reserved(count: int) -> int:
    """The first of so many successive serials that nothing else gets."""
    global _serial
    with _lock:
        first = next(_serial)
        _serial = itertools.count(first + count)
    return first


@contextmanager
def numbered(serials: Sequence[int]) -> Iterator[None]:
    """What this thread makes inside has these serials, in this order: it is made again, and its
    place among others is the one that it had.

    Raises:
        LanguageError: it takes more of them, or fewer.
    """
    before, left = _numbered.numbers, list(reversed(serials))

    def numbers() -> Iterator[int]:
        while left:
            yield left.pop()
        raise LanguageError(f"it has {len(serials)} serials, and is more than so many things")

    _numbered.numbers = numbers()
    try:
        yield
    finally:
        _numbered.numbers = before
    if left:
        made = len(serials) - len(left)
        raise LanguageError(f"it has {len(serials)} serials, and is {made} things")
