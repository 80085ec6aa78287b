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


def at(*indices: ps.Expr) -> ps.Func:
    """The sum of elements, each with a weight of its own."""
    f = ps.Func("f", (n,))
    terms = [x[index] * 10**k for k, index in enumerate(indices)]
    f[i] = sum(terms[1:], terms[0])
    return f


def summed() -> ps.Func:
    """Over an RVar that is unrolled."""
    f, r = ps.Func("f", (n,)), ps.RVar("r", -1, 2)
    f[i] = ps.sum(x[(i + r) % n], r)
    return f


def of_a_func() -> ps.Func:
    """Of a Func whose region follows from use."""
    f, g = ps.Func("f", (n,)), ps.Func("g")
    g[i] = x[i] * 2
    f[i] = g[(i - 1) % n] + g[ps.select(i + 1 < n, i + 1, 0)]
    return f


WHOLE = {
    "behind": (lambda: shifted(1), 1),
    "far": (lambda: shifted(-30), 1),
    "a boundary": (neighbours, 2),
    "selects": (lambda: at(ps.select(i - 1 < 0, n - 1, i - 1), ps.select(i >= n - 1, 0, i + 1)), 2),
    "moved": (
        lambda: at(ps.select(i < 1, i - 1 + n, i - 1), ps.select(i < 3, i - 3 + n, i - 3)),
        2,
    ),
    "backwards": (lambda: at((n - 1 - i + 1) % n), 1),
    "by quotients": (lambda: at(i + 1 - ps.select((i + 1) // n == 1, n, 0)), 1),
    "by whole periods": (lambda: at(i + 1 - n * ((i + 1) // n), i - 1 - (i - 1) // n * n), 2),
    "by far ones": (lambda: at(i - 30 - n * ((i - 30) // n)), 1),
    "a func": (of_a_func, 2),
}


@pytest.mark.parametrize("form", WHOLE)
def test_vectors_between_the_ends_are_loaded_whole(form: str) -> None:
    make, reads = WHOLE[form]
    f = make()
    kernel = vectorized(f)
    assert vector_loads(kernel) >= reads  # one a read; at the ends lanes are masked
    assert "gather" not in str(kernel)
    for size in (1, 2, 9, 40):
        given = np.arange(size, dtype=np.int32) ** 2
        if form != "moved" or size > 2:
            np.testing.assert_array_equal(kernel(given), ps.interpret(f, given))


def test_nine_cells_of_a_torus_are_nine_loads() -> None:
    """In the loop between the ends of a row; no lane takes an element by itself there."""
    h, w = ps.sizes("h w")
    u, v = ps.vars("u v")
    cells, f = ps.Input("cells", ps.int32, (h, w)), ps.Func("f", (h, w))
    around = [cells[(u + k // 3 - 1) % h, (v + k % 3 - 1) % w] * 3**k for k in range(9)]
    f[u, v] = sum(around[1:], around[0])
    s = ps.Schedule(f)
    s[f].vectorize(v, LANES)
    kernel = s.compile()
    assert vector_loads(kernel) == 9
    for size in ((1, 1), (2, 19), (5, 40)):
        given = np.arange(np.prod(size), dtype=np.int32).reshape(size)
        rolled = (np.roll(given, (1 - k // 3, 1 - k % 3), (0, 1)) * 3**k for k in range(9))
        np.testing.assert_array_equal(kernel(given), sum(rolled))


def test_conditions_on_remainders_guard_reads() -> None:
    """Where they hold is known within a few periods: x[i + 1] is not read at the end."""
    f = ps.Func("f", (n,))
    f[i] = ps.select((i + 1) % n == 0, -1, x[i + 1]) + ps.select(i // n == 0, x[i], x[i + n])
    kernel = vectorized(f)
    for size in (1, 2, 9, 40):
        given = np.arange(size, dtype=np.int32)
        assert kernel(given).tolist() == [*(2 * k + 1 for k in range(size - 1)), size - 2]


def test_a_condition_on_what_may_be_far_guards_nothing() -> None:
    f = ps.Func("f", (n,))
    f[i] = ps.select((i + 3 * n) % n == n - 1, -1, x[i + 1])
    with pytest.raises(ps.PolyschedError, match=r"x\[i \+ 1\] is read out of bounds"):
        ps.Schedule(f)


PARTS = (
    lambda: (0, (i + 1) % n),
    lambda: ((i - 1) % n, n),
    lambda: (0, i + 1 - n * ((i + 1) // n)),
)


@pytest.mark.parametrize("part", PARTS)
def test_loops_over_a_part_that_goes_round(part) -> None:
    lo, hi = part()
    k, f = ps.RVar("k", lo, hi), ps.Func("f", (n,))
    f[i] = ps.sum(x[k], k)
    s = ps.Schedule(f)
    assert "%" not in str(s)
    for size in (1, 2, 7):
        given = np.arange(size, dtype=np.int32) + 1
        np.testing.assert_array_equal(s.compile()(given), ps.interpret(f, given))


def test_a_loop_over_what_may_be_far_is_bounded_by_the_size() -> None:
    k, f = ps.RVar("k", 0, (3 * i) % n), ps.Func("f", (n,))
    f[i] = ps.sum(x[k], k)
    given = np.arange(7, dtype=np.int32) + 1
    assert f(given).tolist() == [given[: 3 * k % 7].sum() for k in range(7)]


def test_a_loop_to_a_remainder_by_another_loop_is_refused() -> None:
    for end in (n % (i + 1), (i + 1) * (n // (i + 1)), n * (i // m)):
        with pytest.raises(ps.PolyschedError, match="are not affine in sizes, Vars and RVars"):
            ps.RVar("k", 0, end)


def test_what_is_chosen_else_is_not_tested() -> None:
    """Else full vectors would have to be at both ends at once."""
    f = ps.Func("f", (n,))
    f[i] = x[ps.select(i >= 3, i - 3, ps.select(i < 2, i, ps.select(i < 1, 0, n - 1)))]
    kernel = vectorized(f)
    given = np.arange(50, dtype=np.int32)
    wanted = [k - 3 if k >= 3 else k if k < 2 else 49 for k in range(50)]
    assert kernel(given).tolist() == wanted
    assert vector_loads(kernel) >= 1


PAIRED = {
    "neighbours": lambda: ps.select(i % 2 == 0, (i + 1) % n, (i - 1) % n),
    "clamped": lambda: ps.clip(ps.select(i % 2 == 0, i + 1, i - 1), 0, n - 1),
    "around": lambda: ps.select((i % 4 < 1) | (i % 4 == 3), i + 2, i - 3) % n,
    "by arithmetic": lambda: (i + 1 - 2 * (i % 2)) % n,
}
"""Where lanes go up and down, by which number they have."""


@pytest.mark.parametrize("form", PAIRED)
def test_lanes_that_choose_by_their_number_load_vectors_between_the_ends(form: str) -> None:
    f = at(PAIRED[form]())
    kernel = vectorized(f)
    assert "gather" not in str(kernel)
    assert vector_loads(kernel) >= 1
    for size in (1, 2, 7, 8, 9, 31, 40, 65):
        given = np.arange(size, dtype=np.int32) ** 2
        np.testing.assert_array_equal(kernel(given), ps.interpret(f, given))


@pytest.mark.parametrize("by", [3, 5, 16])
def test_lanes_gather_where_their_number_does_not_say_what_they_choose(by: int) -> None:
    """Eight lanes from any multiple of eight on have other remainders each time."""
    f = at(ps.select(i % by == 0, (i + 1) % n, (i - 1) % n))
    kernel = vectorized(f)
    assert "gather" in str(kernel)
    for size in (1, 9, 40):
        given = np.arange(size, dtype=np.int32) ** 2
        np.testing.assert_array_equal(kernel(given), ps.interpret(f, given))
