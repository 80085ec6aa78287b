"""Python's protocols of numbers, containers and functions: an expression refuses most of them.

An expression stands for one value, which is not a number yet while the program is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from ..errors.errors import LanguageTypeError
from ..errors.frames import bounded
from ..errors.suggest import Suggesting
from ..nodes.nodes import Const, Node


@bounded
class OneValue(Suggesting):
    """Conversions and protocols that Python may ask of a value: constants answer them, other
    expressions refuse them and say what to write instead."""

    __slots__ = ()
    node: Node

    def __bool__(self) -> bool:
        if isinstance(self.node, Const) and isinstance(self.node.value, bool):
            return self.node.value
        raise LanguageTypeError(
            f"{self!r} has no truth value while the program is being written",
            hint="ps.select(condition, a, b) for if; & | ~ for and, or, not; (lo <= x) & (x < hi) "
            "for a chain; ps.minimum and ps.maximum for min and max",
        )

    def _no_number(self, wanted: str, instead: str) -> NoReturn:
        raise LanguageTypeError(
            f"{self!r} has no value while the program is being written; it cannot become {wanted}",
            hint=f"use {instead}",
        )

    def __format__(self, spec: str) -> str:
        if spec:
            self._no_number(f"text in the format {spec!r}", "{x} alone: the expression itself")
        return repr(self)

    if not TYPE_CHECKING:  # what always raises is an error for type checkers, too

        def __float__(self) -> float:
            self._no_number(
                "a float", "ps.exp(x) and its like for math.exp(x), ps.cast(ps.float64, x)"
            )

        def __int__(self) -> int:
            self._no_number("an int", "ps.cast(ps.int64, x)")

        def __complex__(self) -> complex:
            self._no_number("a complex", "a tuple of real and imaginary part")

        def __index__(self) -> int:
            if isinstance(self.node, Const):
                value = self.node.value
                if isinstance(value, int):
                    return int(value)
            self._no_number(
                "an index or a range of Python's",
                "T = ps.Const('T', table) for a table, read as T[i]; ps.RVar('k', 0, n) for "
                "range(n)",
            )

        def __iter__(self) -> NoReturn:
            raise LanguageTypeError(
                f"{self!r} is one value, not a sequence",
                hint="ps.sum(x, k), ps.max(x, k) and their kin go over a ps.RVar k, as an update "
                "does; a loop over Python integers is unrolled",
            )

        def __len__(self) -> int:
            raise LanguageTypeError(f"{self!r} is one value: it has no len()", hint="see .shape")

        def __contains__(self, item: object) -> bool:
            raise LanguageTypeError(
                f"'in' means nothing for {self!r}", hint="write (x == a) | (x == b)"
            )

        def __call__(self, *args: object, **kwargs: object) -> NoReturn:
            raise LanguageTypeError(
                f"{self!r} is a value, not a function", hint="use * to multiply"
            )

        def __getitem__(self, index: object) -> Any:
            raise LanguageTypeError(
                f"{self!r} is one value and cannot be indexed",
                hint="put all indices in one bracket: M[i, j]",
            )

        def __setitem__(self, index: object, value: object) -> None:
            self[index]

        def __delitem__(self, index: object) -> None:
            self[index]
