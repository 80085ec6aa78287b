"""Programs with Funcs to place, and what the tests of placement ask of a schedule."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import polysched as ps
from polysched.checking.arguments import random_arguments
from polysched.checking.examine import check, examine
from polysched.checking.report import Report
from polysched.codegen.ir.parallel import bytes_of
from polysched.lang.arithmetic.evaluate import compile_nodes

from .directives.support import same

n, m = ps.sizes("n m")
i, j, t = ps.vars("i j t")
Bytes = dict[str, int]


def blur() -> ps.Schedule:
    """`by` reads three rows of `bx`."""
    x = ps.Input("x", ps.float32, (n + 2, m + 2))
    bx, by = ps.Func("bx"), ps.Func("by", (n, m))
    bx[i, j] = (x[i, j] + x[i, j + 1] + x[i, j + 2]) / 3
    by[i, j] = (bx[i, j] + bx[i + 1, j] + bx[i + 2, j]) / 3
    return ps.Schedule(by)


def chain(length: int) -> ps.Schedule:
    """f0, f1, ...: each reads three rows of the one before it."""
    before: ps.Input | ps.Func = ps.Input("x", ps.int64, (n + 2 * length, m))
    for k in range(length):
        f = ps.Func(f"f{k}", (n, m) if k == length - 1 else None)
        f[i, j] = before[i, j] + before[i + 1, j] * 2 - before[i + 2, j]
        before = f
    assert isinstance(before, ps.Func)
    return ps.Schedule(before)


def row_sums(halo: int) -> ps.Schedule:
    """`c` are sums along the rows, of which `f` reads row i, and row i + halo if there is one."""
    x, c, f = ps.Input("x", ps.int64, (n + halo, m)), ps.Func("c"), ps.Func("f", (n, m))
    r = ps.RVar("r", 1, m)
    c[i, j] = x[i, j]
    c[i, r] = c[i, r] + c[i, r - 1]
    f[i, j] = c[i, j] * 2 + c[i + halo, j] if halo else c[i, j] * 2
    return ps.Schedule(f)


@dataclass(frozen=True)
class Ran:
    """What a run has done: of each stage, how many instances, and how often in all."""

    distinct: Counter[str]
    total: int
    again: int


def examined(s: ps.Schedule, **sizes: int) -> Report:
    """The loops of a schedule, executed one by one."""
    return examine(s, **random_arguments(s.program, sizes, 0))


def ran(s: ps.Schedule, **sizes: int) -> Ran:
    """The loops of a schedule, executed one by one and found right."""
    report = check(s, **random_arguments(s.program, sizes, 0))
    names = Counter(report.stored[key[0]].name for key in report.ran)
    return Ran(names, report.counts["instances"], len(report.again))


def kept(s: ps.Schedule, **sizes: int) -> Bytes:
    """The bytes that a call keeps of each Func that is neither input nor output, wherever."""
    variant = s.compile()._variants[False]
    found = variant.bytes(sizes)
    heap = {span.buffer.name: size for span, size in zip(variant.spans, found, strict=True)}
    stack = [b for b in variant.lowered.module.buffers if b.kind == "stack"]
    return heap | {b.name: compile_nodes([bytes_of(b)])(sizes)[0] for b in stack}


def right(s: ps.Schedule, over: tuple[int, ...] = (0, 1, 2, 5, 8), **fixed: int) -> None:
    """Native code gives the interpreter's bits, and the loops do what they must, at few sizes."""
    same(s, over=over, **fixed)
    for size in (1, 5, 6):
        ran(s, **{name: fixed.get(name, size) for name in s.program.sizes})
