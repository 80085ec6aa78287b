"""llvmlite, typed: the only place that imports it, and the only one that meets `Any`.

Its interface moves between releases and carries no annotations. Everything here may be called
from any thread: llvmlite holds one lock around each call into LLVM. Those that take long go around
that lock, so that two threads can compile at once.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from llvmlite.binding import ffi

from ....forks import Lock, whole
from ....lang.errors.errors import InternalError
from ....records import dataclass
from ....targets.host import this_machine
from ....targets.target import Target
from ..text.attributes import PLAIN
from . import loader
from .archive import archived, objects_of
from .beside import both
from .halves import halves

#: LLVM has locks of its own, of which a child could not get rid: forks wait until no thread is in
#: it. They take these locks in this order, as garbage may be disposed of, for which llvmlite takes
#: its own one, by a thread that holds one of ours.
_BUSY = (whole(), whole())
whole(ffi.lib._lock)
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


@dataclass(frozen=True, slots=True, eq=False)
class _Generator:
    """What makes machine code of LLVM's text. One thread at a time is in it.

    Attributes:
        passes: LLVM's scalar optimiser for functions at level 2. Vectors, interleaving and
            unrolling are the schedule's. The part of LLVM's O2 that looks at whole modules is left
            out: it costs 40% more and finds nothing in loop nests. They are made once, because
            making them leaks 50 KiB.
        options, builder: what the passes are made of.
    """

    machine: Any
    passes: Any
    options: Any
    builder: Any
    lock: Lock

    def optimise(self, module: Any) -> None:
        """Optimises the functions of a module, but for plain ones."""
        for function in module.functions:
            if not function.is_declaration and not _is_plain(function):
                # A run leaves callbacks in the pass builder that point at its dead stack frame: a
                # builder serves one run (10 us, and leaks 1.5 KiB), the passes serve any number.
                builder = llvm.create_pass_builder(self.machine, self.options)
                with self.lock:
                    _unlocked("LLVMPY_RunNewFunctionPassManager")(self.passes, function, builder)

    def object_code(self, module: Any) -> bytes:
        """A module as an object file."""
        with ffi.OutputString() as error:
            with self.lock:
                emit = _unlocked("LLVMPY_TargetMachineEmitToMemory")
                buffer = emit(self.machine, module, 1, error)
            if not buffer:
                raise InternalError(f"LLVM makes no object code: {error}")
        try:
            start = ffi.lib.LLVMPY_GetBufferStart(buffer)
            return ctypes.string_at(start, ffi.lib.LLVMPY_GetBufferSize(buffer))
        finally:
            ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


def _is_plain(function: Any) -> bool:
    return any(PLAIN.encode() in x for x in function.attributes)


@functools.cache
def _generator(target: Target, number: int = 0) -> _Generator:
    """One of two: as many threads as that compile a kernel."""
    machine = _new_target_machine(target)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = False
    options.slp_vectorization = False
    options.loop_interleaving = False
    options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getFunctionPassManager()
    return _Generator(machine, passes, options, builder, _BUSY[number])


@functools.cache
def _unlocked(name: str) -> Any:
    """A function of llvmlite's library, without its lock."""
    locked = getattr(ffi.lib, name)
    found = ctypes.CDLL(ffi.lib._name, handle=ffi.lib._handle)[name]
    found.argtypes, found.restype = locked.argtypes, locked.restype
    return found


@contextmanager
def _optimised(text: str, generator: _Generator) -> Iterator[Any]:
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
            module.data_layout = str(generator.machine.target_data)
            try:
                module.verify()
            except RuntimeError as error:
                raise InternalError(f"LLVM refuses the generated code: {error}") from error
            generator.optimise(module)
            yield module


def object_code(text: str, target: Target, threads: int = 1) -> bytes:
    """LLVM text as an object file, or an archive of two of them, whatever `threads` is.

    Args:
        threads: on which it may be made.
    """
    parts = halves(text) if _is_elf(target) else None
    if parts is None:
        return _object_code(text, target, 0)
    first, second = parts
    made = both(
        lambda: _object_code(first, target, 0), lambda: _object_code(second, target, 1), threads > 1
    )
    return archived(made)


def _object_code(text: str, target: Target, number: int) -> bytes:
    generator = _generator(target, number)
    with _optimised(text, generator) as module:
        return generator.object_code(module)


def _is_elf(target: Target) -> bool:
    """Whether object files are of the kind of which all names can be read: see `imports`."""
    return "linux" in target.triple


def size_of_instructions(object_code: bytes) -> int:
    """How many bytes of an object file are instructions."""
    files = map(llvm.ObjectFileRef.from_data, objects_of(object_code))
    return sum(int(x.size()) for file in files for x in file.sections() if x.is_text())


def assembly(text: str, target: Target) -> str:
    """LLVM text as assembly."""
    generator = _generator(target)
    with _optimised(text, generator) as module:
        return str(generator.machine.emit_assembly(module))


def with_comments(text: str, target: Target) -> tuple[str, str]:
    """LLVM text after optimisation, and as assembly with LLVM's comments."""
    with _optimised(text, _generator(target)) as module:
        return str(module), str(_talking_machine(target).emit_assembly(module))


def optimised(text: str, target: Target) -> str:
    """LLVM text after optimisation."""
    with _optimised(text, _generator(target)) as module:
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
