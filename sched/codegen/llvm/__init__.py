"""From the loop IR to machine code: `compile_module(emit_module(module, target), target)`."""

from .functions import emit_module
from .jit import CompiledCode, assembly_of, compile_module, kept_module, load_object

__all__ = [
    "CompiledCode",
    "assembly_of",
    "compile_module",
    "emit_module",
    "kept_module",
    "load_object",
]
