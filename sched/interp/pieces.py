"""The choice of the piece of a pure definition that holds at a point.

A piece applies to the points whose indices agree with its constants. Where several pieces apply to
a point, the one whose constant axes include those of all others wins.
"""

from __future__ import annotations

from ..lang.errors.errors import LanguageError
from ..lang.nodes.nodes import Node, Var
from ..lang.tensors.definitions import Definition
from .evaluate import Env, Symbols, symbol_value
from .storage import Point


class Pieces:
    """The pure definition of a Func at given sizes."""

    def __init__(self, definitions: tuple[Definition, ...], symbols: Symbols) -> None:
        self.definitions = tuple(d for d in definitions if not d.is_update)
        self._constants = {
            d: {k: symbol_value(x, symbols) for k, x in enumerate(d.lhs) if not isinstance(x, Var)}
            for d in self.definitions
        }
        #: The piece that defines each point, where there is one and it names no constants.
        self._only = next(iter(self.definitions), None)
        if len(self.definitions) > 1 or any(self._constants.values()):
            self._only = None

    def at(self, point: Point) -> Definition:
        """The piece that defines `point`."""
        if self._only is not None:
            return self._only
        claims = [d for d in self.definitions if self._claims(d, point)]
        if not claims:
            self._refuse_uncovered(point)
        best = max(claims, key=lambda d: len(self._constants[d]))
        for other in claims:
            if (
                other is not best
                and not self._constants[best].keys() > self._constants[other].keys()
            ):
                self._refuse_both(point, best, other)
        return best

    def _claims(self, piece: Definition, point: Point) -> bool:
        return all(point[k] == c for k, c in self._constants[piece].items())

    def _refuse_uncovered(self, point: Point) -> None:
        func = self.definitions[0].func
        written = ", ".join(f"{d.text().split(' = ')[0]} ({d.span})" for d in self.definitions)
        raise LanguageError(
            f"no piece of the pure definition of {func.name} covers "
            f"{func.name}{list(point)}, which is needed; there are {written}",
            where=self.definitions[-1].span,
            hint=f"close the definition by one with Vars alone: {func.name}[...] = ...",
        )

    def _refuse_both(self, point: Point, a: Definition, b: Definition) -> None:
        func = a.func
        raise LanguageError(
            f"two pieces of {func.name} both define {func.name}{list(point)}: "
            f"{a.text()} ({a.span}) and {b.text()} ({b.span})",
            where=max(a, b, key=lambda d: d.serial).span,
            hint="each point is defined once; a piece wins over another one only if it has "
            "constants wherever that has them, and more",
        )


def point_env(piece: Definition, point: Point, around: Env | None = None) -> Env:
    """The environment of a pure definition's instance, in an iteration of the loops `around`."""
    env: dict[Node, int] = {
        x: i for x, i in zip(piece.lhs, point, strict=True) if isinstance(x, Var)
    }
    return {**around, **env} if around else env
