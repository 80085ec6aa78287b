"""Halide's programs with the schedules that Halide's autoschedulers find for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import halide as hl
from case import Array, Case

from . import halide
from .halide import TARGET, VERSION, Call

__all__ = ["VERSION", "by"]

#: What schedules by hand are made of, of Funcs and of stages.
DIRECTIVES = (
    *("atomic", "bound", "compute_at", "compute_root", "compute_with", "fuse", "in_", "parallel"),
    *("reorder", "rename", "split", "store_at", "store_root", "tile", "unroll", "unscheduled"),
    *("vectorize", "align_bounds", "prefetch"),
)


def by(plugin: str, name: str, parameters: dict[str, str]) -> Callable[[Case], Callable[..., Call]]:
    """What a module of a peer is made of: the programs of Halide's module without directives, and
    with the schedule that an autoscheduler finds.

    Args:
        plugin: the library that it is in.
        parameters: of the machine.
    """
    (library,) = Path(hl.__file__).parent.glob(f"lib*/*{plugin}.*")
    hl.load_plugin(str(library))
    chosen = hl.AutoschedulerParams(name, parameters)

    def pipeline_of(output: Any, inputs: Sequence[tuple[Any, Array]], shape: Sequence[int]) -> Any:
        for parameter, array in inputs:
            # Axes of arrays are in the opposite order in Halide.
            parameter.set_estimates([(0, extent) for extent in reversed(array.shape)])
        output.set_estimates([(0, extent) for extent in reversed(shape)])
        pipeline = hl.Pipeline(output)
        pipeline.apply_autoscheduler(TARGET, chosen)
        return pipeline

    def implementation(case: Case) -> Callable[..., Call]:
        halide.pipeline_of = pipeline_of
        halide.faster = lambda *calls: calls[0]
        for kind in (hl.Func, hl.Stage):
            for directive in DIRECTIVES:
                if hasattr(kind, directive):
                    setattr(kind, directive, lambda self, *_, **__: self)
        made: Callable[..., Call] = getattr(halide, case.kernel)
        return made

    return implementation


def threads() -> str:
    """How many a call may use."""
    return os.environ["HL_NUM_THREADS"]
