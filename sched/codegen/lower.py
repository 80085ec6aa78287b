"""From a schedule to machine code, in one flat list of steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..lang.nodes import Node
from ..poly.schedule import Schedule
from ..steps import Log
from .build import build
from .ir import Module
from .llvm import CompiledCode, Target, compile_module, emit_module
from .passes.expand_math import expand_math
from .passes.flatten_indices import flatten_indices
from .rewrite import map_expressions
from .text import module_text
from .verify import verify

Pass = Callable[[Module], Module]

#: In this order. Each takes valid IR and gives valid IR; see its file for what it does.
PASSES: tuple[Pass, ...] = (
    expand_math,
    flatten_indices,
)


@dataclass(frozen=True)
class Lowered:
    """A kernel on its way: the loop IR before any pass and after all, LLVM's text, the code."""

    module: Module
    flat: Module
    text: str
    code: CompiledCode
    seconds: dict[str, float]


def lower(schedule: Schedule, target: Target, *, strided: bool, checks: bool) -> Lowered:
    """Compiles a schedule.

    Args:
        strided: for arguments of any strides, not contiguous ones.
        checks: count integer divisions by zero.
    """
    log = Log()
    nests = schedule.nests
    name = schedule.program.outputs[0].name
    module = log.step(
        "build",
        lambda: build(
            name,
            schedule.model,
            schedule.proven,
            nests,
            strided=strided,
            checks=checks,
            folds=schedule.windows,
            copied=schedule.copied,
            memory=schedule.memory,
            hints=schedule.hints,
            atomic=schedule.atomic,
        ),
        module_text,
    )
    verify(module, flat=False)
    flat = _with_constants(module, schedule.constants)
    for number, run in enumerate(PASSES):
        flat = _run(run, flat, log)
        verify(flat, flat=number >= PASSES.index(flatten_indices))
    text = log.step("emit", lambda: emit_module(flat, target))
    code = log.step("llvm", lambda: compile_module(text, target))
    return Lowered(module, flat, text, code, log.seconds)


def _with_constants(module: Module, constants: Mapping[str, Node]) -> Module:
    """The kernel with known sizes as constants."""
    if not constants:
        return module
    fixed: dict[Node, Node] = {s: constants[s.name] for s in module.scalars if s.name in constants}
    return map_expressions(module, lambda n: fixed.get(n, n))


def _run(run: Pass, module: Module, log: Log) -> Module:
    """One pass; its result is shown if it changed anything."""
    return log.step(
        run.__name__,
        lambda: run(module),
        lambda result: module_text(result) if result is not module else "",
    )
