"""From a loop program to machine code, in one flat list of steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ..garbage import uncollected
from ..poly.nests.loop_program import LoopProgram
from ..records import dataclass
from ..steps import Log
from ..targets.target import Target
from .build.build import build
from .ir.ir import Module
from .ir.text import module_text
from .ir.verify import verify
from .llvm import CompiledCode, assembly_of, compile_module
from .llvm.functions.functions import emit_module
from .passes.border_loads import border_loads
from .passes.carry_values import carry_values
from .passes.expand_math import expand_math
from .passes.fill_tiles import fill_tiles
from .passes.flatten_indices import flatten_indices
from .passes.fold_constants import fold_constants
from .passes.full_lanes import full_lanes
from .passes.full_tiles import full_tiles
from .passes.hoist_conditions import hoist_conditions
from .passes.join_stores import join_stores
from .passes.narrow_tiles import narrow_tiles
from .passes.promote_accumulators import promote_accumulators
from .passes.roll_borders import roll_borders
from .passes.single_iterations import single_iterations
from .passes.split_loops import split_loops

Pass = Callable[[Module], Module]

SMALL = 100
"""Statements of a program for which what each pass changes is verified, and not the last one's
result alone: that takes little then."""

#: In this order. Each takes valid IR and gives valid IR; see its file for what it does.
#: The first ones only move loops and conditions about: `check` runs the module behind them.
ON_LOOPS: tuple[Pass, ...] = (
    fold_constants,
    single_iterations,
    full_lanes,
    hoist_conditions,
    split_loops,
)
PASSES: tuple[Pass, ...] = (
    *ON_LOOPS,
    promote_accumulators,
    roll_borders,
    fill_tiles,
    full_tiles,
    narrow_tiles,
    border_loads,
    carry_values,
    expand_math,
    flatten_indices,
    join_stores,
    fold_constants,
)


@dataclass(frozen=True)
class Lowered:
    """A kernel on its way: the loop IR before any pass and after all, LLVM's text, the code."""

    module: Module
    flat: Module
    text: str
    code: CompiledCode
    seconds: dict[str, float]


def lower(
    program: LoopProgram,
    target: Target,
    *,
    strided: bool,
    checks: bool,
    first: Sequence[Pass] = (),
    threads: int = 1,
) -> Lowered:
    """Compiles a program whose loops are known.

    Args:
        strided: for arguments of any strides, not contiguous ones.
        checks: count integer divisions by zero.
        first: passes that run before all others.
        threads: on which LLVM may run.
    """
    log = Log()
    with uncollected():
        module = log.step(
            "build",
            lambda: build(program, strided=strided, checks=checks, points=False),
            module_text,
        )
        flat = passed(module, log, first)
        text = log.step("emit", lambda: emit_module(flat, target))
    code = log.step("llvm", lambda: compile_module(text, target, threads))
    log.compiled(lambda: _called(program, target, strided))
    return Lowered(module, flat, text, code, log.seconds)


def _called(program: LoopProgram, target: Target, strided: bool) -> str:
    """A kernel, for logs."""
    names = ", ".join(program.program.names[f] for f in program.program.outputs)
    return f"{names} for {target.name}" + (", any strides" if strided else "")


def assembly(program: LoopProgram, target: Target) -> str:
    """The machine code for contiguous arguments as text, for a machine that may be another one."""
    flat = passed(build(program, points=False), Log())
    return assembly_of(emit_module(flat, target), target)


def passed(module: Module, log: Log, first: Sequence[Pass] = ()) -> Module:
    """The loop IR after all passes, `first` before the usual ones."""
    flat = module
    statements = log.step("verify", lambda: verify(module, flat=False))
    passes = (*first, *PASSES)
    for number, run in enumerate(passes):
        before, flat = flat, _run(run, flat, log)
        is_last = number == len(passes) - 1
        if is_last or (statements <= SMALL and flat is not before):
            is_flat = number >= passes.index(flatten_indices)
            statements = log.step("verify", partial(verify, flat, is_flat))
    return flat


def _run(run: Pass, module: Module, log: Log) -> Module:
    """One pass; its result is shown if it changed anything."""
    return log.step(
        run.__name__,
        lambda: run(module),
        lambda result: module_text(result) if result is not module else "",
    )
