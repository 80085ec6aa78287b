"""How the accesses of a stage move from one iteration of a loop around it to the next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...lang.nodes import index as ix
from ...lang.nodes.nodes import Node, Read, RVar, postorder, replaced_all
from ...lang.nodes.tensor import Tensor
from ...lang.tensors.tensors import Func
from ..nests.loop_nest import NestLoop
from ..sets.linear import coefficient
from ..tree.memory import AS_WRITTEN
from .cost import FEW, Leaf, most

if TYPE_CHECKING:
    from .analysis import Analysis

Access = tuple[Tensor, tuple[Node, ...]]
"""A tensor, and where it is accessed, over the dimensions of a stage."""


def accesses(leaf: Leaf) -> Iterator[Access]:
    """What a stage writes, and then what it reads, other than indices."""
    d = leaf.definition
    yield d.func, d.lhs
    for n in postorder(*d.values):
        if isinstance(n, Read):
            yield n.tensor, n.index


def steps(a: Analysis, leaf: Leaf, access: Access, loop: NestLoop) -> tuple[int | None, ...] | None:
    """By axis, as the tensor lies in memory, how far an access moves in an iteration, an axis that
    does so by a number that is not known as None; None for all where that depends on data."""
    tensor, index = access
    if any(isinstance(n, Read) for n in postorder(*index)):
        return None
    how = a.memory.get(tensor, AS_WRITTEN) if isinstance(tensor, Func) else AS_WRITTEN
    order = how.order or tuple(range(len(index)))
    moved = replaced_all(index, leaf.stage.point)
    found = [coefficient(moved[axis], loop.var) for axis in order]
    if any(x is None for x in found):
        return None
    return tuple(None if x is None else ix.constant(x) for x in found)


def is_along(a: Analysis, leaf: Leaf, access: Access, loop: NestLoop) -> bool:
    """Whether a loop goes from one element to the next."""
    found = steps(a, leaf, access, loop)
    if not found:
        return False
    return all(x == 0 for x in found[:-1]) and found[-1] in (1, -1)


def is_still(a: Analysis, leaf: Leaf, access: Access, loop: NestLoop) -> bool:
    """Whether a loop stays at one element."""
    found = steps(a, leaf, access, loop)
    return found is not None and not any(x != 0 for x in found)


def reduces(leaf: Leaf, loop: NestLoop) -> bool:
    """Whether a loop runs over the terms of a reduction."""
    moved = ((dim, value) for dim, value in leaf.stage.point.items() if isinstance(dim, RVar))
    return any(loop.var in postorder(value) for _, value in moved)


def loops_along(a: Analysis, leaf: Leaf) -> list[NestLoop]:
    """The loops of its own that could be vectors: along them it writes one element after the
    other, and reads so, or one element for all."""
    (written, *read) = accesses(leaf)
    return [
        x
        for x in leaf.own
        if x.loop.kind in ("serial", "parallel")
        and most(x) not in range(FEW + 1)
        and not reduces(leaf, x)
        and is_along(a, leaf, written, x)
        and all(is_along(a, leaf, r, x) or is_still(a, leaf, r, x) for r in read)
    ]
