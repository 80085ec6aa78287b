"""Tuples of expressions: the values of a tensor that has several at each point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ..errors.errors import LanguageTypeError
from ..errors.frames import bounded
from .expr import Expr


@bounded
class ExprTuple(tuple[Expr, ...]):
    """The values of a Func with a tuple dtype at one point; unpack it or index it."""

    __slots__ = ()


def _whole_tuple(symbol: str) -> Callable[..., NoReturn]:
    def refuse(self: ExprTuple, *others: object) -> NoReturn:
        raise LanguageTypeError(
            f"{symbol!r} of a tuple of {len(self)} values: operators work on one value",
            hint="unpack it, zr, zi = z[i], and assign a tuple: z[i] = (zr + a, zi + b)",
        )

    return refuse


def refuse_operators(cls: type, of_two: Callable[[str], Any], of_one: Callable[[str], Any]) -> None:
    """Gives a class all of Python's operators, as methods that refuse them: `of_two` and `of_one`
    make the method from an operator's symbol."""
    for name, symbol in _ARITHMETIC.items():
        for prefix in ("", "r", "i"):
            setattr(cls, f"__{prefix}{name}__", bounded(of_two(symbol)))
    for name, symbol in _ORDERS.items():
        setattr(cls, f"__{name}__", bounded(of_two(symbol)))
    for name, symbol in _OF_ONE.items():
        setattr(cls, f"__{name}__", bounded(of_one(symbol)))


_ARITHMETIC = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
    "pow": "**", "matmul": "@", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip
_ORDERS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_OF_ONE = {"neg": "-", "pos": "+", "invert": "~", "abs": "abs"}

refuse_operators(ExprTuple, _whole_tuple, _whole_tuple)
