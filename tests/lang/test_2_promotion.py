"""Rule 2.1: promotion, as NumPy 2 with weak Python scalars; Vars, sizes and integer Params."""

from __future__ import annotations

import itertools
import operator

import numpy as np
import pytest
from lang.support import ALL, FLOATS, INTEGERS, at_points, refused, run

import polysched as ps
from polysched.lang.nodes.dtypes import concrete

n = ps.sizes("n")
i = ps.vars("i")

ARITHMETIC = (operator.add, operator.mul, np.minimum, np.maximum)
NO_BOOLS = (operator.sub, operator.truediv, operator.floordiv, operator.mod)
BITS = (operator.and_, operator.or_, operator.xor)
SHIFTS = (operator.lshift, operator.rshift)
COMPARE = (
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
)  # fmt: skip


def ours(dtype):
    return ps.Input("A", dtype, (n,)).dtype


def dtype_of(value):
    f = ps.Func("f", (n,))
    f[i] = value
    return f.dtype


def some(dtype, seed=0):
    """Values of a type, extreme ones among them, in an order that depends on the seed."""
    if dtype.is_bool:
        values = np.array([0, 1] * 12, bool)
    elif dtype.is_float:
        tiny = np.finfo(dtype.numpy).tiny
        values = np.array(
            [0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e10, -7.0, 100.0, tiny, -tiny, 2.0] * 2, dtype.numpy
        )
    else:
        edge = [dtype.min, dtype.max, 0, 1, 2, 3, dtype.max - 1, dtype.min + 1, 7, 100, 64, 31]
        values = np.array(edge * 2, dtype.numpy)
    return np.random.default_rng(seed).permutation(values)


# two dtypes -----------------------------------------------------------------------------------
@pytest.mark.parametrize("operation", [*ARITHMETIC, *NO_BOOLS, *BITS, *SHIFTS, *COMPARE])
def test_2_1_the_type_of_every_pair_is_numpys(operation):
    for a, b in itertools.product(ALL, ALL):
        X, Y = ps.Input("X", a, (n,)), ps.Input("Y", b, (n,))
        one = (np.ones(1, a.numpy), np.ones(1, b.numpy))
        try:
            wanted = ours(operation(*one).dtype)
        except TypeError:
            wanted = None
        if a.is_bool and b.is_bool and operation in (*NO_BOOLS, *SHIFTS):
            continue
        if wanted is None:
            with refused("", error=ps.LanguageTypeError):
                dtype_of(operation(X[i], Y[i]))
        else:
            assert dtype_of(operation(X[i], Y[i])) == wanted, (a, b)


@pytest.mark.slow
@pytest.mark.parametrize("left", ALL, ids=str)
def test_2_1_the_values_of_every_pair_are_numpys(left):
    X = ps.Input("X", left, (n,))
    x = some(left)
    expressions, wanted, arrays = [], [], {"X": x}
    for k, right in enumerate(ALL):
        Y, y = ps.Input(f"Y{k}", right, (n,)), some(right, k + 1)
        arrays[f"Y{k}"] = y
        for operation in (*ARITHMETIC, *NO_BOOLS, *BITS, *SHIFTS, *COMPARE):
            if left.is_bool and right.is_bool and operation in (*NO_BOOLS, *SHIFTS):
                continue
            with np.errstate(all="ignore"):
                try:
                    wanted.append(operation(x, y))
                except TypeError:
                    continue
            expressions.append(operation(X[i], Y[i]))
    f = ps.Func("f", (n,))
    f[i] = tuple(expressions)
    found = run(f, **arrays)
    for e, a, b in zip(expressions, found, wanted, strict=True):
        assert a.dtype == b.dtype, e
        assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), e


@pytest.mark.parametrize(
    "operation", [operator.sub, operator.truediv, operator.floordiv, operator.mod]
)
def test_2_1_arithmetic_of_bools_is_refused(operation):
    a = ps.Input("A", ps.bool_, (n,))
    f = ps.Func("f", (n,))
    with refused(" of bools: A[i]", hint="& | ^ ~", error=ps.LanguageTypeError):
        f[i] = operation(a[i], a[i])
    with refused("neg of bools: -(A[i] & A[i])", hint="cast to an integer"):
        f[i] = -(a[i] & a[i])


def test_2_1_sums_and_products_of_bools_are_or_and_and():
    a, b = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    A, B = ps.Input("A", bool, (n,)), ps.Input("B", bool, (n,))
    for operation in (operator.add, operator.mul):
        found = at_points(operation(A[i], B[i]), n, A=a, B=b)
        assert found.dtype == bool
        assert np.array_equal(found, operation(a, b))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("operation", [*BITS, *SHIFTS])
def test_2_1_bits_of_floats_are_refused(dtype, operation):
    A, B = ps.Input("A", dtype, (n,)), ps.Input("B", ps.int32, (n,))
    f = ps.Func("f", (n,))
    what = f"works on integers and bools, not on {np.promote_types(dtype.numpy, np.int32)}"
    for x, y in ((A, B), (B, A)):
        with refused(what, hint="ps.bitcast(ps.uint32, x)", error=ps.LanguageTypeError):
            f[i] = operation(x[i], y[i])
    with refused("~ works on integers and bools, not on ", "~A[i]"):
        f[i] = ~A[i]


def test_2_1_bits_of_int64_and_uint64_are_refused():
    A, B = ps.Input("A", ps.int64, (n,)), ps.Input("B", ps.uint64, (n,))
    f = ps.Func("f", (n,))
    with refused("no integer type holds int64 and uint64: A[i] & B[i]", hint="ps.cast(ps.uint64"):
        f[i] = A[i] & B[i]
    with refused("no integer type holds uint64 and an index: B[i] << i", hint="cast one of them"):
        f[i] = B[i] << i


# weak scalars ---------------------------------------------------------------------------------
@pytest.mark.parametrize("literal", [3, 2.5, True])
@pytest.mark.parametrize("operation", [operator.add, operator.mul, np.minimum, operator.truediv])
def test_2_1_python_scalars_are_weak(literal, operation):
    for t in ALL:
        if t.is_bool and operation is operator.truediv:
            continue
        X, one = ps.Input("X", t, (n,)), np.ones(1, t.numpy)
        assert dtype_of(operation(X[i], literal)) == ours(operation(one, literal).dtype), t
        assert dtype_of(operation(literal, X[i])) == ours(operation(literal, one).dtype), t


@pytest.mark.slow
def test_2_1_values_with_python_scalars():
    for t in ALL:
        x = some(t)
        X = ps.Input("A", t, (n,))
        with np.errstate(all="ignore"):
            wanted = (x * 3 + 2.5, 100 - np.maximum(x, 7), (x + 1) * True)
        f = ps.Func("f", (n,))
        f[i] = (
            ps.strict(X[i] * 3 + 2.5),
            100 - np.maximum(X[i], 7),
            (X[i] + 1) * True,
        )
        for a, b in zip(run(f, A=x), wanted, strict=True):
            assert a.dtype == b.dtype
            assert np.array_equal(a, b)


@pytest.mark.parametrize("t", INTEGERS, ids=str)
def test_2_1_literals_that_do_not_fit_are_refused(t):
    A = ps.Input("A", t, (n,))
    f = ps.Func("f", (n,))
    for literal in (t.max + 1, t.min - 1):
        if not -(2**63) <= literal < 2**64:
            continue
        what = f"the literal {literal} does not fit in {t}"
        with refused(what, "combined with", hint="cast the other operand to a wider type"):
            f[i] = A[i] + literal
        with refused(what):
            f[i] = ps.select(A[i] > 0, literal, A[i])
        if t.max < 2**60:
            with refused(what):
                f[i] = A[i] * ps.select(A[i] > 0, literal, 0)
    f[i] = ps.minimum(A[i] + t.max, t.min)


def test_2_1_a_literal_alone_that_does_not_fit_is_refused():
    f = ps.Func("f", (n,))
    with refused(
        "the literal 9223372036854775808 does not fit in int64, the dtype of f",
        hint="ps.Func('f', dtype=ps.uint64)",
    ):
        f[i] = 2**63
    g = ps.Func("g", (1,), dtype=ps.uint64)
    g[i] = 2**63
    assert run(g) == 2**63
    h = ps.Func("h", (n,), dtype=ps.uint8)
    with refused("the literal -1 does not fit in uint8, the dtype of h", hint="wraps"):
        h[i] = -1


def test_2_1_a_choice_between_literals_is_weak():
    U, F = ps.Input("U", ps.uint8, (n,)), ps.Input("F", ps.float32, (n,))
    either = ps.select(U[i] > 1, 1, 0)
    nested = ps.select(U[i] > 3, 1, ps.select(U[i] > 1, 2.5, 0))
    assert dtype_of(U[i] + either) == ps.uint8
    assert dtype_of(U[i] + ps.minimum(1, 2)) == ps.uint8
    assert dtype_of(F[i] * either) == ps.float32
    assert dtype_of(F[i] * nested) == ps.float32
    assert dtype_of(F[i] * ps.mux(i, [0.5, 1, 2])) == ps.float32
    assert dtype_of(either) == ps.int64
    assert dtype_of(nested) == ps.float64
    u, a = np.arange(6, dtype=np.uint8), np.float32([1, 2, 3, 4, 5, 6])
    assert np.array_equal(at_points(U[i] + either, n, U=u), u + (u > 1))
    choice = np.where(u > 3, 1, np.where(u > 1, 2.5, 0)).astype(np.float32)
    assert np.array_equal(at_points(F[i] * nested, n, F=a, U=u), a * choice)


def test_2_1_a_choice_of_literals_adapts_as_one_literal_does():
    """0.1 in float32, not 0.1 in float64 and rounded after the product."""
    F = ps.Input("F", ps.float32, (n,))
    a = np.float32([1.1, 3.3, 7.7])
    found = at_points(F[i] * ps.select(i > 0, 0.1, 0.3), n, F=a)
    assert np.array_equal(found, a * np.where([0, 1, 1], np.float32(0.1), np.float32(0.3)))


@pytest.mark.slow
def test_2_1_a_long_choice_of_literals():
    F = ps.Input("F", ps.float32, (n,))
    table = [k / 7 for k in range(3000)]
    f = ps.Func("f", (n,))
    f[i] = F[i] * ps.mux(i, table)
    assert f.dtype == ps.float32


# indices --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "index", [i, n, i + n, 2 * i - 1, ps.Param("p", ps.int8), ps.minimum(i, n), i // 2 % 3]
)
def test_2_1_indices_are_int64_among_integers_and_adapt_to_floats(index):
    for t in ALL:
        X = ps.Input("X", t, (n,))
        wanted = t if t.is_float else ours(np.promote_types(t.numpy, np.int64))
        assert dtype_of(X[i] + index) == wanted
        assert dtype_of(index * X[i]) == wanted
        assert dtype_of(ps.select(X[i] > 0, X[i], index)) == wanted


def test_2_1_float32_times_an_index_is_float32():
    A = ps.Input("A", ps.float32, (n,))
    a = np.float32([0.1, 0.2, 0.3])
    found = at_points(A[i] * i, n, A=a)
    assert found.dtype == np.float32
    assert np.array_equal(found, a * np.arange(3, dtype=np.float32))


def test_2_1_indices_alone():
    assert dtype_of(i) == ps.int64
    assert dtype_of(i > 2) == ps.bool_
    assert dtype_of(i / 2) == ps.float64
    assert dtype_of(i * 0.5) == ps.float64
    assert dtype_of(ps.sqrt(i)) == ps.float64
    assert dtype_of(ps.Param("p", ps.int8) * 2) == ps.int64
    assert dtype_of(ps.Param("p", ps.bool_)) == ps.bool_
    assert dtype_of(ps.Param("p", ps.float32) * 2) == ps.float32


def test_2_1_floats_of_an_index_adapt_to_float32():
    A = ps.Input("A", ps.float32, (n,))
    assert dtype_of(A[i] + i / 2) == ps.float32
    assert dtype_of(A[i] * ps.exp(-0.5 * i)) == ps.float32


# comparisons ----------------------------------------------------------------------------------
EDGES = [0, 1, -1, 2**31, 2**62, 2**63 - 1, -(2**63), 2**53 + 1, 5]


def test_2_1_int64_and_uint64_compare_exactly():
    values = [(a, b % 2**64) for a in EDGES for b in EDGES]
    x = np.array([a for a, _ in values], np.int64)
    y = np.array([b for _, b in values], np.uint64)
    X, Y = ps.Input("X", ps.int64, (n,)), ps.Input("Y", ps.uint64, (n,))
    f = ps.Func("f", (n,))
    f[i] = tuple(o(X[i], Y[i]) for o in COMPARE) + tuple(o(Y[i], X[i]) for o in COMPARE)
    found = run(f, X=x, Y=y)
    for o, straight, turned in zip(COMPARE, found[:6], found[6:], strict=True):
        assert straight.tolist() == [o(a, b) for a, b in values]
        assert turned.tolist() == [o(b, a) for a, b in values]


def test_2_1_an_index_and_uint64_compare_exactly():
    y = np.array([0, 1, 2**64 - 1, 3], np.uint64)
    Y = ps.Input("Y", ps.uint64, (n,))
    f = ps.Func("f", (n,))
    f[i] = (i - 2 < Y[i], i == Y[i])
    less, equal = run(f, Y=y)
    assert less.tolist() == [True, True, True, True]
    assert equal.tolist() == [True, True, False, True]


@pytest.mark.parametrize("t", INTEGERS, ids=str)
def test_2_1_comparisons_with_any_literal_are_exact(t):
    x = some(t)
    X = ps.Input("X", t, (n,))
    literals = (-(2**63), -1, 0, 1, 127, 128, 300, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1)
    f = ps.Func("f", (n,))
    f[i] = tuple(o(X[i], c) for c in literals for o in COMPARE)
    wanted = [[o(int(v), c) for v in x] for c in literals for o in COMPARE]
    assert [r.tolist() for r in run(f, X=x)] == wanted
    assert list(ps.Program((f,)).inputs) == [X], "an Input is read though the outcome is known"


def test_2_1_comparisons_with_literals_of_bools_and_floats():
    B, F = ps.Input("B", ps.bool_, (n,)), ps.Input("F", ps.float32, (n,))
    b, a = np.array([0, 1, 1], bool), np.float32([0.1, 0.5, np.nan])
    f = ps.Func("f", (n,))
    f[i] = (B[i] == 1, B[i] != 0, B[i] == 0, B[i] < 2, F[i] == 0.1, F[i] < 1, F[i] != F[i])
    wanted = (b == 1, b != 0, b == 0, b < 2, a == np.float32(0.1), a < 1, np.isnan(a))
    for found, w in zip(run(f, B=b, F=a), wanted, strict=True):
        assert np.array_equal(found, w)


# conditions -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("condition", "what"),
    [
        (1, "the condition of a select is a Python int: 1"),
        (i, "the condition of a select is an index: i"),
        (0.5, "the condition of a select is a Python float: 0.5"),
        (ps.Input("A", ps.uint8, (n,))[i], "the condition of a select is uint8: A[i]"),
    ],
)
def test_2_1_numbers_are_no_conditions(condition, what):
    f = ps.Func("f", (n,))
    with refused(what, hint="compare it: x != 0", error=ps.LanguageTypeError):
        f[i] = ps.select(condition, 1, 2)


def test_2_1_python_and_numpy_bools_are_conditions():
    f = ps.Func("f", (2,))
    f[i] = ps.select(np.bool_(True), 1, 2) + ps.select(False, 10, 20)
    assert run(f).tolist() == [21, 21]


# what is computed and what is declared --------------------------------------------------------
@pytest.mark.slow
def test_2_1_inference_and_elaboration_agree():
    """The dtype inferred for an expression is the one in which it is then computed."""
    leaves = [ps.Input(f"A{t}", t, (n,))[i] for t in ALL] + [i, n, 3, 2.5, True]
    binary = [operator.add, operator.mul, operator.truediv, ps.minimum, operator.lt, operator.and_]
    unary = [ps.sqrt, ps.floor, abs, operator.neg, ps.strict, lambda x: ps.select(x > 0, x, 1)]
    for x, y in itertools.product(leaves, leaves):
        for o in (*binary, *((lambda a, b, u=u: u(a) + b) for u in unary)):
            f = ps.Func("f", (n,))
            try:
                f[i] = o(ps.strict(x) if not isinstance(x, ps.Expr) else x, y)
            except ps.LanguageTypeError as error:
                if " of f computes " not in error.what:
                    continue  # the operands do not go together
                raise
            (d,) = f.history.typed()
            assert concrete(d.values[0].type) == f.dtype
