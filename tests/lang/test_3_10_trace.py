"""Rule 3.10: traces print values where they are computed, and change nothing."""

from __future__ import annotations

import numpy as np
import pytest
from gallery.execute import assert_same
from hypothesis import given, settings, strategies as st
from lang.support import ALL, refused

import polysched as ps

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
k = ps.RVar("k", 0, n)
A = ps.Input("A", ps.float32, (n,))
I = ps.Input("I", ps.int32, (n,))
a = np.float32([3, -1, 2, 7])
w = np.int32([1, 0, -5, 2])


def flat(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.fixture
def traced(capsys):
    """traced(func, *arguments): the result and the lines printed, which must be the same lines in
    the same order for the interpreter and for both schedules."""

    def run(func, /, *args, ordered=True, **kwargs):
        capsys.readouterr()
        wanted = ps.interpret(func, *args, **kwargs)
        lines = capsys.readouterr().out.splitlines()
        for schedule in (ps.Schedule.default(func), ps.Schedule(func)):
            found = schedule.compile()(*args, **kwargs)
            assert_same(flat(found), flat(wanted))
            printed = capsys.readouterr().out.splitlines()
            assert (printed if ordered else sorted(printed)) == (
                lines if ordered else sorted(lines)
            )
        return wanted, lines

    return run


def pure(value, dtype=None):
    f = ps.Func("f", (n,), dtype=dtype)
    f[i] = value
    return f


# what is printed -------------------------------------------------------------------------------
def test_3_10_a_trace_prints_the_value_and_the_point(traced):
    found, lines = traced(pure(ps.trace(A[i] * 2, "twice") + 1), a[:2])
    assert found.tolist() == [7, -1]
    assert lines == ["twice = 6.0 at f[i=0]", "twice = -2.0 at f[i=1]"]


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_3_10_every_dtype_is_printed_as_numpy_does(traced, dtype):
    X = ps.Input("X", dtype, (n,))
    if dtype.is_bool:
        x = np.array([True, False])
    elif dtype.is_int:
        info = np.iinfo(dtype.numpy)
        x = np.array([info.min, info.max, 1], dtype.numpy)
    else:
        info = np.finfo(dtype.numpy)
        special = [np.nan, np.inf, -np.inf, -0.0, 0.1, info.max, info.smallest_subnormal]
        x = np.array(special, dtype.numpy)
    _, lines = traced(pure(ps.trace(X[i], "x")), x)
    assert lines == [f"x = {value} at f[i={at}]" for at, value in enumerate(x)]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (lambda: i, "0"),
        (lambda: n + i, "1"),
        (lambda: 3, "3"),
        (lambda: 0.1, "0.1"),
        (lambda: True, "True"),
        (lambda: ps.Param("p", ps.float32, default=0.5), "0.5"),
        (lambda: ps.Param("p", ps.int8, default=-7), "-7"),
        (lambda: i >= 0, "True"),
        (lambda: A[i] > 5, "False"),
    ],
)
def test_3_10_anything_may_be_traced(traced, value, shown):
    """Also what has the type that its surroundings give it."""
    given = value()
    _, lines = traced(
        pure(ps.select(A[i] > -9, ps.cast(ps.float32, ps.trace(given, "v")), A[i])), a[:1]
    )
    assert lines == [f"v = {shown} at f[i=0]"]


def test_3_10_a_literal_adapts_as_it_does_without_a_trace(traced):
    for traced_value, plain in ((ps.trace(2, "x"), 2), (ps.trace(0.1, "x"), 0.1)):
        f, g = pure(traced_value * A[i]), pure(plain * A[i])
        assert f.dtype == g.dtype == ps.float32
        assert np.array_equal(traced(f, a)[0], g(a))
    f = pure(ps.trace(2.5, "x"), dtype=ps.float32)
    assert traced(f, n=1)[0].tolist() == [2.5]


def test_3_10_a_select_chooses_the_points(traced):
    t = ps.trace(A[i], "x")
    _, lines = traced(pure(ps.select(i == 2, t, A[i])), a)
    assert lines == ["x = 2.0 at f[i=2]"]
    _, lines = traced(pure(ps.select(A[i] < 0, t, A[i])), a)
    assert lines == ["x = -1.0 at f[i=1]"]
    nested = ps.select(i >= 1, ps.select(A[i] > 0, t * 1, ps.trace(A[i] * 3, "y")), 0)
    _, lines = traced(pure(nested), a)
    assert lines == ["y = -3.0 at f[i=1]", "x = 2.0 at f[i=2]", "x = 7.0 at f[i=3]"]


def test_3_10_a_value_that_is_used_twice_is_printed_once(traced):
    t = ps.trace(A[i], "x")
    assert len(traced(pure(t * t + t), a)[1]) == 4
    both = ps.select(A[i] > 2, t, 0) + ps.select(i > 1, t * 3, 1)
    assert traced(pure(both), a)[1] == [f"x = {a[q]} at f[i={q}]" for q in (0, 2, 3)]
    assert len(traced(pure(ps.trace(A[i], "x") + ps.trace(A[i], "x")), a)[1]) == 4
    assert len(traced(pure(ps.trace(A[i], "x") + ps.trace(A[i], "y")), a)[1]) == 8


def test_3_10_traces_of_traces(traced):
    _, lines = traced(pure(ps.trace(ps.trace(A[i], "in") + 1, "out")), a[:1])
    assert lines == ["in = 3.0 at f[i=0]", "out = 4.0 at f[i=0]"]


# where it stands -------------------------------------------------------------------------------
def test_3_10_in_conditions(traced):
    """A condition is what it was: it takes part in regions and keeps reads in bounds."""
    guarded = ps.select(ps.trace(ps.trace(i, "i") >= 1, "c"), A[i - 1], 0)
    found, lines = traced(pure(guarded), a[:2])
    assert found.tolist() == [0, 3]
    assert lines == [
        "i = 0 at f[i=0]", "c = False at f[i=0]", "i = 1 at f[i=1]", "c = True at f[i=1]",
    ]  # fmt: skip


@pytest.mark.slow
def test_3_10_in_reductions(traced):
    f = ps.Func("f", ())
    f[()] = ps.trace(ps.sum(ps.trace(A[k], "a"), k), "sum")
    assert traced(f, a[:2])[1] == [
        "a = 3.0 at f.sum0.update(0)[k=0]",
        "a = -1.0 at f.sum0.update(0)[k=1]",
        "sum = 2.0 at f[]",
    ]
    for reduction in (ps.max, ps.argmin, ps.prod, ps.any):
        inside = ps.trace(A[k] > A[i] if reduction is ps.any else A[k] - A[i], "a")
        assert len(traced(pure(reduction(inside, k)), a)[1]) == 16


def test_3_10_in_updates(traced):
    f = ps.Func("f", (n,))
    f[i] = ps.trace(A[i], "before")
    f[k] += ps.trace(f[n - 1 - k], "other")
    _, lines = traced(f, a[:2])
    assert lines == [
        "before = 3.0 at f[i=0]", "before = -1.0 at f[i=1]",
        "other = -1.0 at f.update(0)[k=0]", "other = 2.0 at f.update(0)[k=1]",
    ]  # fmt: skip


def test_3_10_only_where_the_rvar_runs(traced):
    r = ps.RVar("r", 0, n, where=lambda r: A[r] > 0)
    f = ps.Func("f", ())
    f[()] = 0.0
    f[()] += ps.trace(A[r], "x")
    assert [line.split()[2] for line in traced(f, a)[1]] == ["3.0", "2.0", "7.0"]


@pytest.mark.parametrize("down", [False, True])
def test_3_10_in_recurrences(traced, down):
    f = ps.Func("f", (n,))
    start, before = (n - 1, i + 1) if down else (0, i - 1)
    f[start] = A[start]
    f[i] = ps.trace(f[before], "before") + A[i]
    _, lines = traced(f, a, ordered=False)
    assert len(lines) == 3


def test_3_10_in_blocks(traced):
    X = ps.Func("X", (n,))
    X[i] = A[i]
    with ps.sequential("t", 0, 2) as t:
        g = ps.Func("g")
        g[i] = ps.trace(X[i] + t, "g")
        X[i] = ps.trace(g[i], "x") * 2
    _, lines = traced(X, a[:1])
    assert lines == [
        "g = 3.0 at g[t=0, i=0]", "x = 3.0 at X.update(0)[t=0, i=0]",
        "g = 7.0 at g[t=1, i=0]", "x = 7.0 at X.update(0)[t=1, i=0]",
    ]  # fmt: skip


def test_3_10_in_tuples_and_pieces(traced):
    z = ps.Func("z", (n,), dtype=(ps.float32, ps.int32))
    z[0] = (ps.trace(A[0], "first"), 0)
    z[i] = (ps.trace(A[i], "a"), ps.trace(I[i], "b"))
    f = ps.Func("f", (n,))
    f[i] = z[i][1] + 0.0
    _, lines = traced(f, a[:2], w[:2])
    assert sorted(lines) == ["a = -1.0 at z[i=1]", "b = 0 at z[i=1]", "first = 3.0 at z[]"]


def test_3_10_in_several_axes(traced):
    B = ps.Input("B", ps.int8, (n, m))
    f = ps.Func("f", (n, m))
    f[i, j] = ps.trace(B[i, j], "b")
    b = np.arange(6, dtype=np.int8).reshape(2, 3)
    assert traced(f, b)[1] == [
        f"b = {3 * p + q} at f[i={p}, j={q}]" for p in (0, 1) for q in range(3)
    ]


# what it changes -------------------------------------------------------------------------------
def test_3_10_a_traced_func_is_not_inlined(traced):
    g, f = ps.Func("g"), ps.Func("f", (n,))
    g[i] = ps.trace(A[i] * 2, "g")
    f[i] = g[i] + 1
    assert g in ps.Schedule(f).funcs
    assert g in ps.Schedule.default(f).funcs
    assert [line.split(" at ")[1] for line in traced(f, a)[1]] == [f"g[i={q}]" for q in range(4)]


def test_3_10_a_traced_product_is_rounded():
    x = np.float32([1 + 2**-12])
    wanted = np.float32(np.float64(x) * np.float64(x)) - np.float32(1)
    assert pure(ps.trace(A[i] * A[i], "p") - 1)(x) == wanted
    assert pure(A[i] * A[i] - 1)(x) != wanted
    assert pure(ps.strict(A[i] * A[i]) - 1)(x) == wanted


def test_3_10_divisions_by_zero_are_counted_once(capsys):
    f = pure(ps.trace(I[i] // I[i], "q"))
    with refused("1 integer division by zero", error=ps.CallValueError):
        ps.Schedule(f).compile(checks=True)(w)
    assert len(capsys.readouterr().out.splitlines()) == 4


LEAVES = [lambda: A[i], lambda: I[i], lambda: i + 0, lambda: A[n - 1 - i], lambda: n - i]
OPERATORS = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: ps.maximum(x, y),
    lambda x, y: ps.select(x > y, x, y),
    lambda x, y: ps.select(x <= y, x + 1, y),
]


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_3_10_traces_change_no_bit(data):
    """Random expressions with and without traces around their parts; no products, which are
    rounded."""

    def build(depth):
        if depth == 0 or data.draw(st.booleans()):
            made = data.draw(st.sampled_from(LEAVES))()
            both = made, made
        else:
            (x, s), (y, t) = build(depth - 1), build(depth - 1)
            operator = data.draw(st.sampled_from(OPERATORS))
            both = operator(x, y), operator(s, t)
        plain, with_trace = both
        return (plain, ps.trace(with_trace, "x") if data.draw(st.booleans()) else with_trace)

    plain, with_trace = build(3)
    f, g = pure(A[i] + I[i] + plain), pure(A[i] + I[i] + with_trace)
    assert f.dtype == g.dtype
    assert_same((g(A=a, I=w), ps.interpret(g, A=a, I=w)), (f(A=a, I=w),) * 2)


# refusals --------------------------------------------------------------------------------------
def test_3_10_traces_in_indices_are_refused():
    f = ps.Func("f", (n,))
    for value in (lambda: A[ps.trace(i, "i")], lambda: A[ps.clip(ps.trace(I[i], "i"), 0, n - 1)]):
        with refused("stands inside of an index", hint="ps.trace(i, 'i')"):
            f[i] = value()
    with refused("trace(i, 'i') stands inside of an index"):
        f[ps.trace(i, "i")] = 1.0


def test_3_10_traces_in_the_domain_of_an_rvar_are_refused():
    f = ps.Func("f", ())
    f[()] = 0.0
    domains = (
        lambda: ps.RVar("r", 0, ps.trace(n, "n")),
        lambda: ps.RVar("r", 0, n, where=lambda r: ps.trace(A[r], "a") > 1),
    )
    for make in domains:
        r = make()
        for value in (A[r], r * 1.0):
            with refused("stands inside of an index, or in the bounds of an RVar"):
                f[()] += value


def test_3_10_traces_where_sizes_are_expected_are_refused():
    t = ps.trace(n, "n")
    with refused("a requirement is about sizes and Params, and cannot contain trace(n, 'n')"):
        ps.require(t > 1, "more")
    with refused("an extent is made of integers and sizes, and cannot contain trace(n, 'n')"):
        ps.Func("f", (t,))
    with refused("the default of the size z", "cannot contain trace(n, 'n')"):
        ps.size("z", default=t)
    with refused("the bounds of the sequential t", "cannot contain trace(n, 'n')"):
        ps.sequential("t", 0, t)


def test_3_10_a_label_is_a_string():
    with refused("the label of a trace is a string, not 3", error=ps.LanguageTypeError):
        ps.trace(A[i], 3)
    with refused("is not a value of the language", error=ps.LanguageTypeError):
        ps.trace("A", "a")
