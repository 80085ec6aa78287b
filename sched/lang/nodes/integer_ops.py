"""Typed operators on integers whose operands have other types than their result."""

from __future__ import annotations

from ..errors.errors import Span
from .convert import convert
from .dtypes import DType, Type, concrete, int64
from .nodes import Const, Node, Op

_FACTORS = {"mul_shift_right": 2, "rounding_mul_shift_right": 2}
"""How many widths of the result a shifted value has; one without an entry."""


def widened(op: str, operands: tuple[Node, ...], result: Type) -> Node:
    """A sum or a product of operands of one type, in the type of twice the width."""
    to = concrete(result)
    wide = (Const(a.value, to) if isinstance(a, Const) else Op("cast", (a,), to) for a in operands)
    return Op(op.removeprefix("widening_"), tuple(wide), result)


def saturated(value: Node, to: DType, where: Span) -> Node:
    """A value within the limits of an integer type, as a value of it. Floats saturate when they
    are cast."""
    source = concrete(value.type or int64)
    value = convert(value, source, where)
    if isinstance(value, Const) and source.is_int:
        return Const(min(max(int(value.value), to.min), to.max), to)
    if source.is_int and source.min < to.min:
        value = Op("max", (value, Const(to.min, source)), source)
    if source.is_int and source.max > to.max:
        value = Op("min", (value, Const(to.max, source)), source)
    return value if source == to else Op("cast", (value,), to)


def count(op: str, given: Node, to: DType) -> Node:
    """A count in the type of the value that is rotated or shifted.

    Rotations go by the last bits of a count, which all types have. Shifts by more than all bits
    and by less than none give the same each, so counts are limited before they are narrowed; one
    below none is a very large one in an unsigned type, and means the same there.
    """
    t = concrete(given.type or int64)
    given = convert(given, t)
    if not op.startswith("rotate"):
        given = _limited(given, t, -1, _FACTORS.get(op, 1) * to.bits + 1, to)
    if isinstance(given, Const):
        return Const((int(given.value) - to.min) % (1 << to.bits) + to.min, to)
    return given if given.type == to else Op("cast", (given,), to)


def _limited(given: Node, t: DType, least: int, most: int, to: DType) -> Node:
    """A count of type `t` between two limits, as far as it does not fit in `to` by itself."""
    if isinstance(given, Const):
        return Const(min(max(int(given.value), least), most), t)
    if t.max > to.max:
        given = Op("min", (given, Const(most, t)), t)
    if t.min < to.min:
        given = Op("max", (given, Const(max(least, t.min), t)), t)
    return given
