"""Indices that go round an axis: no division where they are one period away at most, and full
vectors between the ends."""

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps
from polysched.codegen.ir.text import module_text

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
x = ps.Input("x", ps.int32, (n,))
LANES = 8


def shifted(by: int) -> ps.Func:
    f = ps.Func("f", (n,))
    f[i] = x[(i + by) % n]
    return f


def neighbours() -> ps.Func:
    """As `boundary.wrap` has them: a chain of selects."""
    f, e = ps.Func("f", (n,)), ps.boundary.wrap(x)
    f[i] = e[i - 1] + 10 * e[i + 1]
    return f


def vectorized(f: ps.Func) -> ps.Kernel:
    s = ps.Schedule(f)
    s[f].vectorize(i, LANES)
    return s.compile()


def vector_loads(kernel: ps.Kernel) -> int:
    return kernel.llvm.count(f"load <{LANES} x i32>")


def flat(kernel: ps.Kernel) -> str:
    return module_text(kernel._lowered.flat)


@pytest.mark.parametrize("by", [-30, -2, -1, 0, 1, 3, 41])
@pytest.mark.parametrize("vectors", [False, True])
def test_what_goes_round_has_the_right_elements(by: int, vectors: bool) -> None:
    f = shifted(by)
    kernel = vectorized(f) if vectors else ps.Schedule.default(f).compile()
    for size in (1, 2, 3, 7, 8, 9, 40, 65):
        given = np.arange(size, dtype=np.int32)
        assert kernel(given).tolist() == np.roll(given, -by).tolist(), size


def test_a_chain_of_selects_has_the_right_elements() -> None:
    kernel = vectorized(neighbours())
    for size in (1, 2, 3, 7, 8, 9, 40, 65):
        given = np.arange(size, dtype=np.int32)
        assert kernel(given).tolist() == (np.roll(given, 1) + 10 * np.roll(given, -1)).tolist()


@pytest.mark.parametrize("by", [-1, 0, 1])
def test_neighbours_need_no_division(by: int) -> None:
    assert "%" not in flat(ps.Schedule.default(shifted(by)).compile())


@pytest.mark.parametrize("by", [-30, 41])
def test_what_may_be_further_away_is_divided(by: int) -> None:
    assert f"(i + {by}) % n".replace("+ -", "- ") in flat(
        ps.Schedule.default(shifted(by)).compile()
    )


def test_other_remainders_are_divided() -> None:
    f = ps.Func("f", (n,))
    f[i] = x[(3 * i) % n] + x[(i * i) % n]
    assert flat(ps.Schedule.default(f).compile()).count("% n") == 2


def test_narrow_remainders_are_divided() -> None:
    """They wrap around, and so may what would be added."""
    p = ps.Input("p", ps.int8, (n,), range=(0, 100))
    f = ps.Func("f", (n,), ps.int8)
    f[i] = (p[i] + 90) % ps.cast(ps.int8, 100)
    kernel = ps.Schedule.default(f).compile()
    given = np.arange(100, dtype=np.int8)
    assert kernel(given).tolist() == ((given + np.int8(90)) % np.int8(100)).tolist()


@pytest.mark.parametrize("make", [lambda: shifted(1), lambda: shifted(-30), neighbours])
def test_vectors_between_the_ends_are_loaded_whole(make) -> None:
    kernel = vectorized(make())
    assert vector_loads(kernel) >= 1
    assert "gather" not in str(kernel)


def test_what_is_chosen_else_is_not_tested() -> None:
    """Else full vectors would have to be at both ends at once."""
    f = ps.Func("f", (n,))
    f[i] = x[ps.select(i >= 3, i - 3, ps.select(i < 2, i, ps.select(i < 1, 0, n - 1)))]
    kernel = vectorized(f)
    given = np.arange(50, dtype=np.int32)
    wanted = [k - 3 if k >= 3 else k if k < 2 else 49 for k in range(50)]
    assert kernel(given).tolist() == wanted
    assert vector_loads(kernel) >= 1
