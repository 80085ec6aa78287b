"""From LLVM text to code that can be called.

    code = compile_module(emit_module(module, target), target)
    entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address(module.name))

Object code is made first and then linked, so that it can be kept (`object_code`) and brought back
by `load_object` in another process. Addresses are valid as long as the `CompiledCode` lives.
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

from ...lang.errors import InternalError
from . import binding
from .imports import imports
from .names import symbol
from .target import Target


class CompiledCode:
    """Linked machine code. May be used from any thread.

    Attributes:
        object_code: what was linked, an object file of this system's format.
        text: the LLVM IR as emitted; empty when loaded without.
    """

    def __init__(self, object_code: bytes, text: str, target: Target | None) -> None:
        self.object_code = object_code
        self.text = text
        self._target = target
        self._lock = threading.Lock()
        self._addresses: dict[str, int] = {}
        self._library = binding.link(object_code, imports(object_code))

    def address(self, name: str) -> int:
        """The address of the entry of the kernel `name`. InternalError if there is none."""
        with self._lock:
            if name not in self._addresses:
                try:
                    self._addresses[name] = self._library.address(symbol(name))
                except RuntimeError as error:
                    raise InternalError(f"no kernel {name!r} in the code: {error}") from error
            return self._addresses[name]

    @cached_property
    def optimised(self) -> str:
        """The LLVM IR after optimisation, made anew for whoever wants to read it."""
        return str(self._optimised_module()[0])

    def assembly(self) -> str:
        """The machine code as text."""
        return binding.emit_assembly(*self._optimised_module())

    def _optimised_module(self) -> tuple[Any, Any]:
        if self._target is None or not self.text:
            raise InternalError("the code was loaded without its text")
        return _optimised(self.text, self._target)


def compile_module(text: str, target: Target) -> CompiledCode:
    """Compiles and links LLVM text. InternalError if it is invalid."""
    module, machine = _optimised(text, target)
    return CompiledCode(binding.emit_object(module, machine), text, target)


def load_object(object_code: bytes, text: str = "", target: Target | None = None) -> CompiledCode:
    """Links object code that was compiled before; text and target are for `assembly` only."""
    return CompiledCode(object_code, text, target)


def _optimised(text: str, target: Target) -> tuple[Any, Any]:
    machine = binding.target_machine(target.triple, target.cpu, target.features)
    module = binding.parse(text, machine)
    binding.optimise(module, target.triple, target.cpu, target.features)
    return module, machine
