"""Params whose remainders and near quotients alone bound loops are any numbers, however far."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
FAR = (0, 5, -3, 2**43 + 1, -(2**43) - 1, 2**62 - 2, 2**63 - 1, -(2**63))
Condition = Callable[[ps.Expr, ps.Param], ps.Expr]

NEAR: dict[str, Condition] = {
    "remainder": lambda x, p: x >= p % 4,
    "multiple": lambda x, p: 4 * x >= p % 16 - 3,
    "digit": lambda x, p: x < (p % 100) // 8,
    "bits": lambda x, p: (x & 3) == (p & 3),
    "sum in a remainder": lambda x, p: (x + p % 5) % 3 == 0,
    "quotient": lambda x, p: x >= p // 2**60,
    "shift": lambda x, p: x < (p >> 60),
    "end": lambda x, p: x >= n - p % 4,
    "two": lambda x, p: (x >= p % 4) & (i < p % 7),
}


@pytest.mark.parametrize("given", NEAR)
def test_a_stage_is_divided_by_what_is_near(given: str) -> None:
    """A call with a far Param was refused, although no loop reached it."""
    p, f = ps.Param("p", ps.int64), ps.Func("f", (n, m), ps.int64)
    f[i, j] = i + j + p
    s = ps.Schedule(f)
    s["f"].partition(NEAR[given](j, p))
    kernel = s.compile()
    for far in FAR:
        assert np.array_equal(kernel(n=5, m=9, p=far), ps.interpret(f, n=5, m=9, p=far)), far


RANGES: dict[str, Callable[[ps.Param], ps.RVar]] = {
    "end": lambda p: ps.RVar("k", 0, p % 4),
    "begin": lambda p: ps.RVar("k", p // 2**60, 5),
    "stride": lambda p: ps.RVar("k", 0, 9, where=lambda k: k % 2 == p % 2),
    "both": lambda p: ps.RVar("k", 0, 9, where=lambda k: (k >= p % 4) & (k < (p >> 60))),
    "wrapped": lambda p: ps.RVar("k", 0, (p + 1) % 4),
    **{name: lambda p, c=c: ps.RVar("k", 0, 9, where=lambda k: c(k, p))
       for name, c in NEAR.items() if name not in ("end", "two")},
}  # fmt: skip


@pytest.mark.parametrize("given", RANGES)
def test_an_rvar_is_bounded_by_what_is_near(given: str) -> None:
    p, f = ps.Param("p", ps.int64), ps.Func("f", (n,), ps.int64)
    k = RANGES[given](p)
    f[i] = p
    f[i] += k * (i + 1)
    s = ps.Schedule(f)
    s["f.update(0)"].vectorize(i, 4)
    kernel = s.compile()
    for far in FAR:
        assert np.array_equal(kernel(n=5, p=far), ps.interpret(f, n=5, p=far)), far


REACHED: dict[str, Condition] = {
    "beside a remainder": lambda x, p: (x >= p % 4) & (x < p),
    "far remainder": lambda x, p: x >= p % 2**60,
    "far quotient": lambda x, p: x >= p // 4,
    "far multiple": lambda x, p: x >= p // 2**44 * 2**40,
}


@pytest.mark.parametrize("far", [2**63 - 1, -(2**63)])
@pytest.mark.parametrize("given", REACHED)
def test_refuses_a_param_that_is_reached(given: str, far: int) -> None:
    """`j + p // 4 * 4 >= p` would wrap."""
    p, f = ps.Param("p", ps.int64), ps.Func("f", (n, m), ps.int64)
    f[i, j] = i + j + p
    s = ps.Schedule(f)
    s["f"].partition(REACHED[given](j, p))
    kernel = s.compile()
    assert np.array_equal(kernel(n=5, m=9, p=6), ps.interpret(f, n=5, m=9, p=6))
    with pytest.raises(ps.CallError, match="a loop begins or ends by it"):
        kernel(n=5, m=9, p=far)


def test_refuses_a_param_that_is_reached_in_another_bound() -> None:
    p, f = ps.Param("p", ps.int64), ps.Func("f", (n,), ps.int64)
    f[i] = 0
    f[i] += ps.RVar("k", 0, p % 4)
    f[i] += ps.RVar("k", 0, ps.minimum(p, 3))
    for call in (f, lambda **given: ps.interpret(f, **given)):
        assert call(n=1, p=2).tolist() == [2]
        with pytest.raises(ps.CallError, match="a loop begins or ends by it"):
            call(n=1, p=2**62)


@pytest.mark.parametrize("far", [2**63 - 1, -(2**63)])
def test_refuses_a_far_param_that_a_region_needs(far: int) -> None:
    p, x, g = ps.Param("p", ps.int64), ps.vars("x"), ps.Func("g", dtype=ps.int64)
    f = ps.Func("f", (n,))
    g[x] = x * x
    f[i] = ps.select(i <= p % 4, g[i] + g[i + 1], 0) + g[i] // 3
    s = ps.Schedule(f)
    s["g"].compute_root()
    kernel = s.compile()
    assert np.array_equal(kernel(n=9, p=6), ps.interpret(f, n=9, p=6))
    with pytest.raises(ps.CallError, match="a loop begins or ends by it"):
        kernel(n=9, p=far)
