"""Vectors at the borders of an axis: what they load, and that it is as much as there is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.ir.text import module_text

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
LANES = 8

Index = Callable[[ps.Expr], ps.Expr]


def turned(k: ps.Expr) -> ps.Expr:
    """Backwards, and by hand: one condition in the other."""
    k = n - 1 - k
    return ps.select(k - 3 < 0, k - 3 + n, ps.select(k >= n, k - n, k - 3))


INDICES: dict[str, Index] = {
    "bounded": lambda k: ps.clip(k - 2, 0, n - 1),
    "bounded from above first": lambda k: ps.maximum(ps.minimum(k + 3, n - 1), 0),
    "bounded within": lambda k: ps.clip(k, 2, ps.maximum(n - 4, 2)),
    "bounded backwards": lambda k: ps.clip(n + 1 - k, 0, n - 1),
    "round": lambda k: (k + 1) % n,
    "round far ahead": lambda k: (k + 11) % n,
    "round far": lambda k: (k - 11) % n,
    "round backwards": lambda k: (n - 2 - k) % n,
    "by hand": turned,
}


def read_at(index: Index, dtype: ps.DType) -> ps.Func:
    x, f = ps.Input("x", dtype, (n,)), ps.Func("f", (n,))
    ps.require(n >= 3, "three elements", f)
    f[i] = x[index(i)] - x[i]
    return f


def vectors(f: ps.Func, target: str | None) -> ps.Kernel:
    s = ps.Schedule(f)
    s[f].vectorize(s[f].loops[-1].name, LANES)
    made = s if target is None else s.for_target(target)
    return made.compile()


@pytest.mark.parametrize("target", [None, "x86-64-v3"])
@pytest.mark.parametrize("dtype", [ps.uint8, ps.float32], ids=str)
@pytest.mark.parametrize("form", INDICES)
def test_each_lane_has_its_own_element(form: str, dtype: ps.DType, target: str | None) -> None:
    f = read_at(INDICES[form], dtype)
    kernel = vectors(f, target)
    for size in (3, 4, 7, 8, 9, 11, 16, 19, 40):
        given = (np.arange(size) ** 2 % 251).astype(str(dtype))
        np.testing.assert_array_equal(kernel(given), ps.interpret(f, given), str(size))


@pytest.mark.parametrize("form", [x for x in INDICES if "far" not in x and x != "by hand"])
def test_no_lane_is_loaded_by_itself(form: str) -> None:
    kernel = vectors(read_at(INDICES[form], ps.int32), None)
    assert "gather" not in kernel.llvm
    assert "for ii" not in module_text(kernel._lowered.flat)


def test_beyond_a_border_is_nothing_loaded_that_is_not_there() -> None:
    """Lanes behind the last element are beyond a bound that lies behind all there is."""
    x, f = ps.Input("x", ps.int32, (n,)), ps.Func("f", (n,))
    f[i] = x[ps.minimum(i, 9)]
    flat = module_text(vectors(f, None)._lowered.flat)
    assert "x[9 if" in flat
    assert "n - 1 - 9" in flat or "n - 10" in flat


def test_conditions_and_loads_of_others_stay() -> None:
    """A load under a condition, at an index that is bounded, in rows that go round."""
    x, f = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n, m))
    inside = x[(i + 1) % n, ps.clip(j - 1, 0, m - 1)]
    f[i, j] = ps.select((i > 0) & (j < m - 2), inside, x[i, ps.clip(j + 1, 0, m - 1)])
    kernel = vectors(f, None)
    rng = np.random.default_rng(1)
    for size in ((1, 1), (2, 3), (3, 8), (2, 9), (4, 21)):
        given = rng.random(size, np.float32)
        np.testing.assert_array_equal(kernel(given), ps.interpret(f, given))
        turned = given[::-1, ::-1]
        np.testing.assert_array_equal(kernel(turned), ps.interpret(f, turned))
