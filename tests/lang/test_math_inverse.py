"""Inverses of the functions of angles and of sinh, cosh and tanh, and the cube root."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polysched as ps
from polysched.lang.errors.errors import LanguageTypeError

Array = np.ndarray[Any, Any]
FLOATS = (ps.float32, ps.float64)
#: Where float64 arguments are drawn, and the largest errors in ULP in float32 and in float64.
UNARY = {
    "arcsin": ((-1.0, 1.0), 0.9, 1.2),
    "arccos": ((-1.0, 1.0), 0.9, 1.25),
    "arctan": ((-4.0, 4.0), 0.9, 1.0),
    "arcsinh": ((-4.0, 4.0), 0.9, 1.0),
    "arccosh": ((1.0, 4.0), 0.9, 1.05),
    "arctanh": ((-1.0, 1.0), 0.9, 1.0),
    "cbrt": ((-9.0, 9.0), 0.9, 0.52),
}
NAMES = {"arctan2": "atan2"} | {name: name.replace("arc", "a") for name in UNARY if "arc" in name}
n, i = ps.sizes("n"), ps.vars("i")
needs_long_double = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="no floats wider than float64 here"
)


def compiled(name: str, dtype: ps.DType, arity: int = 1) -> tuple[ps.Func, ps.Kernel]:
    given = [ps.Input(f"x{k}", dtype, (n,)) for k in range(arity)]
    f = ps.Func("f", (n,))
    f[i] = getattr(ps, name)(*(x[i] for x in given))
    s = ps.Schedule(f)
    s[f].vectorize("i", 8)
    return f, s.compile()


def off(name: str, dtype: ps.DType, *given: Array) -> float:
    """The largest error in ULP."""
    wide = np.float64 if dtype == ps.float32 else np.longdouble
    info = np.finfo(dtype.numpy)
    arguments = [a.astype(dtype.numpy) for a in given]
    found = compiled(name, dtype, len(given))[1](*arguments)
    with np.errstate(all="ignore"):
        true = getattr(np, name)(*(a.astype(wide) for a in arguments))
        exponent = np.maximum(np.frexp(true)[1] - 1, info.minexp)
        errors = np.abs(found - true) / np.ldexp(wide(1), exponent - info.nmant)
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(true))
    return float(np.nanmax(errors))


def of_all_sizes(dtype: ps.DType, count: int, seed: int) -> Array:
    random, info = np.random.default_rng(seed), np.finfo(dtype.numpy)
    exponents = random.integers(info.minexp - info.nmant, info.maxexp - 2, count)
    return np.ldexp(random.uniform(-2, 2, count), exponents)


@needs_long_double
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_errors(name: str, dtype: ps.DType) -> None:
    (lo, hi), for_float32, for_float64 = UNARY[name]
    random = np.random.default_rng(21)
    near_one = 1 + np.ldexp(random.uniform(-1, 1, 5000), random.integers(-24, 0, 5000))
    where = [0.5, 9 / 16, 1, 2, 0.3, 0.1715, 2.0**30, 2.0**64, 1 / 16, *2.0 ** np.arange(-9, 9)]
    edges = np.concatenate([np.nextafter(w, [-9.0, w, 1e99]) for w in where])
    parts = [random.uniform(lo, hi, 30_000), near_one, of_all_sizes(dtype, 9000, 22)]
    x = np.concatenate([*parts, edges, -edges])
    assert off(name, dtype, x) <= (for_float32 if dtype == ps.float32 else for_float64)


@needs_long_double
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_errors_of_angles_of_points(dtype: ps.DType) -> None:
    random = np.random.default_rng(23)
    x = np.concatenate([random.uniform(-2, 2, 30_000), of_all_sizes(dtype, 20_000, 24)])
    y = np.concatenate([random.uniform(-2, 2, 30_000), of_all_sizes(dtype, 20_000, 25)])
    y[30_000:40_000] = x[30_000:40_000] * random.uniform(-2, 2, 10_000)
    assert off("arctan2", dtype, y, x) <= (0.9 if dtype == ps.float32 else 1.25)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_special_values_are_numpys(name: str, dtype: ps.DType) -> None:
    info = np.finfo(dtype.numpy)
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1.5, -1.5], dtype.numpy)
    x = np.append(x, dtype.numpy.type([info.smallest_subnormal, -info.max]))
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x)
    f, kernel = compiled(name, dtype)
    np.testing.assert_allclose(kernel(x), expected, rtol=2 * info.eps)
    np.testing.assert_array_equal(ps.interpret(f, x), kernel(x))
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(kernel(x))[zero], np.signbit(expected[zero]))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_every_angle_of_special_points_is_numpys(dtype: ps.DType) -> None:
    info = np.finfo(dtype.numpy)
    ends = [0.0, np.inf, 1.0, info.max, info.smallest_subnormal, info.smallest_normal]
    one = np.array([*ends, *(-x for x in ends), np.nan], dtype.numpy)
    y, x = (a.ravel() for a in np.meshgrid(one, one))
    f, kernel = compiled("arctan2", dtype, 2)
    found, expected = kernel(y, x), np.arctan2(y, x)
    np.testing.assert_allclose(found, expected, rtol=2 * info.eps)
    is_number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[is_number], np.signbit(expected)[is_number])
    np.testing.assert_array_equal(ps.interpret(f, y, x), found)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_code_and_interpreter_agree(name: str, dtype: ps.DType) -> None:
    random = np.random.default_rng(26)
    x = np.concatenate([random.uniform(-1.2, 1.2, 30), random.uniform(-9, 9, 15), [1e30, 1e-30]])
    f, kernel = compiled(name, dtype)
    given = x.astype(dtype.numpy)
    np.testing.assert_array_equal(kernel(given), ps.interpret(f, given))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_cubes_have_whole_roots(dtype: ps.DType) -> None:
    whole = np.arange(-200, 201).astype(dtype.numpy)
    np.testing.assert_array_equal(compiled("cbrt", dtype)[1](whole**3), whole)


@pytest.mark.parametrize("name", NAMES)
def test_second_names_are_the_same_functions(name: str) -> None:
    given = (i, i) if name == "arctan2" else (i,)
    found = str(getattr(ps, NAMES[name])(*given))
    assert found.startswith(f"{name}(")
    assert found == str(getattr(ps, name)(*given))


@pytest.mark.parametrize("name", UNARY)
def test_integers_become_floats_as_numpys_do(name: str) -> None:
    b, f = ps.Input("b", ps.int8, (n,)), ps.Func("f", (n,))
    f[i] = getattr(np, name)(b[i])
    given = np.array([1, 1], np.int8)
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(given)
    found = f(given)
    assert found.dtype == wanted.dtype == np.float16
    np.testing.assert_allclose(found, wanted, rtol=2e-3)


@pytest.mark.parametrize("name", [*UNARY, "arctan2"])
def test_texts_are_refused(name: str) -> None:
    with pytest.raises(LanguageTypeError, match="str"):
        getattr(ps, name)(*["x"] * (2 if name == "arctan2" else 1))


@pytest.mark.parametrize("name", ["arcsin", "arctan2"])
def test_functions_are_no_indices(name: str) -> None:
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    given = (i, i) if name == "arctan2" else (i,)
    with pytest.raises(LanguageTypeError, match="index"):
        f[i] = x[getattr(ps, name)(*given)]
