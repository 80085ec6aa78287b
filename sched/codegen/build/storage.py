"""Where each tensor of a program lives: its buffers, one a component."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...lang.nodes import index as ix
from ...lang.nodes.dtypes import DType
from ...lang.nodes.nodes import Node, Size
from ...lang.nodes.tensor import Tensor
from ...lang.program.program import Program
from ...lang.program.scalars import output_sizes
from ...lang.tensors.tensors import Const, Func, Input
from ...poly.nests import loop_program as lp
from ...poly.nests.rooms import local_box
from ...poly.tree.memory import AS_WRITTEN, LARGEST, SMALL, STACK, Memory
from ..ir.ir import Buffer, BufferKind

Storage = dict[tuple[Tensor, int], Buffer]
AccumulatorStorage = dict[tuple[str, int], Buffer]


def stride(buffer: Buffer, axis: int) -> Size:
    """The scalar that holds a stride, in bytes, of a strided buffer."""
    return Size(stride_name(buffer.name, axis), None)


def stride_name(buffer: str, axis: int) -> str:
    """What that scalar is called, by the name of the buffer."""
    return f"{buffer}.stride{axis}"


def strides(buffers: tuple[Buffer, ...]) -> tuple[Size, ...]:
    """The scalars that hold all strides."""
    return tuple(stride(b, axis) for b in buffers if b.strided for axis in range(b.ndim))


def place(program: lp.LoopProgram, strided: bool) -> Storage:
    """Buffers for the arguments, the outputs and every Func that is stored in between.

    Args:
        strided: whether arguments may have any strides.
    """
    written = program.program
    storage: Storage = {}
    for source in written.inputs:
        assert source.extents is not None
        storage[source, 0] = _buffer(
            written.names[source], source, 0, source.extents, "input", strided
        )
    for func in written.outputs:
        extents = func.extents if func.extents is not None else output_sizes(written, func)
        for c in range(len(func.dtypes)):
            name = _component_name(written, func, c)
            storage[func, c] = _buffer(name, func, c, tuple(extents), "output", strided)
    for array in written.inouts:
        if array in program.copied:
            storage[array.initial, 0] = _copy_of(storage[array, 0], written.names[array.initial])
        else:
            storage[array.initial, 0] = storage[array, 0]
    local = program.local
    for func, box in program.boxes.items():
        how, fold = program.memory.get(func, AS_WRITTEN), program.windows.get(func)
        for c, dtype in enumerate(func.dtypes):
            name = _component_name(written, func, c)
            kind = _kind(how, dtype, box.extents, func in local, storage.values())
            storage[func, c] = Buffer(
                name, dtype, box.extents, box.origin, kind, fold=fold, memory=how
            )
    for table in written.consts:
        assert table.extents is not None
        storage[table, 0] = _const(written.names[table], table, table.extents)
    return storage


def _kind(
    how: Memory, dtype: DType, extents: Sequence[Node], is_local: bool, others: Iterable[Buffer]
) -> BufferKind:
    """On the stack, if it is asked for, or small and others leave some; else among all scratch
    memory."""
    if not is_local or how.place == "heap":
        return "scratch"
    bytes = how.bytes(dtype, extents)
    most = LARGEST
    if how.place == "auto":
        taken = (b.memory.bytes(b.dtype, b.extents) or 0 for b in others if b.kind == "stack")
        most = min(SMALL, STACK - sum(taken))
    return "scratch" if bytes is None or bytes > most else "stack"


def accumulator_storage(program: lp.LoopProgram) -> AccumulatorStorage:
    """Buffers of private accumulators, by the stage and the component."""
    found = [x for x in lp.walk(*program.nests) if isinstance(x, lp.Accumulator)]
    made: AccumulatorStorage = {}
    for name in dict.fromkeys(x.stage for x in found):
        same = [x for x in found if x.stage == name]
        func = same[0].func
        origin, extents = local_box(same, f"{name}.kept")
        for c, dtype in enumerate(func.dtypes):
            part = f"{name}.kept" if len(func.dtypes) == 1 else f"{name}.kept.{c}"
            asked = program.memory.get(func, AS_WRITTEN)
            how = asked.by_lanes({k for x in same for k in x.lanes}, len(extents))
            kind = _kind(how, dtype, extents, True, made.values())
            made[name, c] = Buffer(part, dtype, extents, origin, kind, memory=how)
    return made


def _component_name(program: Program, func: Func, component: int) -> str:
    name = program.names[func]
    return f"{name}.{component}" if len(func.dtypes) > 1 else name


def _buffer(
    name: str,
    tensor: Input | Func,
    component: int,
    extents: tuple[Node, ...],
    kind: BufferKind,
    strided: bool,
) -> Buffer:
    origin: tuple[Node, ...] = (ix.ZERO,) * len(extents)
    return Buffer(name, tensor.dtypes[component], extents, origin, kind, strided)


def _copy_of(array: Buffer, name: str) -> Buffer:
    return Buffer(name, array.dtype, array.extents, array.origin, "scratch")


def _const(name: str, table: Const, extents: tuple[Node, ...]) -> Buffer:
    origin: tuple[Node, ...] = (ix.ZERO,) * len(extents)
    return Buffer(name, table.dtypes[0], extents, origin, "const", data=table.data)
