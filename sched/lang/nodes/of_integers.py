"""Functions of integers that are made of other operators when they are typed."""

from __future__ import annotations

from collections.abc import Callable

from .dtypes import Type, bool_, concrete
from .nodes import Const, Node, Op


def sign(operands: tuple[Node, ...], t: Type) -> Node:
    """1, 0 or -1: the value, limited to these."""
    found = Op("min", (operands[0], Const(1, t)), t)
    return found if concrete(t).kind == "u" else Op("max", (found, Const(-1, t)), t)


def fmod(operands: tuple[Node, ...], t: Type) -> Node:
    """The remainder with the sign of the dividend, from that with the sign of the divisor."""
    x, y = operands
    floored = Op("mod", (x, y), t)
    if concrete(t).kind == "u":
        return floored
    zero = Const(0, t)
    differ = Op("ne", (Op("lt", (floored, zero), bool_), Op("lt", (x, zero), bool_)), bool_)
    moves = Op("and", (Op("ne", (floored, zero), bool_), differ), bool_)
    return Op("select", (moves, Op("sub", (floored, y), t), floored), t)


OF_INTEGERS: dict[str, Callable[[tuple[Node, ...], Type], Node]] = {"sign": sign, "fmod": fmod}
"""By rule: from operands of a type to the value in it."""
