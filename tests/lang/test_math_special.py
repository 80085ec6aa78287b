"""erf, erfc, gamma and lgamma: errors against values of many digits and scipy's, special values,
and code against the interpreter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special

import polysched as ps

Array = np.ndarray[Any, Any]
NAMES = ("erf", "erfc", "gamma", "lgamma")
FLOATS = (ps.float32, ps.float64)
#: The largest errors in ULP that are allowed in float32 and float64: those of the documentation.
BOUNDS = {"erf": (0.51, 1.3), "erfc": (0.97, 1.35), "gamma": (0.51, 1.1), "lgamma": (0.51, 1.0)}
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 2.0, -1.0, -2.0, 1e-30, -1e-30, 300.0, -300.5)
VALUES = json.loads((Path(__file__).parent / "special_values.json").read_text())
"""By function: arguments, the nearest float64 of the true results, and what that leaves."""
n, i = ps.sizes("n"), ps.vars("i")


def values(name: str) -> tuple[Array, Array, Array]:
    x, high, low = np.array([[float.fromhex(v) for v in row] for row in VALUES[name]]).T
    return x, high, low


@pytest.fixture(scope="module", params=FLOATS, ids=str)
def compiled(request: pytest.FixtureRequest) -> tuple[ps.DType, list[ps.Func], ps.Kernel]:
    """All four in one program: they share a compilation."""
    x, funcs = ps.Input("x", request.param, (n,)), []
    for name in NAMES:
        f = ps.Func(name, (n,))
        f[i] = getattr(ps, name)(x[i])
        funcs.append(f)
    s = ps.Schedule(funcs)
    for f in funcs:
        s[f].vectorize("i", ps.native)
    return request.param, funcs, s.compile()


def called(compiled: Any, name: str, x: Any) -> Array:
    dtype, _, kernel = compiled
    found: Array = kernel(np.asarray(x, dtype.numpy))[NAMES.index(name)]
    return found


def unit(true: Array, dtype: ps.DType) -> Array:
    info = np.finfo(dtype.numpy)
    exponent = np.maximum(np.frexp(true)[1] - 1, info.minexp)
    size: Array = np.ldexp(1.0, np.maximum(exponent - info.nmant, -1074))
    return size


@pytest.mark.parametrize("name", NAMES)
def test_error_at_hard_places(compiled: Any, name: str) -> None:
    """The worst arguments that were found, those next to where a formula changes, and others."""
    x, high, low = values(name)
    dtype = compiled[0]
    if dtype is ps.float32:
        x = x[np.abs(x) < 1e38].astype(np.float32)
        with np.errstate(over="ignore"):
            high = TRUE[name](x.astype(np.float64))
        low = np.zeros_like(high)
    found = called(compiled, name, x).astype(np.float64)
    with np.errstate(over="ignore"):
        fits = np.isfinite(high.astype(dtype.numpy)) & np.isfinite(found)
    error = np.abs((found[fits] - high[fits]) - low[fits]) / unit(high[fits], dtype)
    assert fits.sum() > 10
    assert error.max() <= BOUNDS[name][FLOATS.index(dtype)], x[fits][error.argmax()]


def _lgamma(x: Array) -> Array:
    found: Array = scipy.special.gammaln(x)
    return np.where(np.isneginf(x), np.inf, found)


TRUE = {
    "erf": scipy.special.erf,
    "erfc": scipy.special.erfc,
    "gamma": scipy.special.gamma,
    "lgamma": _lgamma,
}


@pytest.mark.parametrize("name", NAMES)
def test_error_of_float32(name: str, compiled: Any) -> None:
    """Against scipy's float64; next to the zeros of lgamma below 0 that is not exact enough."""
    dtype = compiled[0]
    if dtype is not ps.float32:
        x = np.random.default_rng(2).uniform(-170, 170, 20_000)
    else:
        x = np.arange(0, 2**32, 40_009, dtype=np.uint32).view(np.float32)
        near = np.random.default_rng(2).uniform(-12, 36, 40_000).astype(np.float32)
        x = np.concatenate([x[np.isfinite(x)], near])
    with np.errstate(all="ignore"):
        true = TRUE[name](x.astype(np.float64))
        counts = np.isfinite(true.astype(dtype.numpy)) & (np.abs(true) > 1e-5)
    found = called(compiled, name, x)
    assert np.isfinite(found[counts]).all()
    error = np.abs(found[counts] - true[counts]) / unit(true[counts], dtype)
    # scipy's own error in float64 is up to some units.
    assert error.max() <= (BOUNDS[name][0] if dtype is ps.float32 else 1000)


@pytest.mark.parametrize("name", NAMES)
def test_special_values_are_scipys(compiled: Any, name: str) -> None:
    """But lgamma(-inf), which is C's: inf."""
    dtype = compiled[0]
    x = np.array(SPECIAL, dtype.numpy)
    with np.errstate(all="ignore"):
        wanted = TRUE[name](x)
    found = called(compiled, name, x)
    np.testing.assert_allclose(found, wanted, rtol=4 * np.finfo(dtype.numpy).eps)
    np.testing.assert_array_equal(np.signbit(found)[wanted == 0], np.signbit(wanted)[wanted == 0])


def test_lgamma_next_to_its_zeros_below_0_has_an_absolute_bound(compiled: Any) -> None:
    x, high, low = values("zeros of lgamma")
    if compiled[0] is ps.float64:
        error = np.abs((called(compiled, "lgamma", x) - high) - low)
        assert error.max() <= 4e-17
    else:
        x = x.astype(np.float32)
        true = scipy.special.gammaln(x.astype(np.float64))
        error = np.abs(called(compiled, "lgamma", x) - true)
        assert np.all(error <= np.abs(true) * 2.0**-24 + 1e-14)


def test_lgamma_is_finite_as_long_as_it_is_a_number(compiled: Any) -> None:
    """SciPy's ends at 2.5563e305. From there on log gamma x is x (log x - 1)."""
    if compiled[0] is not ps.float64:
        pytest.skip("float32 is computed in float64")
    most = 2.5599833278516383e305
    x = np.array([2.5563481638716906e305, 2.558e305, most, np.nextafter(most, np.inf)])
    found = called(compiled, "lgamma", x)
    np.testing.assert_allclose(found[:3], x[:3] * (np.log(x[:3]) - 1), rtol=1e-15)
    assert found[2] == np.finfo(np.float64).max
    assert np.isinf(found[3])


def test_gamma_of_integers_is_the_factorial(compiled: Any) -> None:
    x = np.arange(1, 23.0)
    wanted = scipy.special.factorial(x - 1, exact=False).astype(compiled[0].numpy)
    np.testing.assert_array_equal(called(compiled, "gamma", x), wanted)


def test_code_calls_nothing(compiled: Any) -> None:
    lines = compiled[2].asm.splitlines()
    assert len(lines) > 500
    calls = [line for line in lines if line.split()[:1] in (["call"], ["callq"])]
    assert all("*" in line or "polysched." in line for line in calls)  # polls, and loop nests


def test_code_and_interpreter_agree(compiled: Any) -> None:
    dtype, funcs, kernel = compiled
    random = np.random.default_rng(3)
    x = np.array([*SPECIAL, -2.457, 0.5, 10.0, 5.93, 1e-40, *random.uniform(-20, 20, 9)])
    given = x.astype(dtype.numpy)
    for f, found in zip(funcs, kernel(given), strict=True):
        meant = ps.interpret(f, given)
        np.testing.assert_array_equal(found, meant)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(meant))


def test_functions_of_16_bits_are_those_of_float32_rounded() -> None:
    x = ps.Input("x", ps.float16, (n,))
    f = ps.Func("f", (n,))
    f[i] = (ps.erfc(x[i]), ps.lgamma(x[i]), ps.pow(x[i], x[i]), ps.fast_tanh(x[i]))
    v = np.float16([0.3, 1.7, 2.5, 6.0])
    w = v.astype(np.float64)
    wanted = (scipy.special.erfc(w), scipy.special.gammaln(w), w**w, np.tanh(w))
    for found, true in zip(f(v), wanted, strict=True):
        np.testing.assert_array_equal(found, true.astype(np.float16))
