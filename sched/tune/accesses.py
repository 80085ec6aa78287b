"""How the accesses of a statement move through memory from one iteration to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod

from ..lang.arithmetic.evaluate import size_value
from ..lang.nodes import index as ix
from ..lang.nodes.dtypes import concrete
from ..lang.nodes.nodes import Node, RVar, Var
from ..lang.nodes.tensor import Tensor
from ..poly.model.model import Model
from ..poly.model.statements import Access, Statement
from ..poly.sets.linear import coefficient
from .boxes import at_sizes, box_of


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """A read or a write of one instance, as memory sees it.

    Attributes:
        tensor: by its name.
        is_write: whether it is written.
        bytes: of one element.
        strides: for each loop of the statement, how many elements further the next iteration
            touches memory, as tensors are laid out that no directive says anything of; None where
            data say which element it is, or the distance is no constant.
        elements: how many different ones all iterations touch, at most.
    """

    tensor: str
    is_write: bool
    bytes: int
    strides: tuple[int | None, ...]
    elements: int

    @property
    def is_irregular(self) -> bool:
        """Whether it moves along some loop by no constant."""
        return None in self.strides


class Layouts:
    """The extents of tensors at given sizes."""

    def __init__(self, model: Model, sizes: Mapping[str, int]) -> None:
        self.model, self.sizes = model, sizes
        self._known: dict[Tensor, tuple[int, ...]] = {}
        self._steps: dict[tuple[Node, Var | RVar], int | None] = {}

    def extents(self, tensor: Tensor) -> tuple[int, ...]:
        """How many elements a tensor has along each axis."""
        found = self._known.get(tensor)
        if found is None:
            found = self._known[tensor] = self._extents(tensor)
        return found

    def _extents(self, tensor: Tensor) -> tuple[int, ...]:
        if tensor.extents is not None:
            return tuple(max(0, int(size_value(e, self.sizes, self.sizes))) for e in tensor.extents)
        box = box_of(at_sizes(self.model.box(tensor), self.sizes))
        return (0,) * tensor.ndim if box is None else tuple(hi - lo + 1 for lo, hi in box)

    def step(self, index: Node, loop: Var | RVar) -> int | None:
        """How far an iteration of a loop moves an index; None if that is no constant."""
        key = index, loop
        if key not in self._steps:
            times = coefficient(index, loop)
            self._steps[key] = None if times is None else ix.constant(times)
        return self._steps[key]

    def strides(self, tensor: Tensor) -> tuple[int, ...]:
        """By axis, how many elements lie from one to the next: the last axis is the nearest."""
        inner = accumulate(reversed(self.extents(tensor)[1:]), lambda a, b: a * b, initial=1)
        return tuple(inner)[::-1] if tensor.ndim else ()


def memory_accesses(
    statement: Statement, loops: Sequence[Var | RVar], extents: Sequence[int], layouts: Layouts
) -> tuple[MemoryAccess, ...]:
    """What an instance reads and writes; reads of one element once.

    Args:
        loops: the dimensions of the statement in the order of its loops.
        extents: how many values each has.
    """
    found: dict[tuple[Tensor, tuple[Node, ...], bool], MemoryAccess] = {}
    for access in statement.accesses:
        key = access.tensor, access.index, access.is_write
        if key not in found:
            found[key] = _of(access, loops, extents, layouts)
    return tuple(found.values())


def _of(
    access: Access, loops: Sequence[Var | RVar], extents: Sequence[int], layouts: Layouts
) -> MemoryAccess:
    tensor = access.tensor
    steps = [_steps(access, loop, layouts) for loop in loops]
    strides = layouts.strides(tensor)
    moved = [_distance(by_axis, strides) for by_axis in steps]
    touched = [
        _touched([by_axis[axis] for by_axis in steps], extents, whole)
        for axis, whole in enumerate(layouts.extents(tensor))
    ]
    size = concrete(tensor.dtypes[0]).itemsize
    name = layouts.model.program.names[tensor]
    return MemoryAccess(name, access.is_write, size, tuple(moved), prod(touched))


def _steps(access: Access, loop: Var | RVar, layouts: Layouts) -> list[int | None]:
    """By axis, how far an iteration of a loop moves the index."""
    if access.region_end is not None:
        return [None] * len(access.index)
    return [layouts.step(x, loop) for x in access.index]


def _distance(steps: Sequence[int | None], strides: Sequence[int]) -> int | None:
    """How many elements in memory some steps along axes are."""
    found = 0
    for step, stride in zip(steps, strides, strict=True):
        if step is None:
            return None
        found += step * stride
    return found


def _touched(steps: Sequence[int | None], extents: Sequence[int], whole: int) -> int:
    """How many indices are touched along an axis, of as many as there are."""
    count = 1
    for step, extent in zip(steps, extents, strict=True):
        if step is None:
            return whole
        count += abs(step) * max(0, extent - 1)
    return min(count, whole)
