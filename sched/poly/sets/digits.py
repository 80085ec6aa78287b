"""Coordinates of tiles in tiles as digits: their relation to instances without existentials.

Of i // 8 and i % 8 isl finds { i -> (io, ii) : i = 8 io + ii, 0 <= ii < 8 }. Of more levels it
keeps floor divisions, and what follows from the relation has them again and again. So each quotient
of the coordinates is a variable here, q with 0 <= x - 8 q < 8, and each coordinate is an equation
that may give one of them. Where the equations give all of them, none is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...lang.nodes.nodes import Const, Node, Op, RVar, Size, Var
from .isl import CONTEXT, Constraint, Frame, Map, Space, isl, val
from .linear import expanded

_PARAM, _IN, _OUT = isl.dim_type.param, isl.dim_type.in_, isl.dim_type.out
_Name = tuple[object, int]
"""Of a variable: a kind of dimension of isl's or "quotient", and its number."""
_Sum = dict[_Name, int]
"""Coefficients; the constant's is that of `_ONE`."""
_ONE: _Name = ("one", 0)


def digits(frame: Frame, coordinates: Sequence[Node]) -> Map | None:
    """{ point of a frame -> coordinates }, without existentials; None where that is not found.

    The coordinates are in range: no quotient that they are made of wraps.
    """
    found = _Quotients(frame)
    sums = [found.sum_of(x) for x in coordinates]
    if None in sums:
        return None
    equations = [_plus(x, {(_OUT, k): -1}) for k, x in enumerate(sums) if x is not None]
    rests = [rest for rest, _ in found.rests]
    while True:
        chosen = next(((e, q) for e in equations for q in _given(e)), None)
        if chosen is None:
            break
        equation, quotient = chosen
        equations.remove(equation)
        equations = [_without(quotient, x, equation) for x in equations]
        rests = [_without(quotient, x, equation) for x in rests]
    if any(name[0] == "quotient" for x in (*equations, *rests) for name in x):
        return None
    limits = (_minus(rest, divisor) for rest, (_, divisor) in zip(rests, found.rests, strict=True))
    return _relation(frame, len(coordinates), equations, [*rests, *limits])


class _Quotients:
    """The quotients that some coordinates are made of."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        #: What is left of each dividend, which is at least 0 and less than the divisor.
        self.rests: list[tuple[_Sum, int]] = []
        self._numbers: dict[tuple[frozenset[tuple[_Name, int]], int], int] = {}

    def sum_of(self, node: Node) -> _Sum | None:
        """A node as a sum of dimensions and quotients; None where it is none."""
        terms, constant = expanded(node)
        found: _Sum = {_ONE: constant}
        for term, times in terms.items():
            part = self._term(term)
            if part is None:
                return None
            found = _plus(found, {name: times * c for name, c in part.items()})
        return found

    def _term(self, term: Node) -> _Sum | None:
        match term:
            case Var() | RVar() if term.name in self.frame.dims:
                return {(_IN, self.frame.dims.index(term.name)): 1}
            case Size() if term.name in self.frame.params:
                return {(_PARAM, self.frame.params.index(term.name)): 1}
            case Op(op="floordiv" | "mod", operands=(x, Const(value=value))) if value > 0:
                dividend = self.sum_of(x)
                if dividend is None:
                    return None
                number = self._number(dividend, int(value))
                is_quotient = term.op == "floordiv"
                return {("quotient", number): 1} if is_quotient else self.rests[number][0]
        return None

    def _number(self, dividend: _Sum, divisor: int) -> int:
        key = frozenset(dividend.items()), divisor
        if key not in self._numbers:
            number = self._numbers[key] = len(self.rests)
            self.rests.append((_plus(dividend, {("quotient", number): -divisor}), divisor))
        return self._numbers[key]


def _given(equation: _Sum) -> Iterable[_Name]:
    """The quotients that an equation gives."""
    return (name for name, c in equation.items() if name[0] == "quotient" and abs(c) == 1)


def _plus(a: _Sum, b: _Sum) -> _Sum:
    found = {name: a.get(name, 0) + b.get(name, 0) for name in {**a, **b}}
    return {name: c for name, c in found.items() if c or name == _ONE}


def _minus(rest: _Sum, divisor: int) -> _Sum:
    """What is at least 0 where a rest is less than its divisor."""
    return _plus({name: -c for name, c in rest.items()}, {_ONE: divisor - 1})


def _without(quotient: _Name, x: _Sum, equation: _Sum) -> _Sum:
    """A sum with a quotient replaced by what an equation says that it is."""
    times = -x.get(quotient, 0) * equation[quotient]  # which is 1 or -1
    return _plus(x, {name: times * c for name, c in equation.items()})


def _relation(
    frame: Frame, count: int, equations: Sequence[_Sum], inequalities: Sequence[_Sum]
) -> Map:
    """{ point of a frame -> coordinates : each equation is 0, and each inequality at least 0 }"""
    target = Space.set_alloc(CONTEXT, 0, count).align_params(frame.space)
    space = frame.space.map_from_domain_and_range(target)
    local = isl.LocalSpace.from_space(space)
    found = isl.BasicMap.universe(space)
    for sums, make in (
        (equations, Constraint.alloc_equality),
        (inequalities, Constraint.alloc_inequality),
    ):
        for x in sums:
            limit = make(local).set_constant_val(val(x.get(_ONE, 0)))
            for (kind, k), c in x.items():
                if isinstance(kind, isl.dim_type):
                    limit = limit.set_coefficient_val(kind, k, val(c))
            found = found.add_constraint(limit)
    return Map.from_basic_map(found)
