"""Storage that lives inside of loops: its origin and its extents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Var, postorder


class Room(Protocol):
    """Storage for one execution of a loop's body; a Func may have such storage in several loops."""

    @property
    def origin(self) -> tuple[Node, ...]: ...

    @property
    def extents(self) -> tuple[Node, ...]: ...


def local_box(found: Sequence[Room], name: str) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The origin and the extents of storage inside of loops, here and there. Where the origin
    depends on the loops it is a variable, which an `Alloc` binds."""
    origins = []
    for k, starts in enumerate(zip(*(x.origin for x in found), strict=True)):
        moves = len(set(starts)) > 1 or any(isinstance(n, Var) for n in postorder(*starts))
        origins.append(Var(f"{name}.origin{k}") if moves else starts[0])
    extents = zip(*(x.extents for x in found), strict=True)
    return tuple(origins), tuple(ix.maximum(dict.fromkeys(n)) for n in extents)
