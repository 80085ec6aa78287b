"""The values over which the Vars of an update run.

A Var that is an index on the left by itself runs over the extent of that axis of the region. A Var
that occurs only inside of index expressions runs over all integers for which these indices, without
regard to the others, stay within the region; they are found by bisection, whatever the expressions
are. An update that accesses no element but its own runs only over the points whose values are
needed, since running it elsewhere would have no effect.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ..lang.errors.errors import LanguageError
from ..lang.nodes.nodes import Node, Read, RVar, Var, postorder
from ..lang.tensors.definitions import Definition
from .bounds import Bounds
from .evaluate import Env, Evaluator, Faults, Symbols
from .storage import Point

Ranges = tuple[range, ...]
Points = frozenset[Point]

#: The bisection starts with a box that ends at the first number on either side of zero. If boxes
#: at its edge that have shrunk to the second number still have solutions, there are infinitely
#: many.
_WIDEST, _FINE = 1 << 40, 1 << 20
_MANY = 10_000


def var_points(
    definition: Definition,
    where: Ranges | Points,
    symbols: Symbols,
    around: Env | None = None,
) -> Iterator[Env]:
    """The values of an update's Vars, where its Func's region spans a box or is made of points,
    in an iteration of the loops `around`."""
    outer = around or {}
    if isinstance(where, frozenset):
        vars = definition.vars
        return ({**outer, **dict(zip(vars, p, strict=True))} for p in sorted(where))
    return _within(definition, where, symbols, outer)


def _within(definition: Definition, box: Ranges, symbols: Symbols, around: Env) -> Iterator[Env]:
    plain: dict[Node, range] = {}
    for x, extent in zip(definition.lhs, box, strict=True):
        if isinstance(x, Var):
            plain[x] = intersection(plain.get(x, extent), extent)
    inside = tuple(v for v in definition.vars if v not in plain)
    search = _Search(definition, inside, box, symbols) if inside else None
    for values in itertools.product(*plain.values()):
        env: Env = {**around, **dict(zip(plain, values, strict=True))}
        if search is None:
            yield env
        else:
            yield from search.solutions(env)


def intersection(a: range, b: range) -> range:
    """The integers that both ranges contain."""
    return range(max(a.start, b.start), min(a.stop, b.stop))


class _Search:
    """A search for all values of the Vars `unknown` for which the indices on the left lie in the
    region."""

    def __init__(
        self, definition: Definition, unknown: tuple[Var, ...], box: Ranges, symbols: Symbols
    ) -> None:
        self.definition = definition
        self.unknown = unknown
        coordinates = [
            (x, extent)
            for x, extent in zip(definition.lhs, box, strict=True)
            if _bounds_any(x, unknown, definition)
        ]
        roots = tuple(x for x, _ in coordinates)
        exact = Evaluator(roots, symbols, {}, Faults())
        bounds = Bounds(roots, symbols, exact, unknown)
        self.coordinates = [(bounds[x], extent) for x, extent in coordinates]

    def solutions(self, env: Env) -> Iterator[Env]:
        width = 2 * _WIDEST
        corners = [tuple(-_WIDEST for _ in self.unknown)]
        while width > 1 and corners:
            width //= 2
            corners = [
                child
                for corner in corners
                for child in itertools.product(*((c, c + width) for c in corner))
                if self._possible(env, child, width)
            ]
            if width >= _FINE and (len(corners) > _MANY or self._at_rim(corners, width)):
                self._refuse()
        for corner in sorted(corners):
            yield {**env, **dict(zip(self.unknown, corner, strict=True))}

    def _possible(self, env: Env, corner: tuple[int, ...], width: int) -> bool:
        here: Env = dict(env)
        for v, c in zip(self.unknown, corner, strict=True):
            here[v] = (c, c + width - 1)
        return all(
            lo < extent.stop and extent.start <= hi and extent
            for (lo, hi), extent in ((f(here), extent) for f, extent in self.coordinates)
        )

    def _at_rim(self, corners: list[tuple[int, ...]], width: int) -> bool:
        return width == _FINE and any(
            c == -_WIDEST or c + width == _WIDEST for corner in corners for c in corner
        )

    def _refuse(self) -> None:
        d = self.definition
        names = " and ".join(v.name for v in self.unknown)
        raise LanguageError(
            f"nothing bounds the Var{'s' if len(self.unknown) > 1 else ''} {names} in "
            f"{d.text()}: infinitely many values write into {d.func.name}",
            where=d.span,
            hint=f"make it an RVar, which has bounds: {self.unknown[0].name} = "
            f"ps.RVar({self.unknown[0].name!r}, lo, hi)",
        )


def _bounds_any(coordinate: Node, unknown: tuple[Var, ...], d: Definition) -> bool:
    """Whether an index on the left bounds some of the unknown Vars: it contains one, and neither
    RVars nor reads."""
    found = list(postorder(coordinate))
    moves = any(isinstance(n, (RVar, Read)) and n not in d.loops for n in found)
    return not moves and any(v in found for v in unknown)
