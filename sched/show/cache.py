"""Text about what is kept on disk."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import groupby

from ..cache import store
from ..cache.place import DEFAULT_SIZE, ENABLED, folder, is_on, size_limit

_ABOUT = {
    "code": "machine code of kernels",
    "journal": "directives that were accepted",
    "plan": "schedules that were found for bare calls",
    "runtime": "code that every process needs",
    "sources": "digests of this package",
    "terms": "preconditions of kernels",
}


def report(now: float | None = None) -> str:
    """Where the cache is, and how many entries of which kind it has.

    Args:
        now: seconds since 1970.
    """
    found = store.entries()
    limit = size_limit()
    usual = " (POLYSCHED_CACHE_SIZE sets another)" if limit == DEFAULT_SIZE else ""
    lines = [
        f"directory  {folder() / store.ENTRIES}{'' if is_on() else f' (off: {ENABLED}=0)'}",
        f"entries    {len(found)}, {_bytes(sum(x.bytes for x in found))} of {_bytes(limit)}{usual}",
    ]
    by_kind = sorted(found, key=lambda x: x.kind)
    for kind, each in groupby(by_kind, key=lambda x: x.kind):
        lines.append(_line(kind, list(each), time.time() if now is None else now))
    return "\n".join(lines)


def _line(kind: str, entries: Sequence[store.Kept], now: float) -> str:
    size = _bytes(sum(x.bytes for x in entries))
    last = _ago(now - max(x.used for x in entries))
    about = f"{_ABOUT[kind]}; " if kind in _ABOUT else ""
    return f"  {kind:<9}{len(entries):>6}  {size:>9}  {about}last used {last}"


def verified() -> tuple[str, bool]:
    """Reads every entry, and removes those that are damaged. What was found, and whether all was as
    it should be."""
    intact, damaged = store.verify()
    lines = [f"{intact} intact", *(f"damaged, removed: {name}" for name in damaged)]
    return "\n".join(lines), not damaged


def cleared() -> str:
    """Removes all entries. What was done."""
    count = store.clear()
    return f"{count} file{'' if count == 1 else 's'} removed"


def _bytes(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count} bytes"


def _ago(seconds: float) -> str:
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit} ago"
    return "just now"
