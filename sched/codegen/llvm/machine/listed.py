"""A module once more, so that each instruction says which line of the loop IR it is of.

This is a compilation of its own, for readers. Its code is that of the kernel, instruction by
instruction; what is added are locations, which are not executed.
"""

from __future__ import annotations

from ....records import dataclass, replace
from ....targets.target import Target
from ...ir.ir import Function, Module, Stmt, map_children
from ...ir.text import module_lines
from ..functions.functions import emit_module
from ..text.locations import Locations
from . import binding


@dataclass(frozen=True, slots=True)
class Listed:
    """A module as text on three levels; lines are counted from 1.

    Attributes:
        loops: the lines of the loop IR, each with the function or statement that it shows.
        llvm: LLVM's text after its optimiser, with locations as metadata.
        assembly: with locations as `.loc`, and LLVM's comments.
    """

    loops: tuple[tuple[str, Function | Stmt | None], ...]
    llvm: str
    assembly: str


Lines = tuple[tuple[str, Function | Stmt | None], ...]


def listed(module: Module, target: Target) -> Listed:
    """Compiles a module to text whose lines are linked. Nothing is linked or run."""
    loops, text = located(module, target)
    llvm, assembly = binding.with_comments(text, target)
    return Listed(loops, llvm, assembly)


def located(module: Module, target: Target) -> tuple[Lines, str]:
    """The lines of the loop IR, and LLVM's text with locations in them."""
    # A statement that stands at two places becomes two, so that each has a line of its own.
    functions = (replace(f, body=_copied(f.body)) for f in module.functions)
    module = replace(module, functions=tuple(functions))
    loops = tuple(module_lines(module))
    return loops, emit_module(module, target, Locations(_first_lines(loops)))


def _first_lines(loops: Lines) -> dict[int, int]:
    """The first line of each function and statement, by their identities."""
    found: dict[int, int] = {}
    for number, (_, what) in enumerate(loops, 1):
        if what is not None:
            found.setdefault(id(what), number)
    return found


def _copied(stmt: Stmt) -> Stmt:
    """The same statements as objects that are nowhere else."""
    made = map_children(stmt, _copied)
    return replace(stmt) if made is stmt else made
