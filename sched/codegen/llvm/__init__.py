"""From the loop IR to machine code: `compile_module(emit_module(module, target), target)`."""

from .functions import emit_module
from .jit import CompiledCode, assembly_of, compile_module, load_object
from .target import Target, TargetError, aarch64, host, native, x86_64_v3, x86_64_v4

__all__ = [
    "CompiledCode",
    "Target",
    "TargetError",
    "aarch64",
    "assembly_of",
    "compile_module",
    "emit_module",
    "host",
    "load_object",
    "native",
    "x86_64_v3",
    "x86_64_v4",
]
