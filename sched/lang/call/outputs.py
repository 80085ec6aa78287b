"""Outputs of a call: the arguments shape= and out=, and the shapes of all Funcs that declare
one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ..arguments.admission import LOOP_LIMIT, admit_output, admit_shape
from ..arguments.sizes import Axis
from ..arithmetic.extents import Extent, extent_of
from ..errors.errors import CallTypeError, CallValueError
from ..nodes.dtypes import Array
from ..program.program import Program
from ..tensors.inout import InOut
from ..tensors.tensors import Func


class Outputs:
    """The outputs of one program, with everything prepared that does not depend on a call."""

    def __init__(self, program: Program) -> None:
        self.outputs = tuple(f for f in program.outputs if not isinstance(f, InOut))
        self.names = program.names
        self.shaped = {
            f: tuple(map(extent_of, f.extents)) for f in program.funcs if f.extents is not None
        }
        self.free = tuple(f for f in program.outputs if f.extents is None)

    def read(
        self,
        shapes: dict[Func, tuple[int, ...]],
        arrays: dict[Func, tuple[Array, ...]],
        returned: dict[Func, Any],
        shape: Any,
        out: Any,
    ) -> list[Axis]:
        """Splits shape= and out= by output, into `shapes` and `arrays`; what the
        caller passed for `arrays` goes into `returned`.

        Returns:
            The axes of the outputs: like those of the Inputs they take part in solving for sizes.
        """
        axes: list[Axis] = []
        named = {self.names[f]: f for f in self.outputs}
        for func, given in _by_output("shape", shape, self.free or self.outputs, named).items():
            name = self.names[func]
            shapes[func] = admit_shape(name, func, given)
            axes += self._axes(f"shape= of {name}", func, shapes[func])
        for func, given in _by_output("out", out, self.outputs, named).items():
            name = self.names[func]
            arrays[func], returned[func] = admit_output(name, func, given)
            lengths = arrays[func][0].shape
            if shapes.setdefault(func, lengths) != lengths:
                raise CallValueError(
                    f"shape= of {name} is {shapes[func]}, but its array in out= has the shape "
                    f"{lengths}",
                    argument="shape",
                    hint="one of them is enough",
                )
            axes += self._axes(f"out= of {name}", func, lengths)
        return axes

    def _axes(self, label: str, func: Func, lengths: tuple[int, ...]) -> list[Axis]:
        extents = self.shaped.get(func)
        if extents is None:
            return []
        return [(label, k, extents[k], length) for k, length in enumerate(lengths)]

    def fill_in(self, shapes: dict[Func, tuple[int, ...]], sizes: Mapping[str, Any]) -> None:
        """Adds the shapes of all Funcs that declare one. `shapes` must hold those of the other
        outputs already."""
        for func, extents in self.shaped.items():
            lengths = tuple([e.value(sizes) for e in extents])
            if lengths and (min(lengths) < 0 or max(lengths) > LOOP_LIMIT):
                _refuse_extent(self.names[func], extents, lengths, sizes)
            shapes[func] = lengths
        for func in self.free:
            if func not in shapes:
                name = self.names[func]
                raise CallTypeError(
                    f"the output {name} has no declared shape, and the call gives none",
                    argument="shape",
                    hint=f"pass shape=(...) or out=array, or declare it: ps.Func({name!r}, (n, m))",
                )


def _by_output(
    what: str, given: Any, outputs: Sequence[Func], named: Mapping[str, Func]
) -> dict[Func, Any]:
    """The value of shape= or out= for each output."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        for name in given:
            if name not in named:
                raise CallTypeError(
                    f"{what}= names {name!r}, which is no output",
                    argument=what,
                    hint=_outputs_hint(named),
                )
        return {named[n]: g for n, g in given.items()}
    if len(outputs) == 1:
        return {outputs[0]: given}
    if not isinstance(given, (tuple, list)) or len(given) != len(outputs):
        raise CallTypeError(
            f"{what}= has one entry an output, {len(outputs)} in all, or is a dict by name",
            argument=what,
            hint=_outputs_hint(named),
        )
    return {f: g for f, g in zip(outputs, given, strict=True) if g is not None}


def _outputs_hint(named: Mapping[str, Func]) -> str:
    if not named:
        return "all outputs are InOuts: the arrays passed for them are updated in place"
    return "outputs are " + ", ".join(named) + "; an InOut is updated in place"


def _refuse_extent(
    name: str, extents: tuple[Extent, ...], lengths: tuple[int, ...], sizes: Mapping[str, Any]
) -> NoReturn:
    k = next(k for k, n in enumerate(lengths) if not 0 <= n <= LOOP_LIMIT)
    at = ", ".join(f"{n}={sizes[n]}" for n in extents[k].names)
    if lengths[k] > 0:
        raise CallValueError(
            f"axis {k} of {name} would have {lengths[k]} elements" + (f" at {at}" if at else "")
            + ", which does not fit into memory",
            argument=name,
            hint="no axis is longer than 2**43",
        )  # fmt: skip
    raise CallValueError(
        f"axis {k} of {name} would have {extents[k]} = {lengths[k]} elements at {at}",
        argument=name,
        hint="pass larger arrays",
    )
