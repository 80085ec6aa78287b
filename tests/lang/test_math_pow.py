"""Powers: special values, errors, powers of integers, and what is counted of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lang.support import refused

import polysched as ps

Array = np.ndarray[Any, Any]
FLOATS = (ps.float32, ps.float64)
SPECIAL = (
    *(0.0, 1.0, 2.0, 3.0, 0.5, 2.5, 1e30, 1e-40, 2.0**24 + 1, 2.0**53 - 1, 1e300, np.inf),
    *(-0.0, -1.0, -2.0, -3.0, -0.5, -2.5, -1e30, -1e-40, -(2.0**53), -np.inf, np.nan),
)
n, i = ps.sizes("n"), ps.vars("i")


def compiled(dtype: ps.DType, checks: bool = False) -> tuple[ps.Func, ps.Kernel]:
    x, y = (ps.Input(name, dtype, (n,)) for name in "xy")
    f = ps.Func("f", (n,))
    f[i] = ps.pow(x[i], y[i])
    s = ps.Schedule(f)
    s[f].vectorize("i", ps.native)
    return f, s.compile(checks=checks)


@pytest.fixture(scope="module", params=FLOATS, ids=str)
def of_floats(request: pytest.FixtureRequest) -> tuple[ps.DType, ps.Func, ps.Kernel]:
    return request.param, *compiled(request.param)


def pairs(values: Any, dtype: Any) -> tuple[Array, Array]:
    with np.errstate(over="ignore"):
        given = np.array([dtype(v) for v in values])
        x, y = np.meshgrid(given, given)
    return np.ascontiguousarray(x.ravel()), np.ascontiguousarray(y.ravel())


def test_special_values_are_numpys(of_floats: tuple[ps.DType, ps.Func, ps.Kernel]) -> None:
    dtype, f, kernel = of_floats
    x, y = pairs(SPECIAL, dtype.numpy.type)
    with np.errstate(all="ignore"):
        wanted = np.power(x, y)
    found = kernel(x, y)
    np.testing.assert_allclose(found, wanted, rtol=2 * np.finfo(dtype.numpy).eps)
    numbers = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(wanted)[numbers])
    meant = ps.interpret(f, x[::5].copy(), y[::5].copy())
    np.testing.assert_array_equal(found[::5], meant)
    np.testing.assert_array_equal(np.signbit(found[::5]), np.signbit(meant))


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="no floats wider than float64 here")
def test_error(of_floats: tuple[ps.DType, ps.Func, ps.Kernel]) -> None:
    """Results of all sizes and next to the smallest normal number, from bases of all sizes and next
    to 1."""
    dtype, _, kernel = of_floats
    info, wide = np.finfo(dtype.numpy), np.longdouble
    random, count = np.random.default_rng(4), 20_000
    largest = float(np.log(info.max))
    near = 1 + np.ldexp(random.uniform(-1, 1, count), -random.integers(1, info.nmant - 2, count))
    bases = [np.exp(random.uniform(-largest, largest, count)), random.uniform(0.5, 2, count), near]
    x = np.concatenate(bases).astype(dtype.numpy)
    x = np.where(x == 1, dtype.numpy.type(1.5), x)
    size = random.uniform(-largest, largest, x.size)
    units = random.integers(-8, 9, len(size[::3]))
    size[::3] = np.log(float(info.smallest_normal)) * (1 + units * float(info.eps))
    y = (size / np.log(x.astype(wide))).astype(dtype.numpy)
    with np.errstate(all="ignore"):
        true = np.power(x.astype(wide), y.astype(wide))
        unit = np.ldexp(wide(1), np.maximum(np.frexp(true)[1] - 1, info.minexp) - info.nmant)
        error = np.abs(kernel(x, y).astype(wide) - true) / unit
    counted = np.isfinite(true.astype(dtype.numpy))
    # long double has a relative error of its own in powers, of 2**-11 float64 ULP and a little.
    assert error[counted].max() <= (0.85 if dtype is ps.float32 else 1.06)


@pytest.mark.parametrize("name", ["int8", "uint16", "int32", "uint64"])
def test_powers_of_integers_wrap(name: str) -> None:
    info = np.iinfo(name)
    few = {0, 1, 2, 3, 5, 7, 10, info.bits - 1, info.bits, info.max, info.max - 1}
    x, y = pairs(sorted(few), info.dtype.type)
    x = np.concatenate([x, np.full(len(few), info.min, name)])
    y = np.concatenate([y, np.array(sorted(few), name)])
    exact = [pow(int(a), int(b), 1 << info.bits) for a, b in zip(x, y, strict=True)]
    wanted = [v - (1 << info.bits) if v > info.max else v for v in exact]
    f, kernel = compiled(ps.Input("x", name, (n,)).dtype)
    assert kernel(x, y).tolist() == wanted
    assert ps.interpret(f, x[::3].copy(), y[::3].copy()).tolist() == wanted[::3]


@pytest.mark.slow
def test_negative_powers_of_integers_are_0_and_counted() -> None:
    f, kernel = compiled(ps.int32, checks=True)
    x, y = np.int32([2, 1, 0, -3]), np.int32([-1, -5, 2, 3])
    for call in (lambda: kernel(x, y), lambda: ps.interpret(f, x, y, checks=True)):
        with refused("negative power", error=ps.CallValueError):
            call()
    assert f(x, y).tolist() == [0, 0, 0, -27]
    assert kernel(x, abs(y)).tolist() == [2, 1, 0, -27]


def test_powers_that_are_not_reached_are_not_counted() -> None:
    x, f = ps.Input("x", ps.int32, (n,)), ps.Func("f", (n,))
    f[i] = ps.select(x[i] >= 0, ps.pow(3, x[i]), -1)
    v = np.int32([-2, 0, 4])
    assert ps.Schedule(f).compile(checks=True)(v).tolist() == [-1, 1, 81]
    assert ps.interpret(f, v, checks=True).tolist() == [-1, 1, 81]


def test_python_s_operator_takes_any_exponent() -> None:
    x, k = ps.Input("x", ps.float32, (n,)), ps.Input("k", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = (x[i] ** 0.3, 2.5 ** x[i], x[i] ** x[i], 2 ** k[i], k[i] ** 2.0, x[i] ** k[i])
    types = (ps.float32,) * 3 + (ps.int32, ps.float64, ps.float64)
    assert f.dtype == types
    v, e = np.float32([0.5, 1.5, 4.0]), np.int32([0, 3, 5])
    wanted = (v**0.3, 2.5**v, v**v, 2**e, e**2.0, v.astype(np.float64) ** e)
    for found, right, t in zip(f(v, e), wanted, types, strict=True):
        np.testing.assert_allclose(found, right, rtol=3e-7 if t is ps.float32 else 1e-15)


def test_a_power_as_an_index_is_scanned_or_clamped() -> None:
    k, table = ps.Input("k", ps.int32, (n,)), ps.Input("table", ps.float32, (9,))
    f = ps.Func("f", (n,))
    f[i] = table[ps.clip(ps.pow(2, k[i]), 0, 8)]
    values = np.arange(9, dtype=np.float32)
    assert f(np.int32([0, 1, 3, 7]), values).tolist() == [1, 2, 8, 8]


def test_powers_of_bools_are_refused() -> None:
    b, f = ps.Input("b", ps.bool_, (n,)), ps.Func("f", (n,))
    with refused("pow of bools", error=ps.LanguageTypeError):
        f[i] = ps.pow(b[i], b[i])
