"""What operators say of values that are not affine, by the operands that bound them: a quotient is
no farther from zero than its dividend.

The operands may be unknowns themselves, as what is read is that has a declared range.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...lang.nodes.dtypes import INDEX, concrete
from ...lang.nodes.nodes import Node, Op
from ...lang.program.intervals import Interval
from . import periods
from .affine_operators import LOGIC
from .isl import Frame, PwAff, Set

Intervals = Mapping[Node, Interval]


def bounding(node: Node, intervals: Intervals) -> tuple[Node, ...]:
    """The operands that bound what an operator gives."""
    t = concrete(node.type or INDEX)
    match node:
        case Op(op="mod", operands=(_, divisor)):
            return (divisor,)
        case Op(op="floordiv" | "shr", operands=(e, _)):
            found: tuple[Node, ...] = (e,)
        case Op(op="and", operands=operands):
            found = tuple(e for e in operands if intervals[e][0] >= 0)
        case _:
            return ()
    return tuple(e for e in found if t.is_int and concrete(e.type or INDEX) == t)


def bounds(
    node: Op, frame: Frame, x: PwAff, value: Mapping[Node, PwAff], intervals: Intervals
) -> Set:
    """Where an unknown `x` may be, by the values of the operands that bound it."""
    result = frame.universe
    for operand in bounding(node, intervals):
        e = value[operand]
        match node.op:
            case "mod":
                limit = periods.remainder(frame, x, e)
            case "floordiv":
                limit = periods.quotient(frame, x, e, intervals[node.operands[1]][0] < 0)
            case _:  # a shift by any count gives what a quotient does, and so do bits of e >= 0
                limit = periods.quotient(frame, x, e, by_negative=False)
        result = result.intersect(limit)
    return result


def always_computed(roots: Iterable[Node]) -> frozenset[Node]:
    """What is computed at each point: not what only an arm of a select needs, or a part of a
    condition, which may have been such an arm."""
    found = set(roots)
    waiting = [*found]
    while waiting:
        match waiting.pop():
            case Op(op="select", operands=(condition, _, _)):
                needed: tuple[Node, ...] = (condition,)
            case Op(op=op) as node if op in LOGIC and concrete(node.type or INDEX).is_bool:
                needed = ()
            case node:
                needed = node.args
        waiting += [n for n in needed if n not in found]
        found.update(needed)
    return frozenset(found)
