"""What the tests of directives share: golden listings, values, refusals."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from gallery.execute import as_tuple, assert_same

import polysched as ps
import polysched.codegen.build.build
from polysched.checking.arguments import random_arguments
from polysched.checking.examine import check
from polysched.checking.report import Report
from polysched.codegen.runtime.kernel import Kernel
from polysched.lang.arithmetic.evaluate import compile_nodes
from polysched.testing.native import backwards, copied, runs_in_parallel

SIZES = (0, 1, 2, 7, 8, 13)


def listed(schedule: ps.Schedule, wanted: str) -> None:
    """The printed loop nests are these; notes beside loops count where some are given."""
    lines = [x for x in str(schedule).splitlines()[1:] if not x.startswith("  note: ")]
    if "  # " not in wanted:
        lines = [x.partition("  # ")[0] for x in lines]
    assert textwrap.dedent("\n".join(lines)) == textwrap.dedent(wanted).strip()


def array(spec: ps.Input | ps.InOut, sizes: dict[str, int], rng: np.random.Generator) -> Any:
    """Random data for an argument whose extents are Python integers, sizes, or sums of them."""
    shape = tuple(compile_nodes([e])(sizes)[0] for e in spec.extents)
    values = rng.integers(-9, 9, shape)
    return values.astype(spec.dtype.numpy) if spec.dtype.is_int else _floats(values, spec, rng)


def _floats(values: Any, spec: Any, rng: np.random.Generator) -> Any:
    return (values + rng.random(values.shape)).astype(spec.dtype.numpy)


def same(schedule: ps.Schedule, *, over: Sequence[int] = SIZES, **fixed: Any) -> None:
    """Native code gives the interpreter's bits at many sizes, with parallel loops run either way.

    Args:
        over: the values that each size takes.
        fixed: sizes with one value.
    """
    program = schedule.program
    rng = np.random.default_rng(0)
    free = [name for name in program.sizes if name not in fixed]
    grid = list(itertools.product(over, repeat=len(free)))
    if len(grid) > 40:
        grid = grid[:: len(grid) // 40]
    kernels = both_ways(schedule)
    for values in grid:
        sizes = {**dict(zip(free, values, strict=True)), **fixed}
        _compare(program, kernels, sizes, rng)


def both_ways(schedule: ps.Schedule) -> list[Kernel]:
    """The kernel of a schedule; and one whose parallel loops run backwards, if there are any."""
    found = [schedule.copy().compile()]
    if runs_in_parallel(schedule):
        found.append(backwards(schedule.copy()))
    return found


def _compare(
    program: Any, kernels: Sequence[Kernel], sizes: dict[str, Any], rng: np.random.Generator
) -> None:
    specs = {a.name: a for a in (*program.inputs, *program.inouts)}
    data = {name: array(a, sizes, rng) for name, a in specs.items()}
    given = {name: sizes[name] for name in program.free_sizes() if name in sizes}
    wanted = ps.interpret(program.outputs, **copied(data), **given)
    for kernel in kernels:
        assert_same(as_tuple(kernel(**copied(data), **given)), as_tuple(wanted))


def judged(schedule: ps.Schedule, **sizes: int) -> Report:
    """The executed loops do what the program means; how often is counted in the report."""
    known = {k: v for k, v in sizes.items() if k in schedule.parameters}
    return check(schedule, **random_arguments(schedule.program, known))


def stored(schedule: ps.Schedule, **sizes: int) -> dict[str, tuple[int, ...]]:
    """The extents of all that is stored and is no argument, with what is folded."""
    module = schedule.compile()._lowered.module
    found = (b for b in module.buffers if b.kind not in ("input", "output", "const"))
    return {b.name: tuple(compile_nodes([e])(sizes)[0] for e in b.extents) for b in found}


@contextmanager
def refused(
    schedule: ps.Schedule, *parts: str, hint: str | None = None, **data: Any
) -> Iterator[list[ps.ScheduleError]]:
    """The block must be refused and must leave the schedule as it was.

    Args:
        parts: texts in the message, in order.
        data: attributes that the error has.
    """
    before = schedule.key, str(schedule)
    caught: list[ps.ScheduleError] = []
    with pytest.raises(ps.ScheduleError) as info:
        yield caught
    error = info.value
    caught.append(error)
    assert (schedule.key, str(schedule)) == before, "a refused directive leaves a trace"
    at = 0
    for part in parts:
        assert part in error.what[at:], f"{part!r} is missing in: {error}"
        at = error.what.index(part, at)
    if hint is not None:
        assert error.hint is not None, str(error)
        assert hint in error.hint, str(error)
    for name, value in data.items():
        assert getattr(error, name) == value, f"{name} is {getattr(error, name)!r}: {error}"


def witness(error: ps.ScheduleError) -> tuple[dict[str, int], tuple[int, ...], tuple[int, ...]]:
    """The sizes and the points of source and sink."""
    assert error.source is not None
    assert error.sink is not None
    return error.sizes, tuple(error.source.point.values()), tuple(error.sink.point.values())
