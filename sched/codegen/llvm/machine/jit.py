"""From LLVM text to code that can be called.

    code = compile_module(emit_module(module, target), target)
    entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address(module.name))

Object code is made first and then linked, so that it can be kept (`object_code`) and brought back
by `load_object` in another process. Addresses are valid as long as the `CompiledCode` lives.
"""

from __future__ import annotations

from collections.abc import Callable

from ....cache import keys, store
from ....cached import cached_property
from ....forks import reentrant
from ....lang.errors.errors import InternalError
from ....targets.target import Target
from ..text.names import symbol
from . import binding
from .archive import objects_of
from .imports import imports

_KIND = "runtime"


class CompiledCode:
    """Linked machine code. May be used from any thread.

    Attributes:
        object_code: what was linked, an object file of this system's format, or an archive of such,
            each of which calls the next one.
        text: the LLVM IR as emitted; empty when loaded without.
    """

    def __init__(self, object_code: bytes, text: str, target: Target | None) -> None:
        self.object_code = object_code
        self.text = text
        self._target = target
        self._lock = reentrant()
        self._addresses: dict[str, int] = {}
        *first, last = objects_of(object_code)
        self._library = binding.link(last, imports(last))
        self._all = [self._library]  # which live as long as what calls them
        for code in reversed(first):
            self._library = binding.link(code, imports(code, self._place))
            self._all.append(self._library)

    def address(self, name: str) -> int:
        """The address of the entry of the kernel `name`. InternalError if there is none."""
        with self._lock:
            if name not in self._addresses:
                self._addresses[name] = self._place(symbol(name))
            return self._addresses[name]

    def _place(self, name: str) -> int:
        """Where a function is in what was linked last."""
        try:
            return self._library.address(name)
        except RuntimeError as error:
            raise InternalError(f"no function {name!r} in the code: {error}") from error

    @cached_property
    def size(self) -> int:
        """Bytes of instructions."""
        return binding.size_of_instructions(self.object_code)

    @cached_property
    def optimised(self) -> str:
        """The LLVM IR after optimisation, made anew for whoever wants to read it."""
        return binding.optimised(self.text, self._made_for())

    def assembly(self) -> str:
        """The machine code as text."""
        return binding.assembly(self.text, self._made_for())

    def _made_for(self) -> Target:
        if self._target is None or not self.text:
            raise InternalError("the code was loaded without its text")
        return self._target


def compile_module(text: str, target: Target, threads: int = 1) -> CompiledCode:
    """Compiles and links LLVM text, on one thread or on two of them. InternalError if it is
    invalid."""
    return CompiledCode(binding.object_code(text, target, threads), text, target)


def kept_module(
    what: str, told: tuple[object, ...], make: Callable[[], str], target: Target
) -> CompiledCode:
    """The code of a text that each process needs: on disk, or else compiled and kept there.

    Args:
        what: a name for it.
        told: all that the text depends on, beside this package's sources and the target.
        make: gives the text.
    """
    key = keys.key_of(what, told, target.digest)
    entry = None if key is None else store.read(_KIND, key)
    if key is not None and entry is not None:
        try:
            return load_object(entry.blob)
        except InternalError:
            store.remove(_KIND, key)
    made = compile_module(make(), target)
    if key is not None and keys.is_current():
        store.write(_KIND, key, {"what": what}, made.object_code)
    return made


def assembly_of(text: str, target: Target) -> str:
    """LLVM text as assembly, for any machine."""
    return binding.assembly(text, target)


def load_object(object_code: bytes, text: str = "", target: Target | None = None) -> CompiledCode:
    """Links object code that was compiled before; text and target are for `assembly` only."""
    return CompiledCode(object_code, text, target)
