"""Several object files as one file, as `ar` writes it; a single one is left as it is.

Source: ar(5), the common format.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....lang.errors.errors import InternalError

_MAGIC = b"!<arch>\n"
_HEADER = 60
_END = b"`\n"


def archived(objects: Sequence[bytes]) -> bytes:
    """One file of some object files, in their order."""
    if len(objects) == 1:
        return objects[0]
    parts = [_MAGIC]
    for number, code in enumerate(objects):
        # name, date, user, group, mode, size
        header = f"{number}.o/".ljust(16) + f"{0:<12}{0:<6}{0:<6}{'644':<8}{len(code):<10}"
        parts += [header.encode() + _END, code, b"\n" * (len(code) % 2)]
    return b"".join(parts)


def objects_of(code: bytes) -> list[bytes]:
    """The object files of a file. InternalError if it is damaged."""
    if not code.startswith(_MAGIC):
        return [code]
    found: list[bytes] = []
    at = len(_MAGIC)
    while at < len(code):
        header, begin = code[at : at + _HEADER], at + _HEADER
        if not header.endswith(_END) or not header[48:58].strip().isdigit():
            raise InternalError("the object code is damaged")
        end = begin + int(header[48:58])
        if end > len(code):
            raise InternalError("the object code is damaged")
        found.append(code[begin:end])
        at = end + end % 2
    return found
