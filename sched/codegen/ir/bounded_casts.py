"""Floats that are converted to integers, and these kept in a range: in range before they are
converted, they need no care for what integers do not hold.

    max(cast(int32, x), 0)   ->   cast(int32, select(x > 0.0, x, 0.0))

and the same of a minimum around it. Conversions truncate towards 0 and saturate, so either comes to
the same, and NaN, which becomes 0, to the lower end where that is not below 0.
"""

from __future__ import annotations

from math import isnan

from ...lang.nodes.dtypes import DType, bool_
from ...lang.nodes.nodes import Const, Node, Op, dtype_of


def bounded_before(node: Node) -> Node:
    """The node, or what has the same value."""
    match node:
        case Op(op="max", operands=(Op(op="cast", operands=(x,)) as cast, Const() as lo)):
            at_least = _as_float(lo, x)
            if at_least is not None and lo.value >= 0 and _chosen_below(x) is None:
                return Op("cast", (_chosen("gt", x, at_least),), dtype_of(cast))
        case Op(op="min", operands=(Op(op="cast", operands=(x,)) as cast, Const() as hi)):
            at_most, low = _as_float(hi, x), lower_end(x)
            if at_most is not None and low is not None and low <= hi.value:
                return Op("cast", (_chosen("lt", x, at_most),), dtype_of(cast))
    return node


def lower_end(x: Node) -> float | None:
    """What a float is not below, as it was chosen so: it is no NaN then."""
    above = _chosen_below(x)
    if above is not None:
        assert isinstance(x, Op)
        x = x.operands[1]
    match x:
        case Op(op="select", operands=(Op(op="gt", operands=(a, Const() as lo)), b, c)):
            ends = [float(end.value) for end in (lo, above) if end is not None]
            if a is b and c is lo and not any(map(isnan, ends)):
                return min(ends)  # the upper one is taken last
    return None


def upper_end(x: Node) -> float | None:
    """What a float is not above, as it was chosen so and is no NaN."""
    above = _chosen_below(x)
    return None if above is None or lower_end(x) is None else float(above.value)


def _chosen_below(x: Node) -> Const | None:
    """The upper end of what was chosen to be below one."""
    match x:
        case Op(op="select", operands=(Op(op="lt", operands=(a, Const() as hi)), b, c)):
            return hi if a is b and c is hi else None
    return None


def _chosen(comparison: str, x: Node, end: Const) -> Node:
    dtype = dtype_of(x)
    return Op("select", (Op(comparison, (x, end), bool_), x, end), dtype)


def _as_float(end: Const, x: Node) -> Const | None:
    """The end of a range of integers in the type of a float, if that holds it."""
    source: DType = dtype_of(x)
    if not source.is_float or source.is_narrow or not dtype_of(end).is_int:
        return None
    value = float(source.scalar(end.value))
    return Const(value, source) if value == end.value else None
