"""Entries as bytes: a header of JSON, a blob, and a checksum of both.

    magic (8 bytes) | SHA-256 of all that follows (32) | length of the header (8) | header | blob

The header also holds the kind and the key, so that a file under another name is no entry. Nothing
is evaluated, and nothing is believed before the checksum has been compared.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from ..records import dataclass

MAGIC = b"psched1\n"
_START = len(MAGIC) + 32 + 8


@dataclass(frozen=True, slots=True)
class Entry:
    """What is kept under a key.

    Attributes:
        header: what JSON can say.
        blob: bytes that mean nothing to the store.
    """

    header: dict[str, Any]
    blob: bytes


def packed(kind: str, key: str, entry: Entry) -> bytes:
    """An entry as the bytes of its file. ValueError or TypeError if JSON cannot hold its header."""
    about = {"kind": kind, "key": key, "header": entry.header}
    header = json.dumps(about, separators=(",", ":"), allow_nan=False).encode()
    rest = len(header).to_bytes(8, "little") + header + entry.blob
    return MAGIC + sha256(rest).digest() + rest


def unpacked(kind: str, key: str, data: bytes) -> Entry | None:
    """The entry that a file holds; None where it is damaged, or holds another one."""
    view = memoryview(data)
    if len(data) < _START or view[: len(MAGIC)] != MAGIC:
        return None
    rest = view[len(MAGIC) + 32 :]
    if sha256(rest).digest() != view[len(MAGIC) : len(MAGIC) + 32]:
        return None
    length = int.from_bytes(rest[:8], "little")
    if length > len(rest) - 8:
        return None
    try:
        about = json.loads(bytes(rest[8 : 8 + length]))
    except (ValueError, RecursionError):
        return None
    match about:
        case {"kind": str(k), "key": str(name), "header": dict(header)} if (k, name) == (kind, key):
            return Entry(header, bytes(rest[8 + length :]))
    return None
