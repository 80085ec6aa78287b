"""The check of preconditions at a call, before anything runs: proofs hold under these alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...cached import cached_property
from ...lang.arguments.admission import check_near
from ...lang.arithmetic.evaluate import ByName, Scalar, compile_nodes, size_value
from ...lang.call.binding import Binding
from ...lang.errors.errors import CallValueError, InternalError
from ...lang.nodes.nodes import Param, postorder
from ...lang.nodes.printer import expr_text
from ...lang.nodes.tensor import Tensor
from ...lang.program.program import Program
from ...lang.program.scalars import output_sizes
from ...lang.tensors.tensors import Const, Func, Input
from ...poly.report.requirements import IndexCheck, Requirements

FAR = 1 << 64
"""Beyond any index."""


class Preconditions:
    """The preconditions of a kernel: conditions on sizes as Python functions, and data that are
    used as indices."""

    def __init__(self, requirements: Requirements, program: Program) -> None:
        self._program = program
        self.needed, self.assumed = requirements.sizes, requirements.assumed
        self.indices, self.bounding = requirements.indices, requirements.bounding
        self.reaches = requirements.reaches
        self.extents = [
            (f, s.name, k) for f in program.outputs for k, s in enumerate(output_sizes(program, f))
        ]

    @cached_property
    def test(self) -> ByName:
        """The values of all conditions, those on sizes first."""
        given = (*(x.condition for x in self.needed), *(node for node, _ in self.assumed))
        return compile_nodes(given)

    @cached_property
    def is_near(self) -> ByName:
        """Whether what is read of Inputs is near enough, one by one."""
        return compile_nodes([node for node, _ in self.reaches])

    @cached_property
    def free(self) -> frozenset[str]:
        """The Params of floats that nothing is asked of."""
        nodes = [*(x.condition for x in self.needed), *(node for node, _ in self.assumed)]
        nodes += [node for node, _ in self.reaches]
        nodes += [r.condition for r in self._program.requirements]
        nodes += [x for i in self._program.inputs for x in i.range or ()]
        used = {n.name for n in postorder(*nodes) if isinstance(n, Param)}
        infos = {name: p.info for name, p in self._program.params.items()}
        free = (n for n, x in infos.items() if x.dtype.is_float and (x.min, x.max) == (None, None))
        return frozenset(n for n in free if n not in used)

    def check(self, bound: Binding) -> dict[str, Any]:
        """Every scalar of the kernel by name.

        Raises:
            CallValueError: says which condition does not hold, or which index is out of bounds.
        """
        values = self.sizes(bound)
        for index in self.indices:
            _check_index(index, bound)
        return values

    def data(self, bound: Binding) -> dict[Input, tuple[Scalar, Scalar]]:
        """The half-open ranges that all elements of arrays must lie in, at the sizes and Params of
        a call: those that are declared, and of indices the extents that they index."""
        found: dict[Input, tuple[Scalar, Scalar]] = {}
        for array in bound.arrays:
            if array.range is not None:
                lo, hi = (size_value(x, bound.sizes, bound.params) for x in array.range)
                found[array] = lo, hi
        for index in self.indices:
            lo, hi = found.get(index.source, (0, FAR))
            extent = _shape(index.tensor, bound)[index.axis]
            found[index.source] = max(lo, 0), min(hi, extent)
        return found

    def sizes(self, bound: Binding) -> dict[str, Any]:
        """The same, without a look at data.

        Raises:
            CallValueError: says which condition does not hold.
        """
        values: dict[str, Any] = {**bound.sizes, **bound.params}
        for func, name, axis in self.extents:
            values[name] = (bound.shapes[func] or ())[axis]
        for name in self.bounding:
            check_near(name, int(values[name]))
        for holds, (node, name) in zip(self.is_near(values), self.reaches, strict=True):
            if not holds:
                raise CallValueError(
                    f"{name} would be needed at an index beyond 2**43",
                    hint=f"the sizes must satisfy {expr_text(node)}",
                )
        found = self.test(values)
        for holds, needed in zip(found, self.needed, strict=False):
            if not holds:
                sizes = ", ".join(f"{k}={v}" for k, v in values.items())
                raise CallValueError(
                    f"{needed.problem} at {sizes}: {needed.text}",
                    hint=f"the sizes must satisfy {expr_text(needed.condition)}",
                )
        assumed = zip(found[len(self.needed) :], self.assumed, strict=True)
        for holds, (_, reason) in assumed:
            if not holds:
                sizes = ", ".join(f"{k}={v}" for k, v in values.items())
                raise CallValueError(
                    f"the schedule assumes that {reason}, which fails at {sizes}",
                    hint="call with sizes that meet it, or leave the directive out",
                )
        return values


def _check_index(index: IndexCheck, bound: Binding) -> None:
    """Every value of an Input that is used as an index, against the extent that it indexes."""
    values = bound.arrays[index.source]
    extent = _shape(index.tensor, bound)[index.axis]
    if values.size == 0:
        return
    for at in (values.argmin(), values.argmax()):
        where = np.unravel_index(at, values.shape)
        value = int(values[where])
        if not 0 <= value < extent:
            at_text = ", ".join(str(int(k)) for k in where)
            raise CallValueError(
                f"{index.source.name}[{at_text}] is {value}, which is used as an index of "
                f"{index.tensor.name} along axis {index.axis} of extent {extent}",
                argument=index.source.name,
                hint="clamp the index in the program, or correct the data",
            )


def _shape(tensor: Tensor, bound: Binding) -> tuple[int, ...]:
    match tensor:
        case Input():
            return bound.arrays[tensor].shape
        case Const():
            return tensor.data.shape
        case Func():
            return bound.shapes[tensor] or ()
    raise InternalError(f"{tensor.name} has no shape")
