"""Vector statements whose elements interleave are stored together, and copies of long chains of
operators are computed together; others stay as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from codegen.llvm.harness import add, buffer, load, lt, module, mul, run, size, store
from codegen.passes.test_pass_meaning import Unwatched

import polysched as ps
from polysched.checking.execute import Machine
from polysched.codegen.ir.ir import Lanes, Seq, Stmt, Stores
from polysched.codegen.passes.join_stores import LONG, join_stores
from polysched.interp.evaluate import Symbols
from polysched.lang.nodes.dtypes import int64
from polysched.lang.nodes.nodes import Node, Var, integer
from polysched.poly.sets.lanes import MOST_INTERLEAVED

l = ps.sizes("l")
i, c = ps.vars("i c")
n = size("n")
x, y = buffer("x", int64, 64, kind="output"), buffer("y", int64, 64, kind="output")
A = buffer("A", int64, 64)
wide = buffer("wide", int64, 4 * MOST_INTERLEAVED, kind="output")
RNG = np.random.default_rng(0)


# schedules ----------------------------------------------------------------------------------------
def channels(dtype: ps.DType, count: int, lanes: int) -> tuple[ps.Func, ps.Schedule]:
    """Pixels of `count` channels, from planes."""
    planes = ps.Input("planes", dtype, (count, l))
    f = ps.Func("f", (l, count))
    f[i, c] = planes[c, i]
    s = ps.Schedule(f)
    s[f].vectorize("i", lanes).unroll("c")
    return f, s


@pytest.mark.parametrize("dtype", [ps.uint8, ps.int16, ps.float32, ps.float64, ps.bool_])
@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 8, 12])
def test_channels_of_pixels(dtype: ps.DType, count: int) -> None:
    for lanes in (2, 8):
        _, s = channels(dtype, count, lanes)
        kernel = s.compile()
        for length in (0, 1, lanes, 3 * lanes + 1):
            planes = RNG.integers(0, 99, (count, length)).astype(dtype.numpy)
            assert np.array_equal(kernel(planes), planes.T)


@pytest.mark.parametrize("count", [2, 3, 4, 6, 8])
def test_full_vectors_are_not_taken_apart(count: int) -> None:
    """Stores of single elements are left to the last vector, under masks."""
    _, s = channels(ps.float32, count, 8)
    s.assume(l % 8 == 0)
    assert not re.findall(r"store float |scatter", s.compile().llvm)


def test_lanes_that_are_no_power_of_two_are_stored_one_by_one() -> None:
    _, s = channels(ps.float32, 3, 6)
    planes = RNG.standard_normal((3, 20)).astype(np.float32)
    assert np.array_equal(s.compile()(planes), planes.T)


def test_rows_of_a_panel() -> None:
    """A tile of rows lies column by column, as products of matrices read it."""
    f, s = channels(ps.float32, 14, 8)
    wanted = ps.interpret(f, planes := RNG.standard_normal((14, 37)).astype(np.float32))
    assert np.array_equal(s.compile()(planes), wanted)


# the pass ----------------------------------------------------------------------------------------
def lanes_of(k: int, count: int = 4) -> Lanes:
    return Lanes(Var(f"v{k}"), integer(0), count)


def stored(offsets: Sequence[int], step: int) -> list[Stores]:
    """x[step * v + offset] = A[v + offset], one statement for each offset, in vectors of 4."""
    found = []
    for k, offset in enumerate(offsets):
        lanes = lanes_of(k)
        made = store(x, add(mul(lanes.var, step), offset), load(A, add(lanes.var, offset)))
        found.append(replace(made, lanes=lanes))
    return found


def result(body: Stmt) -> list[int]:
    """What is in x in the end, from zeros in x and y, and 0, 1, ... in A."""
    program = module([x, y, A], [n], body)
    start = {"x": np.zeros(64, np.int64), "y": np.zeros(64, np.int64), "A": np.arange(64)}
    machine = Machine(program, Symbols({"n": 1}, {}), start, Unwatched())
    machine.run()
    return [int(v) for v in machine.array(x)]


def joined(*parts: Stmt) -> list[Stmt]:
    """What is left of statements, which do the same as before."""
    body = Seq(parts)
    made = join_stores(module([x, y, A], [n], body)).functions[0].body
    assert result(made) == result(body)
    return list(made.parts) if isinstance(made, Seq) else [made]


@pytest.mark.parametrize("offsets", [(0, 1, 2), (2, 0, 1), (5, 4, 3), (7, 6, 8)])
def test_a_run_in_any_order_is_one_statement(offsets: tuple[int, ...]) -> None:
    (one,) = joined(*stored(offsets, 3))
    assert isinstance(one, Stores)
    assert len(one.stores) == 3
    values = {name: np.arange(64) for name in ("x", "y", "A")}
    run(module([x, y, A], [n], one), n=1, **values)
    assert values["x"].tolist()[min(offsets) :][:12] == [
        v + min(offsets) + k for v in range(4) for k in range(3)
    ]


def test_runs_are_found_between_others() -> None:
    a, b = store(y, 1, integer(3)), stored((12,), 1)[0]
    assert [len(p.stores) for p in joined(a, *stored((0, 1), 2), b) if isinstance(p, Stores)] == [
        1,
        2,
        1,
    ]


def test_nested_runs_are_found() -> None:
    first, *others = stored((0, 1, 2), 3)
    assert len(joined(Seq((first,)), Seq(tuple(others)))) == 1


LEFT_ALONE = {
    "an element is missing": stored((0, 1), 3),
    "an element is stored twice": stored((0, 1, 1), 3),
    "elements are far from each other": stored((0, 1, 5), 3),
    "another statement is between": [
        stored((0,), 2)[0],
        store(y, 0, integer(1)),
        stored((0, 1), 2)[1],
    ],
    "lanes begin elsewhere": [
        stored((0,), 2)[0],
        replace(stored((0, 1), 2)[1], lanes=Lanes(Var("v1"), integer(1), 4)),
    ],
    "there are more lanes": [
        stored((0,), 2)[0],
        replace(stored((0, 1), 2)[1], lanes=lanes_of(1, 8)),
    ],
    "another buffer": [
        stored((0,), 2)[0],
        replace(store(y, add(mul(Var("v1"), 2), 1), integer(1)), lanes=lanes_of(1)),
    ],
    "lanes fold": [
        replace(s, lanes=replace(s.lanes, folds=True))
        for s in stored((0, 1), 2)
        if s.lanes is not None
    ],
    "some lanes store": [
        replace(s, stores=(replace(s.stores[0], guard=lt(s.lanes.var, 2)),))
        for s in stored((0, 1), 2)
        if s.lanes is not None
    ],
    "written past the caches": [
        replace(s, stores=(replace(s.stores[0], stream=True),)) for s in stored((0, 1), 2)
    ],
}


@pytest.mark.parametrize("parts", LEFT_ALONE.values(), ids=list(LEFT_ALONE))
def test_left_alone(parts: list[Stmt]) -> None:
    assert joined(*parts) == parts


def test_more_than_are_held_at_once_are_left_alone() -> None:
    lanes = [lanes_of(k, 2) for k in range(MOST_INTERLEAVED + 1)]
    parts: list[Stmt] = [
        replace(store(wide, add(mul(at.var, MOST_INTERLEAVED + 1), k), load(A, k)), lanes=at)
        for k, at in enumerate(lanes)
    ]
    made = join_stores(module([wide, A], [n], Seq(tuple(parts)))).functions[0].body
    assert made == Seq(tuple(parts))


def test_values_that_depend_on_what_is_stored_are_left_alone() -> None:
    """The second statement reads what the first one has stored."""
    first, second = stored((0, 1), 2)
    assert second.lanes is not None
    at = second.lanes.var
    reads = replace(store(x, add(mul(at, 2), 1), load(x, mul(at, 2))), lanes=second.lanes)
    assert joined(first, reads) == [first, reads]
    elsewhere = replace(store(x, add(mul(at, 2), 1), load(y, mul(at, 2))), lanes=second.lanes)
    assert len(joined(first, elsewhere)) == 1


# copies of a chain --------------------------------------------------------------------------------
def chain(length: int, copies: int, read: str = "A") -> list[Stmt]:
    """x[4 * copy + v] = A[4 * copy + v] + 1 + 1 + ..., one statement for each copy."""
    found: list[Stmt] = []
    for k in range(copies):
        lanes = lanes_of(k)
        value: Node = load({"A": A, "x": x, "y": y}[read], add(lanes.var, 4 * k))
        for _ in range(length):
            value = add(value, 1)
        found.append(replace(store(x, add(lanes.var, 4 * k), value), lanes=lanes))
    return found


@pytest.mark.parametrize(("copies", "wanted"), [(2, [2]), (4, [4]), (6, [4, 2]), (9, [4, 4, 1])])
def test_copies_of_a_long_chain_are_one_statement(copies: int, wanted: list[int]) -> None:
    parts = joined(*chain(LONG, copies))
    assert [len(p.stores) for p in parts if isinstance(p, Stores)] == wanted


def test_short_chains_are_left_alone() -> None:
    assert len(joined(*chain(LONG - 1, 4))) == 4


def test_copies_that_read_what_others_store_are_left_alone() -> None:
    assert len(joined(*chain(LONG, 4, read="x"))) == 4
    assert len(joined(*chain(LONG, 4, read="y"))) == 1


def test_other_chains_are_no_copies() -> None:
    first, second, third = chain(LONG, 2)[0], chain(LONG + 1, 2)[1], chain(LONG, 3)[2]
    assert len(joined(first, second, third)) == 3


def test_copies_take_turns() -> None:
    """The divisions of all copies follow each other: each copy computes its exponential before the
    first of them. Those behind them are of branches for large arguments."""
    a = ps.Input("a", ps.float32, (l,))
    f = ps.Func("f", (l,))
    f[i] = ps.sigmoid(a[i])
    s = ps.Schedule(f)
    s[f].vectorize(i, 8).unroll(i, 4)
    kernel = s.assume(l % 32 == 0).compile()
    lines = [x for x in kernel.llvm.splitlines() if "<8 x float>" in x and "%" in x]
    divisions = [k for k, line in enumerate(lines) if "fdiv" in line]
    usual, rare = divisions[:4], divisions[4:]
    assert len(rare) == 4
    assert usual[-1] - usual[0] == 3
    given = RNG.standard_normal(64).astype(np.float32)
    assert np.array_equal(kernel(given), ps.interpret(f, given))


@pytest.mark.parametrize("begin", [0, 1])
def test_copies_are_streamed_where_all_are_aligned(begin: int) -> None:
    """Elsewhere, as in every second row here, they are stored as others are."""
    a = ps.Input("a", ps.float32, (3, 64))
    f = ps.Func("f", (3, 65 - begin))
    f[c, i] = ps.sigmoid(a[c, ps.minimum(i, 63)])
    s = ps.Schedule(f)
    s[f].vectorize(i, 8).unroll(i, 4).stream()
    kernel = s.compile()
    assert kernel.llvm.count("!nontemporal") >= 4
    given = RNG.standard_normal((3, 64)).astype(np.float32)
    assert np.array_equal(kernel(given), ps.interpret(f, given))
