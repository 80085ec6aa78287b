"""Rule 3.7: inline reductions."""

from __future__ import annotations

import numpy as np
import pytest
from lang.support import ALL, FLOATS, INTEGERS, refused, run

import polysched as ps

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
k, l = ps.RVar("k", 0, n), ps.RVar("l", 0, m)
A = ps.Input("A", ps.float32, (n,))
M = ps.Input("M", ps.float32, (n, m))


def scalar(value):
    f = ps.Func("f", ())
    f[()] = value
    return f


a = np.float32([3, -1, 4, -1, 5])
x = np.arange(12, dtype=np.float32).reshape(3, 4) * [[1], [-1], [2]]


def test_3_7_a_matrix_product():
    B, C = ps.Input("B", ps.float32, (m, n)), ps.Func("C", (n, n))
    C[i, j] = ps.sum(M[i, l] * B[l, j], l)
    b = np.arange(12, dtype=np.float32).reshape(4, 3)
    assert np.array_equal(run(C, M=x.astype(np.float32), B=b), x.astype(np.float32) @ b)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ours", "numpys"),
    [
        (ps.sum, np.sum), (ps.prod, np.prod), (ps.max, np.max), (ps.min, np.min),
        (ps.argmax, np.argmax), (ps.argmin, np.argmin),
    ],
)  # fmt: skip
def test_3_7_reductions_of_every_dtype(ours, numpys):
    for t in (*INTEGERS, *FLOATS):
        values = np.array([3, 1, 4, 1, 5], t.numpy)
        X = ps.Input("X", t, (n,))
        f = scalar(ours(X[k], k))
        assert f.dtype == (ps.int64 if "arg" in ours.__name__ else t)
        assert run(f, X=values) == numpys(values)


def test_3_7_any_and_all():
    for values in ([0, 1], [1, 1], [0, 0], []):
        B = ps.Input("B", bool, (n,))
        b = np.array(values, bool)
        f = ps.Func("f", ())
        f[()] = (ps.any(B[k], k), ps.all(B[k], k))
        assert [bool(r) for r in run(f, B=b)] == [b.any(), b.all()]


def test_3_7_sums_of_conditions_count():
    f = scalar(ps.sum(A[k] > 0, k))
    assert f.dtype == ps.int64
    assert run(f, A=a) == 3


def test_3_7_accumulation_is_in_the_type_of_the_expression_or_dtype():
    U = ps.Input("U", ps.uint8, (n,))
    u = np.uint8([200, 100])
    assert run(scalar(ps.sum(U[k], k)), U=u) == 300 % 256
    assert run(scalar(ps.sum(U[k], k, dtype=ps.int32)), U=u) == 300
    assert scalar(ps.sum(U[k], k, dtype=np.float64)).dtype == ps.float64
    assert scalar(ps.prod(A[k] * 1.5, k)).dtype == ps.float32


def test_3_7_a_sum_of_products_fuses():
    f = scalar(ps.sum(A[k] * A[k], k))
    values = np.float32([1 + 2.0**-12, 1 / 3, 7.7])
    exact = np.float32(0)
    for v in values:
        exact = np.float32(float(v) * float(v) + float(exact))
    assert run(f, A=values) == exact


def test_3_7_several_rvars_conditions_and_nesting():
    total = ps.sum(M[k, l], (k, l))
    largest = ps.sum(ps.max(M[k, l], l), k)
    p = ps.RVar("p", 0, n, where=lambda p: p != i)
    f = ps.Func("f", (n,))
    f[i] = total + largest * 100 + ps.sum(M[p, 0], p) * 0.5
    given = x.astype(np.float32)
    others = given[:, 0].sum() - given[:, 0]
    wanted = given.sum() + given.max(axis=1).sum() * 100 + others * 0.5
    np.testing.assert_allclose(run(f, M=given), wanted, rtol=1e-6)


def test_3_7_in_selects_updates_and_indices():
    f = ps.Func("f", (n,))
    f[i] = ps.select(ps.any(A[k] > 4, k), A[i], 0) - ps.min(A[k], k)
    f[i] += ps.sum(M[i, l], l)
    f[i] += A[ps.argmax(A[k], k)]
    given = x.astype(np.float32)
    values = a[[2, 0, 4]]
    assert np.array_equal(
        run(f, A=values, M=given), values - values.min() + given.sum(axis=1) + values.max()
    )


def test_3_7_initial_values():
    f = ps.Func("f", ())
    f[()] = (ps.sum(A[k], k, initial=10), ps.max(A[k], k, initial=2), ps.min(A[k], k, initial=-9))
    for values in (a, a[:0], a[:1]):
        wanted = [np.sum(values, initial=10), max([2, *values]), min([-9, *values])]
        assert [float(r) for r in run(f, A=values)] == wanted


@pytest.mark.parametrize("ours", [ps.max, ps.min, ps.argmax, ps.argmin])
def test_3_7_an_empty_domain_without_initial_is_refused_at_the_call(ours):
    f = scalar(ours(A[k], k))
    with refused("no value over an empty domain", error=ps.CallValueError):
        f(A=a[:0])
    with refused("no value over an empty domain", error=ps.CallValueError):
        ps.interpret(f, A=a[:0])
    assert "n >= 1" in ps.Schedule(f).conditions[0]


def test_3_7_sums_and_products_of_nothing():
    f = ps.Func("f", ())
    f[()] = (ps.sum(A[k], k), ps.prod(A[k], k))
    assert [float(r) for r in run(f, A=a[:0])] == [0, 1]


@pytest.mark.slow
def test_3_7_the_smallest_index_on_ties_and_nan_as_numpy():
    for values in ([1, 3, 3, 1], [2, np.nan, 5, np.nan], [np.nan], [-np.inf, np.inf], [0.0, -0.0]):
        v = np.float32(values)
        f = ps.Func("f", ())
        f[()] = (ps.argmax(A[k], k), ps.argmin(A[k], k), ps.max(A[k], k), ps.min(A[k], k))
        found = run(f, A=v)
        assert [int(r) for r in found[:2]] == [v.argmax(), v.argmin()]
        assert np.array_equal([found[2], found[3]], [v.max(), v.min()], equal_nan=True)


def test_3_7_argmax_gives_the_value_of_the_rvar():
    r = ps.RVar("r", 2, n)
    assert run(scalar(ps.argmax(A[r], r)), A=np.float32([9, 9, 1, 5, 3])) == 3


def test_3_7_requirements_belong_to_the_func_and_not_to_its_reductions():
    f = ps.Func("f", ())
    f[()] = ps.max(A[k], k)
    ps.require(n >= 3, "three")
    with refused("three", error=ps.CallValueError):
        f(A=a[:2])
    g = ps.Func("g", ())
    g[()] = ps.max(A[k], k)
    assert g(A=a[:2]) == 3


def test_3_7_text():
    e = ps.sum(A[k] * 2, k) + ps.max(M[k, l], (k, l), initial=0)
    assert repr(e) == "sum(A[k] * 2, k) + max(M[k, l], (k, l), initial=0)"


@pytest.mark.parametrize(
    ("use", "what", "hint"),
    [
        (lambda: ps.sum(A[i], i), "sum runs over RVars, not over i", "ps.RVar('k', 0, n)"),
        (lambda: ps.max(A[i], A[j]), "max runs over RVars, not over A[j]", "ps.RVar"),
        (lambda: ps.sum(A[k], n), "sum runs over RVars, not over n", "ps.RVar"),
        (lambda: ps.sum(A, k), "A is a whole array, not one value", "A[i]"),
        (lambda: ps.sum(A[k], ()), "sum needs at least one RVar", None),
        (lambda: ps.argmax(M[k, l], (k, l)), "argmax takes one RVar", "tuple update"),
        (lambda: ps.argmin(A[k], k, initial=3), "argmin takes one RVar", "tuple update"),
        (lambda: ps.sum(A[k], k, dtype="float17"), "'float17' is not an element type", "element"),
        (lambda: bool(ps.any(A[k] > 0, k)), "any(A[k] > 0, k) has no truth value", "ps.select"),
        (lambda: ps.require(ps.sum(k, k) > 0, "x"), "about sizes and Params", None),
        (lambda: ps.Func("f", (ps.sum(k, k),)), "an extent is made of integers and sizes", None),
    ],
)
def test_3_7_wrong_reductions_are_refused(use, what, hint):
    with refused(what, hint=hint):
        use()


def test_3_7_a_free_rvar_in_a_pure_definition_is_refused():
    f = ps.Func("f", (n,))
    with refused("the pure definition of f uses the RVar l", hint="f[i] += ..."):
        f[i] = ps.sum(M[k, l], k)


def test_3_7_a_free_var_is_refused():
    f = ps.Func("f", (n,))
    with refused("the Var j"):
        f[i] = ps.sum(M[k, j], k)


def test_3_7_a_reduction_elsewhere_than_in_a_value_is_refused():
    f = ps.Func("f", (n,))
    f[i] = 0
    what, hint = "stands in an index on the left, or in a bound or where= of an RVar", "t[()] = ..."
    with refused(f"argmax(A[k], k) {what}", hint=hint):
        f[ps.argmax(A[k], k)] = 1
    with refused(f"sum(k, k) {what}", hint=hint):
        f[i] += ps.RVar("r", 0, ps.sum(k, k))
    with refused(f"max(A[k], k) {what}", hint=hint):
        f[i] += ps.RVar("r", 0, n, where=lambda r: A[r] < ps.max(A[k], k))


def test_3_7_a_reduction_of_itself_in_an_update_is_refused():
    f = ps.Func("f", (n,))
    f[i] = A[i]
    with refused("sum(f[k], k) in an update of f reads f itself", hint="update it over the RVar"):
        f[i] /= ps.sum(f[k], k)
    g = ps.Func("g", (n,))
    g[i] = f[i] / ps.sum(f[k], k)
    assert np.array_equal(run(g, A=np.float32([1, 3])), [0.25, 0.75])


@pytest.mark.parametrize("t", [t for t in ALL if t.is_float or t.is_bool], ids=str)
def test_3_7_extremes_of_floats_and_bools(t):
    X = ps.Input("X", t, (n,))
    values = np.array([0, 1, 0], t.numpy)
    f = ps.Func("f", ())
    f[()] = (ps.max(X[k], k), ps.min(X[k], k))
    assert f.dtype == (t, t)
    assert [r.item() for r in run(f, X=values)] == [values.max(), values.min()]
