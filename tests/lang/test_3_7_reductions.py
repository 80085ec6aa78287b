"""3.7: inline reductions, each against NumPy, the interpreter and what the contract says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import polysched as ps

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")
k = ps.RVar("k", 0, l)
A = ps.Input("A", ps.float32, (n, l))
RNG = np.random.default_rng(3)


def row(build: Callable[[ps.Expr, ps.RVar], ps.Expr], dtype: object = ps.float32) -> ps.Func:
    """The reduction of each row of x."""
    x = ps.Input("x", dtype, (n, l))
    f = ps.Func("f", (n,))
    f[i] = build(x[i, k], k)
    return f


def both(f: ps.Func, *args: object, **kwargs: object) -> np.ndarray:
    """The native result, which equals the interpreter's bit for bit."""
    found = f(*args, **kwargs)
    wanted = ps.interpret(f, *args, **kwargs)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
    return found


@pytest.mark.parametrize("op", ["sum", "prod", "max", "min", "argmax", "argmin"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.uint8])
def test_3_7_as_numpy(op: str, dtype: type) -> None:
    data = (RNG.standard_normal((4, 6)) * 5).astype(dtype)
    found = both(row(getattr(ps, op), dtype), data)
    options = {"dtype": dtype} if op in ("sum", "prod") else {}
    wanted = getattr(np, op)(data, axis=1, **options)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert found.dtype == wanted.dtype


@pytest.mark.parametrize("op", ["any", "all"])
def test_3_7_conditions(op: str) -> None:
    data = RNG.standard_normal((9, 3)).astype(np.float32)
    found = both(row(lambda x, k: getattr(ps, op)(x > 0, k)), data)
    np.testing.assert_array_equal(found, getattr(np, op)(data > 0, axis=1))


@pytest.mark.parametrize(("op", "empty"), [("sum", 0), ("prod", 1), ("any", False), ("all", True)])
def test_3_7_neutral_over_an_empty_domain(op: str, empty: object) -> None:
    condition = op in ("any", "all")
    f = row(lambda x, k: getattr(ps, op)(x > 0 if condition else x, k))
    np.testing.assert_array_equal(both(f, np.zeros((3, 0), np.float32)), [empty] * 3)


@pytest.mark.parametrize("op", ["max", "min", "argmax", "argmin"])
def test_3_7_no_value_over_an_empty_domain(op: str) -> None:
    f = row(getattr(ps, op))
    with pytest.raises(ps.CallValueError, match="no value over an empty domain"):
        f(np.zeros((3, 0), np.float32))
    with pytest.raises(ps.CallValueError, match="no value over an empty domain"):
        ps.interpret(f, np.zeros((3, 0), np.float32))
    assert both(f, np.zeros((0, 0), np.float32)).shape == (0,)


def test_3_7_an_initial_value_takes_part() -> None:
    f = row(lambda x, k: ps.max(x, k, initial=0.5))
    data = np.array([[0.1, 0.7], [-1, -2]], np.float32)
    np.testing.assert_array_equal(both(f, data), np.array([0.7, 0.5], np.float32))
    np.testing.assert_array_equal(both(f, data[:, :0]), np.array([0.5, 0.5], np.float32))


def test_3_7_accumulates_in_the_type_of_the_expression() -> None:
    data = np.full((1, 3), 200, np.uint8)
    assert both(row(ps.sum, np.uint8), data) == 600 % 256
    wide = row(lambda x, k: ps.sum(x, k, dtype=ps.int32), np.uint8)
    assert both(wide, data) == 600


@pytest.mark.parametrize("op", ["argmax", "argmin"])
def test_3_7_ties_and_nan_as_numpy(op: str) -> None:
    nan, inf = np.nan, np.inf
    data = np.array(
        [[1, 2, 2], [3, 3, 3], [nan, 1, nan], [1, nan, 2], [-inf, -inf, -inf], [inf, inf, nan]],
        np.float32,
    )
    np.testing.assert_array_equal(both(row(getattr(ps, op)), data), getattr(np, op)(data, axis=1))


def test_3_7_argmax_gives_the_value_of_its_rvar() -> None:
    x = ps.Input("x", ps.float32, (n,))
    r = ps.RVar("r", 2, n)
    f = ps.Func("f", ())
    f[()] = ps.argmax(x[r], r)
    assert both(f, np.array([9, 9, 1, 5, 4], np.float32)) == 3


def test_3_7_products_fuse() -> None:
    """The update of a sum of products is one fused multiply-add an element."""
    B = ps.Input("B", ps.float32, (l, m))
    C = ps.Func("C", (n, m))
    C[i, j] = ps.sum(A[i, k] * B[k, j], k)
    assert "C.sum0[i, j] = fma(A[i, k], B[k, j], C.sum0[i, j])" in str(ps.Schedule(C))


def test_3_7_several_rvars_and_conditions() -> None:
    ry, rx = ps.rdom("ry rx", (0, 3), (0, 3), where=lambda ry, rx: ry + rx < 4)
    x = ps.Input("x", ps.int32, (n + 2, m + 2))
    f = ps.Func("f", (n, m))
    f[i, j] = ps.sum(x[i + ry, j + rx], (ry, rx))
    data = RNG.integers(0, 99, (6, 7)).astype(np.int32)
    wanted = sum(data[a : a + 4, b : b + 5] for a in range(3) for b in range(3) if a + b < 4)
    np.testing.assert_array_equal(both(f, data), wanted)


def test_3_7_over_rvars_that_the_value_does_not_mention() -> None:
    """It runs over their whole domain all the same."""
    x = ps.Input("x", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.sum(x[i], k) + 100 * ps.prod(2, k)
    np.testing.assert_array_equal(both(f, np.array([1, 2], np.int32), l=3), [803, 806])
    np.testing.assert_array_equal(both(f, np.array([1, 2], np.int32), l=0), [100, 100])
    ry, rx = ps.rdom("ry rx", (0, n), (0, n), where=lambda ry, rx: rx < ry)
    pairs = ps.Func("pairs", ())
    pairs[()] = ps.sum(1, (ry, rx))
    assert both(pairs, n=5) == 10
    longest = ps.Func("longest", ())
    longest[()] = ps.max(7, k)
    with pytest.raises(ps.CallValueError, match="no value over an empty domain"):
        longest(l=0)


def test_3_7_nested_and_shared() -> None:
    """Softmax: the maximum is used twice and computed once."""
    top = ps.max(A[i, k], k)
    f = ps.Func("f", (n, l))
    f[i, j] = ps.exp(A[i, j] - top) / ps.sum(ps.exp(A[i, k] - top), k)
    data = RNG.standard_normal((3, 5)).astype(np.float32)
    e = np.exp(data - data.max(1, keepdims=True))
    np.testing.assert_allclose(both(f, data), e / e.sum(1, keepdims=True), rtol=1e-5)
    assert [g.name for g in ps.Schedule(f).funcs] == ["f.max0", "f.sum1", "f"]


def test_3_7_inside_an_update_over_its_rvars() -> None:
    r = ps.RVar("r", 0, n)
    f = ps.Func("f", ())
    f[()] = 0.0
    f[()] += ps.sum(A[r, k], k) * ps.cast(ps.float32, r)
    data = RNG.standard_normal((4, 3)).astype(np.float32)
    np.testing.assert_allclose(both(f, data), (data.sum(1) * np.arange(4)).sum(), rtol=1e-4)


def test_3_7_bounds_over_a_variable_around() -> None:
    t = ps.RVar("t", 0, i + 1)
    x = ps.Input("x", ps.int32, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.sum(x[t], t)
    data = np.arange(6, dtype=np.int32)
    np.testing.assert_array_equal(both(f, data), np.cumsum(data))


def test_3_7_bounds_over_an_rvar_around() -> None:
    r = ps.RVar("r", 0, n)
    t = ps.RVar("t", 0, r + 1)
    x = ps.Input("x", ps.int32, (n,))
    f = ps.Func("f", ())
    f[()] = 0
    f[()] += ps.sum(x[t], t)
    data = np.arange(6, dtype=np.int32)
    assert both(f, data) == np.cumsum(data).sum()


def test_3_7_printed_as_written() -> None:
    assert repr(ps.sum(A[i, k] * 2, k)) == "sum(A[i, k] * 2, k)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ps.sum(A[i, k], i), "runs over RVars, not over i"),
        (lambda: ps.sum(A[i, k], ()), "needs at least one RVar"),
        (lambda: ps.argmax(A[i, k], (k, ps.RVar("q", 0, 3))), "takes one RVar"),
        (lambda: ps.argmax(A[i, k], k, initial=0), "takes one RVar"),
    ],
)
def test_3_7_refusals(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ps.LanguageTypeError, match=message):
        call()


def test_3_7_a_maximum_that_is_empty_for_all_sizes() -> None:
    t = ps.RVar("t", 0, i)
    f = ps.Func("f", (n,))
    f[i] = ps.max(A[t, 0], t)
    with pytest.raises(ps.LanguageError, match="has no value where its domain is empty") as caught:
        ps.Schedule(f)
    assert "initial=" in str(caught.value)


def test_3_7_a_maximum_whose_domain_depends_on_data() -> None:
    t = ps.RVar("t", 0, n, where=lambda t: A[t, 0] > 0)
    f = ps.Func("f", ())
    f[()] = ps.max(A[t, 0], t)
    with pytest.raises(ps.LanguageError, match="may have nothing to choose from"):
        ps.Schedule(f)


@pytest.mark.parametrize(
    ("beyond", "element"), [(lambda x: x + 1, "c[1]"), (lambda x: x - 1, "c[-1]")]
)
def test_3_7_what_is_read_beyond_a_place_is_no_fault_of_the_reduction(
    beyond: Callable[[ps.Expr], ps.Expr], element: str
) -> None:
    """Only where the row is empty nothing is read out of bounds, and there is no place then."""
    c, place, f = ps.Input("c", ps.float32, (l,)), ps.Func("place"), ps.Func("f", (n,))
    place[i] = ps.argmin(A[i, k], k)
    f[i] = c[beyond(place[i])]
    with pytest.raises(ps.LanguageError, match="may be read out of bounds for all sizes") as e:
        ps.Schedule(f)
    assert f"f[i=0] may touch {element}, at n=1, l=1" in str(e.value)


def test_3_7_a_condition_is_said_once_for_what_is_inlined() -> None:
    c, place, f = ps.Input("c", ps.float32, (l,)), ps.Func("place"), ps.Func("f", (n,))
    place[i] = ps.argmin(A[i, k], k)
    f[i] = c[place[i]]
    s = ps.Schedule(f)
    assert s[place].is_inlined
    assert len(s.conditions) == str(s).count("requires ") == 1
