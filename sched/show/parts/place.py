"""Where a page or a picture is written: found out before the work, and whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ...lang.errors.errors import LanguageTypeError, PolyschedError


class UnwritablePath(PolyschedError, OSError):
    """A file cannot be written where it was asked for.

    Attributes:
        path: where.
    """

    def __init__(self, what: str, path: Path, why: str, hint: str) -> None:
        self.path = path
        super().__init__(f"the {what} cannot be written to {path}: {why}", hint=hint)


class Page:
    """A file that is being written: readers see what was there before, or all of it."""

    def __init__(self, what: str, path: Path, part: Path) -> None:
        self.path, self._what, self._part = path, what, part

    def write(self, text: str) -> None:
        """Puts a text in the place of what was there."""
        try:
            self._part.write_text(text, encoding="utf-8", newline="\n")
            self._part.replace(self.path)
        except OSError as error:
            raise UnwritablePath(self._what, self.path, _why(error), _HINT) from None


_HINT = "name a file in a folder that there is and that you may write to"


@contextmanager
def page_at(path: str | os.PathLike[str], what: str, call: str) -> Iterator[Page]:
    """A page to be written at a path; an existing file is replaced, and a link followed.

    Args:
        what: is written, such as "report".
        call: how it is asked for, with the name of a file: `kernel.report("report.html")`.

    Raises:
        LanguageTypeError: this is no path.
        UnwritablePath: nothing can be written there. That is known at the beginning of the block.
    """
    whole = _resolved(path, what, call)
    if whole.is_dir():
        file = whole / call.split('"')[1]
        raise UnwritablePath(what, whole, "it is a folder", f"name a file in it: {file}")
    part = whole.with_name(f".{whole.name[:100]}.{os.getpid()}.part")
    try:
        if whole.exists() and not os.access(whole, os.W_OK):
            raise PermissionError(13, "the file there may not be written")
        part.open("w").close()
    except OSError as error:
        raise UnwritablePath(what, whole, _why(error), _HINT) from None
    try:
        with suppress(OSError):
            part.chmod(whole.stat().st_mode & 0o777)
        yield Page(what, whole, part)
    finally:
        part.unlink(missing_ok=True)


def _resolved(path: Any, what: str, call: str) -> Path:
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise LanguageTypeError(f"a {what} takes the path of a file, and not {path!r}", hint=call)
    try:
        return Path(path).expanduser().resolve()
    except (OSError, ValueError, RuntimeError, TypeError) as error:
        raise UnwritablePath(what, Path(os.fspath(path)), str(error), _HINT) from None


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
