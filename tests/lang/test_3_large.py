"""Deep, wide and long programs: every step must be linear in the distinct nodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import numpy as np
import pytest
from counting import calls
from lang.support import run

import polysched as ps

n = ps.sizes("n")
i, j = ps.vars("i j")
A = ps.Input("A", ps.float32, (n,))


def within(limit: int) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """A test that takes no more calls of functions: twice what is needed. What is quadratic or
    worse would take many more."""

    def limited(test: Callable[[], None]) -> Callable[[], None]:
        @wraps(test)
        def run() -> None:
            with calls(limit=limit):
                test()

        return run

    return limited


def func(value, shape=(n,)):
    f = ps.Func("f", shape)
    f[i] = value
    return f


@pytest.mark.slow
@within(30_000_000)
def test_3_large_ten_thousand_nested_additions():
    e = A[i]
    for _ in range(10_000):
        e = e + A[i]
    f = func(e)
    assert len(repr(e)) < 100_000
    assert len(str(f)) < 100_000
    assert run(f, A=np.ones(3, np.float32)).tolist() == [10_001] * 3


@pytest.mark.slow
@within(10_000_000)
def test_3_large_nesting_to_the_right():
    e = A[i]
    for step in range(5_000):
        e = step % 3 - e
    f = func(e)
    total = np.float32(2)
    for step in range(5_000):
        total = np.float32(step % 3) - total
    assert run(f, A=np.float32([2])) == total


@pytest.mark.slow
@within(1_000_000)
def test_3_large_a_squaring_used_twice_each_time():
    """As a tree 2**200 nodes; as a DAG 200."""
    z = c = A[i]
    for _ in range(200):
        z = z * z + c
    f = func(z)
    assert len(repr(z)) < 1_000_000
    assert len(str(f)) < 1_000_000
    x = np.float32([0.1, -0.2, 0.25])
    wanted = x.astype(float)
    for _ in range(200):
        wanted = wanted * wanted + x
    np.testing.assert_allclose(run(f, A=x), wanted, rtol=1e-5)


@pytest.mark.slow
@within(2_200_000)
def test_3_large_selects_used_twice_each_time():
    z = A[i]
    for step in range(60):
        z = ps.select(z > step, z - 1, z + A[ps.clip(i + step, 0, n - 1)] * 0)
    assert run(func(z), A=np.float32([5, -1])).shape == (2,)


@pytest.mark.slow
@within(3_400_000)
def test_3_large_hundreds_of_arms():
    f = ps.Func("f", (400,))
    f[i] = ps.mux(i, [k * k for k in range(400)])
    assert np.array_equal(run(f), np.arange(400) ** 2)


@pytest.mark.slow
@within(2_000_000)
def test_3_large_a_hundred_updates():
    f = func(A[i])
    for step in range(100):
        f[i] += A[n - 1 - i] * (step % 3)
    wanted = np.float32([1, 2]) + np.float32([2, 1]) * sum(s % 3 for s in range(100))
    assert np.array_equal(run(f, A=np.float32([1, 2])), wanted)


@pytest.mark.slow
@within(1_400_000)
def test_3_large_a_chain_of_a_hundred_funcs():
    last = A
    for step in range(100):
        f = ps.Func(f"stage{step}", (n,))
        f[i] = last[i] + step
        last = f
    assert run(last, A=np.float32([1])) == 1 + 4950


@pytest.mark.slow
@within(1_200_000)
def test_3_large_a_stencil_chain_that_must_not_be_inlined():
    """Each stage reads two points of the one before: inlined, 2**40 reads."""
    last = A
    for _ in range(40):
        f = ps.Func("stage", (n,))
        f[i] = ps.strict(last[i] * 0.5) + ps.strict(last[ps.maximum(i - 1, 0)] * 0.5)
        last = f
    assert run(last, A=np.float32([1, 1, 1])).tolist() == [1, 1, 1]


@pytest.mark.slow
@within(700_000)
def test_3_large_many_inputs():
    inputs = [ps.Input(f"I{k}", ps.int64, (n,)) for k in range(150)]
    f = func(sum(x[i] for x in inputs))
    arrays = [np.array([k]) for k in range(150)]
    assert f(*arrays) == sum(range(150))
    assert ps.interpret(f, *arrays) == sum(range(150))


@within(100_000)
def test_3_large_rank_eight():
    vars = ps.vars("a b c d e f g h")
    X = ps.Input("X", ps.int16, (2,) * 8)
    y = ps.Func("y", (2,) * 8)
    y[vars] = X[vars[::-1]] + vars[0]
    x = np.arange(256, dtype=np.int16).reshape((2,) * 8)
    wanted = x.transpose() + np.arange(2).reshape(2, 1, 1, 1, 1, 1, 1, 1)
    assert np.array_equal(run(y, X=x), wanted)


@pytest.mark.slow
@within(3_200_000)
def test_3_large_expressions_are_freed():
    """Nodes are kept only as long as something uses them; a deep one goes without recursion."""
    from polysched.lang.nodes import nodes

    e = A[i]
    for _ in range(50_000):
        e = e + 1.5
    before = len(nodes._table)
    del e
    assert len(nodes._table) < before - 45_000
