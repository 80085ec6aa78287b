"""What is computed from a quotient by a size: the quotient, the remainder, whole periods.

e // n          the quotient
e % n           the remainder
n * (e // n)    whole periods: as far from e as the remainder is large, and often written so
"""

from __future__ import annotations

from ...records import dataclass
from .dtypes import INDEX, concrete
from .nodes import Const, Node, Op


@dataclass(frozen=True)
class Quotient:
    """A quotient of integers, or what is computed from one.

    Attributes:
        op: "floordiv", "mod", or "mul" for `times * divisor * (dividend // divisor)`.
        times: a factor that is not 0.
    """

    op: str
    dividend: Node
    divisor: Node
    times: int = 1


def quotient(node: Node) -> Quotient | None:
    """What an expression is of a quotient; None where it is nothing of this kind."""
    match node:
        case Op(op="floordiv" | "mod" as op, operands=(e, d)) if _is_int(node):
            return Quotient(op, e, d)
        case Op(op="mul", operands=(a, b)) if _is_int(node):
            return _periods(a, b) or _periods(b, a)
        case _:
            return None


def _periods(factor: Node, whole: Node) -> Quotient | None:
    """A multiple of a divisor times the quotient by it."""
    match whole:
        case Op(op="floordiv", operands=(e, d)) if not isinstance(d, Const):
            times = _multiple(factor, d)
            return Quotient("mul", e, d, times) if times else None
        case _:
            return None


def _multiple(node: Node, of: Node) -> int | None:
    """By which constant an expression is written as a multiple of another one."""
    if node == of:
        return 1
    match node:
        case Op(op="neg", operands=(a,)):
            factor, found = -1, _multiple(a, of)
        case Op(op="mul", operands=(Const(value=int(c)), a)):
            factor, found = c, _multiple(a, of)
        case Op(op="mul", operands=(a, Const(value=int(c)))):
            factor, found = c, _multiple(a, of)
        case _:
            return None
    return None if found is None else factor * found


def _is_int(node: Node) -> bool:
    return concrete(node.type or INDEX).is_int  # what has no type yet is an index
