"""Where each tensor of a model lives: its buffers, one a component."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..lang import index as ix
from ..lang.dtypes import DType
from ..lang.inout import InOut
from ..lang.nodes import Node, Param, Size, integer
from ..lang.tensors import Const, Func, Input, Tensor
from ..poly.boxes import box, local_box
from ..poly.folding import Window
from ..poly.memory import LARGEST, SMALL, STACK, Memory
from ..poly.model import Model, output_sizes
from ..poly.scantree import Scan, ScanAlloc, ScanKeep, ScanStage, walk
from .ir import Buffer, BufferKind

Storage = dict[tuple[Tensor, int], Buffer]
KeptStorage = dict[tuple[str, int], Buffer]


def scalars(model: Model) -> tuple[Size | Param, ...]:
    """The kernel's scalars: sizes, the extents of outputs without a shape, Params."""
    program = model.program
    extents = [s for f in program.outputs for s in output_sizes(program, f)]
    return (*program.sizes.values(), *extents, *program.params.values())


def stride(buffer: Buffer, axis: int) -> Size:
    """The scalar that holds a stride, in bytes, of a strided buffer."""
    return Size(f"{buffer.name}.stride{axis}", None)


def strides(buffers: tuple[Buffer, ...]) -> tuple[Size, ...]:
    """The scalars that hold all strides."""
    return tuple(stride(b, axis) for b in buffers if b.strided for axis in range(b.ndim))


def place(
    model: Model,
    nests: Sequence[Scan],
    strided: bool,
    folds: Mapping[Func, Window],
    copied: Sequence[InOut] = (),
    memory: Mapping[Func, Memory] | None = None,
) -> Storage:
    """Buffers for the arguments, the outputs and every Func that is stored in between.

    Args:
        nests: what runs; it says which Funcs have storage of their own inside of loops.
        strided: whether arguments may have any strides.
        folds: what is kept of Funcs that are not stored whole.
        copied: InOuts whose initial values are kept apart.
        memory: how Funcs lie in memory.
    """
    said = memory or {}
    program = model.program
    storage: Storage = {}
    for source in program.inputs:
        assert source.extents is not None
        storage[source, 0] = _buffer(
            program.names[source], source, 0, source.extents, "input", strided
        )
    for func in program.outputs:
        extents = func.extents if func.extents is not None else output_sizes(program, func)
        for c in range(len(func.dtypes)):
            name = _component_name(model, func, c)
            storage[func, c] = _buffer(name, func, c, tuple(extents), "output", strided)
    for array in program.inouts:
        if array in copied:
            storage[array.initial, 0] = _copy_of(storage[array, 0], program.names[array.initial])
        else:
            storage[array.initial, 0] = storage[array, 0]
    inside = [x for x in walk(*nests) if isinstance(x, ScanAlloc)]
    local = {
        f: local_box([x for x in inside if x.func is f], program.names[f])
        for f in {x.func for x in inside}
    }
    padded = [x.stage for x in walk(*nests) if isinstance(x, ScanStage) and x.stage.pads]
    for func in model.regions:
        if func not in program.outputs:
            origin, extents = local[func] if func in local else box(model, func, padded)
            fold = folds.get(func)
            if fold is not None:
                kept = integer(fold.planes)
                extents = (*extents[: fold.axis], kept, *extents[fold.axis + 1 :])
            for c, dtype in enumerate(func.dtypes):
                name = _component_name(model, func, c)
                how, is_local = said.get(func, Memory()), func in local
                kind = _kind(how, dtype, extents, is_local, storage.values())
                storage[func, c] = Buffer(name, dtype, extents, origin, kind, fold=fold, memory=how)
    for table in program.consts:
        assert table.extents is not None
        storage[table, 0] = _const(program.names[table], table, table.extents)
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


def kept_storage(model: Model, nests: Sequence[Scan], memory: Mapping[Func, Memory]) -> KeptStorage:
    """Buffers for what is accumulated in storage of its own, by the stage and the component."""
    found = [x for x in walk(*nests) if isinstance(x, ScanKeep)]
    made: KeptStorage = {}
    for name in dict.fromkeys(x.name for x in found):
        same = [x for x in found if x.name == name]
        func = same[0].func
        origin, extents = local_box(same, f"{name}.kept")
        for c, dtype in enumerate(func.dtypes):
            part = f"{name}.kept" if len(func.dtypes) == 1 else f"{name}.kept.{c}"
            how = memory.get(func, Memory())
            kind = _kind(how, dtype, extents, True, made.values())
            made[name, c] = Buffer(part, dtype, extents, origin, kind, memory=how)
    return made


def _component_name(model: Model, func: Func, component: int) -> str:
    name = model.program.names[func]
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
