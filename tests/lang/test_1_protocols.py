"""Rule 1.7: Python's own protocols, NumPy's, and implicit Vars."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest
from lang.support import at_points, refused, run

import polysched as ps

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
k = ps.RVar("k", 0, n)
A = ps.Input("A", ps.float32, (n,))
M = ps.Input("M", ps.float32, (n, m))
I = ps.Input("I", ps.int32, (n,))
T = ps.Const("T", [1, 2, 3])


def func(name="f", shape=(n,)):
    return ps.Func(name, shape)


def pair():
    z = ps.Func("z", (n,), dtype=(ps.float32, ps.float32))
    z[i] = (1.0, 2.0)
    return z


# truth values ---------------------------------------------------------------------------------
def statement_if():
    if A[i] > 0:
        pass


def statement_assert():
    assert i < n


def statement_while():
    while A[i]:
        pass


@pytest.mark.parametrize(
    "use",
    [
        statement_if,
        statement_assert,
        statement_while,
        lambda: A[i] > 0 and A[i] < 1,
        lambda: A[i] > 0 or i < n,
        lambda: not A[i],
        lambda: 0 <= i < n,
        lambda: 1 if i < n else 2,
        lambda: min(A[i], A[j]),
        lambda: max(A[i], 0),
        lambda: sorted([A[i], A[j]]),
        lambda: any(A[x] > 0 for x in range(3)),
        lambda: i in [j],
        lambda: A[i] in (A[j],),
        lambda: {A[i]: 1}[A[i]],
        lambda: bool(A[i] == A[j]),
        lambda: [x for x in (i, j) if x == k],
        lambda: ps.RVar("r", 0, n, where=lambda r: r > 1 and r < 3),
    ],
)
def test_1_7_truth_values_are_refused(use):
    with refused(
        " has no truth value while the program is being written",
        hint="ps.select(condition, a, b) for if; & | ~ for and, or, not",
        error=ps.LanguageTypeError,
    ):
        use()


def test_1_7_the_expression_is_named():
    with refused("A[i] > 0 has no truth value", hint="(lo <= x) & (x < hi) for a chain"):
        statement_if()
    with refused("i >= 0 has no truth value", hint="ps.minimum and ps.maximum for min and max"):
        0 <= i < n


def test_1_7_what_is_known_has_a_truth_value():
    assert i == ps.vars("i")
    assert i != "i"
    assert i != None  # noqa: E711
    assert not bool(n == None)  # noqa: E711
    assert i in [i, j]


# numbers, sequences, calls --------------------------------------------------------------------
@pytest.mark.parametrize(
    ("use", "what", "hint"),
    [
        (lambda: float(A[i]), "A[i] has no value", "ps.cast(ps.float64, x)"),
        (lambda: int(i), "i has no value", "ps.cast(ps.int64, x)"),
        (lambda: complex(A[i]), "it cannot become a complex", "a tuple of real and"),
        (lambda: math.exp(A[i]), "it cannot become a float", "ps.exp(x) and its like"),
        (lambda: math.sqrt(n), "n has no value", "ps.exp(x) and its like"),
        (lambda: math.trunc(A[i]), "it cannot become an int", "which truncates"),
        (lambda: range(n), "n has no value", "ps.RVar('k', 0, n) for range(n)"),
        (lambda: [1, 2, 3][i], "i has no value", "T = ps.Const('T', table)"),
        (lambda: f"{A[i]:.2f}", "it cannot become text in the format '.2f'", "{x} alone"),
        (lambda: list(A[i]), "A[i] is one value, not a sequence", "ps.RVar"),
        (lambda: sum(A[i]), "A[i] is one value, not a sequence", "ps.RVar"),
        (lambda: sum(A[x] for x in k), "k is one value, not a sequence", "ps.RVar"),
        (lambda: len(A[i]), "A[i] is one value: it has no len()", ".shape"),
        (lambda: 1 in A[i], "'in' means nothing for A[i]", "(x == a) | (x == b)"),
        (lambda: A[i](2), "A[i] is a value, not a function", "* to multiply"),
        (lambda: n(2), "n is a value, not a function", "* to multiply"),
        (lambda: A[i][j], "A[i] is one value and cannot be indexed", "M[i, j]"),
        (lambda: M[i, j][k], "M[i, j] is one value and cannot be indexed", "one bracket"),
        (lambda: n[0], "n is one value and cannot be indexed", None),
        (lambda: A[i] @ A[j], "@ multiplies whole arrays, and A[i] is one value", "+= A[i, k]"),
        (lambda: round(A[i], 2), "round() to decimal digits is not supported", None),
        (lambda: pow(I[i], 2, 3), "pow() with a modulus is not supported", "** n) % m"),
    ],
)
def test_1_7_other_protocols_of_expressions_are_refused(use, what, hint):
    with refused(what, hint=hint, error=ps.LanguageTypeError):
        use()


@pytest.mark.parametrize(
    "change",
    [
        lambda x: operator.setitem(x, i, 1),
        lambda x: operator.delitem(x, i),
        lambda x: operator.setitem(x, k, 1),
    ],
)
def test_1_7_an_element_cannot_be_assigned_into(change):
    with refused("M[i, j] is one value and cannot be indexed", hint="one bracket"):
        change(M[i, j])


@pytest.mark.parametrize(
    ("use", "what", "hint"),
    [
        (lambda: A + A, "'+' of A: operators work on elements", "f[i] = A[i] + ..."),
        (lambda: A - 1, "'-' of A", "f[i] = A[i] - ..."),
        (lambda: 2 * M, "'*' of M", "f[i, j] = M[i, j] * ..."),
        (lambda: A[i] + M, "M is a whole array, not one value", "M[i, j]"),
        (lambda: M @ M, "'@' of M", "f[i, j] = M[i, j] @ ..."),
        (lambda: -A, "'-' of A", "f[i] = -(A[i])"),
        (lambda: abs(A), "'abs' of A", "abs(A[i])"),
        (lambda: A < 1, "'<' of A", "A[i] < ..."),
        (lambda: np.arange(3.0) + A, "of A: operators work on elements", "A[i]"),
        (lambda: np.sin(A), "np.sin of A: operators work on elements", "f[i] = np.sin(A[i])"),
        (lambda: np.max(M), "np.max of M: operators work", "M[i, j]"),
        (lambda: np.dot(M, M), "np.dot of M: operators work", "M[i, j]"),
        (lambda: np.asarray(A), "A is the description of an array and holds no numbers", "call"),
        (lambda: math.sqrt(A), "float of A: operators work on elements", "A[i]"),
        (lambda: bool(A), "A is an array and has no truth value", None),
        (lambda: list(A), "A cannot be iterated over", "an equation over Vars"),
        (lambda: sum(A), "A cannot be iterated over", "an equation over Vars"),
        (lambda: len(A), "A has no len()", "A.shape"),
        (lambda: 1.0 in A, "'in' means nothing for A", "|= A[k] == x"),
        (lambda: A(i), "Input A cannot be called", "to read an element write A[i]"),
        (lambda: T(0), "Const T cannot be called", "T[0]"),
        (lambda: ps.exp(A), "A is a whole array, not one value", "read an element: A[i]"),
        (lambda: ps.select(A[i] > 0, M, 0), "M is a whole array", "M[i, j]"),
        (lambda: A[i] == A, "A is a whole array, not one value", "A[i]"),
        (lambda: operator.delitem(A, 0), "an element of A cannot be deleted", None),
    ],
)
def test_1_7_whole_arrays_are_refused(use, what, hint):
    with refused(what, hint=hint, error=ps.LanguageTypeError):
        use()


@pytest.mark.parametrize(
    ("use", "what", "hint"),
    [
        (lambda: A[-1], "A[-1]: indices do not count from the end", "write the extent: n - 1"),
        (lambda: M[i, -2], "M[-2]: indices do not count", "write the extent: m - 2"),
        (lambda: T[-1], "T[-1]: indices do not count", "3 - 1"),
        (lambda: M[i], "M has 2 axes but is indexed with 1", "into one bracket: M[i, j]"),
        (lambda: M[i][j], "M has 2 axes but is indexed with 1", "into one bracket: M[i, j]"),
        (lambda: A[i, j], "A has 1 axis but is indexed with 2", "A[i]"),
        (lambda: A[()], "A has 1 axis but is indexed with 0", "A[i]"),
        (lambda: M[:, j], ": in an index of M: slices are not part", "f[i] = M[i + 1]"),
        (lambda: A[1:n], "1:n in an index of A", "a ps.Var"),
        (lambda: A[::2], "::2 in an index of A", "a ps.Var"),
        (lambda: A[None], "None cannot be an index of A", "A[i]"),
        (lambda: A[True], "True cannot be an index of A", "A[i]"),
        (lambda: A["i"], "'i' cannot be an index of A", "A[i]"),
        (lambda: A[[0, 1]], "[0, 1] cannot be an index of A", "A[i]"),
        (lambda: A[1.0], "1.0 cannot be an index of A", "A[i]"),
        (lambda: A[np.float32(1)], "np.float32(1.0) cannot be an index of A", "A[i]"),
        (lambda: A[A], "A is a whole array and cannot be an index of A", "A[i]"),
        (lambda: A[np.arange(2)], "an array of shape (2,) is not one value", "ps.Const('T'"),
        (lambda: A[i, ...][...], "cannot be indexed", "one bracket"),
        (lambda: A[..., ...], "only one ... is possible in an index", None),
        (lambda: A[i, j, ...], "A has 1 axis but is indexed with 2 beside the ...", None),
    ],
)
def test_1_7_wrong_indices_are_refused(use, what, hint):
    with refused(what, hint=hint):
        use()


def test_1_7_an_index_of_float_is_refused_where_it_is_used():
    f = func()
    with refused("an index of A is float32, not an integer: A[i]", hint="ps.cast(ps.int32, x)"):
        f[i] = A[A[i]]
    with refused("an index of A is a Python float, not an integer: i / 2", hint="i // 2"):
        f[i] = A[i / 2]
    with refused("an index of A is bool, not an integer: i > 0"):
        f[i] = A[i > 0]
    f[i] = 0.0
    with refused("the index A[i] is float32, not an integer"):
        f[A[i]] += 1


# assignments ----------------------------------------------------------------------------------
@pytest.mark.parametrize("tensor", [A, T])
def test_1_7_inputs_and_tables_cannot_be_assigned(tensor):
    what = f"{tensor.kind} {tensor.name} cannot be assigned to: a program computes Funcs"
    hint = f"f = ps.Func('f', {tensor.name}.shape)"
    for index in (i, 0, (), ..., slice(None)):
        with refused(what, hint=hint, error=ps.LanguageTypeError):
            tensor[index] = 1.0
    with refused(what, hint=hint, error=ps.LanguageTypeError):
        tensor[i] += 1
    with refused(what, hint=hint, error=ps.LanguageTypeError):
        tensor[0] *= 2


@pytest.mark.parametrize(
    ("value", "what", "hint"),
    [
        (A, "A is a whole array, not one value", "read an element: A[i]"),
        ([1, 2], "a list of 2 is not one value", "T = ps.Const('T', array)"),
        (np.zeros((2, 3)), "an array of shape (2, 3) is not one value", "ps.Const"),
        ("a", "'a' (a str) is not a value of the language", None),
        (None, "None (a NoneType) is not a value of the language", None),
        (ps.float32, "float32 is an element type, not a value", "dtype=ps.float32"),
        (1j, "complex numbers are not supported", "as a tuple"),
        (np.complex64(1), "complex numbers are not supported", "as a tuple"),
        (
            np.datetime64(1, "s"),
            "the element type datetime64[s] is not supported",
            "element types are",
        ),
        (np.str_("a"), "is not supported", "element types are"),
        (2**70, "the integer 1180591620717411303424 does not fit in 64 bits", "as a float it is"),
        (-(2**63) - 1, "does not fit in 64 bits", "-9.2233720368547758e+18"),
        (10**400, "does not fit in 64 bits", None),
        (print, "is not a value of the language", None),
    ],
)
def test_1_7_what_is_no_value_is_refused(value, what, hint):
    f = func()
    with refused(what, hint=hint, error=ps.LanguageTypeError):
        f[i] = value
    if not isinstance(value, np.ndarray):
        with refused(what, hint=hint, error=ps.LanguageTypeError):
            A[i] * value


def test_1_7_a_tuple_is_not_one_value():
    with refused("a tuple is not one value", hint="unpack it"):
        ps.strict((1, 2))
    with refused("a tuple is not one value"):
        A[i] + (1, 2)


def test_1_7_an_in_place_operator_on_a_plain_variable_is_the_plain_operator():
    f = func()
    acc = A[i]
    acc += I[i] * 2.0
    acc *= 3
    f[i] = acc
    a, b = np.float32([1, 2]), np.int32([5, 6])
    assert f.dtype == ps.float64
    assert np.array_equal(run(f, A=a, I=b), (a + b * 2.0) * 3)


def test_1_7_an_in_place_operator_on_a_read_of_the_func_itself():
    f = func()
    f[i] = A[i]
    old = f[i]
    acc = f[i]
    acc += 1
    f[i] = acc
    f[i] += old
    assert len(f.history.typed()) == 3
    assert np.array_equal(run(f, A=np.float32([3])), [8])


def test_1_7_an_in_place_operator_to_another_place_is_no_update():
    f, g = func("f", (4,)), func("g", (4,))
    f[i] = i
    acc = f[0]
    acc += 10
    f[2] = acc
    g[i] = 1
    acc = f[i]
    acc *= g[i]
    g[i] = acc
    assert [d.op for d in g.history.typed()] == ["=", "="]
    assert np.array_equal(run(f), [0, 1, 10, 3])
    assert np.array_equal(run(g), [0, 1, 10, 3])


def test_1_7_in_place_power_and_matrix_product():
    f = func()
    f[i] = A[i]
    f[i] **= 2
    assert np.array_equal(run(f, A=np.float32([3])), [9])
    g = func("g")
    g[i] = A[i]
    with refused("@ multiplies whole arrays, and g[i] is one value"):
        g[i] @= 2


@pytest.mark.parametrize(
    "use",
    [
        lambda z: operator.iadd(z, (1, 2)),
        lambda z: z - (1, 2),
        lambda z: z * 2,
        lambda z: 2 * z,
        lambda z: z + z,
        lambda z: operator.add((1, 2), z),
        lambda z: -z,
        lambda z: abs(z),
        lambda z: z < 1,
        lambda z: z @ z,
    ],
)
def test_1_7_operators_on_tuples_are_refused(use):
    with refused("of a tuple of 2 values: operators work on one value", hint="zr, zi = z[i]"):
        use(pair()[i])


# sequences of expressions ---------------------------------------------------------------------
def test_1_7_sum_of_a_generator_and_unrolled_loops():
    taps = [1, 4, 6, 4, 1]
    value = sum(w * A[ps.clip(i + o - 2, 0, n - 1)] for o, w in enumerate(taps))
    a = np.arange(7, dtype=np.float32)
    padded = np.pad(a, 2, mode="edge")
    assert np.array_equal(
        at_points(value, n, A=a), sum(w * padded[o : o + 7] for o, w in enumerate(taps))
    )


def test_1_7_text_of_expressions():
    assert f"{A[i] + 1} {n} {k}" == "A[i] + 1 n k"
    assert str(-(A[i] - (I[i] - 1)) * 2) == "-(A[i] - (I[i] - 1)) * 2"
    assert repr(ps.select((i < n) & ~(j == 0), A[i] ** 2, 0)) == (
        "select((i < n) & ~(j == 0), A[i] * A[i], 0)"
    )
    assert repr(A) == "Input A[n] float32"
    assert "<math>" in (A[i] < 1)._repr_html_()
    assert "&lt;" in (A[i] < 1)._repr_html_()


# NumPy ----------------------------------------------------------------------------------------
def test_1_7_numpy_scalars_keep_their_type():
    assert _dtype(A[i] * np.float64(2)) == ps.float64
    assert _dtype(np.float64(2) * A[i]) == ps.float64
    assert _dtype(I[i] + np.int64(1)) == ps.int64
    assert _dtype(np.uint8(1) - I[i]) == ps.int32
    assert _dtype(A[i] + np.array(1.0)) == ps.float64
    assert _dtype(np.bool_(True) & (I[i] > 0)) == ps.bool_
    assert _dtype(A[i] * 2.0) == ps.float32


def _dtype(value):
    f = func()
    f[i] = value
    return f.dtype


UFUNCS = [
    np.exp, np.log, np.tanh, np.sqrt, np.floor, np.ceil, np.rint, np.absolute, np.fabs,
    np.negative, np.positive, np.square, np.isnan,
]  # fmt: skip
EXACT = [np.sqrt, np.floor, np.ceil, np.rint, np.absolute, np.fabs, np.negative, np.square]


@pytest.mark.parametrize("ufunc", UFUNCS)
def test_1_7_ufuncs_of_one_operand(ufunc):
    a = np.float32([0.0, -0.0, 1.5, -2.5, 3.0, np.inf, np.nan])
    with np.errstate(all="ignore"):
        wanted = ufunc(a)
    found = at_points(ufunc(A[i]), n, A=a)
    assert found.dtype == wanted.dtype
    if ufunc in EXACT:
        assert np.array_equal(found, wanted, equal_nan=True)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    "ufunc",
    [
        np.add, np.subtract, np.multiply, np.floor_divide, np.remainder, np.divide, np.minimum,
        np.maximum, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift,
        np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
        np.logical_and, np.logical_or, np.logical_xor,
    ],
)  # fmt: skip
def test_1_7_ufuncs_of_two_operands(ufunc):
    x, y = np.int32([7, -7, 5, 0, -8]), np.int32([2, 2, 5, 3, 1])
    X, Y = ps.Input("X", ps.int32, (n,)), ps.Input("Y", ps.int32, (n,))
    found = at_points(ufunc(X[i], Y[i]), n, X=x, Y=y)
    assert found.dtype == ufunc(x, y).dtype
    assert np.array_equal(found, ufunc(x, y))
    found = at_points(ufunc(np.int32(9), Y[i]), n, Y=y)
    assert np.array_equal(found, ufunc(np.int32(9), y))


def test_1_7_other_numpy_functions():
    a = np.float32([-1.5, 0.25, 2.5])
    assert np.array_equal(at_points(np.where(A[i] > 0, A[i], 0), n, A=a), np.where(a > 0, a, 0))
    assert np.array_equal(at_points(np.clip(A[i], 0, 1), n, A=a), np.clip(a, 0, 1))
    assert np.array_equal(at_points(np.round(A[i]), n, A=a), np.round(a))
    assert np.array_equal(at_points(np.logical_not(A[i]), n, A=a), np.logical_not(a))
    quotient, rest = np.divmod(I[i], 3)
    b = np.int32([7, -7])
    assert np.array_equal(at_points(quotient * 10 + rest, n, I=b), b // 3 * 10 + b % 3)
    assert np.array_equal(at_points(np.power(I[i], 3), n, I=b), b**3)
    assert np.array_equal(at_points(np.ldexp(A[i], 3), n, A=a), a * 8)


@pytest.mark.parametrize(
    ("use", "what", "hint"),
    [
        (lambda: np.frexp(A[i]), "np.frexp is not available on expressions", "available: absolute"),
        (lambda: np.add.reduce([A[i], A[j]]), "NumPy cannot hold it", "ps functions"),
        (lambda: np.add.outer(A[i], A[j]), "np.add.outer works on arrays", "over an RVar"),
        (lambda: np.add(A[i], 1, out=np.zeros(3)), "np.add takes no out= on expr", None),
        (lambda: np.sum(A[i]), "np.sum is not available on expressions", "f[()] += A[k]"),
        (lambda: np.mean(A[i]), "np.mean is not available on expressions", "+="),
        (lambda: np.dot(A[i], A[j]), "np.dot is not available on expressions", "+="),
        (lambda: np.asarray(A[i]), "NumPy cannot hold it", "call the Func on arrays"),
        (lambda: np.array([A[i], A[j]]), "NumPy cannot hold it", None),
        (lambda: np.float32(A[i]), "A[i] has no value", None),
        (lambda: np.arange(3)[i], "i has no value", None),
        (lambda: np.arange(3.0) * A[i], "an array of shape (3,) is not one value", "ps.Const"),
        (lambda: A[i] * np.arange(3.0), "an array of shape (3,) is not one value", "ps.Const"),
        (lambda: np.round(A[i], 2), "round() to decimal digits is not supported", None),
    ],
)
def test_1_7_what_numpy_cannot_do_on_expressions_is_refused(use, what, hint):
    with refused(what, hint=hint, error=ps.LanguageTypeError):
        use()


@pytest.mark.parametrize(
    ("use", "what", "hint"),
    [
        (lambda: ps.cast(A[i], ps.float32), "A[i] is not an element type", "comes first"),
        (lambda: ps.float32(A[i]), "float32 is an element type, not a function", "ps.cast(ps.flo"),
        (lambda: A[i].astype("float17"), "'float17' is not an element type", "element types"),
        (lambda: ps.select(A[i] > 0, 1), "not 2 arguments", "ps.select(c1, v1, c2, v2, default)"),
        (lambda: ps.select(A[i] > 0, 1, i < 2, 3), "not 4 arguments", "default)"),
        (lambda: ps.select(i > 0, (1, 2), 0), "tuples of different lengths", None),
        (lambda: ps.mux(i, []), "mux needs at least one value", "ps.mux(i, [a, b, c])"),
    ],
)
def test_1_7_functions_used_wrongly_are_refused(use, what, hint):
    if hint == "comes first":
        what, hint = "A[i] is not an element type: the dtype comes first", "x.astype(ps.float32)"
    with refused(what, hint=hint):
        use()


# implicit Vars --------------------------------------------------------------------------------
def test_1_7_ellipsis_stands_for_leading_axes():
    B = ps.Input("B", ps.float32, (2, 3, n, m))
    f = ps.Func("f", (2, 3, n, m))
    y, x = ps.vars("y x")
    f[..., y, x] = B[..., n - 1 - y, x] * 2
    b = np.arange(2 * 3 * 2 * 2, dtype=np.float32).reshape(2, 3, 2, 2)
    assert np.array_equal(run(f, B=b), b[..., ::-1, :] * 2)


def test_1_7_ellipsis_aligns_to_the_right_as_numpy_broadcasts():
    f = ps.Func("f", (n, m))
    row = ps.Input("row", ps.float32, (m,))
    f[...] = M[...] + row[...]
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.float32([10, 20, 30])
    assert np.array_equal(run(f, M=a, row=b), a + b)


def test_1_7_ellipsis_takes_the_rank_of_what_is_read():
    f, g = ps.Func("f"), ps.Func("g", (n, m))
    f[...] = M[...] * 2
    g[i, j] = f[i, j]
    assert f.ndim == 2
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(run(g, M=a), a * 2)


def test_1_7_ellipsis_between_and_of_nothing():
    f = ps.Func("f", (n, m))
    f[i, ..., j] = M[i, ..., j]
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(run(f, M=a), a)


def test_1_7_unpacked_batch_axes():
    def blur(x):
        *batch, width = x.vars
        f = ps.Func("blur", x.shape)
        extent = x.shape[-1]
        f[*batch, width] = x[*batch, width] + x[*batch, ps.minimum(width + 1, extent - 1)]
        return f

    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(run(blur(M), M=a), a + a[:, [1, 2, 2]])


def test_1_7_ellipsis_of_unknown_rank_is_refused():
    f, g = ps.Func("f", dtype=ps.float32), ps.Func("g", (n,))
    with refused("f[...]: the rank of f is not known yet", hint="define it first"):
        g[i] = f[...]


def test_1_7_comparing_elements_is_a_condition():
    f = ps.Func("f", (n, n))
    f[i, j] = A[i] == A[j]
    a = np.float32([1, 2, 1, np.nan])
    assert f.dtype == ps.bool_
    assert np.array_equal(run(f, A=a), a[:, None] == a)
