"""Float `//`, `%` and fmod on pairs that are hard to divide, in lanes and one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from codegen.llvm.harness import buffer, compiled, i, load, loop, module, op, size, store

import polysched as ps
from polysched.codegen.llvm.machine.imports import undefined
from polysched.lang.nodes.dtypes import DType, float32, float64
from polysched.targets.host import default_target, target_of

Array = np.ndarray[Any, Any]
PAIRS = 4096
n = size("n")


def pairs(dtype: DType) -> tuple[Array, Array]:
    """Random bits, so exponents of all distances; divisors that are tiny; dividends next to
    multiples, on both sides; multiples of a power of two times the divisor."""
    t, rng = dtype.numpy.type, np.random.default_rng(5)
    word = f"u{t().itemsize}"
    x, y = rng.integers(0, 2 ** (8 * t().itemsize), (2, 4, PAIRS), word).view(t)
    y[1] = rng.integers(1, 2 ** (dtype.format.precision + 1), PAIRS, word).view(t)
    k = rng.integers(1, 2**20, PAIRS)
    with np.errstate(over="ignore", invalid="ignore"):
        multiples = y[2] * k.astype(t)
    x[2] = np.nextafter(multiples, rng.choice(np.array([-np.inf, np.inf], t), PAIRS))
    near = rng.integers(-3, 4, PAIRS) + 2 ** rng.integers(0, dtype.format.precision + 3, PAIRS)
    x[3], y[3] = near.astype(t) * t(1.5), rng.integers(1, 9, PAIRS).astype(t)
    return x.ravel(), y.ravel()


def same(found: Array, wanted: Array) -> Array:
    """Equal bits, but for NaNs, which are all one."""
    word = f"u{found.itemsize}"
    return (found.view(word) == wanted.view(word)) | (np.isnan(found) & np.isnan(wanted))


@pytest.mark.parametrize("dtype", [float32, float64], ids=str)
@pytest.mark.parametrize("lanes", [1, 3, 8])
@pytest.mark.parametrize("target", [None, "x86-64-v3"])
def test_hard_pairs(target: str | None, lanes: int, dtype: DType) -> None:
    if target is not None and default_target().arch != target_of(target).arch:
        pytest.skip("code for another machine")
    size_, at = ps.sizes("n"), ps.vars("i")
    x, y = (ps.Input(name, dtype, (size_,)) for name in "xy")
    q, r, c = (ps.Func(name, (size_,)) for name in "qrc")
    q[at], r[at], c[at] = x[at] // y[at], x[at] % y[at], ps.fmod(x[at], y[at])
    s = ps.Schedule((q, r, c), target=target)
    for f in (q, r, c):
        if lanes > 1:
            s[f].vectorize("i", lanes)
    given = pairs(dtype)
    with np.errstate(all="ignore"):
        wanted = np.floor_divide(*given), np.remainder(*given), np.fmod(*given)
    for name, found, right in zip("qrc", s.compile()(*given), wanted, strict=True):
        bad = ~same(found, right)
        assert not bad.any(), (name, given[0][bad][0], given[1][bad][0])


@pytest.mark.parametrize("dtype", [float32, float64], ids=str)
def test_nothing_is_called(dtype: DType) -> None:
    x, y, out = buffer("x", dtype, n), buffer("y", dtype, n), buffer("out", dtype, n, kind="output")
    quotient = op("floordiv", load(x, i), load(y, i), dtype=dtype)
    value = op("mod", quotient, load(y, i), dtype=dtype)
    kernel = module([x, y, out], [n], loop(i, 0, n, store(out, i, value)))
    assert undefined(compiled(kernel).object_code) == []
