"""Whether the arithmetic of loops fits in 64 bits: bounds, conditions, and which instance runs.

isl computes with integers of any size, and what it finds of several directives may hold the
product of their constants. Here each expression over loops and sizes is looked at as machines
compute it, with the range of every loop: that of its coordinate, and that of its bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...lang.arguments.admission import LOOP_LIMIT
from ...lang.errors.errors import ScheduleError
from ...lang.nodes.dtypes import int64
from ...lang.nodes.nodes import Const, Node, Op, Param, postorder
from ...lang.nodes.printer import expr_text
from ..sets.coordinates import FARTHEST
from ..sets.intervals import Interval, declared_range, interval, reach
from ..tree.edits import own_stages
from .loop_nest import LoopNest, NestAccumulator, NestAlloc, NestIf, NestLoop, NestSeq, NestStage

_WRAPPING = frozenset({"add", "sub", "mul", "neg", "abs", "floordiv", "mod", "min", "max"})


def check_fits(
    nest: LoopNest, known: Mapping[Node, Interval] | None = None, depth: int = 0
) -> None:
    """Refuses loops that would compute with numbers beyond 64 bits.

    Args:
        known: the ranges of the loops around.
        depth: how many these are.
    """
    ranges = known or {}
    match nest:
        case NestLoop(var=var, lo=lo, hi=hi, body=body):
            first, last = _range(lo, ranges, var.name)[0], _range(hi, ranges, var.name)[1] - 1
            least, most = _counted(nest, depth)
            inside = max(first, least), min(last, most)
            check_fits(body, {**ranges, var: (min(inside), max(inside))}, depth + 1)
        case NestSeq(parts=parts):
            for part in parts:
                check_fits(part, ranges, depth)
        case NestAccumulator(copy_in=first, copy_out=last, body=body):
            for part in (first, body, last):
                check_fits(part, ranges, depth)
        case NestAlloc(body=body) | NestIf(body=body):
            _check(_expressions(nest), ranges)
            check_fits(body, ranges, depth)
        case NestStage():
            _check(_expressions(nest), ranges)


def _expressions(nest: LoopNest) -> Iterator[tuple[Node, str]]:
    """The expressions over loops that a part computes, and what each is for."""
    match nest:
        case NestIf(condition=condition):
            yield condition, "a condition"
        case NestAlloc(func=func, origin=origin):
            yield from ((x, f"the storage of {func.name}") for x in origin)
        case NestStage(stage=stage, point=point):
            yield from ((x, stage.name) for x in point.values())


def _check(expressions: Iterator[tuple[Node, str]], known: Mapping[Node, Interval]) -> None:
    for node, where in expressions:
        _range(node, known, where)


def _counted(nest: NestLoop, depth: int) -> Interval:
    """The range of the coordinates of a loop."""
    anywhere = -FARTHEST, FARTHEST
    reaches = [reach(s.coordinates[depth]) or anywhere for s in own_stages(nest.loop)]
    if not reaches:  # what is left inside is computed for stages outside
        return anywhere
    return min(lo for lo, _ in reaches), max(hi for _, hi in reaches)


def _range(root: Node, loops: Mapping[Node, Interval], where: str) -> Interval:
    """The range of an expression over loops and sizes.

    Raises:
        ScheduleError: something that it is computed from may not fit in 64 bits.
    """
    known: dict[Node, Interval] = {}
    for node in postorder(root):
        found, exact = interval(node, known)
        match node:
            case Param():  # as the call checks
                lo, hi = declared_range(node)
                found = max(lo, -LOOP_LIMIT), min(hi, LOOP_LIMIT)
            case Op(op=op):
                exact = exact or op not in _WRAPPING
            case Const(value=value):
                exact = int64.min <= value <= int64.max
        if not exact:
            raise ScheduleError(
                f"{where} needs {expr_text(node)}, which may not fit in 64 bits, as sizes may come "
                "near to 2**40, and loops to 2**44",
                hint="smaller constants: those of several directives are multiplied",
                status="unproved",
            )
        known[node] = loops.get(node, found)
    return known[root]
