"""Interval arithmetic never leaves a value out, and is exact where programs rely on it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from polysched.interp.intervals import (
    cast_interval,
    full,
    operator_interval,
    select_interval,
)
from polysched.lang.arithmetic.scalar import conversion, meaning
from polysched.lang.nodes import dtypes as dt

BINARY = ["add", "sub", "mul", "floordiv", "mod", "min", "max", "and", "or", "xor", "shl", "shr"]
COMPARE = ["lt", "le", "gt", "ge", "eq", "ne"]


def sample_intervals(t: dt.DType, rng: np.random.Generator, count: int) -> list[tuple[int, int]]:
    ends = [t.min, t.min + 1, -2, -1, 0, 1, 2, 3, t.bits, t.max - 1, t.max]
    usable = [e for e in ends if t.min <= e <= t.max]
    pairs = [tuple(sorted(rng.choice(usable, 2).tolist())) for _ in range(count)]
    return [*pairs, full(t), (1, 1), (3, 3)]


@pytest.mark.parametrize("t", [dt.int8, dt.uint8], ids=str)
@pytest.mark.parametrize("op", [*BINARY, *COMPARE, "absd"])
def test_no_value_is_left_out(op, t):
    rng = np.random.default_rng(7)
    result = dt.bool_ if op in COMPARE else dt.uint8 if op == "absd" else t
    f = meaning(op, result, t)
    for a, b in itertools.product(sample_intervals(t, rng, 12), repeat=2):
        lo, hi = operator_interval(op, result, (a, b))
        xs = {a[0], a[1], *rng.integers(a[0], a[1], 6, endpoint=True).tolist()}
        ys = {b[0], b[1], *rng.integers(b[0], b[1], 6, endpoint=True).tolist()}
        for x, y in itertools.product(xs, ys):
            assert lo <= f(x, y) <= hi, (op, a, b, x, y)


@pytest.mark.parametrize(
    ("op", "t"),
    [*itertools.product(["neg", "abs", "not"], [dt.int8, dt.uint8]), ("not", dt.bool_)],
)
def test_unary(op, t):
    f = meaning(op, t, t)
    for a in range(t.min, t.max + 1, 5 if t.bits > 1 else 1):
        for b in range(a, t.max + 1, 7 if t.bits > 1 else 1):
            lo, hi = operator_interval(op, t, ((a, b),))
            assert all(lo <= f(x) <= hi for x in range(a, b + 1))


@pytest.mark.parametrize("target", [t for t in dt.ALL if not t.is_float], ids=str)
def test_casts(target):
    for a, b in [(-300, 300), (0, 255), (-1, 0), (5, 5), (-(2**31), 2**31 - 1), (1, 3), (0, 0)]:
        lo, hi = cast_interval((a, b), target)
        cast = conversion(dt.int64, target)
        assert all(lo <= cast(x) <= hi for x in {a, b, (a + b) // 2, min(a + 1, b)})


@pytest.mark.parametrize(
    ("op", "a", "b", "expected"),
    [
        ("add", (1, 2), (10, 20), (11, 22)),
        ("sub", (1, 2), (10, 20), (-19, -8)),
        ("mul", (-3, 2), (4, 5), (-15, 10)),
        ("floordiv", (-7, 7), (2, 2), (-4, 3)),
        ("floordiv", (0, 10), (0, 2), (0, 10)),
        ("mod", (-100, 100), (8, 8), (0, 7)),
        ("mod", (9, 13), (8, 8), (1, 5)),
        ("mod", (0, 9), (-4, -4), (-3, 0)),
        ("min", (-5, 500), (9, 9), (-5, 9)),
        ("max", (-5, 500), (0, 0), (0, 500)),
        ("and", (-128, 127), (0, 15), (0, 15)),
        ("or", (0, 5), (0, 8), (0, 15)),
        ("shr", (0, 255), (4, 4), (0, 15)),
        ("shl", (1, 3), (2, 2), (4, 12)),
    ],
)
def test_exactness(op, a, b, expected):
    assert operator_interval(op, dt.int32, (a, b)) == expected


def test_distances():
    assert operator_interval("absd", dt.uint32, ((1, 2), (10, 20))) == (8, 19)
    assert operator_interval("absd", dt.uint32, ((10, 20), (1, 2))) == (8, 19)
    assert operator_interval("absd", dt.uint32, ((-5, 3), (0, 9))) == (0, 14)
    assert operator_interval("absd", dt.uint8, ((-128, 127), (-128, 127))) == (0, 255)


def test_complement():
    assert operator_interval("not", dt.uint8, ((0, 5),)) == (250, 255)
    assert operator_interval("not", dt.int8, ((0, 5),)) == (-6, -1)
    assert operator_interval("not", dt.bool_, ((1, 1),)) == (0, 0)


def test_what_may_wrap_is_the_whole_type():
    assert operator_interval("add", dt.uint8, ((0, 255), (1, 1))) == (0, 255)
    assert operator_interval("sub", dt.uint8, ((0, 5), (1, 1))) == (0, 255)
    assert operator_interval("neg", dt.int8, ((-128, 0),)) == (-128, 127)


def test_a_false_operand_decides_a_conjunction():
    """So that `(i > 0) & (A[i] > 3)` guards a read at `i - 1`."""
    assert operator_interval("and", dt.bool_, ((0, 0), (0, 1))) == (0, 0)
    assert operator_interval("or", dt.bool_, ((1, 1), (0, 1))) == (1, 1)
    assert operator_interval("and", dt.bool_, ((1, 1), (0, 1))) == (0, 1)


def test_select_takes_the_hull_of_possible_arms():
    assert select_interval((1, 1), (1, 2), (8, 9)) == (1, 2)
    assert select_interval((0, 0), (1, 2), (8, 9)) == (8, 9)
    assert select_interval((0, 1), (1, 2), (8, 9)) == (1, 9)


@pytest.mark.parametrize("op", [*BINARY, *COMPARE, "absd"])
def test_what_has_no_value_is_an_operand_as_any_other(op):
    """An Input may hold nothing at all where its range is empty at the sizes of a call."""
    some = [(-3, 5), (0, 0), (1, 7), (-2, -1)]
    none = [(0, -1), (3, 2), (-1, -2), (1, 0)]
    for a, b in [*itertools.product(some, none), *itertools.product(none, [*some, *none])]:
        lo, hi = operator_interval(op, dt.bool_ if op in COMPARE else dt.int64, (a, b))
        assert isinstance(lo, int)
        assert isinstance(hi, int)
