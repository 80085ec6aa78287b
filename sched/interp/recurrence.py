"""Evaluation of recurrences, Funcs that need values of themselves or of each other: each value is
computed when it is first needed.

A value that is needed while it is being computed depends on itself; that is an error, which names
the values of the cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..lang.errors.errors import CallValueError, LanguageError
from ..lang.nodes.tensor import Tensor
from ..lang.program.steps import roots_of
from ..lang.tensors.definitions import Definition
from ..lang.tensors.tensors import Func
from .domain import exact_loops, nest
from .evaluate import Env, Evaluator, Faults, Symbols
from .pieces import Pieces, point_env
from .storage import Point, Values
from .tracing import tracer

DEPTH = 10_000
"""The limit on values that wait for each other; each takes several frames of Python's stack."""


class Lazy(Values):
    """The values of one Func of a recurrence."""

    def __init__(self, func: Func, path: dict[tuple[Func, Point], None]) -> None:
        super().__init__(func.name)
        self.func = func
        self.path = path
        self.compute: Callable[[Point], Any] = lambda point: None

    def __missing__(self, point: Point) -> Any:
        here = (self.func, point)
        if here in self.path:
            self._refuse(here)
        self.path[here] = None
        value = self[point] = self.compute(point)
        del self.path[here]
        return value

    def _refuse(self, here: tuple[Func, Point]) -> None:
        on_path = list(self.path)
        steps = [f"{f.name}{list(p)}" for f, p in on_path[on_path.index(here) :]]
        raise LanguageError(
            f"{steps[0]} needs itself: {' <- '.join([*steps, steps[0]])}",
            where=self.func.history.recorded[-1].span,
            hint="an update changes values step by step: give it an RVar",
        )


class Member:
    """The computation of single values of one Func of a recurrence. `current` holds the value that
    updates are changing."""

    def __init__(
        self,
        func: Func,
        pieces: Pieces,
        values: Mapping[Tensor, Values],
        symbols: Symbols,
        faults: Faults,
        current: Values | None = None,
    ) -> None:
        self.pieces = pieces
        self.current = Values(func.name) if current is None else current
        own = {**values, func: self.current}
        self.pure = {
            d: _stored(Evaluator(tuple(d.values), symbols, values, faults, tracer(d)), d)
            for d in pieces.definitions
        }
        self.updates = [
            MemberUpdate(d, own, symbols, faults) for d in func.history.typed() if d.is_update
        ]

    def __call__(self, around: Env, point: Point) -> Any:
        """The value at a point, in an iteration of the loops around."""
        piece = self.pieces.at(point)
        value = self.pure[piece](point_env(piece, point, around))
        for update in self.updates:
            # Computing an operand may call this for another point, so the value is passed along.
            value = update.run(point, value, self.current, around)
        return value


class MemberUpdate:
    def __init__(
        self, d: Definition, values: Mapping[Tensor, Values], symbols: Symbols, faults: Faults
    ) -> None:
        functions = Evaluator(roots_of(d), symbols, values, faults, tracer(d))
        self.d = d
        self.loops = exact_loops(d.rvars, functions)
        self.conditions = [functions[c] for c in d.where]
        self.value = _stored(functions, d)

    def run(self, point: Point, value: Any, current: Values, around: Env) -> Any:
        happened = False
        env: Env = {**around, **dict(zip(self.d.lhs, point, strict=True))}
        for at in nest(env, self.loops):
            if all(condition(at) for condition in self.conditions):
                current[point] = value
                value = self.value(at)
                happened = True
        current.pop(point, None)
        if self.d.func.nonempty and not happened:
            raise CallValueError(
                f"{self.d.func.written} has no value over an empty domain ({self.d.span})",
                hint="say what it is then: initial=...",
            )
        return value


def _stored(functions: Evaluator, d: Definition) -> Callable[[Env], Any]:
    """The function that gives the stored value: a scalar, or a tuple of all components."""
    return functions[d.values[0]] if len(d.values) == 1 else functions.point(d.values)
