"""From the loop IR to machine code: `compile_module(emit_module(module, target), target)`."""

from .functions import emit_module
from .jit import CompiledCode, compile_module, load_object
from .target import Target, TargetError, host, x86_64_v3

__all__ = [
    "CompiledCode",
    "Target",
    "TargetError",
    "compile_module",
    "emit_module",
    "host",
    "load_object",
    "x86_64_v3",
]
