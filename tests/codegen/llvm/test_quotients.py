"""Quotients are computed before loops that do not change them, once for all copies of a body."""

from __future__ import annotations

import numpy as np
import pytest
from codegen.llvm.harness import (
    add,
    buffer,
    const,
    i,
    j,
    load,
    loop,
    lt,
    module,
    op,
    param,
    run,
    size,
    store,
)

from polysched.codegen.ir import ir
from polysched.codegen.llvm.functions.functions import emit_module
from polysched.lang.nodes.dtypes import int64
from polysched.lang.nodes.nodes import Node, integer
from polysched.targets.host import default_target

n, d = size("n"), size("d")
x, y = buffer("x", int64, 16), buffer("y", int64, 16, kind="output")


def quotient(a: Node, b: Node) -> Node:
    return op("floordiv", a, b, dtype=int64)


def copies(value: Node) -> ir.Stmt:
    """What an unrolled loop at a border becomes: each copy under a condition of its own."""
    return ir.Seq(
        tuple(ir.If(lt(add(i, k), n), store(y, add(i, k), add(value, k))) for k in range(4))
    )


def divisions(body: ir.Stmt) -> tuple[int, int]:
    """How many there are, and how many of them before the first loop."""
    text = emit_module(module([x, y], [n, d], body), default_target())
    before, _, _ = text.partition("phi i64")
    return text.count("= sdiv"), before.count("= sdiv")


NESTS = {
    "of sizes": ((1, 1), loop(i, 0, n, copies(quotient(n, d)), step=4)),
    "of an outer loop": (
        (1, 0), loop(j, 0, d, loop(i, 0, n, copies(quotient(add(j, n), d)), step=4)),
    ),
    "of each iteration": ((4, 0), loop(i, 0, n, copies(quotient(add(i, n), d)), step=4)),
    "in memory": ((4, 0), loop(i, 0, n, copies(quotient(load(x, 0), d)), step=4)),
    "by a constant": ((0, 0), loop(i, 0, n, copies(quotient(n, integer(3))), step=4)),
    "computed seldom": (
        (4, 0),
        loop(
            i, 0, n,
            copies(op("rarely", lt(i, 3), quotient(n, d), const(0, int64), dtype=int64)),
            step=4,
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NESTS)
def test_a_loop_computes_what_changes_in_it(case: str) -> None:
    expected, nest = NESTS[case]
    assert divisions(nest) == expected


@pytest.mark.parametrize("divisor", [3, -3, 0, -1])
@pytest.mark.parametrize("dividend", [7, -7, -(2**63)])
def test_a_quotient_is_total_before_a_loop(dividend: int, divisor: int) -> None:
    a, b = param("a", int64), param("b", int64)
    body = loop(i, 0, n, copies(quotient(a, b)), step=4)
    out, wraps = np.full(8, 99), 2**63
    assert run(module([y], [n, a, b], body), y=out, n=6, a=dividend, b=divisor) == []
    found = dividend // divisor if divisor else 0
    wanted = [(found + k % 4 + wraps) % 2**64 - wraps for k in range(6)]
    assert out.tolist() == [*wanted, 99, 99]
