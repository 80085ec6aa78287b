"""Rule 2.3: integers wrap, divisions floor, shifts saturate their count, casts."""

from __future__ import annotations

import itertools
import math
import operator

import numpy as np
import pytest
from lang.support import ALL, FLOATS, INTEGERS, at_points, refused, run

import polysched as ps

n = ps.sizes("n")
i = ps.vars("i")


def wrap(value, t):
    return (value - t.min) % 2**t.bits + t.min


def interesting(t):
    near = {t.min, t.min + 1, t.max, t.max - 1, 0, 1, 2, 3, 7, t.bits - 1, t.bits, t.bits + 1}
    return sorted(near | ({-1, -2, -7} if t.min < 0 else set()))


def shift_left(a, b, t):
    return wrap(a << b, t) if 0 <= b < t.bits else 0


def shift_right(a, b, t):
    return a >> b if 0 <= b < t.bits else -1 if a < 0 else 0


MEANINGS = {
    operator.add: lambda a, b, t: wrap(a + b, t),
    operator.sub: lambda a, b, t: wrap(a - b, t),
    operator.mul: lambda a, b, t: wrap(a * b, t),
    operator.floordiv: lambda a, b, t: wrap(a // b, t) if b else 0,
    operator.mod: lambda a, b, t: a % b if b else 0,
    operator.and_: lambda a, b, t: a & b,
    operator.or_: lambda a, b, t: a | b,
    operator.xor: lambda a, b, t: a ^ b,
    operator.lshift: shift_left,
    operator.rshift: shift_right,
    ps.minimum: lambda a, b, t: min(a, b),
    ps.maximum: lambda a, b, t: max(a, b),
}


@pytest.mark.parametrize("t", INTEGERS, ids=str)
def test_2_3_binary_operators(t):
    pairs = list(itertools.product(interesting(t), repeat=2))
    x, y = (np.array(column, t.numpy) for column in zip(*pairs, strict=True))
    X, Y = ps.Input("X", t, (n,)), ps.Input("Y", t, (n,))
    f = ps.Func("f", (n,))
    f[i] = tuple(o(X[i], Y[i]) for o in MEANINGS)
    assert f.dtype == (t,) * len(MEANINGS)
    for o, found in zip(MEANINGS, run(f, X=x, Y=y), strict=True):
        assert found.tolist() == [MEANINGS[o](a, b, t) for a, b in pairs], o


@pytest.mark.parametrize("t", INTEGERS, ids=str)
def test_2_3_unary_operators_and_powers(t):
    values = interesting(t)
    X = ps.Input("X", t, (n,))
    f = ps.Func("f", (n,))
    f[i] = (-X[i], abs(X[i]), ~X[i], X[i] ** 3, X[i] ** 0, +X[i], ps.floor(X[i]), ps.round(X[i]))
    meanings = (
        lambda a: -a, abs, lambda a: ~a, lambda a: a**3, lambda a: 1, lambda a: a, lambda a: a,
        lambda a: a,
    )  # fmt: skip
    for meaning, found in zip(meanings, run(f, X=np.array(values, t.numpy)), strict=True):
        assert found.dtype == t.numpy
        assert found.tolist() == [wrap(meaning(a), t) for a in values]


@pytest.mark.parametrize("t", [t for t in INTEGERS if t.min < 0], ids=str)
def test_2_3_the_smallest_integer(t):
    X, Y = ps.Input("X", t, (1,)), ps.Input("Y", t, (1,))
    f = ps.Func("f", (1,))
    f[i] = (X[i] // Y[i], X[i] % Y[i], -X[i], abs(X[i]), X[i] * Y[i])
    found = [int(r[0]) for r in run(f, X=np.array([t.min], t.numpy), Y=np.array([-1], t.numpy))]
    assert found == [t.min, 0, t.min, t.min, t.min]


@pytest.mark.slow
def test_2_3_division_floors_by_literals_too():
    values = np.arange(-9, 10, dtype=np.int32)
    X = ps.Input("X", ps.int32, (n,))
    for divisor in (1, -1, 2, -2, 3, -3, 7, 8, 2**31 - 1, -(2**31)):
        f = ps.Func("f", (n,))
        f[i] = (X[i] // divisor, X[i] % divisor)
        quotient, rest = run(f, X=values)
        assert np.array_equal(quotient, values // divisor)
        assert np.array_equal(rest, values % divisor)


def test_2_3_division_by_zero_gives_0_and_is_counted():
    X = ps.Input("X", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = 7 // X[i] + 7 % X[i]
    x = np.int32([0, 2, 0])
    assert run(f, X=x).tolist() == [0, 4, 0]
    checked = ps.Schedule(f).compile(checks=True)
    with refused("4 integer divisions by zero", error=ps.CallValueError):
        checked(x)
    assert checked(np.int32([1, 2])).tolist() == [7, 4]
    with refused("divides an integer by zero", error=ps.CallValueError):
        ps.interpret(f, x, checks=True)


def test_2_3_a_division_that_is_not_reached_is_not_counted():
    X = ps.Input("X", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.select(X[i] != 0, 12 // X[i], -1)
    x = np.int32([0, 5])
    assert ps.Schedule(f).compile(checks=True)(x).tolist() == [-1, 2]
    assert ps.interpret(f, x, checks=True).tolist() == [-1, 2]


def test_2_3_a_comparison_that_proofs_decide_divides():
    m = ps.size("m")
    f = ps.Func("f", (n,))
    f[i] = ps.select((m + 1) % m > 1, 1, 2)
    kernel = ps.Schedule(f).compile(checks=True)
    assert kernel(n=3, m=2).tolist() == ps.interpret(f, n=3, m=2, checks=True).tolist()
    with refused("3 integer divisions by zero", error=ps.CallValueError):
        kernel(n=3, m=0)
    with refused("divides an integer by zero, 3 times", error=ps.CallValueError):
        ps.interpret(f, n=3, m=0, checks=True)


def _summed(where=None, hi=lambda A, X: n):
    """The sum of A over the RVar below `hi(A, X)` for which `where` holds."""
    A, X = ps.Input("A", ps.int32, (n,)), ps.Input("X", ps.int32, (n,))
    (r,) = ps.rdom("r", (0, hi(A, X)), where=None if where is None else lambda r: where(A, X, r))
    f = ps.Func("f", ())
    f[()] = 0
    f[()] += A[r] + X[r]
    return f


@pytest.mark.parametrize(
    ("where", "hi", "text"),
    [
        (lambda A, X, r: A[r] // X[r] > 0, lambda A, X: n, r"of A\[r\] // X\[r\] in f"),
        (lambda A, X, r: (r > 1) & (A[r] % X[0] > 0), lambda A, X: n, "may be 0"),
        (None, lambda A, X: ps.clip(A[0] // X[0], 0, n), "may be 0"),
        (None, lambda A, X: ps.clip(A[0] ** X[0], 0, n), "may be negative"),
        (None, lambda A, X: n // ps.size("m"), "m of n // m"),
    ],
    ids=["quotient", "behind a condition", "bound", "power", "size"],
)
def test_2_3_what_may_divide_by_zero_in_loops_is_refused_where_divisions_are_counted(
    where, hi, text
):
    s = ps.Schedule(_summed(where, hi))
    s.compile()
    with pytest.raises(ps.LanguageError, match=f"^checks=True counts nothing .*{text}"):
        s.compile(checks=True)


@pytest.mark.parametrize(
    ("where", "hi"),
    [
        (lambda A, X, r: ps.select(X[r] != 0, A[r] // X[r] > 0, False), lambda A, X: n),
        (lambda A, X, r: A[r] // ps.maximum(X[r], 1) > 0, lambda A, X: n),
        (None, lambda A, X: ps.clip(A[0] // 2, 0, n)),
        (None, lambda A, X: ps.clip(A[0] ** ps.abs(ps.cast(ps.int64, X[0])), 0, n)),
    ],
    ids=["guarded", "maximum", "constant", "power"],
)
def test_2_3_loops_that_cannot_divide_by_zero_compile_where_divisions_are_counted(where, hi):
    f = _summed(where, hi)
    a, x = np.int32([2, 1, 3]), np.int32([0, 1, 2])
    wanted = ps.interpret(f, a, x, checks=True)
    assert ps.Schedule(f).compile(checks=True)(a, x) == wanted


# casts ----------------------------------------------------------------------------------------
def converted(value, source, target):
    """What the contract says of a cast, on Python numbers."""
    if target.is_bool:
        return value != 0
    if target.is_float:
        return target.numpy.type(value)
    if source.is_float:
        if math.isnan(value):
            return 0
        if math.isinf(value):
            return target.max if value > 0 else target.min
        return min(max(int(value), target.min), target.max)
    return wrap(int(value), target)


@pytest.mark.parametrize("source", ALL, ids=str)
def test_2_3_casts_of_every_pair(source):
    if source.is_bool:
        values = [False, True]
    elif source.is_int:
        values = [*interesting(source), min(source.max, 2**24 + 1), min(source.max, 2**53 + 1)]
    else:
        edges = [s * 2.0**k for k in (7, 8, 15, 16, 31, 32, 63, 64) for s in (1, -1)]
        values = [0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 0.99, -0.99, np.nan, np.inf, -np.inf, 1e30,
                  -1e30, *edges, *(e - 1 for e in edges), *(e * 0.9999 for e in edges)]  # fmt: skip
    x = np.array(values, source.numpy)
    X = ps.Input("X", source, (n,))
    f = ps.Func("f", (n,))
    f[i] = tuple(ps.cast(t, X[i]) for t in ALL)
    for t, found in zip(ALL, run(f, X=x), strict=True):
        assert found.dtype == t.numpy
        wanted = np.array([converted(v.item(), source, t) for v in x], t.numpy)
        assert np.array_equal(found, wanted, equal_nan=t.is_float), t


def test_2_3_casts_of_large_integers_to_float32_round_once():
    values = [2**24 + 1, 2**24 + 3, 2**60 + 2**36, 2**60 + 2**36 + 1, 2**63 - 1, -(2**24) - 1]
    X = ps.Input("X", ps.int64, (n,))
    found = at_points(ps.cast(ps.float32, X[i]), n, X=np.array(values))
    assert found[3] == np.float32(2**60 + 2**37), "by float64 it would round to even first"
    assert np.array_equal(found, np.array(values).astype(np.float32))


def test_2_3_astype_is_cast():
    X = ps.Input("X", ps.float32, (n,))
    x = np.float32([-1.5, 300.7])
    assert at_points(X[i].astype(np.uint8), n, X=x).tolist() == [0, 255]
    assert at_points(ps.cast("int8", X[i]), n, X=x).tolist() == [-1, 127]


def test_2_3_literals_cast_as_values_do():
    f = ps.Func("f", (1,))
    f[i] = (ps.cast(ps.uint8, 300), ps.cast(ps.int8, -1.9), ps.cast(ps.uint8, -1), ps.cast(bool, 2))
    assert [r.tolist() for r in run(f)] == [[44], [-1], [255], [True]]


# bitcast --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("source", "target"),
    [(a, b) for a in ALL for b in ALL if a.bits == b.bits and not a.is_bool and a != b],
)
def test_2_3_bitcast(source, target):
    x = np.frombuffer(np.random.default_rng(0).bytes(8 * source.itemsize), source.numpy)
    x = np.where(np.isnan(x), 1, x).astype(source.numpy) if source.is_float else x
    y = x.view(target.numpy)
    if target.is_float:
        x, y = x[~np.isnan(y)], y[~np.isnan(y)]
    X = ps.Input("X", source, (n,))
    assert np.array_equal(at_points(ps.bitcast(target, X[i]), n, X=x), y)


def test_2_3_bitcast_of_another_width_is_refused():
    X = ps.Input("X", ps.float32, (n,))
    f = ps.Func("f", (n,))
    with refused("bitcast from float32 to float64: the widths differ", hint="cast converts"):
        f[i] = ps.bitcast(ps.float64, X[i])
    with refused("bitcast from int64 to uint32"):
        f[i] = ps.bitcast(ps.uint32, 5)


# values as indices ----------------------------------------------------------------------------
def test_2_3_a_value_used_as_an_index_wraps_first():
    T = ps.Const("T", np.arange(256))
    U = ps.Input("U", ps.uint8, (n,))
    f = ps.Func("f", (n,))
    f[i] = T[U[i] + 10]
    assert run(f, U=np.uint8([5, 250])).tolist() == [15, 4]


def test_2_3_an_index_that_wraps_is_not_taken_for_affine():
    """int8 arithmetic of an index wraps at 128: the bounds are those of int8."""
    T = ps.Input("T", ps.int32, (256,))
    f = ps.Func("f", (n,))
    f[i] = T[ps.cast(ps.int64, ps.cast(ps.uint8, i) + 1)]
    t = np.arange(256, dtype=np.int32)
    found = run(f, T=t, n=300)
    assert found.tolist() == [(k + 1) % 256 for k in range(300)]


def test_2_3_uint64_as_an_index():
    T, at = ps.Input("T", ps.int32, (n,)), ps.Input("at", ps.uint64, (3,), range=(0, n))
    f = ps.Func("f", (3,))
    f[i] = T[at[i]]
    assert run(f, T=np.int32([5, 6, 7]), at=np.uint64([2, 0, 1])).tolist() == [7, 5, 6]


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_2_3_floor_division_and_remainder_of_floats(t):
    pairs = list(
        itertools.product([5.5, -5.5, 0.0, -0.0, 1e20, np.inf, np.nan], [2.0, -0.75, 0.0, np.inf])
    )
    x, y = (np.array(c, t.numpy) for c in zip(*pairs, strict=True))
    X, Y = ps.Input("X", t, (n,)), ps.Input("Y", t, (n,))
    f = ps.Func("f", (n,))
    f[i] = (X[i] // Y[i], X[i] % Y[i])
    quotient, rest = run(f, X=x, Y=y)
    with np.errstate(all="ignore"):
        assert np.array_equal(quotient, x // y, equal_nan=True)
        assert np.array_equal(rest, x % y, equal_nan=True)
