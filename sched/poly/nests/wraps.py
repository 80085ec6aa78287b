"""Whether the arithmetic of loops fits in 64 bits: bounds, conditions, and which instance runs.

isl computes with integers of any size, and what it finds of several directives may hold the
product of their constants. Here each expression over loops and sizes is looked at as machines
compute it, with the range of every loop: that of its coordinate, and that of its bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NoReturn

from ...lang.arguments.admission import LOOP_LIMIT
from ...lang.errors.errors import ScheduleError
from ...lang.nodes.dtypes import int64
from ...lang.nodes.nodes import Const, Node, Op, Param, dtype_of, leaves_below, postorder
from ...lang.nodes.printer import expr_text
from ...lang.program.intervals import (
    Interval,
    declared_range,
    interval,
    lies_near,
    reach,
)
from ...records import dataclass
from ..sets.coordinates import FARTHEST
from ..tree.edits import own_stages
from .loop_nest import LoopNest, NestAccumulator, NestAlloc, NestIf, NestLoop, NestSeq, NestStage

_WRAPPING = frozenset({"add", "sub", "mul", "neg", "abs", "floordiv", "mod", "min", "max"})


@dataclass(frozen=True)
class Fits:
    """Whether loops compute with numbers that fit in 64 bits.

    Attributes:
        free: Params that may be any number of their declared range. Whatever bounds a loop, is
            compared or is an index, and is computed of them, must be as near to 0 as loops are. All
            others are within `LOOP_LIMIT`, as the call checks.
    """

    free: frozenset[str] = frozenset()

    def check(
        self, nest: LoopNest, known: Mapping[Node, Interval] | None = None, depth: int = 0
    ) -> None:
        """Refuses loops that would compute with numbers beyond 64 bits.

        Args:
            known: the ranges of the loops around.
            depth: how many these are.
        """
        ranges = known or {}
        match nest:
            case NestLoop(var=var, lo=lo, hi=hi, body=body):
                first = self._range(lo, ranges, var.name)[0]
                last = self._range(hi, ranges, var.name)[1] - 1
                least, most = _counted(nest, depth)
                inside = max(first, least), min(last, most)
                self.check(body, {**ranges, var: (min(inside), max(inside))}, depth + 1)
            case NestSeq(parts=parts):
                for part in parts:
                    self.check(part, ranges, depth)
            case NestAccumulator(copy_in=first, copy_out=last, body=body):
                self._check_storage(nest, ranges)
                for part in (first, body, last):
                    self.check(part, ranges, depth)
            case NestAlloc(body=body) | NestIf(body=body):
                self._check_storage(nest, ranges)
                self._check(_expressions(nest), ranges)
                self.check(body, ranges, depth)
            case NestStage():
                self._check(_expressions(nest), ranges)

    def _check_storage(self, nest: LoopNest, known: Mapping[Node, Interval]) -> None:
        """The storage that depends on free Params."""
        if self.free and isinstance(nest, (NestAlloc, NestAccumulator)):
            self._check(((x, "storage") for x in (*nest.origin, *nest.extents)), known)

    def _check(
        self, expressions: Iterator[tuple[Node, str]], known: Mapping[Node, Interval]
    ) -> None:
        for node, where in expressions:
            self._range(node, known, where)

    def _range(self, root: Node, loops: Mapping[Node, Interval], where: str) -> Interval:
        """The range of an expression over loops and sizes.

        Raises:
            ScheduleError: something that it is computed from may not fit in 64 bits.
        """
        known: dict[Node, Interval] = {}
        for node in postorder(root):
            found, exact = interval(node, known)
            match node:
                case Param() if node.name not in self.free:  # as the call checks
                    lo, hi = declared_range(node)
                    found = max(lo, -LOOP_LIMIT), min(hi, LOOP_LIMIT)
                case Op(op=op, operands=operands):
                    exact = exact or op not in _WRAPPING
                    if dtype_of(node).is_bool:
                        exact = exact and all(self._is_near(x, known) for x in operands)
                case Const(value=value):
                    exact = int64.min <= value <= int64.max
            if not exact:
                _refuse(node, where)
            known[node] = loops.get(node, found)
        if not self._is_near(root, known):
            _refuse(root, where)
        return known[root]

    def _is_near(self, node: Node, known: Mapping[Node, Interval]) -> bool:
        """Whether a number is as near to 0 as loops are, if it is computed of free Params."""
        if not self.free or dtype_of(node).is_bool or lies_near(known[node]):
            return True
        return not any(isinstance(x, Param) and x.name in self.free for x in leaves_below(node))


def free_params(nests: Sequence[LoopNest], params: Iterable[str]) -> frozenset[str]:
    """Those of some Params that may be any number: loops of these nests, which are bounded by them,
    fit in 64 bits all the same."""
    free: frozenset[str] = frozenset()
    for name in sorted(params):
        with suppress(ScheduleError):
            for nest in nests:
                Fits(free | {name}).check(nest)
            free |= {name}
    return free


def _refuse(node: Node, where: str) -> NoReturn:
    raise ScheduleError(
        f"{where} needs {expr_text(node)}, which may not fit in 64 bits, as sizes may come "
        "near to 2**40, and loops to 2**44",
        hint="smaller constants: those of several directives are multiplied",
        status="unproved",
    )


def _expressions(nest: LoopNest) -> Iterator[tuple[Node, str]]:
    """The expressions over loops that a part computes, and what each is for."""
    match nest:
        case NestIf(condition=condition):
            yield condition, "a condition"
        case NestAlloc(func=func, origin=origin):
            yield from ((x, f"the storage of {func.name}") for x in origin)
        case NestStage(stage=stage, point=point):
            yield from ((x, stage.name) for x in point.values())


def _counted(nest: NestLoop, depth: int) -> Interval:
    """The range of the coordinates of a loop."""
    anywhere = -FARTHEST, FARTHEST
    reaches = [reach(s.coordinates[depth]) or anywhere for s in own_stages(nest.loop)]
    if not reaches:  # what is left inside is computed for stages outside
        return anywhere
    return min(lo for lo, _ in reaches), max(hi for _, hi in reaches)
