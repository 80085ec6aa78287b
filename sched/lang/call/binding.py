"""Binding of the arguments of a call: arrays are assigned to Inputs, sizes are solved for, and
everything is checked against the program.

This half of a call is shared by the interpreter and by compiled kernels: dtypes, ranks, shapes,
sizes, Params, declared ranges and requirements. Strides, alignment, overlap and the preconditions
of a schedule are checked by the kernel. What does not depend on the arguments is prepared once for
each program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import numpy as np

from ...records import dataclass
from ..arguments.admission import (
    admit_array,
    admit_inout,
    admit_param,
    admit_size,
    check_end,
    check_near,
    check_signed,
)
from ..arguments.elements import are_within
from ..arguments.sizes import Axis, Known, solve
from ..arithmetic.evaluate import size_value
from ..arithmetic.extents import Condition, Extent, extent_of
from ..errors.close import close
from ..errors.errors import CallTypeError, CallValueError
from ..nodes.dtypes import Array
from ..program.program import Program
from ..program.requirements import Requirement
from ..program.signature import shape_text
from ..tensors.tensors import Func, Input
from .outputs import Outputs

Scalar = bool | int | float


@dataclass(slots=True)
class Binding:
    """The bound arguments of a call.

    Attributes:
        sizes: the value of every size of the program.
        params: the value of every Param, within its dtype.
        arrays: the array of every Input.
        shapes: the shape of every Func that declares one, and of every output. Funcs whose region
            is inferred from their consumers have no entry.
        out: the arrays that the caller passed for outputs, one a component; InOuts among them.
        returned: the same as the caller passed them, which may be arrays of another library.
    """

    sizes: dict[str, int]
    params: dict[str, Scalar]
    arrays: dict[Input, Array]
    shapes: dict[Func, tuple[int, ...]] = field(default_factory=dict)
    out: dict[Func, tuple[Array, ...]] = field(default_factory=dict)
    returned: dict[Func, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Slot:
    """An Input, with what a call checks of its array; `inout` is what is written to it."""

    name: str
    input: Input
    inout: Func | None
    dtype: np.dtype[Any]
    rank: int
    extents: tuple[Extent, ...]


def bind(
    program: Program,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    shape: Any = None,
    out: Any = None,
) -> Binding:
    """Binds the arguments of a call of `program`.

    Args:
        args: arrays by position, in the order of `program.inputs`.
        kwargs: arrays, Params and sizes by name.
        shape: the shape of the output that declares none; a tuple of shapes or a dict by name if
            there are several outputs.
        out: arrays for the outputs: one, a tuple, or a dict by name.

    Raises:
        CallTypeError: an argument is missing, unknown, or of the wrong type or dtype.
        CallValueError: a shape or a value does not fit.
    """
    binder = _binders.get(program)
    if binder is None:
        binder = _binders[program] = Binder(program)
    return binder.bind(args, kwargs or {}, shape, out)


class Binder:
    """The function `bind` for one program, with everything prepared that does not depend on the
    arguments."""

    def __init__(self, program: Program) -> None:
        self.signature = program.signature()
        self.outputs = Outputs(program)
        self.inouts = program.inouts
        updated: dict[Input, Func] = {f.initial: f for f in self.inouts}
        names = program.argument_names
        self.slots = tuple(_slot(names[i], i, updated.get(i)) for i in program.inputs)
        self.params = {name: p.info for name, p in program.params.items()}
        self.near, self.signed = program.near, program.signed
        self.far_bounds = program.far_bounds
        self.defaults = {name: node.default for name, node in program.sizes.items()}
        self.requirements = tuple((Condition(r.condition), r) for r in program.requirements)
        self.ranged = tuple((names[i], i, i.range) for i in names if i.range is not None)

    def bind(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], shape: Any = None, out: Any = None
    ) -> Binding:
        """See the function `bind`."""
        returned: dict[Func, Any] = {}
        arrays, axes = self._arrays(args, kwargs, returned)
        known = Known()
        params = self._params(kwargs, known)
        if len(kwargs) > len(self.slots) - len(args):
            self._named_sizes(kwargs, known)
        binding = Binding(known.values, params, arrays, returned=returned)
        for func in self.inouts:
            array = arrays[func.initial]
            binding.out[func] = (admit_inout(func.name, array, returned.setdefault(func, array)),)
        if shape is not None or out is not None:
            axes += self.outputs.read(binding.shapes, binding.out, returned, shape, out)
        solve(known, axes, self.defaults)
        for name, extent in self.far_bounds:
            check_end(name, str(extent), extent.value({**known.values, **params}))
        for name in params.keys() & known.values.keys():
            del known.values[name]  # an integer Param may be part of an extent
        self._require(binding)
        self.outputs.fill_in(binding.shapes, {**binding.sizes, **params})
        if self.ranged:
            self._check_ranges(binding)
        return binding

    # arrays and scalars -----------------------------------------------------------------------
    def _arrays(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], returned: dict[Func, Any]
    ) -> tuple[dict[Input, Array], list[Axis]]:
        positional = len(args)
        if positional > len(self.slots):
            self._refuse_count(positional)
        arrays: dict[Input, Array] = {}
        axes: list[Axis] = []
        for k, slot in enumerate(self.slots):
            name = slot.name
            if k < positional:
                array = args[k]
                if name in kwargs:
                    raise CallTypeError(
                        f"{name} is passed twice: at position {k} and by name", argument=name
                    )
            elif name in kwargs:
                array = kwargs[name]
            else:
                self._refuse_missing(slot, args, kwargs)
            if not (
                type(array) is np.ndarray
                and array.dtype is slot.dtype
                and array.ndim == slot.rank
            ):  # fmt: skip
                if slot.inout is not None:
                    returned[slot.inout] = array
                array = admit_array(name, slot.input, array, slot.inout is not None)
            arrays[slot.input] = array
            lengths = array.shape
            for axis, extent in enumerate(slot.extents):
                axes.append((name, axis, extent, lengths[axis]))
        return arrays, axes

    def _params(self, kwargs: Mapping[str, Any], known: Known) -> dict[str, Scalar]:
        params: dict[str, Scalar] = {}
        for name, info in self.params.items():
            value = kwargs.get(name, info.default)
            if value is None:
                raise CallTypeError(
                    f"the Param {name} ({info.dtype}) is not passed and has no default",
                    argument=name,
                    hint=f"pass it by name: {name}=...",
                )
            params[name] = value = admit_param(info, value)
            if name in self.signed:
                check_signed(name, int(value))
            if name in self.near:
                check_near(name, int(value))
            if info.dtype.is_int:
                known.add(name, int(value), f"{name}={value}")
        return params

    def _named_sizes(self, kwargs: Mapping[str, Any], known: Known) -> None:
        inputs = {slot.name for slot in self.slots}
        for name, value in kwargs.items():
            if name in self.defaults:
                known.add(name, admit_size(name, value), f"{name}={value}")
            elif name not in inputs and name not in self.params:
                self._refuse_unknown(name)

    # values -----------------------------------------------------------------------------------
    def _require(self, binding: Binding) -> None:
        for condition, requirement in self.requirements:
            if not condition.holds(binding.sizes, binding.params):
                _refuse_requirement(condition, requirement, binding)

    def _check_ranges(self, binding: Binding) -> None:
        for name, input, bounds in self.ranged:
            array = binding.arrays[input]
            lo, hi = (size_value(b, binding.sizes, binding.params) for b in bounds)
            if are_within(array, lo, hi):
                continue
            at = tuple(int(i) for i in np.argwhere(~((array >= lo) & (array < hi)))[0])
            raise CallValueError(
                f"{name}{list(at)} is {array[at]}, outside the declared range {lo} <= value < {hi}",
                argument=name,
                hint="correct the array, or declare a wider range=(lo, hi)",
            )

    # refusals ---------------------------------------------------------------------------------
    def _refuse_count(self, count: int) -> NoReturn:
        raise CallTypeError(
            f"{count} arguments by position, but the Inputs are {len(self.slots)}: "
            + ", ".join(s.name for s in self.slots),
            hint=f"it is called as {self.signature}; Params and sizes go by name",
        )

    def _refuse_missing(
        self, slot: _Slot, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> NoReturn:
        for name in kwargs:  # an unknown keyword may be the missing argument, misspelt
            if name not in self._names():
                left = [s.name for s in self.slots[len(args) :] if s.name not in kwargs]
                self._refuse_unknown(name, left)
        i = slot.input
        made = "" if i.name == slot.name else f"; {slot.name} is the {i.kind} {i.name} of {i.span}"
        raise CallTypeError(
            f"the {i.kind} {slot.name} is not passed: {i.dtypes[0]}[{shape_text(i)}]",
            argument=slot.name,
            hint=f"it is called as {self.signature}" + made,
        )

    def _names(self) -> list[str]:
        """The names of the keyword arguments of a call."""
        sizes = [n for n in self.defaults if n.isidentifier()]
        return [*(s.name for s in self.slots), *self.params, *sizes]

    def _refuse_unknown(self, name: str, missing: Sequence[str] = ()) -> NoReturn:
        arguments = [*self._names(), "out", "shape", "region"]
        meant = close(name, missing) or close(name, arguments)
        hint = "" if meant is None else f"did you mean {meant}? "
        if meant is None and missing:
            hint = f"not passed: {', '.join(missing)}; "
        raise CallTypeError(
            f"there is no argument {name!r}",
            argument=name,
            hint=f"{hint}arguments are {', '.join(arguments)}",
        )


_binders: WeakKeyDictionary[Program, Binder] = WeakKeyDictionary()


def _slot(name: str, i: Input, inout: Func | None) -> _Slot:
    extents = tuple(map(extent_of, i.extents or ()))
    return _Slot(name, i, inout, i.dtypes[0].numpy, len(extents), extents)


def _refuse_requirement(
    condition: Condition, requirement: Requirement, binding: Binding
) -> NoReturn:
    values = {**binding.sizes, **binding.params}
    at = ", ".join(f"{n}={values[n]}" for n in condition.names)
    raise CallValueError(
        f"{requirement.message}: {condition} is required ({requirement.span}) and fails at {at}",
        hint="pass arguments that meet it",
    )


__all__ = ["Binder", "Binding", "bind"]
