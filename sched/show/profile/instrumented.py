"""The code of a kernel with marks: compiled for one call, and kept nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...codegen.build.build import build
from ...codegen.ir.counts import Counts, counts, stage_names
from ...codegen.ir.ir import Module
from ...codegen.llvm import compile_module
from ...codegen.llvm.functions.functions import emit_module
from ...codegen.lower import Lowered, passed
from ...codegen.runtime.interface import interface_of
from ...codegen.runtime.kernel import Kernel
from ...codegen.runtime.variant import Variant
from ...garbage import uncollected
from ...lang.nodes.dtypes import Array
from ...records import dataclass
from ...steps import Log
from .marking import STATE, Limits, Marked, mark_stages


@dataclass(frozen=True)
class Plain:
    """The loops of a kernel before and behind all passes, with what stages do."""

    kernel: Kernel
    module: Module
    flat: Module
    names: Mapping[int, str]
    counts: Mapping[str, Counts]


@dataclass(frozen=True)
class Instrumented:
    """Code with marks.

    Attributes:
        state: the words of all threads, one row each.
        limits: what was timed.
    """

    plain: Plain
    marked: Marked
    variant: Variant
    state: Array
    limits: Limits


def plain(kernel: Kernel, strided: bool) -> Plain:
    """The loops of the code that runs on contiguous arrays, or on others."""
    program = kernel._schedule.loop_program
    with uncollected():
        module = build(program, strided=strided, checks=kernel._checks, points=False)
        flat = passed(module, Log(), kernel._first)
        names = stage_names(program)
        return Plain(kernel, module, flat, names, counts(module, names))


def instrumented(
    of: Plain, values: Mapping[str, Any], limits: Limits, threads: int
) -> Instrumented:
    """The code with marks for a call with these sizes and Params."""
    target = of.kernel._target
    with uncollected():
        marked = mark_stages(of.flat, of.names, of.counts, values, limits, threads)
        text = emit_module(marked.module, target)
    code = compile_module(text, target)
    lowered = Lowered(of.module, marked.module, text, code, {})
    variant = Variant(code, interface_of(marked.module), lowered)
    state = np.zeros((threads, marked.pitch), np.int64)
    return Instrumented(of, marked, variant, state, limits)


__all__ = ["STATE", "Instrumented", "Plain", "instrumented", "plain"]
