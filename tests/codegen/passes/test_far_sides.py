"""Selects that read one thing below a bound and another above it: full vectors on either side."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import accumulate
from textwrap import dedent

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import polysched as ps
from polysched.codegen.build.build import build
from polysched.codegen.ir.ir import Load, Module, Stores, expressions, walk
from polysched.codegen.ir.text import stmt_text
from polysched.codegen.lower import ON_LOOPS, Pass
from polysched.codegen.passes.full_lanes import full_lanes
from polysched.codegen.passes.hoist_conditions import hoist_conditions
from polysched.codegen.passes.split_loops import split_loops
from polysched.lang.nodes.nodes import Op, postorder

n, m, l, k = ps.sizes("n m l k")
i, j = ps.vars("i j")


def behind(*sizes: ps.Size) -> ps.Func:
    """Arrays, one behind the other."""
    ends = [*accumulate(sizes)]
    parts = [
        ps.Input("abcde"[x], ps.float32, (size,))[i - ends[x - 1] if x else i]
        for x, size in enumerate(sizes)
    ]
    f = ps.Func("f", (ends[-1],))
    found = parts[-1]
    for part, end in zip(parts[-2::-1], ends[-2::-1], strict=True):
        found = ps.select(i < end, part, found)
    f[i] = found
    return f


def below(first: ps.Size, second: ps.Size) -> ps.Func:
    """Two arrays of rows of one length, one below the other."""
    a, b = ps.Input("a", ps.float32, (first, l)), ps.Input("b", ps.float32, (second, l))
    f = ps.Func("f", (first + second, l))
    f[i, j] = ps.select(i < first, a[i, j], b[i - first, j])
    return f


def beside(first: ps.Size, second: ps.Size) -> ps.Func:
    """Two arrays of as many rows, one to the right of the other, the right one said first."""
    a, b = ps.Input("a", ps.float32, (l, first)), ps.Input("b", ps.float32, (l, second))
    f = ps.Func("f", (l, first + second))
    f[i, j] = ps.select(j >= first, b[i, j - first], a[i, j])
    return f


def until(last: Pass, s: ps.Schedule) -> Module:
    """The loops after the passes up to one."""
    module = build(s.loop_program)
    for run in ON_LOOPS[: ON_LOOPS.index(last) + 1]:
        module = run(module)
    return module


def plain(module: Module) -> list[Stores]:
    """The vector statements without masks and choices, each with a load."""
    found = []
    for s in walk(module.functions[-1].body):
        if isinstance(s, Stores) and s.lanes is not None:
            nodes = tuple(postorder(*expressions(s)))
            loads = [x for x in nodes if isinstance(x, Load)]
            selects = any(isinstance(x, Op) and x.op == "select" for x in nodes)
            if loads and not selects and all(x.guard is None for x in loads):
                found.append(s)
    return found


def vectorised(f: ps.Func, unrolled: bool = False) -> ps.Schedule:
    s = ps.Schedule(f)
    u, last = s[f], s[f].loops[-1]
    if unrolled:
        _, inner = u.split(last, 32)
        u.vectorize(inner, 8).unroll(inner)
    else:
        u.vectorize(last, 8)
    return s


def test_full_vectors_on_the_far_side_of_a_bound_have_a_version() -> None:
    found = stmt_text(until(full_lanes, vectorised(behind(n, m))).functions[-1].body)
    lanes = "lanes ii in [0, 0 + 8):"
    wanted = f"""
    for i in [0, (n + m - 1) // 8 + 1):
      if (7 + i * 8 < n) & (7 + i * 8 < m + n):
        {lanes}
          f[i * 8 + ii] = a[i * 8 + ii]
      else:
        if (n < 1 + i * 8) & (7 + i * 8 < m + n):
          {lanes}
            f[i * 8 + ii] = b[i * 8 + ii - n]
        else:
    """
    assert found.startswith(dedent(wanted).strip("\n"))


def test_each_of_four_arrays_has_a_version_and_of_more_none() -> None:
    assert len(plain(until(full_lanes, vectorised(behind(n, m, l))))) == 3
    assert len(plain(until(full_lanes, vectorised(behind(n, m, l, k, n))))) == 4


def test_loops_over_either_side_are_apart() -> None:
    """Two of full vectors, and two of what is left at the ends of both."""
    body = until(split_loops, vectorised(behind(n, m))).functions[-1].body
    assert stmt_text(body).count("for ") == 4
    assert "if" not in stmt_text(body).replace(" if (", "")


def test_unrolled_vectors_on_the_far_side_are_tested_together() -> None:
    text = stmt_text(until(hoist_conditions, vectorised(beside(n, m), True)).functions[-1].body)
    assert len(plain(until(hoist_conditions, vectorised(beside(n, m), True)))) >= 8
    assert text.count("else:") <= 2 + 4 * 2


def test_a_bound_that_no_lane_moves_over_is_tested_in_front_of_the_lanes() -> None:
    module = until(hoist_conditions, vectorised(below(n, m)))
    assert {b.name for s in plain(module) for b in _read(s)} == {"a", "b"}
    assert "select" not in stmt_text(module.functions[-1].body)


def _read(s: Stores) -> list[object]:
    return [x.buffer for x in postorder(*expressions(s)) if isinstance(x, Load)]


@pytest.mark.parametrize("other", [n - 1, i - 1, i])
def test_the_border_of_an_axis_has_no_version_of_full_vectors(other: ps.Expr) -> None:
    """No 8 lanes are at n - 1."""
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = ps.select(i < n - 1, x[i + 1], x[other])
    assert len(plain(until(full_lanes, vectorised(f)))) == 1


@pytest.mark.parametrize("inside", [i >= 1, i > 0, i > 3])
def test_nor_has_its_beginning(inside: ps.Expr) -> None:
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = ps.select(inside, x[ps.maximum(i - 1, 0)], x[n - 1])
    assert len(plain(until(full_lanes, vectorised(f)))) == 1


def test_what_reads_nothing_on_the_far_side_has_no_version() -> None:
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n + m,))
    f[i] = ps.select(i < n, x[i], 0.0)
    assert len(plain(until(full_lanes, vectorised(f)))) == 1


SIZES = st.integers(0, 40)


@cache
def kernel(make: Callable[..., ps.Func], unrolled: bool, *sizes: ps.Size) -> ps.Kernel:
    return vectorised(make(*sizes), unrolled).compile()


@given(st.sampled_from([below, beside]), SIZES, SIZES, st.integers(0, 35), st.booleans())
@settings(max_examples=30, deadline=None)
def test_arrays_are_put_together(
    make: Callable[..., ps.Func], rows: int, more: int, other: int, unrolled: bool
) -> None:
    shapes = [(rows, other), (more, other)] if make is below else [(other, rows), (other, more)]
    a, b = (np.random.default_rng(x).random(s, np.float32) for x, s in enumerate(shapes))
    wanted = np.concatenate([a, b], axis=0 if make is below else 1)
    np.testing.assert_array_equal(kernel(make, unrolled, n, m)(a, b), wanted)


@given(SIZES, SIZES, SIZES, st.booleans())
@settings(max_examples=20, deadline=None)
def test_three_arrays_are_put_behind_each_other(x: int, y: int, z: int, unrolled: bool) -> None:
    arrays = [np.random.default_rng(s).random(s, np.float32) for s in (x, y, z)]
    made = kernel(behind, unrolled, n, m, l)(*arrays)
    np.testing.assert_array_equal(made, np.concatenate(arrays))
