"""llvmlite, typed: the only place that imports it, and the only one that meets `Any`.

Its interface moves between releases and carries no annotations. Everything here may be called
from any thread: llvmlite holds one lock around each call into LLVM.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from ...lang.errors import InternalError

_serial = itertools.count()


@functools.cache
def _initialise() -> None:
    # `initialize()` raises in the releases we support: LLVM's core needs it no more.
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def process_triple() -> str:
    """What this process runs on: `x86_64-unknown-linux-gnu`."""
    return str(llvm.get_process_triple())


def host_cpu() -> str:
    """LLVM's name of this CPU: `znver4`."""
    return str(llvm.get_host_cpu_name())


def host_features() -> dict[str, bool]:
    """Which of LLVM's CPU features this machine has."""
    return {str(name): bool(there) for name, there in llvm.get_host_cpu_features().items()}


@functools.cache
def target_machine(triple: str, cpu: str, features: str) -> Any:
    """LLVM's code generator for a machine."""
    _initialise()
    try:
        # The default code model for JITs is the large one: a `movabsq` for every global.
        return llvm.Target.from_triple(triple).create_target_machine(
            cpu=cpu, features=features, opt=2, reloc="pic", codemodel="small"
        )
    except RuntimeError as error:
        raise InternalError(f"LLVM has no code generator for {triple}: {error}") from error


def parse(text: str, machine: Any) -> Any:
    """LLVM text as a verified module of its own context."""
    try:
        module = llvm.parse_assembly(text, llvm.create_context())
        module.data_layout = str(machine.target_data)
        module.verify()
    except RuntimeError as error:
        raise InternalError(f"LLVM refuses the generated code: {error}") from error
    return module


@functools.cache
def _pipeline(triple: str, cpu: str, features: str) -> tuple[Any, ...]:
    """LLVM's scalar optimiser for functions at level 2, with its options and what made it.

    Vectors, interleaving and unrolling are the schedule's. The part of LLVM's O2 that looks at
    whole modules is left out: it costs 40% more and finds nothing in loop nests. The pipeline is
    made once, because building it leaks 50 KiB.
    """
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = False
    options.slp_vectorization = False
    options.loop_interleaving = False
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(target_machine(triple, cpu, features), options)
    return builder.getFunctionPassManager(), options, builder


def optimise(module: Any, triple: str, cpu: str, features: str) -> None:
    """Scalar optimisation of all functions, in place."""
    machine = target_machine(triple, cpu, features)
    passes, options, _ = _pipeline(triple, cpu, features)
    for function in module.functions:
        if not function.is_declaration:
            # A run leaves callbacks in the pass builder that point at its dead stack frame: a
            # builder serves one run (10 us, and leaks 2 KiB), the passes serve any number.
            passes.run(function, llvm.create_pass_builder(machine, options))


def emit_object(module: Any, machine: Any) -> bytes:
    return bytes(machine.emit_object(module))


def emit_assembly(module: Any, machine: Any) -> str:
    return str(machine.emit_assembly(module))


@functools.cache
def _jit() -> Any:
    """The linker of this process. It is given object code only, so any machine type will do."""
    machine = target_machine(process_triple(), host_cpu(), "")
    return llvm.create_lljit_compiler(machine, use_jit_link=True, suppress_errors=True)


@dataclass(slots=True)
class Library:
    """Linked object code. Its addresses hold for as long as it lives: `trackers` keep the code."""

    jit: Any
    name: str
    trackers: list[Any]

    def address(self, symbol: str) -> int:
        """Where a function is; RuntimeError if it is not there or cannot be linked."""
        tracker = self.jit.lookup(self.name, symbol)
        self.trackers.append(tracker)
        return int(tracker[symbol])


def link(object_code: bytes, imports: dict[str, int]) -> Library:
    """Brings object code into this process; it sees no symbols but `imports`."""
    jit = _jit()
    name = f"polysched.{next(_serial)}"  # the name of a library is never free again
    builder = llvm.JITLibraryBuilder().add_object_img(object_code)
    for symbol, address in imports.items():
        builder.import_symbol(symbol, address)
    try:
        tracker = builder.link(jit, name)
    except RuntimeError as error:
        raise InternalError(f"the object code cannot be linked: {error}") from error
    return Library(jit, name, [tracker])
