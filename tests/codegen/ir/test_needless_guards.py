"""Guards of vectors that hold in all lanes, and those that only seem to."""

from __future__ import annotations

import numpy as np
import pytest
from codegen.llvm.harness import Index, add, buffer, load, lt, mul, node, op, size

import polysched as ps
from polysched.codegen.build.build import build
from polysched.codegen.ir.ir import For, Lanes, Load, Store, Stores, walk
from polysched.codegen.ir.needless_guards import without_needless_guards
from polysched.codegen.ir.simplify import load_guards
from polysched.codegen.lower import passed
from polysched.lang.nodes.dtypes import bool_, int64
from polysched.lang.nodes.nodes import Node, Var
from polysched.steps import Log

x, j, v, n, m = Var("x"), Var("j"), Var("v"), size("n"), size("m")
A, B = buffer("A", ps.float32, n), buffer("B", ps.float32, n, kind="output")
LANES = 8


def guarded(guard: Node, step: int = 1, lo: Index = 0) -> Stores:
    """B[v] = A[v], both where a guard holds."""
    stores = (Store(B, (v,), load(A, v, guard), guard),)
    return Stores(stores, Lanes(v, node(lo), LANES, step))


def left(guard: Node, *known: Node, step: int = 1, lo: Index = 0) -> bool:
    """Whether the guards are there still; both are, or none is."""
    made = without_needless_guards(guarded(guard, step, lo), known)
    assert isinstance(made, Stores)
    (store,) = made.stores
    assert isinstance(store.value, Load)
    assert (store.guard is None) == (store.value.guard is None)
    return store.guard is not None


@pytest.mark.parametrize(
    ("guard", "known", "step", "lo"),
    [
        (lt(add(x, v), n), lt(add(x, 7), n), 1, 0),
        (lt(add(x, v), n), lt(add(x, 15), n), 1, 0),
        (lt(v, n), lt(add(x, 7), n), 1, x),
        (lt(add(x, v), n), lt(add(x, 14), n), 2, 0),
        (
            lt(v, op("min", op("sub", n, x, dtype=int64), node(8), dtype=int64)),
            lt(add(x, 7), n),
            1,
            0,
        ),
        (lt(op("sub", x, v, dtype=int64), n), lt(x, n), 1, 0),
        (lt(j, op("sub", n, v, dtype=int64)), lt(add(j, 7), n), 1, 0),
    ],
)
def test_guards_that_hold_in_all_lanes_go(guard: Node, known: Node, step: int, lo: Index) -> None:
    assert not left(guard, known, step=step, lo=lo)


@pytest.mark.parametrize(
    ("guard", "known", "step"),
    [
        (lt(add(x, v), n), lt(add(x, 6), n), 1),  # not in the last lane
        (lt(add(x, v), n), lt(add(x, 7), n), 2),
        (lt(op("sub", x, v, dtype=int64), n), lt(x, add(n, 1)), 1),  # not in the first one
        (lt(add(x, v), n), lt(add(x, 7), m), 1),
        (lt(add(x, v), n), lt(add(j, 7), n), 1),
        (lt(add(x, mul(v, 2)), n), lt(add(x, 7), n), 1),
        (lt(op("floordiv", add(x, v), node(2), dtype=int64), n), lt(add(x, 7), n), 1),
        (op("and", lt(add(x, v), n), lt(v, m), dtype=bool_), lt(add(x, 7), n), 1),
    ],
)
def test_other_guards_stay(guard: Node, known: Node, step: int) -> None:
    assert left(guard, known, step=step)


def product() -> ps.Schedule:
    """A product in tiles of registers, whose sum is unrolled."""
    rows, columns, terms = ps.sizes("rows columns terms")
    r, c, k = ps.Var("r"), ps.Var("c"), ps.RVar("k", 0, terms)
    a, b = ps.Input("a", ps.float32, (rows, terms)), ps.Input("b", ps.float32, (terms, columns))
    f = ps.Func("f", (rows, columns))
    f[r, c] = 0.0
    f[r, c] += a[r, k] * b[k, c]
    s = ps.Schedule(f)
    u = s["f"].update(0)
    u.split("r", 2, names=("ro", "ri"))
    u.split("c", 2 * LANES, names=("co", "ci"))
    u.reorder("ro", "co", "k", "ri", "ci").accumulate_at("co")
    u.vectorize("ci", LANES).unroll("ci").unroll("ri").unroll("k", 4)
    return s


def test_what_is_left_of_a_sum_has_no_masks_in_a_full_tile() -> None:
    """In tiles at borders it has."""
    (nest,) = [
        f.body for f in passed(build(product().loop_program), Log()).functions
        if any(isinstance(x, For) and x.var.name.startswith("rest#") for x in walk(f.body))
    ]  # fmt: skip
    rests = [x for x in walk(nest) if isinstance(x, For) and x.var.name.startswith("rest#")]
    stores = [[s for x in walk(rest) if isinstance(x, Stores) for s in x.stores] for rest in rests]
    full = [all(not has_guards(s) for s in inside) for inside in stores]
    assert full.count(True) == 1 < len(full)


def has_guards(s: Store) -> bool:
    return s.guard is not None or bool(load_guards(s.value))


@pytest.mark.parametrize("terms", [3, 7, 8])
@pytest.mark.parametrize("columns", [16, 17, 31])
def test_it_has_the_bits_of_the_program(terms: int, columns: int) -> None:
    rng = np.random.default_rng(0)
    a = rng.random((5, terms), np.float32)
    b = rng.random((terms, columns), np.float32)
    s = product()
    np.testing.assert_array_equal(s.compile()(a, b), ps.interpret(s.funcs[0], a, b))
