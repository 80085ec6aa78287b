"""The reference interpreter: it implements the language's contract literally, without
optimisations.

First it computes the regions, from the outputs to the Inputs; then the values, producers before
consumers, each Func on all of its region. It schedules and proves nothing: it visits each instance.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..lang.call.binding import Binding, bind
from ..lang.errors.errors import CallValueError
from ..lang.errors.frames import bounded
from ..lang.nodes.nodes import Node
from ..lang.nodes.tensor import Tensor
from ..lang.program.program import Program
from ..lang.program.region import Partial
from ..lang.program.steps import Block, Plain, Recurrence, Step, roots_of
from ..lang.tensors.definitions import Definition
from ..lang.tensors.inout import InOut
from ..lang.tensors.opaque import Opaque
from ..lang.tensors.tensors import Func
from .blocks import fresh_in, loop_point
from .domain import exact_loops, nest
from .evaluate import Env, Evaluator, Faults, Symbols, deep_recursion
from .pieces import point_env
from .recurrence import DEPTH, Lazy, Member
from .regions import Regions, tensor_shapes
from .storage import ArrayValues, Point, Values, element, elements, region_array, to_arrays
from .tracing import tracer
from .vars import var_points


@bounded
def interpret(
    funcs: Func | Sequence[Func],
    /,
    *args: Any,
    shape: Any = None,
    out: Any = None,
    region: Any = None,
    checks: bool = False,
    **kwargs: Any,
) -> Any:
    """The values of one Func or of several, computed by the definition of the language.

    Args:
        funcs: a Func, or a tuple or list of Funcs.
        *args, **kwargs: arrays by position or by name; Params and free sizes by name.
        shape: of an output without a declared shape; a dict by name if there are several.
        out: an array, a tuple, or a dict by name, to write the outputs into.
        region: the part of the output to compute, a half-open pair an axis; see `Kernel`.
        checks: raise a CallValueError where an integer was divided by zero or had a negative power.

    Returns:
        An array an output, a tuple of arrays for a Func with several values at each point; a
        tuple of these if `funcs` is one or there are InOuts that the program updates.

    Raises:
        LanguageError, CallError: see their docstrings.
    """
    several = not isinstance(funcs, Func)
    program = Program(funcs)
    if region is not None:
        partial = Partial(program)
        program, out = partial.program, partial.renamed(out)
        kwargs = {**kwargs, **partial.sizes(region, shape)}
    binding = bind(program, args, kwargs, shape=shape, out=out)
    found = zip(program.outputs, Run(program, binding, checks).results(), strict=True)
    results = tuple(binding.returned.get(func, result) for func, result in found)
    return results if several or len(results) > 1 else results[0]


def _all_roots(program: Program) -> tuple[Node, ...]:
    return tuple(node for d in program.definitions for node in roots_of(d))


class Run:
    """One interpretation."""

    def __init__(self, program: Program, binding: Binding, checks: bool) -> None:
        self.program = program
        self.binding = binding
        self.checks = checks
        self.handling = np.geterr()  # how the caller has NumPy handle floating-point errors
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
        for f in program.funcs:
            self.values[f] = self._start(f)
        for group in program.recurrences:
            path: dict[tuple[Func, Point], None] = {}
            self.values.update((f, Lazy(f, path)) for f in group)
        self._members: dict[Func, Member] = {}
        self._functions: dict[Definition, Functions] = {}

    def _start(self, func: Func) -> Values:
        """The values of a Func before any definition has run."""
        if isinstance(func, InOut):
            array = self.binding.arrays[func.initial]
            return ArrayValues(func.name, array, func.dtypes[0])
        return Values(func.name)

    def results(self) -> tuple[Any, ...]:
        with np.errstate(all="ignore"), deep_recursion(_all_roots(self.program), DEPTH):
            self.regions.compute()
            for step in self.program.steps:
                self._step(step, {})
            return tuple(self._result(func) for func in self.program.outputs)

    def _step(self, step: Step, around: Env) -> None:
        """Runs one step in an iteration of the loops around it."""
        match step:
            case Block():
                for env in self.regions.iterations(step, around):
                    for func in fresh_in(step):
                        self.values[func].clear()
                    for inner in step.body:
                        self._step(inner, env)
            case Recurrence(funcs=funcs):
                self._recurrence(funcs, around)
                self._check_divisions(funcs[-1])
            case Plain(func=func, definitions=definitions):
                pieces = {d for d in definitions if not d.is_update}
                if definitions[0].opaque is not None:
                    self._extern(definitions[0], definitions[0].opaque, around)
                elif pieces:
                    self._pure(func, pieces, around)
                for d in definitions:
                    if d.is_update:
                        self._update(d, around)
                self._check_divisions(func)

    def _recurrence(self, group: tuple[Func, ...], around: Env) -> None:
        """Computes all values of the Funcs of a recurrence, each when it is first needed."""
        for func in group:
            if func not in self._members:
                self._members[func] = self._member(func)
            lazy = self.values[func]
            assert isinstance(lazy, Lazy)
            lazy.compute = partial(self._members[func], around)
        for func in group:
            for point in self.regions.of[func].points():
                self.values[func][point]

    def _member(self, func: Func) -> Member:
        pieces = self.regions.pieces[func]
        return Member(func, pieces, self.values, self.symbols, self.faults)

    def _check_divisions(self, func: Func) -> None:
        if self.checks and (self.faults.zero_divisions or self.faults.negative_powers):
            self._refuse_division(func)

    def _of(self, d: Definition) -> Functions:
        """The functions of a definition, which are cached."""
        if d not in self._functions:
            self._functions[d] = Functions(d, self.symbols, self.values, self.faults)
        return self._functions[d]

    def _pure(self, func: Func, chosen: set[Definition], around: Env) -> None:
        values, pieces = self.values[func], self.regions.pieces[func]
        functions = {d: self._of(d).value for d in chosen}
        for point in self.regions.of[func].points():
            d = pieces.at(point)
            if d in chosen:
                values[point] = functions[d](point_env(d, point, around))

    def _extern(self, d: Definition, stage: Opaque, around: Env) -> None:
        """Runs the function of an extern stage on arrays."""
        functions = Evaluator(stage.operands, self.symbols, self.values, self.faults)
        arrays = []
        for first, highs in stage.regions:
            axes = [
                range(functions[lo](around), functions[hi](around))
                for lo, hi in zip(first.index, highs, strict=True)
            ]
            arrays.append(region_array(self.values[first.tensor], axes, first.tensor.dtypes))
        shape = tuple(map(len, self.regions.of[d.func].span()))
        outputs = [np.empty(shape, t.numpy) for t in d.func.dtypes]
        with np.errstate(**self.handling):
            stage.stage.run([a for parts in arrays for a in parts], outputs)
        values = self.values[d.func]
        for point in itertools.product(*map(range, shape)):
            found = [
                element(elements(o, t), point, t)
                for o, t in zip(outputs, d.func.dtypes, strict=True)
            ]
            values[point] = tuple(found) if len(found) > 1 else found[0]

    def _update(self, d: Definition, around: Env) -> None:
        f, values = self._of(d), self.values[d.func]
        touched = self.touched[d] = set()
        span = self.regions.spans[d, loop_point(d, around)]
        for vars in var_points(d, span, self.symbols, around):
            for env in nest(vars, f.loops):
                if all(condition(env) for condition in f.conditions):
                    at = f.point(env)
                    values[at] = f.value(env)
                    touched.add(at)
        if d.func.nonempty:
            self._refuse_empty(d)

    def _refuse_empty(self, d: Definition) -> None:
        """Refuses an empty domain of a reduction without an initial value, such as a maximum."""
        for point in self.regions.of[d.func].points():
            if point not in self.touched[d]:
                raise CallValueError(
                    f"{d.func.written} has no value over an empty domain ({d.span})",
                    hint="say what it is then: initial=...",
                )

    def _refuse_division(self, func: Func) -> None:
        if self.faults.zero_divisions:
            raise CallValueError(
                f"{func.name} divides an integer by zero, {self.faults.zero_divisions} times",
                hint="without checks=True the quotient and the remainder are 0",
            )
        raise CallValueError(
            f"{func.name} has a negative power of an integer, {self.faults.negative_powers} times",
            hint="without checks=True it is 0; a power of floats: ps.cast(ps.float64, x) ** y",
        )

    def _result(self, func: Func) -> Any:
        shape = self.regions.of[func].shape
        assert shape is not None
        if isinstance(func, InOut):
            array = self.binding.out[func][0]
            for point, value in self.values[func].items():
                array[point] = value
            return array
        arrays = to_arrays(self.values[func], shape, func.dtypes)
        given = self.binding.out.get(func)
        if given is not None:
            for target, array in zip(given, arrays, strict=True):
                target[...] = array
            arrays = given
        return arrays if len(arrays) > 1 else arrays[0]


class Functions:
    """A definition as Python functions of the environment."""

    def __init__(
        self,
        d: Definition,
        symbols: Symbols,
        values: Mapping[Tensor, Values],
        faults: Faults,
    ) -> None:
        functions = Evaluator(roots_of(d), symbols, values, faults, tracer(d))
        self.loops = exact_loops(d.rvars, functions)
        self.conditions = [functions[c] for c in d.where]
        self.point = functions.point(d.lhs)
        #: Gives the stored value: a scalar, or a tuple of all components.
        one = len(d.values) == 1
        self.value: Any = functions[d.values[0]] if one else functions.point(d.values)
