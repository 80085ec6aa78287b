"""The window of a producer that one iteration of each loop of a consumer needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ...lang.nodes.nodes import Node, RVar, Var
from ...lang.program.intervals import Interval
from ...lang.tensors.tensors import Func
from ...poly.model.statements import Access, Statement
from ...records import dataclass
from .accesses import Layouts
from .boxes import Box, Ranges

Relation = Literal["disjoint", "slides", "whole"]

AHEAD = 16
"""The window moves by so many iterations where its step is found: a multiple of the strides of
pyramids, so that a step of half an element is one of 8 in 16."""


@dataclass(frozen=True, slots=True)
class LoopWindow:
    """What one iteration of a loop needs, in the middle of all.

    Attributes:
        loop: of the consumer, by its name.
        widths: by axis of the producer, how many elements.
        steps: by axis, how far the next iteration's window lies from it, on average.
        relation: `whole` where consecutive iterations need the same elements, `disjoint` where they
            have none in common, `slides` where they have some.
    """

    loop: str
    widths: tuple[int, ...]
    steps: tuple[float, ...]
    relation: Relation


@dataclass(frozen=True, slots=True)
class Window:
    """What a consumer needs of a producer.

    Attributes:
        producer: a Func by its name.
        consumer: a statement by its name.
        widths: how many elements of each axis all iterations need.
        loops: the same for one iteration of each loop, outermost first.
    """

    producer: str
    consumer: str
    widths: tuple[int, ...]
    loops: tuple[LoopWindow, ...]


def windows(
    statement: Statement,
    loops: Sequence[Var | RVar],
    ranges: Box,
    known: Ranges,
    layouts: Layouts,
) -> list[Window]:
    """What a statement needs of each Func that it reads, itself excepted.

    Args:
        loops: the dimensions of the statement in the order of its loops.
        ranges: the first and the last value of each.
        known: the ranges of expressions, where sizes and Params have their values.
    """
    by_func: dict[Func, list[Access]] = {}
    for access in statement.reads:
        if isinstance(access.tensor, Func) and access.tensor is not statement.func:
            by_func.setdefault(access.tensor, []).append(access)
    return [
        _window(statement, func, reads, loops, ranges, known, layouts)
        for func, reads in by_func.items()
    ]


def _window(
    statement: Statement,
    func: Func,
    reads: Sequence[Access],
    loops: Sequence[Var | RVar],
    ranges: Box,
    known: Ranges,
    layouts: Layouts,
) -> Window:
    extents = layouts.extents(func)
    middle = [(lo + hi) // 2 for lo, hi in ranges]

    def needed(fixed: Sequence[int]) -> list[Box]:
        """The boxes that accesses read where the outermost loops have given values."""
        dims: dict[Node, Interval] = dict(zip(loops, ranges, strict=True))
        dims.update({x: (at, at) for x, at in zip(loops, fixed, strict=False)})
        return [_box(access, known, dims, extents) for access in reads]

    whole = _widths(_hull(needed(())))
    found: list[LoopWindow] = []
    for k, loop in enumerate(loops):
        here = needed(middle[: k + 1])
        span = min(AHEAD, ranges[k][1] - middle[k])
        there = needed([*middle[:k], middle[k] + span])
        widths = _widths(_hull(here))
        steps = _steps(here, there, span, [w < most for w, most in zip(widths, whole, strict=True)])
        found.append(LoopWindow(loop.name, widths, steps, _relation(widths, steps)))
    names = layouts.model.program.names
    return Window(names[func], statement.name, whole, tuple(found))


def _box(
    access: Access, known: Ranges, dims: Mapping[Node, Interval], extents: Sequence[int]
) -> Box:
    """The elements of a tensor that an access may touch. A Func without a shape begins where its
    region does, so only the number of its elements is known."""
    found: list[Interval] = []
    ends = access.index if access.region_end is None else access.region_end
    for axis, (first, last) in enumerate(zip(access.index, ends, strict=True)):
        lo, hi = known.of(first, dims)[0], known.of(last, dims)[1]
        if access.region_end is not None:
            hi -= 1
        if access.tensor.extents is not None:
            lo, hi = max(lo, 0), min(hi, extents[axis] - 1)
        found.append((lo, max(lo, min(hi, lo + extents[axis] - 1))))
    return tuple(found)


def _hull(boxes: Sequence[Box]) -> Box:
    return tuple((min(lo for lo, _ in x), max(hi for _, hi in x)) for x in zip(*boxes, strict=True))


def _widths(box: Box) -> tuple[int, ...]:
    return tuple(hi - lo + 1 for lo, hi in box)


def _steps(
    here: Sequence[Box], there: Sequence[Box], span: int, parts: Sequence[bool]
) -> tuple[float, ...]:
    """By axis, how far an iteration moves what is read. Where all reads together begin at the same
    element, one of them may go away from the others, as `d[j]` goes away from `d[i]` along j.

    Args:
        span: iterations from here to there.
        parts: by axis, whether less than all is read.
    """
    found: list[float] = []
    for axis, (a, b) in enumerate(zip(_hull(here), _hull(there), strict=True)):
        moved = b[0] - a[0]
        if not moved and parts[axis]:
            each = (y[axis][0] - x[axis][0] for x, y in zip(here, there, strict=True))
            moved = max(each, key=abs)
        found.append(moved / span if span else 0.0)
    return tuple(found)


def _relation(widths: Sequence[int], steps: Sequence[float]) -> Relation:
    moving = [(w, abs(s)) for w, s in zip(widths, steps, strict=True) if s]
    if not moving:
        return "whole"
    return "disjoint" if any(step >= width for width, step in moving) else "slides"
