"""Keys of entries: digests that cover what made them, beside what they are made from.

What made an entry are this package's own sources, and the versions of Python, NumPy, isl and LLVM.
The sources are read once for all processes. A digest of their contents is kept by what the system
says of the files: names, sizes, when each was changed last, and when the system says that anything
about it was. That is believed only of files that had been left alone for a while when they were
read: an edit within the granularity of the clock would not show.
"""

from __future__ import annotations

import os
import sys
import time
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from ..steps import DEBUG, tell
from . import sources, store
from .place import is_on

LIBRARIES = ("numpy", "islpy", "llvmlite")
MOMENT = 0.2
"""Seconds."""

_KIND = "sources"
_current: tuple[float, int] | None = None  # when they were, with so many modules


def key_of(*parts: object) -> str | None:
    """The key of what is made from some parts: texts, numbers, None and tuples of these; equal for
    equal parts in each process with the same sources and versions. None where nothing is cached:
    that is switched off, or it cannot be told for sure what makes entries."""
    made_by = environment() if is_on() else None
    return None if made_by is None else digest(made_by, *parts)


def digest(*parts: object) -> str:
    """The digest of texts, numbers, None and tuples of these: 64 hexadecimal digits."""
    return sha256(repr(parts).encode()).hexdigest()


@cache
def environment() -> str | None:
    """The digest of what makes entries; None where that cannot be told: files were edited since
    this process has loaded them, or are not there."""
    if sources.LOADED is None:
        return None
    seen = digest(sources.DIGEST, _libraries())
    known = store.read(_KIND, seen)
    match known.header if known is not None else None:
        case {"environment": str(made_by)}:
            return made_by
    started = time.time()
    try:
        made_by = digest(contents(Path(sources.ROOT)), versions())
    except (OSError, ImportError):  # of which PackageNotFoundError is one
        return None
    if _changed_since_loaded():
        tell(DEBUG, "cache", "cache: off, as polysched was edited after this process had loaded it")
        return None
    if all(sources.is_settled(stamp, started) for stamp in sources.LOADED):
        store.write(_KIND, seen, {"environment": made_by, "versions": list(versions())})
    return made_by


def is_current() -> bool:
    """Whether the sources are still those that this process has loaded: what it makes now may be
    kept. One that runs for long loads some of them late.

    The files are looked at once for what is written together: within a moment, and as long as
    nothing is imported.
    """
    global _current
    now = time.monotonic(), len(sys.modules)
    if _current is not None and now[1] == _current[1] and now[0] - _current[0] < MOMENT:
        return True
    found = environment() is not None and not _changed_since_loaded()
    _current = now if found else None
    return found


def versions() -> tuple[str, ...]:
    """What else makes entries, as text."""
    from importlib import metadata  # which is large

    python = f"{sys.implementation.name} {sys.version}"
    return (python, *(f"{name} {metadata.version(name)}" for name in LIBRARIES))


def contents(root: Path) -> str:
    """The digest of all sources below a folder: their names and their contents."""
    names = sorted(stamp[0] for stamp in sources.stamps(str(root)))
    return digest(*((name, sha256((root / name).read_bytes()).hexdigest()) for name in names))


def _changed_since_loaded() -> bool:
    return sources.seen() != sources.LOADED


def _libraries() -> tuple[object, ...]:
    """What tells one installation of the libraries from another one, without reading much."""
    from importlib.util import find_spec

    found: list[object] = [sys.version, np.__version__]
    for name in LIBRARIES:
        spec = find_spec(name)
        origin = None if spec is None else spec.origin
        if origin is not None:
            about = os.stat(origin)
            found.append((origin, about.st_size, about.st_mtime_ns, about.st_ctime_ns))
    return tuple(found)
