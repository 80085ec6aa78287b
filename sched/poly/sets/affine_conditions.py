"""Conditions as sets: where they may hold, and where they may fail."""

from __future__ import annotations

from collections.abc import Callable

from ...lang.nodes.dtypes import concrete
from ...lang.nodes.nodes import Const, Node, Op, postorder
from ...lang.tensors.trace import Trace
from ...records import dataclass
from .affine import AffineBuilder, are_integers
from .affine_operators import COMPARE
from .isl import Frame, Set, coalesced, existentials

SIMPLE = 4
"""So many convex parts two conditions may have, and existentials each of these, that are compared
with each other. Each comparison multiplies both: a chain of them would have thousands."""


@dataclass(frozen=True)
class Condition:
    """Where a condition may hold; `exact` if it holds everywhere there.

    `fails` is where it may fail, if that is known of one that is not exact: while quotients and
    remainders by sizes are looked at, which are known where they are near.
    """

    set: Set
    exact: bool
    fails: Set | None = None

    def negated(self, frame: Frame) -> Condition:
        if self.exact:
            return Condition(self.set.complement(), True)
        if self.fails is None:
            return Condition(frame.universe, False)
        return Condition(self.fails, False, self.set)


def condition(frame: Frame, node: Node, within: Set | None = None) -> Condition:
    """Where a condition over the frame may hold. What depends on data is dropped from it.

    Args:
        within: the only points that matter. What is affine by pieces there is exact; where it is
            not, its pieces would become pieces of all sets that are made of this one.
    """
    found = _found(frame, node, periods=False)
    if found.exact or within is None or not any(map(_is_by_size, postorder(node))):
        return found
    pieces = _found(frame, node, periods=True)
    if pieces.fails is None:
        return found
    holds = pieces.set.intersect(within)
    return Condition(pieces.set, True) if holds.is_disjoint(pieces.fails) else found


def _is_by_size(node: Node) -> bool:
    """Whether it is a quotient or a remainder that is not by a constant."""
    return (
        isinstance(node, Op)
        and node.op in ("floordiv", "mod")
        and not isinstance(node.operands[1], Const)
    )


def _found(frame: Frame, node: Node, periods: bool) -> Condition:
    done: dict[Node, Condition] = {}
    for n in postorder(node):
        if n.type is not None and concrete(n.type).is_bool:
            done[n] = _condition(frame, n, done, periods)
    return done[node]


def _condition(frame: Frame, node: Node, done: dict[Node, Condition], periods: bool) -> Condition:
    match node:
        case Const(value=value):
            return Condition(frame.universe if value else frame.empty, True)
        case Trace(value=value) | Op(op="strict", operands=(value,)):
            return done[value]
        case Op(op="and" | "min", operands=(a, b)):
            return _both(frame, done[a], done[b])
        case Op(op="or" | "max", operands=(a, b)):
            return _either(frame, done[a], done[b])
        case Op(op="not", operands=(a,)):
            return done[a].negated(frame)
        case Op(op="select", operands=(c, a, b)):
            first = _both(frame, done[c], done[a])
            return _either(frame, first, _both(frame, done[c].negated(frame), done[b]))
        case Op(op=op, operands=operands) if op in COMPARE and are_integers(operands):
            return _comparison(frame, op, operands, periods)
        case Op(op=op, operands=(a, b)) if op in _COMPARED and a in done and b in done:
            return _compared(frame, op, done[a], done[b])
        case _:
            return Condition(frame.universe, False)


_COMPARED: dict[str, Callable[[Frame, Condition, Condition], Condition]] = {
    "lt": lambda frame, x, y: _both(frame, x.negated(frame), y),
    "gt": lambda frame, x, y: _both(frame, x, y.negated(frame)),
    "le": lambda frame, x, y: _either(frame, x.negated(frame), y),
    "ge": lambda frame, x, y: _either(frame, x, y.negated(frame)),
    "eq": lambda frame, x, y: _differ(frame, x, y.negated(frame)),
    "ne": lambda frame, x, y: _differ(frame, x, y),
    "xor": lambda frame, x, y: _differ(frame, x, y),
}
"""Comparisons of two conditions, False < True."""


def _compared(frame: Frame, op: str, x: Condition, y: Condition) -> Condition:
    """Where a comparison of two conditions may hold; anywhere, if they are intricate."""
    simple = all(
        c.set.n_basic_set() <= SIMPLE and existentials(c.set) <= SIMPLE for c in (x, y)
    )  # fmt: skip
    return _COMPARED[op](frame, x, y) if simple else Condition(frame.universe, False)


def _differ(frame: Frame, x: Condition, y: Condition) -> Condition:
    first = _both(frame, x, y.negated(frame))
    return _either(frame, first, _both(frame, x.negated(frame), y))


def _comparison(frame: Frame, op: str, operands: tuple[Node, ...], periods: bool) -> Condition:
    builder = AffineBuilder(frame, operands)
    if builder.unknowns and not (periods and builder.is_periodic):
        return Condition(frame.universe, False)
    holds = COMPARE[op](*(builder.value[a] for a in operands))
    if not builder.unknowns:
        return Condition(holds, True)
    possible = builder.bounds(typed=True)
    where, fails = (builder.projected(possible.intersect(x)) for x in (holds, holds.complement()))
    return Condition(where, False, fails)


def _both(frame: Frame, x: Condition, y: Condition) -> Condition:
    where, exact = coalesced(x.set.intersect(y.set)), x.exact and y.exact
    if x.fails is None and y.fails is None:
        return Condition(where, exact)
    fails = x.negated(frame).set.union(y.negated(frame).set)
    return Condition(where, exact, coalesced(fails))


def _either(frame: Frame, x: Condition, y: Condition) -> Condition:
    where, exact = coalesced(x.set.union(y.set)), x.exact and y.exact
    if x.fails is None and y.fails is None:
        return Condition(where, exact)
    fails = x.negated(frame).set.intersect(y.negated(frame).set)
    return Condition(where, exact, coalesced(fails))
