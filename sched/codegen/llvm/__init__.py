"""From the loop IR to machine code: `functions.emit_module`, then `compile_module`.

The emitter is not among the names here: what is found on disk needs none.
"""

from .machine.jit import CompiledCode, assembly_of, compile_module, kept_module, load_object

__all__ = [
    "CompiledCode",
    "assembly_of",
    "compile_module",
    "kept_module",
    "load_object",
]
