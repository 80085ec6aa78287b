"""A digest of the loop IR that does not depend on the process: equal programs give equal text.

Nodes are shared, so the digest of a node is made of those of its parts, each once. What only tells
instances apart for `check` (`Origin`) and how user functions are called back is left out.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from polysched.codegen.ir.ir import Buffer, Module, Origin
from polysched.lang.nodes.dtypes import DType


def module_digest(module: Module) -> str:
    """Sixteen hexadecimal digits."""
    return _Digester().of(module).hex()[:16]


class _Digester:
    def __init__(self) -> None:
        # The objects are kept beside their digests, so that no other one takes their addresses.
        self._known: dict[int, tuple[object, bytes]] = {}
        self._buffers: dict[Buffer, int] = {}

    def of(self, value: Any) -> bytes:
        found = self._known.get(id(value))
        if found is None:
            found = value, self._made(value)
            self._known[id(value)] = found
        return found[1]

    def _made(self, value: Any) -> bytes:
        match value:
            case None | bool() | int() | str() | Enum() | DType():
                return _hash("atom", type(value).__name__, str(value))
            case float():
                return _hash("float", value.hex())
            case Origin():
                return _hash("origin")
            case np.ndarray():
                return _hash("array", str(value.dtype), value.shape, value.tobytes())
            case Buffer() if value in self._buffers:
                return _hash("buffer", self._buffers[value])
            case Buffer():
                self._buffers[value] = len(self._buffers)
                return _hash("new buffer", self._fields(value))
            case tuple() | list():
                return _hash("sequence", *map(self.of, value))
            case dict():
                return _hash("mapping", *sorted(self.of(k) + self.of(v) for k, v in value.items()))
            case _ if is_dataclass(value):
                return _hash(type(value).__name__, self._fields(value))
            case _:
                return _hash("other", type(value).__name__)

    def _fields(self, value: Any) -> bytes:
        named = (f.name for f in fields(value) if f.init and f.name not in _OF_PROFILES)
        return _hash(*(self.of(getattr(value, name)) for name in named))


_OF_PROFILES = frozenset({"begins", "ends"})
"""Fields that only the loops of profiles have."""


def _hash(*parts: object) -> bytes:
    made = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else repr(part).encode()
        made.update(len(data).to_bytes(8, "little") + data)
    return made.digest()
