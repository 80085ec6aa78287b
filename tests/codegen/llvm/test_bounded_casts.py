"""Floats that become integers in a range: as the interpreter has them, whatever is known of them
before."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.ir.bounded_casts import bounded_before, lower_end, upper_end
from polysched.lang.nodes.dtypes import bool_, float32, int32
from polysched.lang.nodes.nodes import Const, Node, Op, Var

n, i = ps.size("n"), ps.vars("i")

ENDS = (0, 1, 3, 7, 63, 127, 128, 200, 255, 256, 300, 1000, 2**24, 2**31, 2**32, 2**53, 2**63)
SPECIAL = [k * x + y for x in ENDS for k in (1.0, -1.0) for y in (-1.0, -0.5, 0.0, 0.5, 1.0)]
SPECIAL += [float("nan"), float("inf"), float("-inf"), -0.0, 1e300, -1e300]


def below(t: ps.Expr, end: float) -> ps.Expr:
    return ps.select(t < end, t, end)


def results(x: ps.Input) -> list[ps.Func]:
    """What programs may write."""
    t, cast = x[i], ps.cast
    values = [
        *(ps.clip(cast(d, t), 0, 63) for d in (ps.int8, ps.uint8, ps.int32, ps.uint32, ps.int64)),
        ps.clip(cast(ps.int32, t), 3, 2**31 - 1),
        ps.clip(cast(ps.int32, t), 0, 2**24 + 1),
        ps.clip(cast(ps.uint8, t), 3, 200),
        ps.clip(cast(ps.int32, t), -5, 7),
        ps.clip(cast(ps.int32, t), 10, 5),
        ps.clip(cast(ps.int32, t), 0, n),
        ps.clip(cast(ps.int64, t), 2, n),
        ps.maximum(cast(ps.int32, t), 0),
        ps.minimum(cast(ps.int32, t), 63),
        ps.minimum(ps.maximum(ps.maximum(cast(ps.int32, t), 2), 5), 9),
        cast(ps.int32, ps.select(t > -5.0, t, -5.0)),
        cast(ps.uint8, ps.select(t > 300.0, t, 300.0)),
        cast(ps.int32, ps.select(t < 7.0, t, 7.0)),
        cast(ps.int8, ps.select(ps.select(t > 0.0, t, 0.0) < 1e9, ps.select(t > 0.0, t, 0.0), 1e9)),
        # No range: what is chosen is no number, or below what was chosen to be the lower end.
        *(cast(d, ps.select(t > nan, t, nan)) for d in (ps.int8, ps.uint32)),
        *(cast(ps.uint8, below(ps.select(t > 0.0, t, 0.0), end)) for end in (nan, -5.0, -inf)),
    ]
    found = []
    for k, value in enumerate(values):
        f = ps.Func(f"f{k}", (n,))
        f[i] = value
        found.append(f)
    return found


@pytest.mark.parametrize("dtype", [ps.float32, ps.float64])
@pytest.mark.parametrize("target", [None, pytest.param("x86-64-v3", marks=pytest.mark.slow)])
def test_they_are_as_they_are_written(dtype: ps.DType, target: str | None) -> None:
    x = ps.Input("x", dtype, (n,))
    outputs = results(x)
    s = ps.Schedule(outputs, target=target)
    with np.errstate(over="ignore"):
        given = np.array(SPECIAL, dtype.numpy)
    wanted = ps.interpret(outputs, given)
    scalar = s.copy().compile()(given)
    for f in outputs:
        s[f].vectorize(i, 8)
    vectors = s.compile()(given)
    for f, a, b, c in zip(outputs, wanted, scalar, vectors, strict=True):
        assert np.array_equal(a, b), f.name
        assert np.array_equal(a, c), f.name


def test_they_are_not_looked_at_again() -> None:
    """A comparison that says whether there is a NaN, and others, are not needed."""
    x, f, g = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = ps.clip(ps.cast(ps.int32, x[i]), 0, 63)
    g[i] = ps.cast(ps.int32, x[i])
    kept, free = (ps.Schedule(x, target="x86-64-v3").compile().asm for x in (f, g))
    assert "vucomiss" in free
    assert "vucomiss" not in kept


def number(value: float) -> Const:
    return Const(value, float32)


def test_ends_are_those_of_choices() -> None:
    x = Var("x")
    x = Op("sqrt", (Op("cast", (x,), float32),), float32)
    above: Node = Op("select", (Op("gt", (x, number(2.0)), bool_), x, number(2.0)), float32)
    both = Op("select", (Op("lt", (above, number(9.0)), bool_), above, number(9.0)), float32)
    other = Op("select", (Op("gt", (x, number(2.0)), bool_), x, number(3.0)), float32)
    below = Op("select", (Op("lt", (x, number(9.0)), bool_), x, number(9.0)), float32)
    assert (lower_end(above), upper_end(above)) == (2.0, None)
    assert (lower_end(both), upper_end(both)) == (2.0, 9.0)
    assert [lower_end(y) for y in (other, below, x)] == [None] * 3  # the last may be NaN
    assert upper_end(below) is None


@pytest.mark.parametrize(("lo", "hi"), [(-1, 7), (2**24 + 1, 2**25)])
def test_what_is_not_the_same_stays(lo: int, hi: int) -> None:
    """NaN is 0, and so above a lower end below 0; float32 does not hold all integers."""
    whole = Op("cast", (Op("cast", (Var("x"),), float32),), int32)
    node = Op("max", (whole, Const(lo, int32)), int32)
    assert bounded_before(node) is node
    node = Op("min", (node, Const(hi, int32)), int32)
    assert bounded_before(node) is node
