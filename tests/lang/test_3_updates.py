"""Rule 3.4: updates run in the order written, over Vars in no order and RVars in theirs."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from lang.support import refused, run

import polysched as ps

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
k = ps.RVar("k", 0, n)
A = ps.Input("A", ps.float32, (n,))
X = ps.Input("X", ps.int32, (n,))


def func(*shape, dtype=None):
    return ps.Func("f", shape or (n,), dtype=dtype)


x = np.int32([7, -3, 5, 2])


@pytest.mark.parametrize(
    "o",
    [
        operator.iadd, operator.isub, operator.imul, operator.ifloordiv, operator.imod,
        operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift,
    ],
)  # fmt: skip
def test_3_4_every_operator(o):
    f = func()
    f[i] = X[i] + 100
    f[i] = o(f[i], X[n - 1 - i] & 7)
    assert f.history.typed()[1].op != "="
    assert np.array_equal(run(f, X=x), o(x + 100, x[::-1] & 7))


def test_3_4_true_division_and_power():
    f = func(dtype=ps.float64)
    f[i] = X[i]
    f[i] /= 4
    f[i] **= 2
    assert np.array_equal(run(f, X=x), (x / 4) ** 2)


def test_3_4_minimum_and_maximum_are_recognised():
    for o, wanted in ((ps.minimum, x.min()), (ps.maximum, x.max())):
        for turned in (False, True):
            f = ps.Func("f", ())
            f[()] = 3
            f[()] = o(X[k], f[()]) if turned else o(f[()], X[k])
            assert f.history.typed()[1].op in ("min", "max")
            assert run(f, X=x) == wanted


def test_3_4_updates_run_in_the_order_written():
    f = func()
    f[i] = X[i]
    f[i] *= 10
    f[i] += 1
    f[0] = 5
    f[i] *= 2
    wanted = (x * 10 + 1) * 2
    wanted[0] = 10
    assert np.array_equal(run(f, X=x), wanted)


def test_3_4_definitions_of_other_funcs_in_between_do_not_matter():
    f, g = func(), ps.Func("g", (n,))
    f[i] = X[i]
    g[i] = 1
    f[i] += 1
    g[i] += f[i]
    assert np.array_equal(run(g, X=x), x + 2)


def test_3_4_a_read_of_another_func_is_of_its_final_value():
    f, g = func(), ps.Func("g", (n,))
    g[i] = 1
    g[i] = g[i] + 1
    f[i] = 0
    f[i] += g[i]
    assert run(f, n=2).tolist() == [2, 2]


def test_3_4_in_its_own_updates_the_current_value():
    f = func()
    f[i] = X[i]
    f[i] += f[i]
    f[i] += f[i]
    assert np.array_equal(run(f, X=x), 4 * x)


def test_3_4_an_update_over_a_part():
    f = func(n, m)
    f[i, j] = 0
    f[0, j] = j
    f[i, m - 1] += 10
    f[n - 1, 0] = -1
    found = run(f, n=2, m=3)
    assert found.tolist() == [[0, 1, 12], [-1, 0, 10]]


def test_3_4_an_update_of_one_element():
    f = ps.Func("f", ())
    f[()] = 1
    for step in range(3):
        f[()] = f[()] * 2 + step
    assert run(f) == 12


def test_3_4_a_var_within_an_index_runs_where_the_index_is_inside():
    f = func()
    f[i] = 0
    f[2 * i + 1] += i + 1
    f[i + 1] += 100  # i runs from -1
    assert run(f, n=6).tolist() == [100, 101, 100, 102, 100, 103]


def test_3_4_histogram_and_scatter_of_vars_by_rvars():
    bins = ps.Func("bins", (8,))
    bins[i] = 0
    bins[X[k] & 7] += 1
    assert np.array_equal(run(bins, X=x), np.bincount(x & 7, minlength=8))


# the order of Vars ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("update", "pair"),
    [
        # a value of another instance is read
        (lambda f: f.__setitem__(i, f[i] + f[ps.maximum(i - 1, 0)]),
         "f.update(0)[i=0] writes f[0] and f.update(0)[i=1] reads it, at n=2"),
        (lambda f: f.__setitem__(i, f[n - 1 - i]),
         "f.update(0)[i=0] writes f[0] and f.update(0)[i=1] reads it, at n=2"),
        (lambda f: f.__setitem__(i, f[i] + f[0]),
         "f.update(0)[i=0] writes f[0] and f.update(0)[i=1] reads it, at n=2"),
        # one element is written by several
        (lambda f: f.__setitem__(i // 2, i),
         "f.update(0)[i=0] writes f[0] and f.update(0)[i=1] writes it, at n=1"),
        (lambda f: f.__setitem__(i // 2, f[i // 2] + 1),
         "f.update(0)[i=0] writes f[0] and f.update(0)[i=1] reads it, at n=1"),
    ],
)  # fmt: skip
def test_3_4_what_depends_on_the_order_of_vars_is_refused_with_the_pair(update, pair):
    f = func()
    f[i] = 0
    update(f)
    line = update.__code__.co_firstlineno
    with refused("f.update(0) depends on the order of its Vars (i), which run in no order: ",
                 pair, hint="make i an RVar") as found, _elsewhere(line):  # fmt: skip
        ps.Schedule(f)
    assert "ps.RVar('i', lo, hi)" in found.text


class _elsewhere:
    """The refusal names the line of the update; here the line is checked and then forgotten."""

    def __init__(self, line):
        self.line = line

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        assert isinstance(error, ps.LanguageError)
        assert error.where.file == __file__
        assert error.where.line == self.line
        raise ps.LanguageError(error.what, hint=error.hint)


def test_3_4_a_shifted_read_of_itself_is_refused_with_both_instances():
    f = func()
    f[i] = X[i]
    f[i] = f[i - 1] + 1  # here
    with refused("depends on the order of its Vars (i)",
                 ": f.update(0)[i=0] writes f[0] and f.update(0)[i=1] reads it, at n=2",
                 hint="i = ps.RVar('i', lo, hi)", marked=True):  # fmt: skip
        ps.Schedule(f)


def test_3_4_the_pair_of_two_axes():
    f = func(n, m)
    f[i, j] = 0
    f[i, j] += f[j, i]  # here
    with refused("depends on the order of its Vars (i, j)", "f.update(0)[i=0, j=1]",
                 "f.update(0)[i=1, j=0]", "at n=2, m=2", marked=True):  # fmt: skip
        ps.Schedule(f)


def test_3_4_a_scatter_over_vars_is_refused():
    f = func()
    f[i] = 0
    f[ps.clip(X[ps.RVar("r", 0, n)] + i, 0, n - 1)] += i  # here
    with refused("", marked=True):
        ps.Schedule(f)


def test_3_4_a_transposition_in_place_is_refused_though_half_of_it_only_rewrites():
    """Above the diagonal each element is written with its own value, but it is written."""
    f = func(n, n)
    f[i, j] = i * 10 + j
    f[i, j] = ps.select(i > j, f[j, i], f[i, j])  # here
    with refused("f.update(0)[i=0, j=1]", "f[0, 1]", "f.update(0)[i=1, j=0]", marked=True):
        ps.Schedule(f)


def test_3_4_disjoint_places_are_accepted():
    f = func(2 * n)
    f[i] = i
    f[2 * i] = f[2 * i + 1]
    assert run(f, n=3).tolist() == [1, 1, 3, 3, 5, 5]


def test_3_4_an_rvar_runs_in_order():
    f = func()
    f[i] = X[i]
    r = ps.RVar("r", 1, n)
    f[r] += f[r - 1]
    assert np.array_equal(run(f, X=x), np.cumsum(x))
    g = func()
    g[i] = X[i]
    down = ps.RVar("down", 1, n)
    g[n - 1 - down] += g[n - down]
    assert np.array_equal(run(g, X=x), np.cumsum(x[::-1])[::-1])


def test_3_4_vars_beside_an_ordered_rvar():
    f = func(n, m)
    t = ps.RVar("t", 1, n)
    f[i, j] = j
    f[t, j] = f[t - 1, j] * 2 + 1
    assert run(f, n=3, m=2).tolist() == [[0, 1], [1, 3], [3, 7]]


def test_3_4_rvars_run_in_lexicographic_order_outermost_the_one_made_first():
    """The last iteration wins: with (outer, inner) it is the one with the largest outer."""
    outer, inner = ps.rdom("outer inner", (0, 3), (0, 2))
    f, g = ps.Func("f", ()), ps.Func("g", ())
    f[()] = 0
    f[()] = inner * 10 + outer
    assert run(f) == 12
    g[()] = 0
    g[()] = g[()] * 7 + inner * 3 + outer
    total = 0
    for o in range(3):
        for q in range(2):
            total = total * 7 + q * 3 + o
    assert run(g) == total


def test_3_4_the_order_of_making_counts_not_that_of_use():
    second_used_first = ps.RVar("a", 0, 3)
    made_later = ps.RVar("b", 0, 2)
    f = ps.Func("f", ())
    f[()] = 0
    f[()] = f[()] * 5 + made_later * 2 + second_used_first
    total = 0
    for p in range(3):
        for q in range(2):
            total = total * 5 + q * 2 + p
    assert run(f) == total


def test_3_4_an_update_that_writes_one_place_in_every_iteration():
    f = func()
    f[i] = -1
    f[i] = X[k]
    assert np.array_equal(run(f, X=x), [x[-1]] * 4)


def test_3_4_a_float_sum_is_the_ascending_one():
    a = np.float32([1e8, 1, -1e8, 1, 1e-3])
    f = ps.Func("f", ())
    f[()] = 0.0
    f[()] += A[k]
    total = np.float32(0)
    for v in a:
        total = np.float32(total + v)
    assert run(f, A=a) == total


@pytest.mark.parametrize("size", [0, 1])
def test_3_4_updates_over_nothing(size):
    f = func()
    f[i] = 5
    f[i] += X[k]
    given = x[:size]
    assert run(f, X=given).tolist() == [5 + 7] * size


def test_3_4_matrix_multiplication_with_beta():
    C0, B = ps.Input("C0", ps.float32, (n, m)), ps.Input("B", ps.float32, (n, m))
    L = ps.Input("L", ps.float32, (n, n))
    beta = ps.Param("beta", ps.float32, default=1)
    f = func(n, m)
    f[i, j] = beta * C0[i, j]
    f[i, j] += L[i, k] * B[k, j]
    rng = np.random.default_rng(0)
    l, b, c = (rng.integers(-4, 5, s).astype(np.float32) for s in ((3, 3), (3, 4), (3, 4)))
    assert np.array_equal(run(f, L=l, B=b, C0=c, beta=2), l @ b + 2 * c)


def test_3_4_other_coordinates_do_not_bound_a_var():
    """At n=3 there is no row n - 4: that is out of bounds, whatever i would run over."""
    f = func(n, m)
    f[i, j] = 0
    f[n - 4, m - 1 - i] += 1
    assert run(f, n=4, m=2).tolist() == [[1, 1], [0, 0], [0, 0], [0, 0]]
    with pytest.raises(ps.CallError, match="out of bounds"):
        f(n=3, m=2)
    with pytest.raises(ps.PolyschedError, match="out of bounds"):
        ps.interpret(f, n=3, m=2)
    assert run(f, n=3, m=0).shape == (3, 0)
