"""How the accesses of a statement move through memory from one iteration to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise, repeat
from math import ceil, prod

from ...lang.arithmetic.evaluate import size_value
from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import concrete
from ...lang.nodes.nodes import Node, RVar, Var
from ...lang.nodes.tensor import Tensor
from ...lang.program.intervals import Interval
from ...lang.tensors.tensors import Const, Input
from ...poly.model.model import Model
from ...poly.model.statements import Access, Statement
from ...poly.sets.linear import coefficient
from ...poly.sets.simplify import reads_memory
from ...records import dataclass, replace
from .boxes import Box, Ranges, at_sizes, box_of


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """A read or a write of one instance, as memory sees it.

    Attributes:
        tensor: by its name.
        is_write: whether it is written.
        bytes: of one element; of a tuple that is written, of all its values.
        widest: of these, the bytes of the widest value.
        strides: for each loop of the statement, how many elements further the next iteration
            touches memory, as tensors are laid out that no directive says anything of. Where an
            index is clamped, it is so in the middle of all iterations. A float where that
            alternates, and the element is always within two of a line of this slope: 0.5 for
            `x // 2`. None where data say which element it is, or where it jumps.
        elements: how many different ones all iterations touch, at most.
        is_input: whether it is an array that calls pass and that nobody changes.
        behind: how many elements further in memory it is than the first one of the same tensor that
            moves alike, in the middle of all iterations: 0 for that one, None where data say so.
    """

    tensor: str
    is_write: bool
    bytes: int
    widest: int
    strides: tuple[int | float | None, ...]
    elements: int
    is_input: bool = False
    behind: int | None = 0

    @property
    def is_irregular(self) -> bool:
        """Whether it moves along some loop by no constant."""
        return any(x is None or isinstance(x, float) for x in self.strides)


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


def distinct_accesses(statement: Statement) -> tuple[Access, ...]:
    """What an instance reads and writes; one of all reads of an element."""
    found: dict[tuple[Tensor, tuple[Node, ...], int | None], Access] = {}
    for access in statement.accesses:
        component = None if access.node is None else access.node.component
        found.setdefault((access.tensor, access.index, component), access)
    return tuple(found.values())


def memory_accesses(
    statement: Statement, loops: Sequence[Var | RVar], box: Box, known: Ranges, layouts: Layouts
) -> tuple[MemoryAccess, ...]:
    """What an instance reads and writes; reads of one element once.

    Args:
        loops: the dimensions of the statement in the order of its loops.
        box: the first and the last value of each.
        known: the ranges of expressions, where sizes and Params have their values.
    """
    distinct = distinct_accesses(statement)
    found = [_of(x, loops, box, known, layouts) for x in distinct]
    together: dict[object, list[int]] = {}
    for k, a in enumerate(found):
        together.setdefault((a.tensor, a.is_write, a.strides), []).append(k)
    middle: dict[Node, Interval] = {
        x: ((lo + hi) // 2,) * 2 for x, (lo, hi) in zip(loops, box, strict=True)
    }
    for first, *others in together.values():
        begin = _address(distinct[first], middle, known, layouts) if others else None
        for k in others:
            at = _address(distinct[k], middle, known, layouts)
            behind = None if at is None or begin is None else at - begin
            found[k] = replace(found[k], behind=behind)
    return tuple(found)


def _address(
    access: Access, middle: Mapping[Node, Interval], known: Ranges, layouts: Layouts
) -> int | None:
    """How many elements behind the first one of its tensor it touches in one iteration; None where
    data say so.

    Args:
        middle: the iteration, by loop.
    """
    if access.region_end is not None or any(map(reads_memory, access.index)):
        return None
    found = 0
    for index, stride in zip(access.index, layouts.strides(access.tensor), strict=True):
        low, high = known.of(index, middle)
        if low != high:
            return None
        found += low * stride
    return found


def _of(
    access: Access, loops: Sequence[Var | RVar], box: Box, known: Ranges, layouts: Layouts
) -> MemoryAccess:
    tensor = access.tensor
    strides, whole = layouts.strides(tensor), layouts.extents(tensor)
    by_axis = [_steps(access, axis, loops, box, known, layouts) for axis in range(len(whole))]
    moved = [_distance(steps, strides) for steps in zip(*by_axis, strict=True)]
    touched = map(_touched, by_axis, repeat(box), whole)
    sizes = [concrete(t).itemsize for t in tensor.dtypes]
    if access.node is not None:
        sizes = [sizes[access.node.component]]
    name = layouts.model.program.names[tensor]
    strides_by_loop = tuple(moved) if by_axis else (0,) * len(loops)
    return MemoryAccess(
        tensor=name,
        is_write=access.is_write,
        bytes=sum(sizes),
        widest=max(sizes),
        strides=strides_by_loop,
        elements=prod(touched),
        is_input=isinstance(tensor, Input | Const),
    )


def _steps(
    access: Access,
    axis: int,
    loops: Sequence[Var | RVar],
    box: Box,
    known: Ranges,
    layouts: Layouts,
) -> list[float | None]:
    """How far an iteration of each loop moves the index along an axis."""
    if access.region_end is not None:
        return [None] * len(loops)
    index = access.index[axis]
    found: list[float | None] = [layouts.step(index, loop) for loop in loops]
    if None in found and not reads_memory(index):
        return [
            _in_the_middle(index, k, loops, box, known) if step is None else step
            for k, step in enumerate(found)
        ]
    return found


def _in_the_middle(
    index: Node, k: int, loops: Sequence[Var | RVar], box: Box, known: Ranges
) -> int | float | None:
    """How far iterations of a loop in the middle of all move an index, the same distance each; or
    how far it is on average, if the index is near that line from the first iteration to the last.
    Otherwise None."""
    (first, last), middle = box[k], [(lo + hi) // 2 for lo, hi in box]

    def value(at: int) -> int | None:
        point = [at if j == k else x for j, x in enumerate(middle)]
        lo, hi = known.of(index, {x: (v, v) for x, v in zip(loops, point, strict=True)})
        return lo if lo == hi else None

    values = [value(middle[k] + ahead) for ahead in range(FEW + 1)]
    steps = {None if a is None or b is None else b - a for a, b in pairwise(values)}
    step = steps.pop() if len(steps) == 1 else None
    return step or _slope(value, first, last, step)


def _slope(
    value: Callable[[int], int | None], first: int, last: int, otherwise: int | None
) -> float | None:
    """How far an index moves on average, if it is near that line.

    Args:
        value: the index by iteration, None where it is not known.
        otherwise: what is said where it does not move far.
    """
    begin, end = value(first), value(last)
    if last <= first or begin is None or end is None or abs(end - begin) <= FAR:
        return otherwise
    middle = (first + last) // 2
    near = range(max(first, middle - PERIOD), min(middle + PERIOD, last) + 1)
    values = [v for x in near if (v := value(x)) is not None]
    if len(values) < len(near):
        return None
    net, jumps = values[-1] - values[0], sum(abs(b - a) for a, b in pairwise(values))
    step = net / (len(near) - 1)  # as it is in whole periods
    if abs(end - begin - step * (last - first)) > FAR:
        step = (end - begin) / (last - first)
    others = (first, (first + middle) // 2, (middle + last) // 2, last)
    seen = [*zip(near, values, strict=True), *((x, value(x)) for x in others)]
    far = any(v is None or abs(v - begin - (x - first) * step) > FAR for x, v in seen)
    return None if far or jumps > BACK * abs(net) + FAR else step


FEW, PERIOD = 4, 6
"""So many iterations in the middle are looked at, and so many on both sides of it where not all of
them move an index alike."""

BACK = 4
"""How many times farther than it comes an index may go to and fro."""

FAR = 2
"""Elements that an index is from a line that it is near."""


def _distance(steps: Sequence[float | None], strides: Sequence[int]) -> float | None:
    """How many elements in memory some steps along axes are."""
    found: float = 0
    for step, stride in zip(steps, strides, strict=True):
        if step is None:
            return None
        found += step * stride
    return found


def _touched(steps: Sequence[float | None], box: Box, whole: int) -> int:
    """How many indices are touched along an axis, of as many as there are."""
    count: float = 1
    for step, (lo, hi) in zip(steps, box, strict=True):
        if step is None:
            return whole
        count += abs(step) * max(0, hi - lo)
    return min(ceil(count), whole)
