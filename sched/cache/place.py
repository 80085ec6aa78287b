"""Where the cache is, how large it may be, and whether there is one: variables of the environment.

They are read each time, so a process may set them when it runs.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from ..steps import WARNING, tell

DIRECTORY, ENABLED, SIZE = "POLYSCHED_CACHE_DIR", "POLYSCHED_CACHE", "POLYSCHED_CACHE_SIZE"
DEFAULT_SIZE = 512 << 20
"""Bytes of all entries together."""

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

_warned: set[str] = set()


def folder() -> Path:
    """The directory of everything that is kept: POLYSCHED_CACHE_DIR, or what the system has for
    such files."""
    return Path(path())


def path() -> str:
    """The same as text: to make a Path takes as long as to open a file."""
    given = os.environ.get(DIRECTORY)
    if given:
        return given
    if sys.platform == "darwin":
        return str(Path.home() / "Library" / "Caches" / "polysched")
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return str((Path(local) if local else Path.home()) / "polysched")
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(cache if cache.startswith("/") else Path.home() / ".cache", "polysched")


def is_on() -> bool:
    """Whether entries are read and written: POLYSCHED_CACHE is not 0."""
    return os.environ.get(ENABLED, "").strip() != "0"


def size_limit() -> int:
    """How many bytes all entries may have: POLYSCHED_CACHE_SIZE, as `100M`, or 512 MiB."""
    text = os.environ.get(SIZE, "").strip()
    if not text:
        return DEFAULT_SIZE
    found = re.fullmatch(r"(\d{1,15})([KMG]?)(i?B)?", text, re.IGNORECASE | re.ASCII)
    if found is None:
        warn_once(f"{SIZE}={text!r} is no size such as 100M or 2G; 512M is used")
        return DEFAULT_SIZE
    return int(found[1]) * _UNITS[found[2].upper()]


def warn_once(message: str) -> None:
    """Logs a warning, once a process."""
    if message not in _warned:
        _warned.add(message)
        tell(WARNING, "cache", "%s", message)
