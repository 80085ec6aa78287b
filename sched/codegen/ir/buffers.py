"""The memory of a kernel, and what reads it: see `ir.py`."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from ...lang.nodes.dtypes import DType, Type
from ...lang.nodes.nodes import Node
from ...poly.tree.memory import AS_WRITTEN, Memory, Window
from ...records import dataclass

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector."""

BufferKind = Literal["input", "output", "scratch", "stack", "const"]


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """Memory that a kernel reads or writes. An identity.

    `extents` are expressions over sizes; `origin` is the index of the first element an axis (not
    0 where a region starts elsewhere). `data` holds the bytes of a "const". A "stack" buffer has
    constant extents and lives inside of one function.
    """

    name: str
    dtype: DType
    extents: tuple[Node, ...]
    origin: tuple[Node, ...]
    kind: BufferKind
    strided: bool = False
    data: Any = None
    #: How many planes are kept along an axis: plane x lies at x modulo their number.
    fold: Window | None = None
    memory: Memory = AS_WRITTEN
    #: What this is in another version of some code.
    original: Buffer | None = None

    @property
    def order(self) -> tuple[int, ...]:
        """The axes, outermost first in memory."""
        return self.memory.order or tuple(range(self.ndim))

    @property
    def pitches(self) -> tuple[Node, ...]:
        """How many elements there are in memory along each axis."""
        return self.memory.pitches(self.extents)

    @property
    def ndim(self) -> int:
        return len(self.extents)


@dataclass(frozen=True, slots=True, eq=False)
class Load(Node):
    """An element of a buffer; 0 where the guard (a bool) does not hold."""

    buffer: Buffer
    index: tuple[Node, ...]
    guard: Node | None
    type: Type
    #: Asked for more often than anything else is.
    args: tuple[Node, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        args = self.index if self.guard is None else (*self.index, self.guard)
        object.__setattr__(self, "args", args)

    @staticmethod
    def key(*fields: Any) -> tuple[Any, ...]:
        buffer, index, guard, t = fields
        return (id(buffer), None if guard is None else id(guard), t, *map(id, index))

    def with_args(self, args: tuple[Node, ...]) -> Node:
        if args == self.args:
            return self
        index, guard = (args, None) if self.guard is None else (args[:-1], args[-1])
        return Load(self.buffer, index, guard, self.type)
