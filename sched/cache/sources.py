"""What the system says of this package's own sources, looked at before they are loaded.

That is the first thing that `import polysched` does, and little besides: what a process makes later
is made by the sources that it has loaded, whatever becomes of the files.
"""

from __future__ import annotations

import marshal
import os
from collections.abc import Iterator
from hashlib import sha256

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

SETTLED = 5.0
"""Seconds: more than any file system's clock is coarse."""

Stamp = tuple[str, int, int, int, int]
"""Of a file: its name, size, when it was changed, when anything about it was, and its number."""


def stamps(root: str) -> Iterator[Stamp]:
    """What the system says of each source below a folder. OSError if it cannot be read."""
    folders = [(root, "")]
    for path, below in folders:
        with os.scandir(path) as listed:
            for each in listed:
                name = each.name
                if name[-3:] == ".py":
                    s = each.stat()
                    yield below + name, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino
                elif name != "__pycache__" and each.is_dir():
                    folders.append((each.path, f"{below}{name}/"))


def seen() -> tuple[Stamp, ...] | None:
    """The stamps of all sources, as they are now; None if there are none to be read."""
    try:
        found = tuple(sorted(stamps(ROOT)))
    except OSError:
        return None
    return found or None


def is_settled(stamp: Stamp, now: float) -> bool:
    """Whether a file was left alone for so long that a later edit cannot have its stamp."""
    return max(stamp[2], stamp[3]) * 1e-9 < now - SETTLED


def digest_of(found: tuple[Stamp, ...] | None) -> str:
    """The digest of what the system says of all sources."""
    # As text it would take several times as long. Version 0 does not depend on identities.
    return sha256(marshal.dumps(found, 0)).hexdigest()


#: What the system said of the sources when the package was loaded, and its digest.
LOADED = seen()
DIGEST = digest_of(LOADED)
