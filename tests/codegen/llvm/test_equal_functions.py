"""Functions that are equal but for names stand once, and each call has its own buffers."""

from __future__ import annotations

import numpy as np
import pytest
from codegen.llvm.harness import add, buffer, i, load, loop, lt, module, op, run, size, store

from polysched.codegen.ir import ir
from polysched.codegen.llvm.functions.functions import emit_module
from polysched.lang.nodes.dtypes import int64
from polysched.lang.nodes.nodes import integer
from polysched.targets.host import default_target

n, m = size("n"), size("m")
x, y, a, b, c = (
    buffer(name, int64, 8, kind=kind)
    for name, kind in (("x", "input"), ("y", "input"), ("a", "output"), ("b", "output"),
                       ("c", "output"))
)  # fmt: skip


def nest(
    target: ir.Buffer, source: ir.Buffer, by: int = 1, to: ir.Node = n, kind: str = "serial"
) -> ir.For:
    body = store(target, i, add(load(source, i), by))
    return ir.For(i, integer(0), to, 1, kind, body, "i")


def functions(program: ir.Module, once: bool = True) -> int:
    """How many there are beside the entry."""
    return emit_module(program, default_target(), once=once).count("define internal void")


@pytest.mark.parametrize(("kind", "each"), [("serial", 1), ("parallel", 3)])
def test_equal_nests_are_one_function_that_is_called_with_other_buffers(
    kind: str, each: int
) -> None:
    """Of a parallel loop, its body and the task are shared as well."""
    program = module([x, y, a, b], [n], nest(a, x, kind=kind), nest(b, y, kind=kind))
    assert functions(program) == each
    assert functions(program, once=False) == 2 * each
    given = {name: np.arange(8) * k for k, name in enumerate("xyab", 1)}
    run(program, **given, n=6)
    assert given["a"].tolist() == [*range(1, 7), 18, 21]
    assert given["b"].tolist() == [*range(1, 13, 2), 24, 28]


OTHER = {
    "another constant": nest(b, y, by=2),
    "another end": nest(b, y, to=op("mul", n, integer(2), dtype=int64)),
    "what it reads may be written": nest(b, c),
    "what it reads is what it writes": nest(b, b),
    "another way of the loop": loop(i, 0, n, ir.If(lt(i, 3), nest(b, y).body)),
}


@pytest.mark.parametrize("case", OTHER)
def test_functions_that_differ_stay_apart(case: str) -> None:
    program = module([x, y, a, b, c], [n], nest(a, x), OTHER[case])
    assert functions(program) == 2


def test_two_sizes_are_passed_to_one_function() -> None:
    program = module([x, y, a, b], [n, m], nest(a, x), nest(b, y, to=m))
    given = {name: np.zeros(8, np.int64) for name in "xyab"}
    assert functions(program) == 1
    run(program, **given, n=2, m=5)
    assert (given["a"].sum(), given["b"].sum()) == (2, 5)
