"""Bounds of integer values over sizes and Params, and how operators propagate them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

from ...records import dataclass
from ..nodes import index as ix
from ..nodes.dtypes import DType
from ..nodes.nodes import Const, Node, Op, Param, Size, integer, postorder
from .admission import SIZE_LIMIT


@dataclass(frozen=True, slots=True)
class Range:
    """lo <= value <= hi, over sizes and Params; None for an end without a known bound.

    `adds` is False for a value that the Func under analysis holds already, as where an update
    passes an element on: it does not widen the range.
    """

    lo: Node | None
    hi: Node | None
    adds: bool = True


UNKNOWN = Range(None, None)
KEPT = Range(None, None, adds=False)
_MOST_NODES = 16
"""Bounds with more nodes are dropped: proofs with them would take too long."""
_WIDE = 32
"""Types of this many bits or more have too many values for their limits to be useful bounds."""


def typed(found: Range, t: DType) -> Range:
    """The range, with the limits of its type in place of missing ends: 0 for unsigned types, both
    limits for narrow ones."""
    narrow = t.is_bool or (t.is_int and t.bits < _WIDE)
    lo, hi = found.lo, found.hi
    if lo is None and (narrow or (t.is_int and t.min == 0)):
        lo = integer(int(t.min))
    return replace(found, lo=lo, hi=integer(int(t.max)) if hi is None and narrow else hi)


def short(found: Range) -> Range:
    def end(node: Node | None) -> Node | None:
        return None if node is None or sum(1 for _ in postorder(node)) > _MOST_NODES else node

    return replace(found, lo=end(found.lo), hi=end(found.hi))


def fits(found: Range, t: DType) -> bool:
    """Whether a type holds all values of a range, at all sizes."""
    if found.lo is None or found.hi is None or t.is_bool:
        return False
    lo, hi = _span(found.lo), _span(found.hi)
    return lo is not None and hi is not None and t.min <= lo[0] and hi[1] <= t.max


def _span(root: Node) -> tuple[int, int] | None:
    """The smallest and the largest value of a bound, over all admissible sizes and Params."""
    known: dict[Node, tuple[int, int] | None] = {}
    for node in postorder(root):
        match node:
            case Const(value=value):
                known[node] = int(value), int(value)
            case Size():
                known[node] = 0, SIZE_LIMIT
            case Param(info=info):
                least = info.dtype.min if info.min is None else math.ceil(info.min)
                most = info.dtype.max if info.max is None else math.floor(info.max)
                known[node] = least, most
            case Op(op=op, operands=operands) if op in _CORNERS:
                spans = [s for a in operands if (s := known[a]) is not None]
                known[node] = _corners(op, spans) if len(spans) == len(operands) else None
            case _:
                known[node] = None
    return known[root]


def _corners(op: str, spans: list[tuple[int, int]]) -> tuple[int, int] | None:
    """The span of an operator that is monotone in each operand, from the ends of their spans."""
    if op == "floordiv" and spans[1][0] <= 0:
        return None
    values = [_CORNERS[op](*at) for at in itertools.product(*spans)]
    return min(values), max(values)


_CORNERS: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "min": min,
    "max": max,
    "neg": lambda a: -a,
}


# operators --------------------------------------------------------------------------------------
def hull(parts: list[Range]) -> Range:
    """The smallest range that contains all of the given ones."""
    lows = [p.lo for p in parts if p.lo is not None]
    highs = [p.hi for p in parts if p.hi is not None]
    return Range(
        ix.minimum(lows) if len(lows) == len(parts) else None,
        ix.maximum(highs) if len(highs) == len(parts) else None,
    )


def _either(a: Range, b: Range) -> Range:
    if a.adds and b.adds:
        return hull([a, b])
    return a if a.adds else b


def _smaller(a: Range, b: Range) -> Range:
    if not (a.adds and b.adds):
        return _either(a, b)
    highs = [h for h in (a.hi, b.hi) if h is not None]
    return Range(hull([a, b]).lo, ix.minimum(highs) if highs else None)


def _larger(a: Range, b: Range) -> Range:
    if not (a.adds and b.adds):
        return _either(a, b)
    lows = [x for x in (a.lo, b.lo) if x is not None]
    return Range(ix.maximum(lows) if lows else None, hull([a, b]).hi)


def _of_bounds(rule: Callable[..., tuple[Node, Node]]) -> Callable[..., Range]:
    """The rule for an operator whose result has bounds only if both bounds of each operand are
    known."""

    def apply(*operands: Range) -> Range:
        bounds = [bound for r in operands for bound in (r.lo, r.hi)]
        known = [bound for bound in bounds if bound is not None]
        return Range(*rule(*known)) if len(known) == len(bounds) else UNKNOWN

    return apply


def _product(a: Range, b: Range) -> Range:
    factor = _constant(b)
    if factor is None:
        a, factor = b, _constant(a)
    if factor is None or a.lo is None or a.hi is None:
        return UNKNOWN
    bounds = (ix.mul(a.lo, integer(factor)), ix.mul(a.hi, integer(factor)))
    return Range(*(bounds if factor >= 0 else reversed(bounds)))


def _quotient(a: Range, b: Range) -> Range:
    divisor = _constant(b)
    if divisor is None or divisor < 1 or a.lo is None or a.hi is None:
        return UNKNOWN
    return Range(ix.floordiv(a.lo, divisor), ix.floordiv(a.hi, divisor))


def _remainder(a: Range, b: Range) -> Range:
    """The range of `a % b` for b >= 0. The remainder by zero is 0."""
    least = None if b.lo is None else _span(b.lo)
    if least is None or least[0] < 0 or b.hi is None:
        return UNKNOWN
    return Range(ix.ZERO, ix.maximum([ix.sub(b.hi, ix.ONE), ix.ZERO]))


def _constant(r: Range) -> int | None:
    return ix.constant(r.lo) if r.lo is not None and r.lo is r.hi else None


#: Operators whose result is the value of one of their operands, so that it cannot wrap.
CHOOSE = frozenset({"select", "min", "max", "strict"})
RULES: dict[str, Callable[..., Range]] = {
    "select": lambda condition, a, b: _either(a, b),
    "min": _smaller,
    "max": _larger,
    "strict": lambda a: a,
    "add": _of_bounds(lambda a, b, c, d: (ix.add(a, c), ix.add(b, d))),
    "sub": _of_bounds(lambda a, b, c, d: (ix.sub(a, d), ix.sub(b, c))),
    "neg": _of_bounds(lambda a, b: (ix.sub(ix.ZERO, b), ix.sub(ix.ZERO, a))),
    "mul": _product,
    "floordiv": _quotient,
    "mod": _remainder,
}
