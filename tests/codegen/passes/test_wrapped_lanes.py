"""Indices of vectors that wrap around between two lanes, beside Params of 64 bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.build.build import build
from polysched.codegen.ir.ir import If, walk
from polysched.codegen.passes.full_lanes import full_lanes
from polysched.lang.nodes.nodes import Node

n, m = ps.sizes("n m")
j = ps.vars("j")
a = ps.Input("a", ps.int32, (n,))
FAR = ps.Param("p", ps.int64)
NEAR = (
    ps.Param("p", ps.int32),
    ps.Param("p", ps.uint32),
    ps.Param("p", ps.int64, min=-5, max=2**40),
)
Index = Callable[[Node, Node], Node]

ENDS: dict[str, Index] = {
    "sum": lambda p, x: ps.clip(p + x, 0, n - 1),
    "difference": lambda p, x: ps.clip(p - x, 0, n - 1),
    "up-and-down": lambda p, x: ps.clip(p + x % 4, 0, n - 1),
    "steps": lambda p, x: ps.clip(p + x // 4, 0, n - 1),
    "around": lambda p, x: (p + x) % n,
    "around-up-and-down": lambda p, x: (p + x % 4) % n,
    "quotient": lambda p, x: ps.clip((p + x) // n, 0, n - 1),
}


def in_lanes(index: Index, p: Node) -> ps.Schedule:
    """An array read at an index, eight lanes at a time."""
    f = ps.Func("f", (8 * m,))  # lanes are outside of no border of its own
    f[j] = a[index(p, j)]
    s = ps.Schedule(f)
    s[f].vectorize(j, 8)
    return s


@pytest.mark.parametrize("name", ENDS)
def test_lanes_wrap_around_as_the_program_says(name: str) -> None:
    """It was tested in the last lane alone that all read inside of the array, and that one had come
    round to the other end: what they read lay outside."""
    s = in_lanes(ENDS[name], FAR)
    kernel, values = s.compile(), np.arange(90, dtype=np.int32)
    for p in (2**63 - 1, 2**63 - 4, -(2**63), 3 - 2**63, 5):
        wanted = ps.interpret(s.program.outputs[0], a=values, p=p, m=3)
        np.testing.assert_array_equal(kernel(a=values, p=p, m=3), wanted)


@pytest.mark.parametrize("name", ["sum", "difference", "up-and-down", "around"])
@pytest.mark.parametrize("p", NEAR, ids=["int32", "uint32", "bounded"])
def test_params_of_few_bits_or_in_bounds_leave_full_vectors(name: str, p: Node) -> None:
    """Beside those no index wraps around: one test of a vector says that its lanes are inside."""
    assert versions(in_lanes(ENDS[name], p)) == 1
    assert versions(in_lanes(ENDS[name], FAR)) == 0


def versions(s: ps.Schedule) -> int:
    """How many vector statements have one for lanes that all read inside of the array."""
    module = full_lanes(build(s.loop_program))
    return sum(isinstance(x, If) and x.choice for f in module.functions for x in walk(f.body))
