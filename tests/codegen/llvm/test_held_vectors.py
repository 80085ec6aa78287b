"""What lanes hold is reused by later statements, as long as it is still there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from codegen.llvm.harness import add, buffer, i, load, loop, lt, module, op, run, size, store

from polysched.codegen.ir import ir
from polysched.codegen.llvm.functions.functions import emit_module
from polysched.lang.nodes.dtypes import float32
from polysched.lang.nodes.nodes import Node, integer
from polysched.targets.host import default_target

LANES = ir.Lanes(i, integer(0), 4)
x, y, a, b = (
    buffer(name, float32, 8, kind=kind)
    for name, kind in (("x", "input"), ("y", "output"), ("a", "output"), ("b", "output"))
)
n = size("n")


def lanes(target: ir.Buffer, value: Node, at: Node | int = i) -> ir.Stores:
    return replace(store(target, at, value), lanes=LANES)


def twice(source: ir.Buffer) -> Node:
    return op("mul", load(source, i), load(source, i))


def loads(*parts: ir.Stmt) -> int:
    """How many loads of vectors there are."""
    text = emit_module(module([x, y, a, b], [n], ir.Seq(parts)), default_target())
    return text.count("= load <4 x float>")


AGAIN = {
    "of an input": (1, (lanes(a, twice(x)), lanes(b, load(x, i)))),
    "of what is not stored to": (1, (lanes(a, twice(y)), lanes(b, load(y, i)))),
    "but not of what is": (2, (lanes(y, twice(y)), lanes(b, load(y, i)))),
    "even elsewhere": (2, (lanes(a, twice(y)), store(y, 7, load(x, 0)), lanes(b, load(y, i)))),
    "nor behind a loop": (
        2, (lanes(a, twice(y)), loop(i, 0, n, store(y, i, load(x, i))), lanes(b, load(y, i))),
    ),
    "nor of a branch": (2, (ir.If(lt(n, 3), lanes(a, twice(y))), lanes(b, load(y, i)))),
    "nor of other lanes": (
        2,
        (
            lanes(a, twice(x)),
            replace(store(b, i, load(x, i)), lanes=replace(LANES, lo=integer(4))),
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", AGAIN)
def test_loads_stand_once(case: str) -> None:
    count, parts = AGAIN[case]
    assert loads(*parts) == count


@pytest.mark.parametrize("case", AGAIN)
def test_values_are_those_of_the_statements_one_by_one(case: str) -> None:
    _, parts = AGAIN[case]
    given = {name: np.arange(8, dtype=np.float32) + k for k, name in enumerate("xyab")}
    wanted = {name: array.copy() for name, array in given.items()}
    for part in parts:  # each by itself finds nothing that is kept
        run(module([x, y, a, b], [n], part), **wanted, n=2)
    run(module([x, y, a, b], [n], ir.Seq(parts)), **given, n=2)
    for name in "yab":
        np.testing.assert_array_equal(given[name], wanted[name])


def test_addresses_of_a_branch_are_not_used_behind_it() -> None:
    """A guarded store has its address where it happens."""
    guarded = store(y, add(i, 1), load(x, i))
    guarded = replace(guarded, stores=(replace(guarded.stores[0], guard=lt(i, n)),))
    program = module([x, y], [n], loop(i, 0, 4, ir.Seq((guarded, store(y, add(i, 1), load(x, 0))))))
    given = {name: np.arange(8, dtype=np.float32) + 1 for name in "xy"}
    run(program, **given, n=2)
    assert given["y"].tolist() == [1, 1, 1, 1, 1, 6, 7, 8]
