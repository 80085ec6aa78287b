"""Rules 3.5 and 3.7: RVars, their bounds and conditions, reductions by updates."""

from __future__ import annotations

import numpy as np
import pytest
from lang.support import refused, run

import polysched as ps

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
A = ps.Input("A", ps.int32, (n,))


def total(value, start=0):
    f = ps.Func("f", ())
    f[()] = start
    f[()] += value
    return f


a = np.int32([3, 1, 4, 1, 5, 9])


# bounds ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("lo", "hi"), [(0, n), (1, n - 1), (n // 2, n), (3, 3), (5, 2), (0, ps.minimum(n, 3)), (-2, 0)]
)
def test_3_5_bounds_are_half_open_and_affine(lo, hi):
    k = ps.RVar("k", lo, hi)
    f = ps.Func("f", ())
    f[()] = n - n
    f[()] += k * k + 1
    size = 6

    def value(e):
        return int(eval(repr(e), {"n": size, "min": min}))

    assert run(f, n=size) == sum(v * v + 1 for v in range(value(lo), value(hi)))


def test_3_5_bounds_over_vars_and_earlier_rvars():
    triangle = ps.Func("triangle", (n,))
    k = ps.RVar("k", 0, i + 1)
    triangle[i] = 0
    triangle[i] += A[k]
    assert np.array_equal(run(triangle, A=a), np.cumsum(a))
    p = ps.RVar("p", 0, n)
    q = ps.RVar("q", p, n)
    assert run(total(A[p] * A[q]), A=a) == sum(
        int(a[s]) * int(a[t]) for s in range(6) for t in range(s, 6)
    )


def test_3_5_bounds_over_params():
    p = ps.Param("p", ps.int32, min=0)
    k = ps.RVar("k", 0, p)
    assert run(total(k + 1), p=4) == 10


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30, 2.5])
def test_3_5_bounds_over_what_floats_are_cast_to(value):
    p = ps.Param("p", ps.float32)
    k = ps.RVar("k", 0, ps.clip(ps.cast(ps.int32, p), 0, n))
    end = int(np.clip(np.nan_to_num(value), 0, 6))
    assert run(total(k - k + 1), n=6, p=value) == end


def test_3_5_properties():
    k = ps.RVar("k", 1, n - 1)
    assert (k.name, repr(k.lo), repr(k.hi)) == ("k", "1", "n - 1")
    ry, rx = ps.rdom("ry rx", (0, 3), (-1, n))
    assert (repr(ry.hi), repr(rx.lo), repr(rx.hi)) == ("3", "-1", "n")


# conditions -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        (lambda k: k % 2 == 0, 3 + 4 + 5),
        (lambda k: (k > 1) & (k != 3), 4 + 5 + 9),
        (lambda k: k < n - 4, 3 + 1),
        (lambda k: True, 23),
        (lambda k: False, 0),
        (lambda k: ~(k == 5), 14),
        (lambda k: A[k] > 3, 4 + 5 + 9),
        (lambda k: (A[k] > 3) & (k < 5), 4 + 5),
    ],
)
def test_3_5_where_restricts(where, wanted):
    k = ps.RVar("k", 0, n, where=where)
    assert run(total(A[k]), A=a) == wanted


def test_3_5_where_of_several():
    ry, rx = ps.rdom("ry rx", (0, 3), (0, 3), where=lambda ry, rx: ry + rx < 4)
    f = total(ry * 10 + rx + 1)
    assert run(f) == sum(y * 10 + x + 1 for y in range(3) for x in range(3) if y + x < 4)


def test_3_5_a_condition_makes_bounds_exact():
    """A[k + 1] is only read where the condition holds."""
    k = ps.RVar("k", 0, n, where=lambda k: k + 1 < n)
    f = total(A[k + 1] - A[k])
    assert not ps.Schedule(f).conditions
    assert run(f, A=a) == a[-1] - a[0]


def test_3_5_a_condition_over_vars():
    k = ps.RVar("k", 0, n, where=lambda k: k != i)
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i] += A[k]
    assert np.array_equal(run(f, A=a), a.sum() - a)


def test_3_5_all_rvars_of_a_condition_run_even_if_one_is_not_read():
    ry, _ = ps.rdom("ry rx", (0, 3), (0, 2), where=lambda ry, rx: ry >= rx)
    f = total(ry + 1)
    assert run(f) == sum(y + 1 for y in range(3) for x in range(2) if y >= x)


def test_3_5_equal_rvars_of_two_library_functions_are_one():
    def first():
        return A[ps.RVar("k", 0, n)]

    def second():
        return A[ps.RVar("k", 0, ps.sizes("n"))]

    assert run(total(first() * second()), A=a) == (a * a).sum()


@pytest.mark.parametrize(
    ("make", "what", "hint"),
    [
        (lambda: ps.RVar("k", 0, 1.5), "the upper bound of the RVar k must be an integer", None),
        (lambda: ps.RVar("k", np.float32(0), n), "the lower bound of the RVar k must be", None),
        (lambda: ps.RVar("k", True, n), "the lower bound of the RVar k must be", None),
        (lambda: ps.RVar("k", 0, A), "A is a whole array, not one value", "A[i]"),
        (lambda: ps.RVar("k", 0, "n"), "'n' (a str) is not a value of the language", None),
        (lambda: ps.RVar("k", 0, n, where=i < 3), "where= is a function of the RVar, not i < 3",
         "where=lambda k: ..."),
        (lambda: ps.RVar("k", 0, n, where=True), "where= is a function of the RVar", "lambda k"),
        (lambda: ps.RVar("k", 0, n, where=lambda a, b: a),
         "where= takes 2 arguments, but there is 1 RVar", "lambda k: ..."),
        (lambda: ps.RVar("k", 0, n, where=lambda k: None), "None (a NoneType) is not", None),
        (lambda: ps.rdom("a b", (0, 3)), "names 2 RVars but has 1 pair of bounds", "a name"),
        (lambda: ps.rdom("a b", 3, 3), "the bounds of a must be a pair (lo, hi), not 3",
         "an extent e is (0, e)"),
        (lambda: ps.rdom("a b", (0, 1), (0, 1), where=lambda a: a > 0),
         "where= takes 1 argument, but there are 2 RVars", "lambda a, b: ..."),
        (lambda: ps.rdom("a a", (0, 1), (0, 1)), "'a a' names the same RVar twice", None),
    ],
)  # fmt: skip
def test_3_5_wrong_rvars_are_refused(make, what, hint):
    with refused(what, hint=hint):
        make()


def test_3_5_a_condition_that_is_none_is_refused_where_it_is_used():
    k = ps.RVar("k", 0, n, where=lambda k: k + 1)
    f = ps.Func("f", ())
    f[()] = 0
    with refused("where= k + 1 is an index, not a condition", hint="compare it: x != 0"):
        f[()] += A[k]


def test_3_5_a_bound_that_is_no_integer_is_refused_where_it_is_used():
    F = ps.Input("F", ps.float32, (n,))
    f = ps.Func("f", ())
    f[()] = 0
    with refused("the index n / 2 is a Python float, not an integer", hint="n // 2"):
        f[()] += A[ps.RVar("k", 0, n / 2)]
    with refused("the index F[0] is float32, not an integer"):
        f[()] += A[ps.RVar("k", 0, F[0])]


@pytest.mark.parametrize("hi", [n * m, n * n, ps.minimum(n, 3) * m])
def test_3_5_bounds_that_are_not_affine_are_refused(hi):
    f = ps.Func("f", ())
    f[()] = 0
    with refused("the bounds of the RVar k are not affine", hint="run over an affine range"):
        f[()] += ps.RVar("k", 0, hi)


def test_3_5_bounds_read_from_data_are_executed_exactly():
    """Rows of a sparse matrix: half-open intervals of its entries."""
    rows = ps.Input("rows", ps.int32, (n + 1,), range=(0, m + 1))
    values = ps.Input("values", ps.int32, (m,))
    k = ps.RVar("k", rows[i], rows[i + 1])
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i] += values[k]
    given = np.int32([0, 2, 2, 5]), np.int32([1, 2, 3, 4, 5])
    assert run(f, rows=given[0], values=given[1]).tolist() == [3, 0, 12]
    with refused("rows[1] is 6", error=ps.CallValueError):
        f(rows=np.int32([0, 6]), values=given[1])


def test_3_5_bounds_read_from_data_of_which_nothing_is_known_are_refused():
    rows = ps.Input("rows", ps.int64, (n + 1,))
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i] += ps.RVar("k", rows[i], rows[i + 1])  # here
    with refused("nothing bounds the RVar k over [rows[i], rows[i + 1])", "read from data",
                 hint="ps.Input(..., range=(0, n + 1))", marked=True):  # fmt: skip
        ps.Schedule(f)


def test_3_5_bounds_that_their_own_update_may_change_are_refused():
    """They are read where the loop begins, and the second instance would see others."""
    b = ps.InOut("b", ps.int32, (n,))
    r = ps.RVar("r", 1, ps.clip(b[1], 1, n))
    b[r] = b[r] - 8  # here
    with refused("the bounds of r read b[1], which b.update(0) may change before the loop over r",
                 hint=".initial of an InOut", marked=True):  # fmt: skip
        ps.Schedule(b)


def test_3_5_bounds_that_earlier_loops_of_their_update_change():
    b, k = ps.InOut("b", ps.int32, (n,)), ps.RVar("k", 1, n)
    r = ps.RVar("r", k, ps.clip(b[k - 1], k, n))
    b[r] += 1 + 0 * k
    given = np.array([3, 1, 4, 1, 5], np.int32)
    wanted = [3, 2, 5, 2, 6]
    assert ps.interpret(b, b=given.copy()).tolist() == wanted
    assert ps.Schedule(b).compile()(b=given.copy()).tolist() == wanted


def test_3_5_an_rvar_with_a_var_of_no_place():
    f = ps.Func("f", (n,))
    f[i] = 0
    f[ps.RVar("k", 0, n)] += 1
    with refused("the Var j is not on the left side of this definition of f"):
        f[i] += ps.RVar("k", 0, j)
    assert run(f, n=3).tolist() == [1, 1, 1]


def test_3_4_a_var_whose_range_nothing_says_is_refused():
    f = ps.Func("f", (n,))
    f[i] = 0
    f[ps.clip(i + ps.RVar("k", 0, 3), 0, n - 1)] += 1  # here
    with refused("nothing says where the Var i of f.update(0) runs",
                 hint="make it an RVar", marked=True):  # fmt: skip
        ps.Schedule(f)


# reductions by updates ------------------------------------------------------------------------
def test_3_7_explicit_reductions():
    k = ps.RVar("k", 0, n)
    f = ps.Func("f", ())
    f[()] = (0, 1, -(2**31), 2**31 - 1, False, True)
    s, p, hi, lo, some, every = f[()]
    v = A[k]
    f[()] = (s + v, p * v, ps.maximum(hi, v), ps.minimum(lo, v), some | (v > 8), every & (v > 0))
    found = [r.item() for r in run(f, A=a)]
    assert found == [a.sum(), a.prod(), 9, 1, True, True]


def test_3_7_an_argmax_by_an_update():
    k = ps.RVar("k", 0, n)
    f = ps.Func("f", ())
    f[()] = (A[0], 0)
    best, at = f[()]
    f[()] = ps.select(A[k] > best, (A[k], k), (best, at))
    value, where = run(f, A=a)
    assert (value, where) == (9, 5)


def test_3_7_a_convolution():
    W = ps.Const("W", np.int32([1, -2, 1]))
    k = ps.RVar("k", 0, 3)
    f = ps.Func("f", (n - 2,))
    f[i] = 0
    f[i] += A[i + k] * W[k]
    assert np.array_equal(run(f, A=a), np.convolve(a, [1, -2, 1], "valid"))
    with refused("axis 0 of f", error=ps.CallValueError):
        f(A=a[:1])
