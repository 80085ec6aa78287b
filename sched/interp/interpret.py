"""The reference interpreter: runs a program as the language's contract says, and no faster.

Regions first, from the outputs to the inputs; then values, producers first, each Func on all of
its region. Nothing is scheduled, nothing is proved: every instance is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..lang.binding import Binding, bind
from ..lang.define import Definition
from ..lang.errors import CallValueError, LanguageTypeError
from ..lang.nodes import Node
from ..lang.program import Program
from ..lang.tensors import Func, Tensor
from .domain import exact_loops, nest
from .evaluate import Evaluator, Faults, Symbols, deep_recursion
from .pieces import point_env
from .recurrence import DEPTH, Lazy, Member
from .regions import Regions, tensor_shapes
from .storage import ArrayValues, Point, Values, to_arrays
from .vars import var_points


def interpret(
    funcs: Func | Sequence[Func],
    /,
    *args: Any,
    shape: Any = None,
    out: Any = None,
    checks: bool = False,
    **kwargs: Any,
) -> Any:
    """The values of one Func or of several, computed by the definition of the language.

    Args:
        funcs: a Func, or a tuple or list of Funcs.
        *args, **kwargs: arrays by position or by name; Params and free sizes by name.
        shape: of an output without a declared shape; a dict by name if there are several.
        out: an array, a tuple, or a dict by name, to write the outputs into.
        checks: raise a CallValueError where an integer was divided by zero.

    Returns:
        An array an output, a tuple of arrays for a Func with several values at each point; a
        tuple of these if `funcs` is one.

    Raises:
        LanguageError, CallError: see their docstrings.
    """
    several = not isinstance(funcs, Func)
    outputs = tuple(funcs) if isinstance(funcs, (tuple, list)) else (funcs,)
    if not outputs:
        raise LanguageTypeError("interpret needs at least one Func")
    program = Program(outputs)
    binding = bind(program, args, kwargs, shape=shape, out=out)
    with np.errstate(all="ignore"), deep_recursion(_all_roots(program), DEPTH):
        results = _Run(program, binding, checks).results()
    return results if several else results[0]


def _all_roots(program: Program) -> tuple[Node, ...]:
    return tuple(
        node
        for d in program.definitions
        for node in (*d.lhs, *d.values, *d.where, *(b for r in d.rvars for b in (r.lo, r.hi)))
    )


class _Run:
    """One interpretation."""

    def __init__(self, program: Program, binding: Binding, checks: bool) -> None:
        self.program = program
        self.binding = binding
        self.checks = checks
        self.faults = Faults()
        self.touched: dict[Definition, set[tuple[int, ...]]] = {}
        self.symbols = Symbols(binding.sizes, binding.params)
        shapes = tensor_shapes(program, binding.arrays, binding.shapes)
        self.regions = Regions(program, self.symbols, shapes, binding.arrays)
        self.values: dict[Tensor, Values] = {
            i: ArrayValues(i.name, a, i.dtypes[0]) for i, a in binding.arrays.items()
        }
        for c in program.consts:
            self.values[c] = ArrayValues(c.name, c.data, c.dtypes[0])

    def results(self) -> tuple[Any, ...]:
        self.regions.compute()
        for group in self.program.groups:
            if self.program.is_recurrence(group):
                self._recurrence(group)
            else:
                self._func(group[0])
        return tuple(self._result(func) for func in self.program.outputs)

    def _recurrence(self, group: tuple[Func, ...]) -> None:
        """Every value of a group, each computed when it is first needed."""
        path: dict[tuple[Func, Point], None] = {}
        lazy = {func: Lazy(func, path) for func in group}
        for func, values in lazy.items():
            self.values[func] = values
        for func, values in lazy.items():
            pieces = self.regions.pieces[func]
            values.compute = Member(func, pieces, self.values, self.symbols, self.faults)
        for func, values in lazy.items():
            for point in self.regions.of[func].points():
                values[point]
        if self.checks and self.faults.zero_divisions:
            self._refuse_division(group[-1])

    def _func(self, func: Func) -> None:
        """Every value of a Func that needs none of its own."""
        self.values[func] = Values(func.name)
        self._pure(func)
        for d in self.program.definitions_of(func):
            if d.is_update:
                self._update(d)
                if func.nonempty:
                    self._refuse_empty(d)
        if self.checks and self.faults.zero_divisions:
            self._refuse_division(func)

    def _evaluator(self, roots: Sequence[Node]) -> Evaluator:
        return Evaluator(tuple(roots), self.symbols, self.values, self.faults)

    def _pure(self, func: Func) -> None:
        values, pieces = self.values[func], self.regions.pieces[func]
        functions = {d: self._value(self._evaluator(d.values), d) for d in pieces.definitions}
        for point in self.regions.of[func].points():
            d = pieces.at(point)
            values[point] = functions[d](point_env(d, point))

    def _update(self, d: Definition) -> None:
        bounds = [b for r in d.rvars for b in (r.lo, r.hi)]
        functions = self._evaluator((*d.lhs, *d.values, *d.where, *bounds))
        loops = exact_loops(d.rvars, functions)
        conditions = [functions[c] for c in d.where]
        point, value = functions.point(d.lhs), self._value(functions, d)
        values = self.values[d.func]
        touched = self.touched[d] = set()
        for vars in var_points(d, self.regions.spans[d], self.symbols):
            for env in nest(vars, loops):
                if all(condition(env) for condition in conditions):
                    at = point(env)
                    values[at] = value(env)
                    touched.add(at)

    def _refuse_empty(self, d: Definition) -> None:
        """A maximum needs at least one value at each point where it is asked for."""
        for point in self.regions.of[d.func].points():
            if point not in self.touched[d]:
                raise CallValueError(
                    f"{d.func.name} has no value over an empty domain ({d.span})",
                    hint="say what it is then: initial=...",
                )

    def _value(self, functions: Evaluator, d: Definition) -> Any:
        """What is stored at a point: one value, or a tuple of all components."""
        return functions[d.values[0]] if len(d.values) == 1 else functions.point(d.values)

    def _refuse_division(self, func: Func) -> None:
        raise CallValueError(
            f"{func.name} divides an integer by zero, {self.faults.zero_divisions} times",
            hint="without checks=True the quotient and the remainder are 0",
        )

    def _result(self, func: Func) -> Any:
        shape = self.regions.of[func].shape
        assert shape is not None
        arrays = to_arrays(self.values[func], shape, func.dtypes)
        given = self.binding.out.get(func)
        if given is not None:
            for target, array in zip(given, arrays, strict=True):
                target[...] = array
            arrays = given
        return arrays if len(arrays) > 1 else arrays[0]
