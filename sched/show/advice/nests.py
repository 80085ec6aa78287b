"""The loops around each stage with numbers: iterations, and how accesses move through memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import reduce
from itertools import accumulate
from math import prod
from operator import mul

from ...lang.arithmetic.evaluate import size_value
from ...lang.errors.errors import PolyschedError
from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import concrete
from ...lang.nodes.nodes import RVar, Size, postorder, replaced_all
from ...lang.nodes.tensor import Tensor
from ...lang.tensors.tensors import Func
from ...poly.nests.boxes import box
from ...poly.nests.loop_nest import LoopNest, NestLoop, NestStage, children
from ...poly.schedule.schedule import Schedule
from ...poly.sets.linear import coefficient
from ...records import dataclass

UNKNOWN = 16
"""Iterations that a loop is taken to have whose extent is not known."""


@dataclass(frozen=True, slots=True)
class LoopSeen:
    """A loop around a stage: its own, or one of a stage that this one is computed in.

    Attributes:
        kind: serial, parallel, vector or unrolled.
        extent: iterations, at most.
        strides: for each access, by how many elements an iteration moves it; None if that is no
            constant.
        reduces: whether it runs over the terms of a reduction.
    """

    name: str
    kind: str
    extent: int
    strides: tuple[int | None, ...]
    reduces: bool


@dataclass(frozen=True, slots=True)
class StageSeen:
    """A stage with all loops around it, outermost first.

    Attributes:
        own: how many of the innermost loops are its own.
        tensors: by access, what is touched; the write comes first. widths: bytes of an element.
        elements: how many elements its Func has.
    """

    name: str
    func: str
    loops: tuple[LoopSeen, ...]
    own: int
    tensors: tuple[str, ...]
    widths: tuple[int, ...]
    elements: int

    @property
    def runs(self) -> int:
        """How many instances run."""
        return prod(x.extent for x in self.loops)

    @property
    def mine(self) -> tuple[LoopSeen, ...]:
        """The loops of its own."""
        return self.loops[len(self.loops) - self.own :]

    @property
    def bytes(self) -> int:
        """Bytes of all that its Func has."""
        return self.elements * self.widths[0]


def seen(s: Schedule, sizes: Mapping[str, int]) -> tuple[StageSeen, ...]:
    """The stages of a schedule with numbers at some sizes, each once, in the order they run."""
    extents: dict[str, dict[str, int]] = {}
    with suppress(PolyschedError):
        known = s.loop_program.symbols  # also the extents of outputs that a call gives
        extents = s.extents(**{k: v for k, v in sizes.items() if isinstance(known.get(k), Size)})
    layouts = _Layouts(s, sizes)
    found: dict[str, StageSeen] = {}
    for nest in s.nests:
        for loops, leaf in _leaves(nest, ()):
            name = leaf.stage.name
            if name not in found and leaf.stage.statement.definition.opaque is None:
                found[name] = _seen(s, loops, leaf, extents, layouts)
    return tuple(found.values())


class _Layouts:
    """Extents of tensors at some sizes, and distances in memory."""

    def __init__(self, s: Schedule, sizes: Mapping[str, int]) -> None:
        self.s, self.sizes = s, sizes

    def extents(self, tensor: Tensor) -> tuple[int, ...]:
        """How many elements there are along each axis."""
        found = tensor.extents
        if found is None:
            assert isinstance(tensor, Func)
            found = box(self.s.model, tensor, [])[1]
        return tuple(max(0, int(size_value(x, self.sizes, self.sizes))) for x in found)

    def strides(self, tensor: Tensor) -> tuple[int, ...]:
        """By axis, how many elements lie from one to the next in memory as it is written."""
        inner = accumulate(reversed(self.extents(tensor)[1:]), mul, initial=1)
        return tuple(inner)[::-1] if tensor.ndim else ()


def _leaves(
    nest: LoopNest, around: tuple[NestLoop, ...]
) -> Iterator[tuple[tuple[NestLoop, ...], NestStage]]:
    if isinstance(nest, NestStage):
        yield around, nest
    inside = (*around, nest) if isinstance(nest, NestLoop) else around
    for child in children(nest):
        yield from _leaves(child, inside)


def _seen(
    s: Schedule,
    around: tuple[NestLoop, ...],
    leaf: NestStage,
    extents: Mapping[str, Mapping[str, int]],
    layouts: _Layouts,
) -> StageSeen:
    statement = leaf.stage.statement
    own = extents.get(leaf.stage.name, {})
    count = len(around) - min(len(statement.around), len(around))
    others = {x: k for name, each in extents.items() if name != leaf.stage.name
              for x, k in each.items()}  # fmt: skip
    accesses = sorted(statement.accesses, key=lambda a: not a.is_write)
    indices = [replaced_all(a.index, leaf.point) for a in accesses]
    loops = []
    for at, x in enumerate(around):
        strides = []
        for access, index in zip(accesses, indices, strict=True):
            steps = [coefficient(node, x.var) for node in index]
            numbers = [None if k is None else ix.constant(k) for k in steps]
            strides.append(_distance(numbers, layouts.strides(access.tensor), x.step))
        reduces = any(
            isinstance(dim, RVar) and x.var in postorder(value) for dim, value in leaf.point.items()
        )
        known = others if at < len(around) - count else own
        extent = known.get(x.loop.name, x.count or UNKNOWN)
        loops.append(LoopSeen(x.loop.name, x.loop.kind, extent, tuple(strides), reduces))
    names = s.program.names
    return StageSeen(
        leaf.stage.name,
        names[statement.func],
        tuple(loops),
        min(count, len(loops)),
        tuple(names.get(a.tensor, a.tensor.name) for a in accesses),
        tuple(concrete(a.tensor.dtypes[0]).itemsize for a in accesses),
        prod(layouts.extents(statement.func)),
    )


def _distance(steps: list[int | None], strides: tuple[int, ...], step: int) -> int | None:
    def added(total: int | None, pair: tuple[int | None, int]) -> int | None:
        return None if total is None or pair[0] is None else total + pair[0] * pair[1] * step

    start: int | None = 0
    return reduce(added, zip(steps, strides, strict=True), start)
