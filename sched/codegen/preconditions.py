"""What a call is checked for before anything runs: what was proven holds for such calls alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lang.admission import check_near
from ..lang.binding import Binding
from ..lang.errors import CallValueError, InternalError
from ..lang.printer import expr_text
from ..lang.tensors import Const, Func, Input, Tensor
from ..poly.conditions import Scan
from ..poly.expressions import Translator
from ..poly.model import output_sizes
from ..poly.schedule import Schedule
from .evaluate import compile_nodes


class Preconditions:
    """What a schedule requires of the arguments of a call: of sizes, as Python functions, and of
    data that are used as indices."""

    def __init__(self, schedule: Schedule) -> None:
        names = Translator(schedule.parameters)
        with schedule.in_time():
            self.conditions = [
                (node, c)
                for c in schedule.proven.sizes
                if (node := names.condition(c.allowed)) is not None
            ]
        self.assumptions = schedule.assumptions
        self.scans = schedule.proven.scans
        given = [node for node, _ in (*self.conditions, *self.assumptions)]
        self.test = compile_nodes(given)
        self.bounding = sorted(schedule.bounding)
        self.reaches = schedule.reaches
        self.is_near = compile_nodes([node for node, _ in self.reaches])
        program = schedule.program
        self.extents = [
            (f, s.name, k) for f in program.outputs for k, s in enumerate(output_sizes(program, f))
        ]

    def check(self, bound: Binding) -> dict[str, Any]:
        """Every scalar of the kernel by name.

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
        for holds, (node, c) in zip(found, self.conditions, strict=False):
            if not holds:
                sizes = ", ".join(f"{k}={v}" for k, v in values.items())
                raise CallValueError(
                    f"{c.problem} at {sizes}: {c.text}",
                    hint=f"the sizes must satisfy {expr_text(node)}",
                )
        assumed = zip(found[len(self.conditions) :], self.assumptions, strict=True)
        for holds, (_, reason) in assumed:
            if not holds:
                sizes = ", ".join(f"{k}={v}" for k, v in values.items())
                raise CallValueError(
                    f"the schedule assumes that {reason}, which fails at {sizes}",
                    hint="call with sizes that meet it, or leave the directive out",
                )
        for scan in self.scans:
            _scan(scan, bound)
        return values


def _scan(scan: Scan, bound: Binding) -> None:
    """Every value of an Input that is used as an index, against the extent that it indexes."""
    values = bound.arrays[scan.source]
    extent = _shape(scan.tensor, bound)[scan.axis]
    if values.size == 0:
        return
    for at in (values.argmin(), values.argmax()):
        where = np.unravel_index(at, values.shape)
        value = int(values[where])
        if not 0 <= value < extent:
            index = ", ".join(str(int(k)) for k in where)
            raise CallValueError(
                f"{scan.source.name}[{index}] is {value}, which is used as an index of "
                f"{scan.tensor.name} along axis {scan.axis} of extent {extent}",
                argument=scan.source.name,
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
