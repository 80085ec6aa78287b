"""How a Func lies in memory: the order of its axes, padding of rows, and where it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Place = Literal["auto", "heap", "stack", "register"]
PLACES: tuple[Place, ...] = ("auto", "heap", "stack", "register")


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


AS_WRITTEN = Memory()
"""What no directive says anything of."""
