"""Rules 2.4 and 2.6: minimum and maximum, denormals, and the functions of this version."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from lang.support import FLOATS, at_points, refused, run

import polysched as ps

n = ps.sizes("n")
i = ps.vars("i")


def bits(a):
    return np.asarray(a).view(f"u{a.itemsize}").tolist()


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_2_4_minimum_and_maximum_are_ieee_754_2019(t):
    pairs = list(itertools.product([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], repeat=2))
    x, y = (np.array(c, t.numpy) for c in zip(*pairs, strict=True))
    X, Y = ps.Input("X", t, (n,)), ps.Input("Y", t, (n,))
    f = ps.Func("f", (n,))
    f[i] = (ps.minimum(X[i], Y[i]), ps.maximum(X[i], Y[i]), ps.clip(X[i], -0.0, Y[i]))
    low, high, _ = run(f, X=x, Y=y)
    for a, b, lo, hi in zip(x, y, low, high, strict=True):
        if np.isnan(a) or np.isnan(b):
            assert np.isnan(lo)
            assert np.isnan(hi)
        elif a == b == 0:
            assert np.signbit(lo) == (np.signbit(a) or np.signbit(b))
            assert np.signbit(hi) == (np.signbit(a) and np.signbit(b))
        else:
            assert (lo, hi) == (min(a, b), max(a, b))


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_2_4_an_update_by_minimum_propagates_nan_and_orders_zeros(t):
    X, k = ps.Input("X", t, (n,)), ps.RVar("k", 0, n)
    f = ps.Func("f", ())
    f[()] = (np.inf, -np.inf)
    lo, hi = f[()]
    f[()] = (ps.minimum(lo, X[k]), ps.maximum(hi, X[k]))
    low, high = run(f, X=np.array([0.0, -0.0, 0.0], t.numpy))
    assert np.signbit(low)
    assert not np.signbit(high)
    assert all(np.isnan(r) for r in run(f, X=np.array([1, np.nan, 2], t.numpy)))


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_2_4_denormals_are_kept(t):
    tiny = np.finfo(t.numpy).smallest_subnormal
    x = np.array([tiny, -tiny, 3 * tiny, np.finfo(t.numpy).tiny], t.numpy)
    X = ps.Input("X", t, (n,))
    found = at_points(X[i] * 0.5 + X[i], n, X=x)
    assert np.array_equal(found, [2 * tiny, -2 * tiny, 4 * tiny, x[3] * t.numpy.type(1.5)])
    assert np.array_equal(at_points(X[i] / 2 != 0, n, X=x), [False, False, True, True])


def test_2_4_signs_of_zeros():
    X = ps.Input("X", ps.float32, (n,))
    x = np.float32([0.0, -0.0])
    f = ps.Func("f", (n,))
    f[i] = (-X[i], abs(X[i]), X[i] + 0.0, X[i] - 0.0, X[i] * -1, ps.round(X[i] - 0.25), 0 - X[i])
    wanted = ([1, 0], [0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [0, 0])
    for found, signs in zip(run(f, X=x), wanted, strict=True):
        assert np.signbit(found).tolist() == [bool(s) for s in signs]


def test_2_4_a_float_sum_starts_where_it_is_told():
    X, k = ps.Input("X", ps.float32, (n,)), ps.RVar("k", 0, n)
    f, g = ps.Func("f", ()), ps.Func("g", ())
    f[()] = -0.0
    g[()] = 0
    f[()] += X[k]
    g[()] += X[k]
    assert np.signbit(run(f, X=np.float32([-0.0])))
    assert not np.signbit(run(g, X=np.float32([-0.0])))


# 2.6 functions --------------------------------------------------------------------------------
VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 3.5, 1e-40, 88.0, -88.0, 1e30, np.inf, -np.inf,
          np.nan, 0.49999997, 4503599627370497.5, 8388609.0]  # fmt: skip


@pytest.mark.parametrize("t", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("ours", "numpys"),
    [
        (ps.sqrt, np.sqrt), (ps.floor, np.floor), (ps.ceil, np.ceil), (ps.round, np.rint),
        (ps.abs, np.abs), (ps.absolute, np.absolute), (ps.rint, np.rint),
    ],
)  # fmt: skip
def test_2_6_exact_functions(t, ours, numpys):
    x = np.array(VALUES, t.numpy)
    X = ps.Input("X", t, (n,))
    with np.errstate(invalid="ignore"):
        wanted = numpys(x)
    found = at_points(ours(X[i]), n, X=x)
    assert found.dtype == t.numpy
    assert np.array_equal(found, wanted, equal_nan=True)
    number = ~np.isnan(wanted)
    assert np.array_equal(np.signbit(found)[number], np.signbit(wanted)[number])


@pytest.mark.parametrize("t", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("ours", "numpys"), [(ps.exp, np.exp), (ps.log, np.log), (ps.tanh, np.tanh)]
)
def test_2_6_functions_have_numpys_special_values(t, ours, numpys):
    x = np.array(VALUES, t.numpy)
    X = ps.Input("X", t, (n,))
    with np.errstate(all="ignore"):
        wanted = numpys(x)
    found = at_points(ours(X[i]), n, X=x)
    special = np.isnan(wanted) | np.isinf(wanted) | (wanted == 0)
    assert np.array_equal(found[special], wanted[special], equal_nan=True)
    # NumPy's own functions are within 4 ULP, and differ by machine.
    np.testing.assert_allclose(found[~special], wanted[~special], rtol=8 * np.finfo(t.numpy).eps)


@pytest.mark.parametrize("t", FLOATS, ids=str)
def test_2_6_sigmoid_and_rsqrt(t):
    x = np.array([-1000, -20, -1, -0.0, 0, 1, 20, 1000, np.inf, -np.inf, np.nan], t.numpy)
    X = ps.Input("X", t, (n,))
    with np.errstate(all="ignore"):
        logistic, inverse = 1 / (1 + np.exp(-x)), t.numpy.type(1) / np.sqrt(x)
    np.testing.assert_allclose(
        at_points(ps.sigmoid(X[i]), n, X=x), logistic, rtol=8 * np.finfo(t.numpy).eps, atol=1e-300
    )
    np.testing.assert_allclose(
        at_points(ps.rsqrt(X[i]), n, X=x), inverse, rtol=2 * np.finfo(t.numpy).eps
    )


@pytest.mark.parametrize(
    ("dtype", "result"),
    [
        (ps.int16, ps.float32), (ps.uint16, ps.float32), (ps.int32, ps.float64),
        (ps.uint64, ps.float64), (ps.float32, ps.float32), (ps.float64, ps.float64),
    ],
)  # fmt: skip
def test_2_6_integers_become_floats_as_in_numpy(dtype, result):
    X = ps.Input("X", dtype, (n,))
    x = np.array([1, 2, 4], dtype.numpy)
    for ours, numpys in ((ps.sqrt, np.sqrt), (ps.exp, np.exp), (ps.log, np.log)):
        found = at_points(ours(X[i]), n, X=x)
        assert found.dtype == numpys(x).dtype == result.numpy
        np.testing.assert_allclose(found, numpys(x), rtol=1e-6)


@pytest.mark.parametrize("dtype", [ps.bool_, ps.int8, ps.uint8], ids=str)
@pytest.mark.parametrize("function", [ps.exp, ps.sqrt, ps.tanh, ps.rsqrt])
def test_2_6_functions_of_narrow_integers_are_float16_as_in_numpy(dtype, function):
    X = ps.Input("X", dtype, (n,))
    f = ps.Func("f", (n,))
    f[i] = function(X[i])
    assert f.dtype == ps.float16


def test_2_6_exponents_that_bfloat16_does_not_hold_are_refused():
    X = ps.Input("X", ps.bfloat16, (n,))
    f = ps.Func("f", (n,))
    with refused("bfloat16 does not hold every exponent", hint="ps.cast(ps.float32, x)"):
        f[i] = ps.ldexp(X[i], 3)


def test_2_6_functions_of_literals_and_indices_are_float64_and_adapt():
    X = ps.Input("X", ps.float32, (n,))
    f = ps.Func("f", (n,))
    f[i] = (ps.sqrt(2), ps.exp(i), X[i] * ps.sqrt(2), X[i] + ps.log(i + 1))
    assert f.dtype == (ps.float64, ps.float64, ps.float32, ps.float32)
    a = np.float32([1.5, 2.5])
    assert run(f, X=a)[0].tolist() == [2**0.5] * 2


def test_2_6_powers():
    X = ps.Input("X", ps.float64, (n,))
    x = np.array([1.1, -2.3, 0.0, 3.7])
    with np.errstate(divide="ignore", invalid="ignore"):
        for exponent in (0, 1, 2, 3, 7, -1, -2):
            found = at_points(X[i] ** exponent, n, X=x)
            np.testing.assert_allclose(found, x**exponent, rtol=2e-15)
        assert np.array_equal(at_points(X[i] ** 0.5, n, X=x), np.sqrt(x), equal_nan=True)
        for exponent in (-0.5, 1.5, -1.5, 2.5, -3.5):
            found = at_points(X[i] ** exponent, n, X=x)
            np.testing.assert_allclose(found, x**exponent, rtol=2e-15)


def test_2_6_rounding_of_python():
    import math

    X = ps.Input("X", ps.float32, (n,))
    x = np.float32([-1.5, 0.5, 2.5])
    f = ps.Func("f", (n,))
    f[i] = (round(X[i]), math.floor(X[i]), math.ceil(X[i]), abs(X[i]))
    wanted = (np.rint(x), np.floor(x), np.ceil(x), np.abs(x))
    for found, w in zip(run(f, X=x), wanted, strict=True):
        assert np.array_equal(found, w)


# ldexp ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("t", FLOATS, ids=str)
@pytest.mark.parametrize("integer", [ps.int8, ps.int32, ps.int64, ps.uint64, ps.uint16], ids=str)
def test_2_5_ldexp_with_exponents_of_any_integer_type(t, integer):
    exponents = [0, 1, 3, 100, 127, min(integer.max, 2200), min(integer.max, 70000), integer.max]
    exponents += [-1, -126, max(integer.min, -140), integer.min] if integer.min < 0 else []
    pairs = list(itertools.product([1.0, -1.5, 3e-30, 0.0, -0.0, np.inf], exponents))
    x, e = np.array([a for a, _ in pairs], t.numpy), np.array([b for _, b in pairs], integer.numpy)
    X, E = ps.Input("X", t, (n,)), ps.Input("E", integer, (n,))
    limited = np.clip(e.astype(object), -3000, 3000).astype(np.int32)
    with np.errstate(all="ignore"):
        wanted = np.ldexp(x, limited)
    assert np.array_equal(at_points(ps.ldexp(X[i], E[i]), n, X=x, E=e), wanted)


def test_2_5_ldexp_of_integers_literals_and_indices():
    X = ps.Input("X", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = (ps.ldexp(X[i], -1), ps.ldexp(1.5, i), ps.ldexp(X[i], i))
    assert f.dtype == (ps.float64,) * 3
    found = run(f, X=np.int32([3, 5]))
    assert [r.tolist() for r in found] == [[1.5, 2.5], [1.5, 3.0], [3.0, 10.0]]


@pytest.mark.parametrize(
    ("exponent", "what"),
    [
        (lambda X: X[i], "the exponent of ldexp is float32, not an integer: X[i]"),
        (lambda X: 0.5, "the exponent of ldexp is a Python float, not an integer: 0.5"),
        (lambda X: X[i] > 0, "the exponent of ldexp is bool, not an integer: X[i] > 0"),
    ],
)
def test_2_5_ldexp_of_other_exponents_is_refused(exponent, what):
    X = ps.Input("X", ps.float32, (n,))
    f = ps.Func("f", (n,))
    with refused(what, hint="ps.cast(ps.int32, x) truncates", error=ps.LanguageTypeError):
        f[i] = ps.ldexp(X[i], exponent(X))
