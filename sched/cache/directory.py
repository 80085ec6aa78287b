"""The directory of the entries, opened only where nobody else could have written in it.

Files are opened relative to the directory that was looked at, where the system can do that: what
somebody puts in its place afterwards is not read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .place import path as place_of_all, warn_once

ENTRIES = "entries"
"""The name of the directory of entries, below what `folder` names."""

RELATIVE = os.open in os.supports_dir_fd and hasattr(os, "geteuid")
"""Whether the system has owners, and opens files relative to a directory: Windows does not."""

_FILE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)  # a pipe would wait for whoever writes
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL


class Directory:
    """A directory that is ours alone. Methods raise OSError.

    Attributes:
        path: where it was.
    """

    def __init__(self, path: str, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    def _at(self, name: str) -> str:
        return name if self._descriptor is not None else os.path.join(self.path, name)

    def open(self, name: str) -> int:
        """A descriptor of a file to be read, which is no link."""
        return os.open(self._at(name), _READ | _FILE, dir_fd=self._descriptor)

    def create(self, name: str) -> int:
        """A descriptor of a new file to be written, for the owner only."""
        return os.open(self._at(name), _WRITE | _FILE, 0o600, dir_fd=self._descriptor)

    def replace(self, old: str, new: str) -> None:
        """Gives a file another name, whose file there was is gone."""
        if self._descriptor is None:
            os.replace(self._at(old), self._at(new))
        else:
            os.replace(old, new, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def remove(self, name: str) -> None:
        """Removes a file, if there is one and it can be."""
        with suppress(OSError):
            os.unlink(self._at(name), dir_fd=self._descriptor)

    def files(self) -> list[tuple[str, os.stat_result]]:
        """The files, by name, with what the system says of them; links as such."""
        found = []
        with os.scandir(self.path if self._descriptor is None else self._descriptor) as listed:
            for each in listed:
                with suppress(OSError):  # another process may have removed it
                    found.append((each.name, each.stat(follow_symlinks=False)))
        return found


@contextmanager
def opened(create: bool) -> Iterator[Directory | None]:
    """The directory of the entries; None where there is none, or it is not ours alone, which is
    logged.

    Args:
        create: whether it is made where it is not there.
    """
    try:
        root = os.path.abspath(place_of_all())
    except (OSError, RuntimeError):  # there is no home
        yield None
        return
    path = os.path.join(root, ENTRIES)
    if create:
        with suppress(OSError):
            os.makedirs(root, mode=0o700, exist_ok=True)
            os.makedirs(path, mode=0o700, exist_ok=True)
    if not RELATIVE:
        yield Directory(path, None) if os.path.isdir(path) else None
        return
    descriptors: list[int] = []
    try:
        yield _looked_at(root, path, descriptors)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _looked_at(root: str, path: str, descriptors: list[int]) -> Directory | None:
    try:
        descriptors.append(os.open(root, os.O_RDONLY | _DIRECTORY))
        why = _refusal(os.fstat(descriptors[-1]))
        if why is None:
            flags = os.O_RDONLY | _DIRECTORY | _FILE
            descriptors.append(os.open(ENTRIES, flags, dir_fd=descriptors[0]))
            why = _refusal(os.fstat(descriptors[-1]))
    except FileNotFoundError:
        return None
    except OSError as error:
        warn_once(f"nothing is cached, as {path} cannot be opened: {error.strerror}")
        return None
    if why is not None:
        warn_once(f"nothing is cached, as {root if len(descriptors) == 1 else path} {why}")
        return None
    return Directory(path, descriptors[-1])


def _refusal(found: os.stat_result) -> str | None:
    """Why a directory cannot be trusted, if there is a reason."""
    if not stat.S_ISDIR(found.st_mode):
        return "is no directory"
    return not_ours(found)


def not_ours(found: os.stat_result) -> str | None:
    """Why somebody else may have written in a file or directory; None if nobody could."""
    if not RELATIVE:
        return None
    if found.st_uid != os.geteuid():
        return "belongs to another user"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "can be written by other users (chmod go-w makes it ours)"
    return None
