"""The scalars that a kernel is given: sizes, extents of outputs without a shape, Params."""

from __future__ import annotations

from ..nodes.nodes import Node, Param, Size
from ..tensors.tensors import Func
from .program import Program


def output_sizes(program: Program, func: Func) -> tuple[Size, ...]:
    """The symbolic extents of an output that has no declared shape: a call gives them."""
    if func.extents is not None:
        return ()
    return tuple(Size(f"{program.names[func]}.shape[{k}]", None) for k in range(func.ndim))


def scalars(program: Program) -> tuple[Size | Param, ...]:
    """The sizes, the extents of outputs without a shape, and the Params, in a kernel's order."""
    extents = [s for f in program.outputs for s in output_sizes(program, f)]
    return (*program.sizes.values(), *extents, *program.params.values())


def symbols_of(program: Program) -> dict[str, Node]:
    """The scalars of a program by name: the symbols of which bounds and conditions are made."""
    return {s.name: s for s in scalars(program)}
