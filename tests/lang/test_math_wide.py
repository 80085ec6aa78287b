"""Functions that compute in float64: exact results, code against the interpreter, and hypot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polysched as ps

Array = np.ndarray[Any, Any]
NAMES = ("exp2", "expm1", "sinh", "cosh", "log2", "log10", "log1p")
FLOATS = (ps.float32, ps.float64)
n, i = ps.sizes("n"), ps.vars("i")


def compiled(name: str, dtype: ps.DType, arity: int, lanes: int) -> tuple[ps.Func, ps.Kernel]:
    given = [ps.Input(f"x{k}", dtype, (n,)) for k in range(arity)]
    f = ps.Func("f", (n,))
    f[i] = getattr(ps, name)(*(x[i] for x in given))
    s = ps.Schedule(f)
    s[f].vectorize("i", lanes)
    return f, s.compile()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_code_and_interpreter_agree(name: str, dtype: ps.DType) -> None:
    random = np.random.default_rng(5)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.35, 88.7, 710.4, -745.2, 1e-40]
    x = np.concatenate([special, random.uniform(-2, 2, 25), random.uniform(-90, 90, 26)])
    f, kernel = compiled(name, dtype, 1, 16)
    given = x.astype(dtype.numpy)
    found, meant = kernel(given), ps.interpret(f, given)
    np.testing.assert_array_equal(found, meant)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(meant))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_powers_of_two_are_exact(dtype: ps.DType) -> None:
    info = np.finfo(dtype.numpy)
    k = np.arange(info.minexp - info.nmant, info.maxexp)
    powers = np.ldexp(dtype.numpy.type(1), k)
    _, exp2 = compiled("exp2", dtype, 1, 8)
    _, log2 = compiled("log2", dtype, 1, 8)
    np.testing.assert_array_equal(exp2(k.astype(dtype.numpy)), powers)
    np.testing.assert_array_equal(log2(powers), k)


def test_powers_of_ten_have_whole_logarithms() -> None:
    _, log10 = compiled("log10", ps.float64, 1, 4)
    powers = np.array([float(f"1e{k}") for k in range(23)])
    np.testing.assert_array_equal(log10(powers), np.arange(23))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ["expm1", "log1p", "sinh"])
def test_small_arguments_pass_through(name: str, dtype: ps.DType) -> None:
    info = np.finfo(dtype.numpy)
    k = np.arange(info.minexp - info.nmant, -info.nmant - 2)
    x = np.ldexp(dtype.numpy.type(1.37), k)
    x = np.concatenate([x, -x, np.array([-0.0], dtype.numpy)])
    _, kernel = compiled(name, dtype, 1, 8)
    found = kernel(x)
    np.testing.assert_array_equal(found, x)
    assert np.signbit(found[-1])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_hypot_at_every_size(dtype: ps.DType) -> None:
    info, wide = np.finfo(dtype.numpy), np.longdouble
    random = np.random.default_rng(6)
    e = random.integers(info.minexp - info.nmant, info.maxexp, 4000)
    x = np.ldexp(random.uniform(1, 2, 4000), e).astype(dtype.numpy)
    y = (x * random.uniform(0.01, 0.9, 4000)).astype(dtype.numpy)
    _, hypot = compiled("hypot", dtype, 2, 8)
    found = hypot(x, y)
    with np.errstate(over="ignore"):
        true = np.hypot(x.astype(wide), y.astype(wide))
        rounded = true.astype(dtype.numpy)
    unit = np.minimum(rounded, info.max)
    unit = unit - np.nextafter(unit, dtype.numpy.type(0))
    off = np.where(found == rounded, 0, np.abs(found - true) / unit)
    assert np.max(off) <= (0.88 if dtype == ps.float32 else 1.25)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_hypot_of_infinities_and_nans(dtype: ps.DType) -> None:
    x = np.array([np.inf, np.nan, -0.0, np.nan, 3.0], dtype.numpy)
    y = np.array([np.nan, -np.inf, -0.0, 1.0, -4.0], dtype.numpy)
    f, hypot = compiled("hypot", dtype, 2, 4)
    expected = [np.inf, np.inf, 0.0, np.nan, 5.0]
    np.testing.assert_array_equal(hypot(x, y), expected)
    np.testing.assert_array_equal(ps.interpret(f, x, y), expected)


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_bools_are_of_halves(name: str) -> None:
    b, f = ps.Input("b", ps.bool_, (n,)), ps.Func("f", (n,))
    f[i] = getattr(ps, name)(b[i])
    given = np.array([True, False, True])
    with np.errstate(divide="ignore"):
        wanted = getattr(np, name)(given)
    found = f(given)
    assert found.dtype == wanted.dtype == np.float16
    np.testing.assert_allclose(found, wanted, rtol=2e-3)
