"""Exact functions, compiled and interpreted, against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.lang.errors.errors import LanguageTypeError

Array = np.ndarray[Any, Any]
OF_ONE = ("isnan", "isinf", "isfinite", "signbit", "sign", "trunc")
OF_TWO = ("copysign", "heaviside", "nextafter", "fmod", "remainder")
FLOATS = (ps.float32, ps.float64)
n, i = ps.sizes("n"), ps.vars("i")


def values(name: str) -> Array:
    """Special values and their neighbours, halves and random bits of one type."""
    t = np.dtype(name).type
    info = np.finfo(t)
    found = [0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 7.25, np.inf, info.max, info.tiny, 2.0**info.nmant]
    found += [info.smallest_subnormal, info.tiny - info.smallest_subnormal, 1 - info.epsneg]
    x = np.array([*found, *(-v for v in found), np.nan], t)
    kind = f"u{x.itemsize}"
    random = np.random.default_rng(3).integers(0, 2 ** (8 * x.itemsize), 10, dtype=kind)
    return np.concatenate([x, random.view(t)])


def integers(name: str) -> Array:
    info = np.iinfo(name)
    chosen = {0, 1, 2, 3, 7, 100, info.max, info.max - 1, info.min, info.min + 1}
    signed = {-1, -2, -3, -7, -100} if info.min else set()
    return np.array(sorted(chosen | signed), name)


def pairs(x: Array) -> tuple[Array, Array]:
    a, b = np.meshgrid(x, x)
    return np.ascontiguousarray(a.ravel()), np.ascontiguousarray(b.ravel())


def check(name: str, *arrays: Array) -> None:
    """The function in vectors, one by one, and interpreted, against NumPy's."""
    given = [ps.Input(f"x{k}", a.dtype, (n,)) for k, a in enumerate(arrays)]
    f = ps.Func("f", (n,))
    f[i] = getattr(ps, name)(*(x[i] for x in given))
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(*arrays)
    s = ps.Schedule(f)
    s[f].vectorize("i", 8)
    for found in (s.compile()(*arrays), f(*arrays), ps.interpret(f, *arrays)):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
        if found.dtype.kind == "f":
            is_number = ~np.isnan(wanted)
            signs = np.signbit(found[is_number]), np.signbit(wanted[is_number])
            np.testing.assert_array_equal(*signs)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", OF_ONE)
def test_of_one_float(name: str, dtype: ps.DType) -> None:
    check(name, np.abs(values(str(dtype))) if name == "signbit" else values(str(dtype)))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", OF_TWO)
def test_of_two_floats(name: str, dtype: ps.DType) -> None:
    check(name, *pairs(values(str(dtype))))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16"])
@pytest.mark.parametrize("name", OF_ONE)
def test_of_one_integer(name: str, dtype: str) -> None:
    check(name, integers(dtype))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16"])
def test_fmod_of_integers(dtype: str) -> None:
    check("fmod", *pairs(integers(dtype)))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_no_nan_has_a_sign(dtype: ps.DType) -> None:
    x, f = ps.Input("x", dtype, (n,)), ps.Func("f", (n,))
    f[i] = ps.select(ps.signbit(x[i]), 5.0, ps.copysign(2.0, x[i]))
    both = np.array([np.nan, np.copysign(np.nan, -1), -1.0, -0.0, 0.0], dtype.numpy)
    assert f(both).tolist() == ps.interpret(f, both).tolist() == [2.0, 2.0, 5.0, 5.0, 2.0]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_all_negative_numbers_have_the_sign(dtype: ps.DType) -> None:
    sizes = np.abs([x for x in values(str(dtype)) if x == x])
    x, f = ps.Input("x", dtype, (n,)), ps.Func("f", (n,))
    f[i] = ps.signbit(x[i])
    given = -sizes
    for found in (f(x=given), ps.interpret(f, x=given)):
        assert found.all()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_ldexp_next_to_the_exponents_of_normal_numbers(dtype: ps.DType) -> None:
    """Where 2**e begins to be denormal or infinite, which the result need not be."""
    bias = dtype.format.bias
    e = np.array([s * (bias + k) for s in (1, -1) for k in range(-3, 4)], np.int32)
    found = values(str(dtype))
    check("ldexp", *(np.ascontiguousarray(a.ravel()) for a in np.meshgrid(found, e)))


def test_numpys_functions_are_ours() -> None:
    x = ps.Input("x", ps.float32, (n,))
    assert repr(np.isnan(x[i])) == repr(ps.isnan(x[i])) == "isnan(x[i])"
    assert repr(np.copysign(x[i], 1.0)) == repr(ps.copysign(x[i], 1.0))
    assert repr(ps.remainder(x[i], 2)) == "x[i] % 2"


def refusal(value: ps.Expr) -> str:
    f = ps.Func("f", (n,))
    with pytest.raises(LanguageTypeError) as caught:
        f[i] = value
    return str(caught.value)


def test_functions_refuse_what_numpy_refuses() -> None:
    b = ps.Input("b", ps.bool_, (n,))
    assert "sign of bools: sign(b[i])" in refusal(ps.sign(b[i]))
    assert "fmod of bools: fmod(b[i], b[i])" in refusal(ps.fmod(b[i], b[i]))


def test_functions_of_short_integers_are_of_halves() -> None:
    a, f = ps.Input("a", ps.int8, (n,)), ps.Func("f", (n,))
    f[i] = ps.copysign(a[i], a[n - 1 - i])
    given = np.array([3, -4, 0, -7], np.int8)
    found, wanted = f(given), np.copysign(given, given[::-1])
    assert found.dtype == wanted.dtype == np.float16
    np.testing.assert_array_equal(found, wanted)
