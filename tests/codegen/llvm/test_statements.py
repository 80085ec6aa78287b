"""Loops, branches, guards and the order of loads and stores."""

from __future__ import annotations

import random

import numpy as np
import pytest
from codegen.llvm.harness import (
    add,
    buffer,
    compiled,
    entry,
    i,
    j,
    load,
    loop,
    lt,
    module,
    mul,
    node,
    op,
    run,
    size,
    slots_of,
    store,
)
from codegen.llvm.reference import Machine

from polysched.codegen.ir import ir
from polysched.codegen.llvm.functions.functions import emit_module
from polysched.lang.errors.errors import InternalError
from polysched.lang.nodes.dtypes import bool_, float32, int64
from polysched.lang.nodes.nodes import Node, Var
from polysched.targets.host import default_target

n, m = size("n"), size("m")


def out_buffer(name: str = "out") -> ir.Buffer:
    return buffer(name, int64, n, kind="output")


@pytest.mark.parametrize("step", [1, 2, 3, 7])
def test_loops_of_all_lengths(step: int) -> None:
    """Runs var = lo, lo + step, ... < hi, also where that is nothing."""
    out = out_buffer()
    body = store(out, add(i, 5), add(load(out, add(i, 5)), 1))
    kernel = module([out], [n, m], loop(i, m, n, body, step))
    call = entry(compiled(kernel))
    for lo in range(-5, 6):
        for hi in range(-7, 12):
            got = np.zeros(20, np.int64)
            call(slots_of(kernel, {"out": got, "n": hi, "m": lo}))
            wanted = np.zeros(20, np.int64)
            wanted[np.arange(lo, max(lo, hi), step) + 5] = 1
            assert got.tolist() == wanted.tolist(), (lo, hi)


def test_an_iteration_or_none_is_a_branch() -> None:
    """The loop inside, of at most one iteration, has no variable and does not go back."""
    out = out_buffer()
    body = store(out, j, add(load(out, j), 1))
    phis = []
    for extent in (1, 2):
        rest = loop(j, i, op("min", add(i, extent), m), body)
        kernel = module([out], [n, m], loop(i, 0, n, rest))
        phis.append(emit_module(kernel, default_target()).count(" = phi "))
        call = entry(compiled(kernel))
        for end in (0, 3, 6):
            got, wanted = np.zeros(8, np.int64), np.zeros(8, np.int64)
            call(slots_of(kernel, {"out": got, "n": 6, "m": end}))
            for first in range(6):
                wanted[first : min(first + extent, end)] += 1
            assert got.tolist() == wanted.tolist(), (extent, end)
    assert phis[1] == phis[0] + 1


def test_bounds_are_read_once() -> None:
    """A store in the body does not move the loop's end."""
    out = out_buffer()
    body = store(out, 0, add(load(out, 0), 1))
    got = np.array([5])
    run(module([out], [n], loop(i, 0, load(out, 0), body)), out=got, n=1)
    assert got.tolist() == [10]


def test_bounds_may_use_outer_loops() -> None:
    out = out_buffer()
    body = store(out, add(mul(i, 8), j), node(1))
    got = np.zeros(64, np.int64)
    run(module([out], [n], loop(i, 0, 8, loop(j, i, add(i, 1), body))), out=got, n=64)
    assert got.reshape(8, 8).tolist() == np.eye(8, dtype=np.int64).tolist()


def test_values_of_all_stores_are_computed_first() -> None:
    """A swap: also of what indices and guards read."""
    out = out_buffer()
    swap = ir.Stores(
        (
            ir.Store(out, (node(0),), load(out, 1)),
            ir.Store(out, (node(1),), load(out, 0)),
            ir.Store(out, (load(out, 0),), node(30), lt(load(out, 1), 100)),
        )
    )
    got = np.array([2, 99, 7])
    run(module([out], [n], swap), out=got, n=3)
    assert got.tolist() == [99, 2, 30]


def test_a_load_is_repeated_after_a_store() -> None:
    out = out_buffer()
    double = store(out, 0, add(load(out, 0), load(out, 0)))
    got = np.array([3])
    run(module([out], [n], ir.Seq((double, double, double))), out=got, n=1)
    assert got.tolist() == [24]


def test_an_input_is_loaded_once() -> None:
    x, a, b = buffer("x", int64, n), out_buffer("a"), out_buffer("b")
    value = mul(load(x, i), load(x, i))
    body = ir.Seq((store(a, i, value), store(b, i, add(value, 1))))
    text = emit_module(module([x, a, b], [n], loop(i, 0, n, body)), default_target())
    nest = text.partition("define internal void")[2].partition("define void")[0]
    assert nest.count("load i64") == 1
    assert nest.count(" mul ") == 1


def test_what_a_branch_computed_is_not_used_after_it() -> None:
    """The verifier would find a value that does not dominate its use; so would the result."""
    out = out_buffer()
    square = mul(mul(n, n), n)
    inside = ir.If(lt(n, 3), store(out, 0, square))
    after = store(out, 1, add(square, 1))
    for value in (2, 4):
        got = np.array([-1, -1])
        run(module([out], [n], ir.Seq((inside, after))), out=got, n=value)
        assert got.tolist() == [8 if value == 2 else -1, value**3 + 1]


def test_guards_of_stores() -> None:
    out = out_buffer()
    body = store(out, i, i, lt(i, 3))
    got = np.full(6, -1)
    run(module([out], [n], loop(i, 0, n, body)), out=got, n=6)
    assert got.tolist() == [0, 1, 2, -1, -1, -1]


@pytest.mark.parametrize("dtype", [int64, float32, bool_], ids=str)
def test_a_load_whose_guard_fails_is_zero(dtype: object) -> None:
    x, out = buffer("x", dtype, n), buffer("out", dtype, n, kind="output")  # type: ignore[arg-type]
    body = store(out, i, load(x, i, lt(i, 2)))
    got = np.ones(4, x.dtype.numpy)
    run(module([x, out], [n], loop(i, 0, n, body)), x=np.ones(4, x.dtype.numpy), out=got, n=4)
    assert got.tolist() == [1, 1, 0, 0]


@pytest.mark.slow
def test_deep_expressions() -> None:
    """Three thousand operators on top of each other: nothing recurses."""
    out = out_buffer()
    value: Node = n
    for step in range(3_000):
        value = op("xor" if step % 2 else "add", value, n, dtype=int64)
    wanted = 12345
    for step in range(3_000):
        wanted = wanted ^ 12345 if step % 2 else wanted + 12345
    got = np.array([0])
    run(module([out], [n], store(out, 0, value)), out=got, n=12345)
    assert got.tolist() == [wanted]


def test_an_index_that_is_not_flat_is_an_internal_error() -> None:
    out = out_buffer()
    bad = ir.Stores((ir.Store(out, (i, j), node(1)),))
    with pytest.raises(InternalError, match="the index of out is not flattened: 2 axes"):
        emit_module(module([out], [n], loop(i, 0, n, loop(j, 0, n, bad))), default_target())


def test_an_unknown_name_is_an_internal_error() -> None:
    out = out_buffer()
    with pytest.raises(InternalError, match=r"Var\(name='elsewhere'\) is unknown in this kernel"):
        emit_module(module([out], [n], store(out, 0, Var("elsewhere"))), default_target())


class Fuzz:
    """Random statements over two arrays that are written and one that is not.

    Expressions are drawn from a pool that statements share, so that every wrong reuse of a value
    (after a store, after a branch, in another iteration) has a chance to show.
    """

    SIZE = 8

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.x, self.a, self.b = buffer("x", int64, 8), out_buffer("a"), out_buffer("b")
        self.pools: list[list[Node]] = [[n, m, node(0), node(1), node(3), node(-2)]]
        self.loops = 0

    def pick(self) -> Node:
        return self.random.choice(self.random.choice(self.pools))

    def grow(self) -> Node:
        """A new expression, kept for later in the innermost pool."""
        kind = self.random.randrange(7)
        names = ["add", "sub", "mul", "min", "max", "floordiv", "mod"]
        if kind < 3:
            made: Node = op(self.random.choice(names), self.pick(), self.pick(), dtype=int64)
        elif kind == 3:
            made = op("select", self.condition(), self.pick(), self.pick(), dtype=int64)
        elif kind == 4:
            made = load(self.buffer(), self.index())
        else:
            far = op("and", self.pick(), node(15), dtype=int64)
            made = load(self.buffer(), far, lt(far, self.SIZE))
        self.pools[-1].append(made)
        return made

    def buffer(self) -> ir.Buffer:
        return self.random.choice([self.x, self.a, self.b])

    def index(self) -> Node:
        return op("and", self.pick(), node(self.SIZE - 1), dtype=int64)

    def condition(self) -> Node:
        name = self.random.choice(["lt", "le", "eq", "ne"])
        return op(name, self.pick(), self.pick(), dtype=bool_)

    def store(self) -> ir.Store:
        guard = self.condition() if self.random.random() < 0.3 else None
        return ir.Store(self.random.choice([self.a, self.b]), (self.index(),), self.grow(), guard)

    def stmt(self, depth: int) -> ir.Stmt:
        kind = self.random.randrange(6)
        if depth == 0 or kind == 0:
            return ir.Stores(tuple(self.store() for _ in range(self.random.randint(1, 3))))
        if kind == 1:
            return ir.Count(self.random.randrange(2), self.condition())
        if kind == 2:
            return ir.If(self.condition(), self.nested([], depth))
        if kind == 3:
            self.loops += 1
            var = Var(f"v{self.loops}")
            lo, hi = (op("and", self.pick(), node(3), dtype=int64) for _ in range(2))
            return loop(var, lo, hi, self.nested([var], depth), self.random.randint(1, 2))
        return ir.Seq(tuple(self.stmt(depth - 1) for _ in range(3)))

    def nested(self, names: list[Node], depth: int) -> ir.Stmt:
        self.pools.append([*names, node(2)])
        body = self.stmt(depth - 1)
        self.pools.pop()
        return body


@pytest.mark.parametrize("seed", range(50))
def test_random_statements_agree_with_the_reference(seed: int) -> None:
    fuzz = Fuzz(seed)
    body = ir.Seq(tuple(fuzz.stmt(4) for _ in range(3)))
    kernel = module([fuzz.x, fuzz.a, fuzz.b], [n, m], body, counters=2)
    start = {name: np.arange(8) * factor for name, factor in (("x", 3), ("a", -1), ("b", 5))}
    got = {name: array.copy() for name, array in start.items()}
    counters = run(kernel, **got, n=5, m=-3)
    machine = Machine({b: start[b.name] for b in kernel.buffers}, {n: 5, m: -3}, 2)
    machine.run(body)
    assert counters == machine.counters
    for name, array in start.items():
        assert got[name].tolist() == array.tolist(), name
