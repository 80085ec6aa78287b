"""llvmlite, typed: the only place that imports it, and the only one that meets `Any`.

Its interface moves between releases and carries no annotations. Everything here may be called
from any thread: llvmlite holds one lock around each call into LLVM.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from llvmlite.binding import ffi

from ...forks import whole
from ...lang.errors.errors import InternalError
from ...records import dataclass
from ...targets.host import this_machine
from ...targets.target import Target
from . import loader

whole(ffi.lib._lock)  # LLVM has locks of its own, of which a child could not get rid
_serial = itertools.count()

LLVM_VERSION: tuple[int, ...] = tuple(llvm.llvm_version_info)
"""The version of LLVM that llvmlite brings."""


@functools.cache
def _initialise(is_native: bool) -> None:
    # `initialize()` raises in the releases we support: LLVM's core needs it no more.
    if is_native:
        llvm.initialize_native_target()
    else:
        llvm.initialize_all_targets()


@functools.cache
def _initialise_printers(is_native: bool) -> None:
    """For whoever emits code: one that links only, as of a kernel from disk, does without."""
    if is_native:
        llvm.initialize_native_asmprinter()
    else:
        llvm.initialize_all_asmprinters()


@functools.cache
def target_machine(target: Target) -> Any:
    """LLVM's code generator for a machine."""
    return _new_target_machine(target)


@functools.cache
def _talking_machine(target: Target) -> Any:
    """The same, whose assembly says what it does: which loads are of spilled registers."""
    machine = _new_target_machine(target)
    machine.set_asm_verbosity(True)
    return machine


def _new_target_machine(target: Target) -> Any:
    _initialise_printers(target.arch == this_machine().arch)
    return _machine(target, target.cpu, target.feature_text)


def _plain_machine() -> Any:
    """One for this machine's triple, without its features: each of these takes LLVM a while."""
    return _machine(this_machine(), "", "")


def _machine(target: Target, cpu: str, features: str) -> Any:
    _initialise(target.arch == this_machine().arch)
    try:
        # The default code model for JITs is the large one: a `movabsq` for every global.
        return llvm.Target.from_triple(target.triple).create_target_machine(
            cpu=cpu, features=features, opt=2, reloc="pic", codemodel="small"
        )
    except RuntimeError as error:
        raise InternalError(f"LLVM has no code generator for {target.triple}: {error}") from error


@functools.cache
def _pipeline(target: Target) -> tuple[Any, ...]:
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
    builder = llvm.create_pass_builder(target_machine(target), options)
    return builder.getFunctionPassManager(), options, builder


def _optimise(module: Any, target: Target) -> None:
    passes, options, _ = _pipeline(target)
    for function in module.functions:
        if not function.is_declaration:
            # A run leaves callbacks in the pass builder that point at its dead stack frame: a
            # builder serves one run (10 us, and leaks 1.5 KiB), the passes serve any number.
            passes.run(function, llvm.create_pass_builder(target_machine(target), options))


@contextmanager
def _optimised(text: str, target: Target) -> Iterator[Any]:
    """LLVM text as a verified and optimised module.

    Module and context are closed by hand, in this order: the garbage collector may dispose of the
    context first, and then the module's disposal crashes.
    """
    with llvm.create_context() as context:
        try:
            parsed = llvm.parse_assembly(text, context)
        except RuntimeError as error:
            raise InternalError(f"LLVM refuses the generated code: {error}") from error
        with parsed as module:
            module.data_layout = str(target_machine(target).target_data)
            try:
                module.verify()
            except RuntimeError as error:
                raise InternalError(f"LLVM refuses the generated code: {error}") from error
            _optimise(module, target)
            yield module


def object_code(text: str, target: Target) -> bytes:
    """LLVM text as an object file."""
    with _optimised(text, target) as module:
        return bytes(target_machine(target).emit_object(module))


def size_of_instructions(object_code: bytes) -> int:
    """How many bytes of an object file are instructions."""
    sections = llvm.ObjectFileRef.from_data(object_code).sections()
    return sum(int(section.size()) for section in sections if section.is_text())


def assembly(text: str, target: Target) -> str:
    """LLVM text as assembly."""
    with _optimised(text, target) as module:
        return str(target_machine(target).emit_assembly(module))


def with_comments(text: str, target: Target) -> tuple[str, str]:
    """LLVM text after optimisation, and as assembly with LLVM's comments."""
    with _optimised(text, target) as module:
        return str(module), str(_talking_machine(target).emit_assembly(module))


def optimised(text: str, target: Target) -> str:
    """LLVM text after optimisation."""
    with _optimised(text, target) as module:
        return str(module)


EACH = 32
"""How many libraries a linker links. One takes 120 KiB and half a millisecond to make; of each
library 8 KiB stay with it, which go when it goes, and that is when its last library does."""


def _linker(serial: int) -> Any:
    """A linker for a library. It is given object code only, so any machine type will do."""
    global _latest
    number, jit = _latest
    if serial // EACH > number:  # two threads may make one at once, without harm
        machine = _plain_machine()
        on_windows = sys.platform == "win32"  # where llvmlite has no JITLink
        jit = llvm.create_lljit_compiler(machine, use_jit_link=not on_windows, suppress_errors=True)
        _latest = serial // EACH, jit
    return jit


_latest: tuple[int, Any] = (-1, None)


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


def link(object_code: bytes, imports: dict[str, int]) -> Library | loader.Loaded:
    """Brings object code into this process; it sees no symbols but `imports`."""
    return loader.loaded(object_code, imports) or _linked(object_code, imports)


def _linked(object_code: bytes, imports: dict[str, int]) -> Library:
    serial = next(_serial)
    jit, name = _linker(serial), f"polysched.{serial}"  # its name is never free again
    builder = llvm.JITLibraryBuilder().add_object_img(object_code)
    for symbol, address in imports.items():
        builder.import_symbol(symbol, address)
    try:
        tracker = builder.link(jit, name)
    except RuntimeError as error:
        raise InternalError(f"the object code cannot be linked: {error}") from error
    return Library(jit, name, [tracker])
