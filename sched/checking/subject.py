"""The subject of a check: the module that runs, and the differences that directives allow."""

from __future__ import annotations

from ..cached import cached_property
from ..codegen.build.build import build
from ..codegen.ir.ir import Buffer, Module
from ..codegen.lower import ON_LOOPS
from ..interp.flow import accumulates, is_exact
from ..lang.nodes.tensor import Tensor
from ..lang.tensors.definitions import Definition
from ..lang.tensors.tensors import Func
from ..poly.directives.loops import Split
from ..poly.schedule.schedule import Schedule
from ..poly.tree.edits import stages
from .memory_reads import original


def reordered(schedule: Schedule) -> frozenset[int]:
    """The serials of accumulations that may run in any order because the schedule says so."""
    said = schedule.broken_by
    chosen = [s.definition for s in schedule.model.statements if s.name in said]
    return frozenset(d.serial for d in chosen if accumulates(d))


def module_of(schedule: Schedule) -> Module:
    """The loop IR after the passes that keep indices of elements: none is flattened yet."""
    module = build(schedule.loop_program)
    for run in ON_LOOPS:
        module = run(module)
    return module


class Subject:
    """A schedule and its module, in the terms of a check. Definitions are known by their serials.

    Attributes:
        program: the program as written.
        definitions: those that run, also those that directives have added.
        stored: those of the program that run, by the serials of what the user wrote.
        copied: InOuts whose initial values are kept in memory of their own.
        atomic: accumulations that are atomic: concurrent iterations may add to one element.
        repeated: definitions whose instances may run in several iterations of loops around.
        padded: definitions whose tiles are padded, with instances that nobody needs.
        partial: Funcs of partial results, which a schedule has added.
        copies: Funcs that a schedule has added as copies of others.
        tensors: the tensor of the program whose elements each buffer holds.
        owners: the Func whose elements each buffer holds: it, or one of its clones.
    """

    def __init__(self, schedule: Schedule, module: Module) -> None:
        rewritten, statements = schedule.rewritten, schedule.model.statements
        self.program, self.module, self.base = schedule.program, module, rewritten.base
        self.definitions = [s.definition for s in statements]
        self.stored = {d.origin: d for d in self.definitions if not d.is_added}
        self.copied = schedule.copied
        self.atomic = {s.definition.serial for s in statements if s.name in schedule.atomic}
        parts = [s.statement for s in stages(schedule.tree) if s.statement.part_of is not None]
        self.repeated = {s.definition.origin for s in parts}
        self.padded = {s.statement.definition.origin for s in stages(schedule.tree) if s.padding}
        self.added = {f for f in self.program.funcs if f.history.typed()[0].is_added}
        self.partial = {f for f in self.added if any(d.is_update for d in f.history.typed())}
        self.copies = self.added - self.partial
        in_buffers = _tensors_by_buffer(module, schedule)
        self.tensors = {b: original(rewritten.base, t) for b, t in in_buffers.items()}
        self.owners = {b: t for b, t in in_buffers.items() if isinstance(t, Func)}
        self._reordered = reordered(schedule)
        self._shifts_tails = any(
            isinstance(d, Split) and d.tail == "shift" for d in schedule.directives
        )

    @cached_property
    def exact(self) -> frozenset[int]:
        """Accumulations that give the same bits in every order."""
        return frozenset(d.serial for d in self.program.definitions if is_exact(d))

    @cached_property
    def free(self) -> frozenset[int]:
        """Accumulations that may run in any order."""
        return self._reordered | self.exact

    @property
    def only_values_count(self) -> bool:
        """Whether results are compared by their values alone: partial ones of tuples have no
        versions."""
        return any(len(f.dtypes) > 1 for f in self.partial)

    def may_run_twice(self, d: Definition, reads_itself: bool) -> bool:
        """Whether a directive allows an instance to run again, and that changes nothing."""
        if d.origin in self.repeated:
            return True
        return self._shifts_tails and not d.is_update and not reads_itself


def _tensors_by_buffer(module: Module, schedule: Schedule) -> dict[Buffer, Tensor]:
    """The tensor whose elements each buffer holds."""
    program = schedule.program
    named: dict[str, Tensor] = {}
    tensors: tuple[Tensor, ...] = (*program.inputs, *program.consts, *program.funcs)
    for tensor in tensors:
        name = program.names[tensor]
        parts = len(tensor.dtypes)
        named.update((f"{name}.{c}" if parts > 1 else name, tensor) for c in range(parts))
    found: dict[Buffer, Tensor] = {}
    wrote_by = {s.name: s.func for s in schedule.model.statements}
    for b in module.buffers:
        name = (b.original or b).name
        stage, kept, _ = name.partition(".kept")
        tensor = wrote_by[max(filter(stage.startswith, wrote_by))] if kept else named[name]
        found[b] = tensor
    return found
