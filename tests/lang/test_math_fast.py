"""The fast functions: their stated errors, what becomes of special values, code and interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special

import polysched as ps

Array = np.ndarray[Any, Any]
#: What the errors of these samples stay below, in ULP, for float32 and float64; docs/functions.md
#: states as much, or more where runs of all float32 and more float64 have shown it.
BOUNDS = {
    "fast_erf": (6.0, 8.0),
    "fast_exp": (2.5, 3.5),
    "fast_exp2": (2.5, 3.5),
    "fast_log": (1.2, 2.5),
    "fast_rsqrt": (1.3, 1.3),
    "fast_sigmoid": (3.6, 4.2),
    "fast_tanh": (5.5, 7.0),
}
TRUE = {
    "fast_erf": scipy.special.erf,
    "fast_exp": np.exp,
    "fast_exp2": np.exp2,
    "fast_log": np.log,
    "fast_rsqrt": lambda x: 1 / np.sqrt(x),
    "fast_sigmoid": scipy.special.expit,
    "fast_tanh": np.tanh,
}
FLOATS = (ps.float32, ps.float64)
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 20.0, -20.0, 1e-3, 1e30, -1e30)
n, i = ps.sizes("n"), ps.vars("i")


def program(dtype: ps.DType) -> list[ps.Func]:
    x = ps.Input("x", dtype, (n,))
    funcs = []
    for name in BOUNDS:
        f = ps.Func(name, (n,))
        f[i] = getattr(ps, name)(x[i])
        funcs.append(f)
    return funcs


@pytest.fixture(scope="module", params=FLOATS, ids=str)
def compiled(request: pytest.FixtureRequest) -> tuple[ps.DType, ps.Kernel]:
    dtype: ps.DType = request.param
    s = ps.Schedule(program(dtype))
    for f in s.program.outputs:
        s[f].vectorize("i", ps.native)
    return dtype, s.compile()


def called(compiled: tuple[ps.DType, ps.Kernel], x: Any) -> dict[str, Array]:
    dtype, kernel = compiled
    return dict(zip(BOUNDS, kernel(np.asarray(x, dtype.numpy)), strict=True))


def samples(dtype: ps.DType) -> Array:
    random = np.random.default_rng(7)
    if dtype is ps.float32:
        x = np.arange(0, 2**32, 8191, dtype=np.uint32).view(np.float32)
    else:
        x = random.integers(0, 2**64, 50_000, dtype=np.uint64).view(np.float64)
    ends = [(-4, 4), (-1, 1), (-90, 90), (0.5, 2), (-20, 20)]
    uniform = (random.uniform(a, b, 40_000).astype(x.dtype) for a, b in ends)
    return np.concatenate([x[np.isfinite(x)], *uniform])


@pytest.mark.parametrize("name", BOUNDS)
def test_errors_are_those_stated(compiled: tuple[ps.DType, ps.Kernel], name: str) -> None:
    dtype = compiled[0]
    info = np.finfo(dtype.numpy)
    x = samples(dtype)
    # float64 itself is the reference for float64: it adds about one unit.
    bound = BOUNDS[name][0] if dtype is ps.float32 else BOUNDS[name][1] + 1
    found = called(compiled, x)[name]
    with np.errstate(all="ignore"):
        true = TRUE[name](x.astype(np.float64))
        size = np.abs(true)
        counts = (size >= 1.5 * info.smallest_normal) & (size < 0.7 * info.max)
        counts &= np.abs(x) >= info.smallest_normal
        unit = np.exp2(np.floor(np.log2(size[counts])) - info.nmant)
    error = np.abs(found[counts].astype(np.float64) - true[counts]) / unit
    assert counts.sum() > 20_000
    assert error.max() <= bound, x[counts][np.argmax(error)]


def test_special_values(compiled: tuple[ps.DType, ps.Kernel]) -> None:
    dtype = compiled[0]
    x = np.array(SPECIAL, dtype.numpy)
    for name, found in called(compiled, x).items():
        with np.errstate(all="ignore"):
            true = TRUE[name](x)
        if name == "fast_rsqrt":
            true[1] = np.inf
        np.testing.assert_allclose(found, true, rtol=1e-6 if dtype is ps.float32 else 1e-15)
        np.testing.assert_array_equal(np.isfinite(found), np.isfinite(true))


def test_ends_of_the_range(compiled: tuple[ps.DType, ps.Kernel]) -> None:
    info = np.finfo(compiled[0].numpy)
    low, high = np.log(2.0) * (info.minexp - 0.6), np.log(2.0) * (info.maxexp - 0.4)
    x = np.array([low, high, -high], info.dtype)
    found = called(compiled, x)
    assert found["fast_exp"].tolist() == [0.0, np.inf, 0.0]
    ends = [info.minexp - 0.6, info.maxexp - 0.4, info.maxexp + 9.0, 1 - info.maxexp, -info.maxexp]
    assert called(compiled, ends)["fast_exp2"].tolist() == [0.0, np.inf, np.inf, 0.0, 0.0]
    assert found["fast_sigmoid"][1:].tolist() == [1.0, 0.0]
    denormal = called(compiled, [info.smallest_subnormal, -info.smallest_subnormal])
    np.testing.assert_array_equal(denormal["fast_log"], [-np.inf, np.nan])
    np.testing.assert_array_equal(denormal["fast_rsqrt"], [np.inf, np.nan])


def test_values_stay_within_one(compiled: tuple[ps.DType, ps.Kernel]) -> None:
    found = called(compiled, np.linspace(-50, 50, 100_001))
    for name in ("fast_tanh", "fast_erf", "fast_sigmoid"):
        assert found[name].max() == 1.0
        least = found[name].min()
        assert (0 <= least < 1e-10) if name == "fast_sigmoid" else least == -1.0


def test_code_calls_nothing(compiled: tuple[ps.DType, ps.Kernel]) -> None:
    lines = compiled[1].asm.splitlines()
    assert len(lines) > 200
    calls = [line for line in lines if line.split()[:1] in (["call"], ["callq"])]
    assert all("*" in line or "polysched." in line for line in calls)  # polls, and loop nests


def test_code_and_interpreter_agree(compiled: tuple[ps.DType, ps.Kernel]) -> None:
    dtype = compiled[0]
    random = np.random.default_rng(8)
    x = np.array([*SPECIAL, 88.4, -87.6, 709.5, -708.9, 1e-40, *random.uniform(-6, 6, 20)])
    found = called(compiled, x)
    for f in program(dtype):
        meant = ps.interpret(f, x.astype(dtype.numpy))
        np.testing.assert_array_equal(found[f.name], meant)
        np.testing.assert_array_equal(np.signbit(found[f.name]), np.signbit(meant))


def test_types_are_those_of_exact_functions() -> None:
    x = ps.Input("x", ps.int32, (n,))
    for name in BOUNDS:
        f = ps.Func("f", (n,))
        f[i] = getattr(ps, name)(x[i])
        assert f.dtype == ps.float64
