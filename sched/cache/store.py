"""The store: entries on disk that any number of processes and threads read and write at a time.

    store.write("kernel", key, {"buffers": [...]}, object_code)
    entry = store.read("kernel", key)       # None, or the very same

It needs no lock: a file is written under a name of its own and then replaces what there was, so
that a reader finds one entry, the other, or none. Whatever goes wrong, as a full disk or a damaged
file, is a miss. The entries that were read longest ago are removed once all of them together are
larger than the limit.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from typing import Any

from ..records import dataclass
from ..steps import DEBUG, tell
from .directory import ENTRIES as ENTRIES, Directory, not_ours, opened
from .entry import Entry, packed, unpacked
from .place import is_on, size_limit

SUFFIX = ".entry"
PART = ".part"
STALE = 3600.0
"""Seconds after which a file that somebody has begun to write is taken for left behind."""

LOW = 0.8
"""Entries that take more than the limit are removed until they take so much of it."""

EACH = 16
"""How much of the limit a process writes before it looks again: one part of so many."""

_LETTERS, _DIGITS = frozenset("abcdefghijklmnopqrstuvwxyz"), frozenset("0123456789abcdef")
_unseen: float | None = None  # bytes written since the sizes were added up


def read(kind: str, key: str) -> Entry | None:
    """The entry of a kind under a key; None where there is none that is intact and ours.

    Args:
        kind: what the entry is for, lower-case letters.
        key: 64 hexadecimal digits.
    """
    if not is_on():
        return None
    name = _name(kind, key)
    try:
        with opened(create=False) as directory:
            if directory is None:
                return None
            data = _content(directory, name, used=True)
            found = None if data is None else unpacked(kind, key, data)
            if data is not None and found is None:
                tell(DEBUG, "cache", "cache: %s is damaged and removed", name)
                directory.remove(name)
    except OSError:
        return None
    tell(DEBUG, "cache", "cache: %s %s", "miss" if found is None else "hit", name)
    return found


def write(kind: str, key: str, header: dict[str, Any], blob: bytes = b"") -> bool:
    """Keeps an entry, in place of one that there may be. Whether it could be kept.

    Args:
        kind, key: as for `read`.
        header: what JSON can say.
        blob: any bytes.

    Raises:
        TypeError, ValueError: JSON cannot hold the header.
    """
    if not is_on():
        return False
    name, data = _name(kind, key), packed(kind, key, Entry(header, blob))
    if len(data) > LOW * size_limit():
        return False
    try:
        with opened(create=True) as directory:
            if directory is None:
                return False
            _put(directory, name, data)
            _limited(directory, len(data))
    except OSError as error:
        tell(DEBUG, "cache", "cache: %s is not kept: %s", name, error)
        return False
    return True


def remove(kind: str, key: str) -> None:
    """Removes an entry, if there is one: its content means nothing to whoever has read it."""
    with suppress(OSError), opened(create=False) as directory:
        if directory is not None:
            directory.remove(_name(kind, key))


def _name(kind: str, key: str) -> str:
    if not _is_name(kind, key):
        raise ValueError(f"no kind and key of an entry: {kind!r}, {key!r}")
    return f"{kind}-{key}{SUFFIX}"


def _is_name(kind: str, key: str) -> bool:
    """Whether they are a kind and a key. Not by an expression, which would take long to compile."""
    return bool(kind) and set(kind) <= _LETTERS and len(key) == 64 and set(key) <= _DIGITS


def _named(file: str) -> tuple[str, str] | None:
    """The kind and the key of which a file has the name, if it is an entry."""
    kind, _, key = file.removesuffix(SUFFIX).partition("-")
    return (kind, key) if file.endswith(SUFFIX) and _is_name(kind, key) else None


# files ------------------------------------------------------------------------------------------
def _content(directory: Directory, name: str, used: bool) -> bytes | None:
    """What a file holds; None where there is none, b"" where it cannot be trusted.

    Args:
        used: whether that counts as a use of it.
    """
    try:
        descriptor = directory.open(name)
    except FileNotFoundError:
        return None
    except OSError:  # a link, which may lead anywhere
        return b""
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or not_ours(found) is not None:
            return b""
        data = _read_all(descriptor, found.st_size)
        if used and os.utime in os.supports_fd:
            with suppress(OSError):
                os.utime(descriptor)
        return data
    finally:
        os.close(descriptor)


def _read_all(descriptor: int, size: int) -> bytes:
    parts = []
    while size > 0 and (part := os.read(descriptor, size)):
        parts.append(part)
        size -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _put(directory: Directory, name: str, data: bytes) -> None:
    part = f"{os.urandom(16).hex()}{PART}"
    descriptor = directory.create(part)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
        finally:
            os.close(descriptor)
        directory.replace(part, name)
    except BaseException:
        directory.remove(part)
        raise


# the limit --------------------------------------------------------------------------------------
def _limited(directory: Directory, written: int) -> None:
    """Removes entries where there are too many: looked at by the first write of a process, and
    again when it has written a part of what fits."""
    global _unseen
    limit = size_limit()
    unseen = None if _unseen is None else _unseen + written
    if unseen is not None and unseen * EACH < limit:
        _unseen = unseen
        return
    _unseen = 0
    now, entries, total = time.time(), [], 0
    for name, found in directory.files():
        if name.endswith(PART):
            if abs(now - found.st_mtime) > STALE:
                directory.remove(name)
        elif name.endswith(SUFFIX):
            entries.append((found.st_mtime_ns, name, found.st_size))
            total += found.st_size
    if total <= limit:
        return
    for _, name, size in sorted(entries):
        if total <= LOW * limit:
            return
        directory.remove(name)
        total -= size


# looking ----------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Kept:
    """A file of the store.

    Attributes:
        bytes: of the file.
        used: when it was written or read last, in seconds since 1970.
    """

    kind: str
    key: str
    bytes: int
    used: float


def entries() -> list[Kept]:
    """All entries, those first that were used last; none where the directory is not ours."""
    found: list[Kept] = []
    with suppress(OSError), opened(create=False) as directory:
        for name, about in _files(directory):
            known = _named(name)
            if known is not None:
                found.append(Kept(*known, about.st_size, about.st_mtime))
    return sorted(found, key=lambda x: (-x.used, x.kind, x.key))


def verify() -> tuple[int, list[str]]:
    """Reads every entry: how many are intact, and the names of those that were not, and are gone.

    That does not count as a use of them.
    """
    intact, damaged = 0, []
    with suppress(OSError), opened(create=False) as directory:
        for name, _ in _files(directory):
            known = _named(name)
            if known is None or directory is None:
                continue
            data = _content(directory, name, used=False)
            if data is not None and unpacked(*known, data) is None:
                damaged.append(name)
                directory.remove(name)
            else:
                intact += data is not None
    return intact, sorted(damaged)


def clear() -> int:
    """Removes everything in the directory of the entries. How many files there were."""
    count = 0
    with suppress(OSError), opened(create=False) as directory:
        if directory is not None:
            for name, _ in directory.files():
                directory.remove(name)
                count += 1
    return count


def _files(directory: Directory | None) -> list[tuple[str, os.stat_result]]:
    return [] if directory is None else directory.files()
