"""The entry of a kernel, `void name(ptr slots)`; see `ir.Module` for the slots."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from ....lang.nodes.dtypes import DType, float32, float64, int64
from ....lang.nodes.nodes import Node, Param, Size
from ....records import dataclass
from ....targets.target import Target
from ...ir import ir
from ..operators.casts import cast
from ..text import control
from ..text.function_builder import FunctionBuilder
from ..text.layout import CALL
from ..text.names import quoted, symbol
from ..text.values import Value, constant

IN_REGISTERS = 6
"""Addresses and integers that a call passes in registers on x86-64; AArch64 has more."""


@dataclass(slots=True)
class Arguments:
    """What the entry found in the slots."""

    pointers: dict[ir.Buffer, str] = field(default_factory=dict)
    scalars: dict[Node, Value] = field(default_factory=dict)
    counters: str = ""
    callback: str = ""
    threads: str = ""


def entry_text(module: ir.Module, calls: Iterable[Call], target: Target) -> str:
    """The function that unpacks the slots, sets the control word and runs the loop nests."""
    b = FunctionBuilder()
    calls = tuple(calls)
    found = _unpack(b, module)
    if any(call.threads for call in calls):
        found.threads = b.name("threads")
        b.emit(f"{found.threads} = load ptr, ptr {_last_slot(b, module)}, align 8")
    restore = control.default_environment(b, target.arch)
    done = b.label("done")
    for number, call in enumerate(calls):
        b.emit(call.text(found))
        if call.threads and number + 1 < len(calls):
            _leave_if_stopped(b, found.threads, done)
    b.jump(done)
    b.start(done)
    restore()
    b.emit("ret void")
    attributes = "#3" if all(call.is_short for call in calls) else "#0"
    return b.definition(
        f"void {quoted(symbol(module.name))}(ptr %slots) {attributes}",
        f"{module.name}: unpacks the slots and runs the loop nests",
    )


def _leave_if_stopped(b: FunctionBuilder, threads: str, done: str) -> None:
    go = b.label("go")
    where = b.element(threads, constant(CALL["stop"] // 8, int64), int64)
    stop = b.assign(f"load atomic i64, ptr {where} monotonic, align 8", int64)
    b.branch(b.compare("ne", stop, constant(0, int64)), done, go)
    b.start(go)


@dataclass(frozen=True, slots=True)
class Call:
    """The call of a loop nest: its quoted name, and what it takes."""

    name: str
    buffers: tuple[ir.Buffer, ...]
    scalars: tuple[Size | Param, ...]
    counters: bool
    callbacks: bool
    threads: bool

    @property
    def is_short(self) -> bool:
        """Whether all that it takes is in registers, as it is in the slots."""
        others = self.counters + self.callbacks + self.threads
        words = len(self.buffers) + len(self.scalars) + others
        return words <= IN_REGISTERS and all(
            ir.scalar_dtype(s) in (int64, float32, float64) for s in self.scalars
        )

    def text(self, found: Arguments) -> str:
        arguments = [f"ptr {found.pointers[b]}" for b in self.buffers]
        arguments += [found.scalars[s].typed for s in self.scalars]
        if self.counters:
            arguments.append(f"ptr {found.counters}")
        if self.callbacks:
            arguments.append(f"ptr {found.callback}")
        if self.threads:
            arguments.append(f"ptr {found.threads}")
        return f"call void {self.name}({', '.join(arguments)})"


def _unpack(b: FunctionBuilder, module: ir.Module) -> Arguments:
    found = Arguments()
    passed = [b for b in module.buffers if b.kind not in ("const", "stack")]
    for number, buffer in enumerate(passed):
        pointer = found.pointers[buffer] = b.name(buffer.name)
        b.emit(f"{pointer} = load ptr, ptr {_slot(b, number)}, align 8")
    for number, scalar in enumerate(module.scalars, start=len(passed)):
        found.scalars[scalar] = _scalar(b, number, ir.scalar_dtype(scalar))
    found.counters = _slot(b, len(passed) + len(module.scalars))
    if module.callbacks:
        slot = _slot(b, len(passed) + len(module.scalars) + module.counters)
        found.callback = b.name("callback")
        b.emit(f"{found.callback} = load ptr, ptr {slot}, align 8")
    return found


def _last_slot(b: FunctionBuilder, module: ir.Module) -> str:
    passed = sum(b.kind not in ("const", "stack") for b in module.buffers)
    callback = 1 if module.callbacks else 0
    return _slot(b, passed + len(module.scalars) + module.counters + callback)


def _slot(b: FunctionBuilder, number: int) -> str:
    return b.element("%slots", constant(number, int64), int64)


def _scalar(b: FunctionBuilder, number: int, dtype: DType) -> Value:
    """Floats lie in the low end of their slot, others fill it."""
    address = _slot(b, number)
    if dtype.is_float:
        return b.load(address, dtype)
    return cast(b, b.load(address, int64), dtype)
