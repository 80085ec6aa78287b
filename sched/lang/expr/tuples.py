"""The values of a tensor that has several at each point."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

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


for _name, _symbol in {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
    "pow": "**", "matmul": "@", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}.items():  # fmt: skip
    for _prefix in ("", "r", "i"):
        setattr(ExprTuple, f"__{_prefix}{_name}__", bounded(_whole_tuple(_symbol)))
for _name, _symbol in {
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "neg": "-", "pos": "+", "invert": "~",
    "abs": "abs",
}.items():  # fmt: skip
    setattr(ExprTuple, f"__{_name}__", bounded(_whole_tuple(_symbol)))
