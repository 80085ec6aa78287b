"""Global names in LLVM text and in object code."""

from __future__ import annotations

import re

from ....lang.errors.errors import InternalError

_PLAIN = re.compile(rb"[A-Za-z0-9_.]")


def symbol(kernel: str, *parts: object) -> str:
    """The symbol of a kernel, or of a part of it.

    The prefix keeps a Func called `fmod` from being taken for the C library's: LLVM knows those
    by name, and calls them.
    """
    return ".".join(["polysched", kernel, *map(str, parts)])


def quoted(name: str) -> str:
    """A global name as LLVM text has it; what is not plain ASCII is written as bytes."""
    if "\0" in name:
        raise InternalError(f"{name!r} cannot be the name of a function")
    return '@"' + "".join(_escaped(byte) for byte in name.encode()) + '"'


def _escaped(byte: int) -> str:
    return chr(byte) if _PLAIN.match(bytes([byte])) else f"\\{byte:02X}"
