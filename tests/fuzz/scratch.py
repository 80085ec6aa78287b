"""What a kernel takes for its intermediates, walled in; see `memory`.

Either the whole block as the kernel planned it, or each intermediate between walls of its own:
the first way shows what lives too short, the second one what is accessed out of bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest import mock

import numpy as np
import numpy.typing as npt

from polysched.codegen.runtime import arena
from polysched.codegen.runtime.kernel import Kernel

from .limits import SCRATCH, TooMuch
from .memory import PAGE, Pages

Block = npt.NDArray[np.uint8]


class WalledPool(arena.Pool):
    """Gives out new memory, filled with a pattern, each time. `walls` are those inside."""

    def __init__(self) -> None:
        super().__init__()
        self.walls: dict[int, tuple[int, ...]] = {}
        self._taken: list[Pages] = []

    def take(self, size: int) -> Block:
        if size > SCRATCH:
            raise TooMuch(f"a kernel asks for {size} bytes of scratch memory")
        pages = Pages(-(-size // PAGE))
        for page in self.walls.get(size, ()):
            pages.wall(page)
        self._taken = [pages]
        return pages.bytes

    def give_back(self, block: Block) -> None:
        self._taken = []

    def plan(self, spans: Sequence[object], sizes: Sequence[int]) -> tuple[list[int], int]:
        """Instead of `arena.plan`: every intermediate on pages of its own, flush at one end."""
        offsets, walls, page = [], [], 0
        for k, size in enumerate(sizes):
            count = max(1, -(-size // PAGE))
            offsets.append(page * PAGE + (count * PAGE - size if k % 2 else 0))
            walls.append(page + count)
            page += count + 1
        total = page * PAGE + len(self.walls)  # tells apart plans of one size
        self.walls[total] = tuple(walls)
        return offsets, total


@contextmanager
def walled_scratch(kernel: Kernel, separate: bool) -> Iterator[None]:
    """Calls of the kernel use walled memory.

    Args:
        separate: each intermediate between walls of its own, not where the kernel put it.
    """
    pool = WalledPool()
    plan = pool.plan if separate else arena.plan
    with mock.patch.object(kernel, "_pool", pool), mock.patch.object(arena, "plan", plan):
        yield
