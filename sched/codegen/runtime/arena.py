"""Scratch memory: where each intermediate lies in one block, and the blocks that calls reuse.

Two intermediates share memory when the nests that touch them do not overlap in time. Fresh pages
cost more than most kernels, so a block goes back to its kernel's pool after a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ...lang.errors.errors import CallValueError
from ...lang.nodes.dtypes import Array
from ...lang.nodes.nodes import Node, postorder
from ...records import dataclass
from ..ir.ir import ALIGNMENT, Buffer, Call, Load, Module, Stmt, Stores, expressions, walk


class Named(Protocol):
    """What a scratch buffer is here: something with a name."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Lifetime:
    """The first and the last nest that touches a scratch buffer."""

    buffer: Named
    first: int
    last: int


def lifetimes(module: Module) -> dict[Buffer, tuple[int, int]]:
    """The first and the last nest that touches each scratch buffer."""
    spans: dict[Buffer, tuple[int, int]] = {}
    for k, function in enumerate(module.functions):
        for buffer in _touched(function.body):
            first, _ = spans.get(buffer, (k, k))
            spans[buffer] = (first, k)
    return {b: spans.get(b, (0, 0)) for b in module.buffers if b.kind == "scratch"}


def _touched(body: Stmt) -> set[Buffer]:
    found: set[Buffer] = set()
    roots: list[Node] = []
    for stmt in walk(body):
        roots += expressions(stmt)
        if isinstance(stmt, Stores):
            found.update(s.buffer for s in stmt.stores)
        if isinstance(stmt, Call):
            found.update(stmt.buffers)
    return found.union(n.buffer for n in postorder(*roots) if isinstance(n, Load))


def plan(spans: Sequence[Lifetime], sizes: Sequence[int]) -> tuple[list[int], int]:
    """An offset for each buffer and the bytes needed in all.

    First fit, larger buffers first: within a few per cent of the best for pipelines, and simple.
    """
    order = sorted(range(len(spans)), key=lambda k: -sizes[k])
    offsets = [0] * len(spans)
    done: list[int] = []
    for k in order:
        busy = sorted(
            (offsets[p], offsets[p] + sizes[p])
            for p in done
            if spans[p].first <= spans[k].last and spans[k].first <= spans[p].last
        )
        at = 0
        for start, end in busy:
            if at + sizes[k] <= start:
                break
            at = max(at, aligned(end))
        offsets[k] = at
        done.append(k)
    return offsets, max((offsets[k] + sizes[k] for k in done), default=0)


def aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


class Pool:
    """Blocks of memory that concurrent calls take and give back."""

    def __init__(self) -> None:
        self._free: list[Array] = []

    def take(self, size: int) -> Array:
        """A block of at least `size` bytes, from the pool if its newest one is large enough."""
        try:
            block = self._free.pop()
        except IndexError:
            block = np.empty(0, np.uint8)
        if block.size < size + ALIGNMENT:
            try:
                block = np.empty(size + ALIGNMENT, np.uint8)
            except (MemoryError, ValueError) as error:
                raise CallValueError(
                    f"the intermediate results take {size} bytes, which do not fit into memory: "
                    f"{error}",
                    hint="ask for smaller sizes, or store less: align_storage and fold_storage say "
                    "how much, and tiles do",
                ) from None
        return block

    def clear(self) -> None:
        """Lets go of the blocks that no call has taken."""
        self._free.clear()

    def give_back(self, block: Array) -> None:
        self._free.append(block)
        del self._free[:-4]


def address(block: Array) -> int:
    """The first aligned address of a block."""
    return aligned(block.ctypes.data)
