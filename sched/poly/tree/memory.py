"""How a Func lies in memory: the order of its axes, padding of rows, and where it is kept."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Literal

from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import DType
from ...lang.nodes.nodes import Node, integer
from ...records import dataclass, replace

Place = Literal["auto", "heap", "stack", "register"]
PLACES: tuple[Place, ...] = ("auto", "heap", "stack", "register")

WHERE = {"heap": "on the heap", "stack": "on the stack", "register": "in registers"}

SMALL, LARGEST = 16 << 10, 256 << 10
"""Bytes of a Func: what lies on the stack without being asked to, and the most that may."""

STACK = 512 << 10
"""Bytes of all Funcs that lie there, either way. Some exist three times, for tiles at borders."""


@dataclass(frozen=True, slots=True)
class Memory:
    """
    Attributes:
        order: the axes, outermost first; as written if it is empty.
        multiples: by axis, what the number of elements in memory is a multiple of.
        place: "heap": with all other intermediates; "stack": on the stack of the thread, for
            constant extents; "register": the same, and every element is known to the compiler;
            "auto": on the stack if it is small and lives inside of a loop.
    """

    order: tuple[int, ...] = ()
    multiples: tuple[tuple[int, int], ...] = ()
    place: Place = "auto"

    def pitches(self, extents: Sequence[Node]) -> tuple[Node, ...]:
        """How many elements there are in memory along each axis."""
        found = list(extents)
        for axis, n in self.multiples:
            found[axis] = ix.mul(ix.floordiv(ix.add(found[axis], integer(n - 1)), n), integer(n))
        return tuple(found)

    def bytes(self, dtype: DType, extents: Sequence[Node]) -> int | None:
        """How much memory it takes, where that is a constant."""
        counts = [n for n in map(ix.constant, self.pitches(extents)) if n is not None]
        return math.prod(counts) * dtype.itemsize if len(counts) == len(extents) else None

    def by_lanes(self, axes: Collection[int], rank: int) -> Memory:
        """The same for what the lanes of vectors accumulate along an axis, unless another order is
        asked for: side by side in memory, it is loaded and stored as a vector, and one that stays
        in a register.

        Args:
            axes: those along which lanes accumulate. Nothing is gained where it is several.
        """
        if self.order or len(axes) != 1 or rank - 1 in axes:
            return self
        return replace(self, order=(*(k for k in range(rank) if k not in axes), *axes))


Fault = tuple[str, str]
"""Why something cannot be stored as a schedule has it, and what would help."""

AS_WRITTEN = Memory()
"""What no directive says anything of."""


@dataclass(frozen=True, slots=True)
class Window:
    """How many planes are kept along an axis."""

    axis: int
    planes: int

    def __str__(self) -> str:
        return f"{self.planes}" if self.axis == 0 else f"{self.planes} along axis {self.axis}"
