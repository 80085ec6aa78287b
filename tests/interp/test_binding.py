"""Arguments of calls: sizes, dtypes, Params, ranges, outputs, and what is refused."""

from __future__ import annotations

import array as python_array
import re

import numpy as np
import pytest
from counting import calls

import polysched as ps
from polysched.lang.call.binding import Binder, bind

n, m, k = ps.sizes("n m k")
i, j = ps.vars("i j")
f32 = np.float32
ok = np.zeros(3, f32)


def program(*shapes, reads=(), **options):
    """A program with Inputs A, B, ... of these shapes; its output is `f`, of one element."""
    inputs = [ps.Input("ABCDE"[c], ps.float32, s, **options) for c, s in enumerate(shapes)]
    f = ps.Func("f", (1,))
    f[i] = sum((x[(0,) * x.ndim] for x in inputs), 0.0) + sum(reads, 0.0)
    return ps.Program((f,))


def sizes(program, *shapes, **named):
    return bind(program, [np.zeros(s, f32) for s in shapes], named).sizes


def refusal(error, program, *args, **kwargs) -> str:
    extra = {x: kwargs.pop(x) for x in ("out", "shape") if x in kwargs}
    with pytest.raises(error) as caught:
        bind(program, args, kwargs, **extra)
    return str(caught.value)


# sizes ----------------------------------------------------------------------------------------
def test_sizes_from_shapes():
    assert sizes(program((n, m), (m, k)), (2, 3), (3, 4)) == {"n": 2, "m": 3, "k": 4}


def test_affine_extents():
    assert sizes(program((2 * (n + 1) * 3,)), (18,)) == {"n": 2}
    p = program((2 * n + 1,), (n + k - 1,), (3 * k - m,))
    assert sizes(p, (7,), (7,), (10,)) == {"n": 3, "k": 5, "m": 5}


def test_axes_in_any_order():
    """The first axis has two unknowns until the others are solved."""
    p = program((n + m + k,), (m - n,), (n,))
    assert sizes(p, (9,), (1,), (2,)) == {"n": 2, "m": 3, "k": 4}


def test_a_keyword_makes_an_axis_solvable():
    assert sizes(program((n + k,)), (9,), k=4) == {"k": 4, "n": 5}


def test_defaults_come_last():
    nz = ps.size("nz", default=n // 4 + 1)
    p = program((n,), reads=[ps.cast(ps.float32, nz)])
    assert sizes(p, (9,)) == {"n": 9, "nz": 3}
    assert sizes(p, (9,), nz=7) == {"n": 9, "nz": 7}
    q = program((n,), (nz + 1,))
    assert sizes(q, (9,), (8,)) == {"n": 9, "nz": 7}


def test_a_default_makes_other_axes_solvable():
    a = ps.size("a", default=2)
    b = ps.size("b", default=a * 2)
    p = program((n + a,), reads=[ps.cast(ps.float32, b)])
    assert sizes(p, (9,)) == {"n": 7, "a": 2, "b": 4}


def test_extents_that_are_not_affine_are_checked():
    p = program((n // 2,), (n,))
    assert sizes(p, (3,), (7,)) == {"n": 7}
    text = refusal(ps.CallValueError, p, np.zeros(4, f32), np.zeros(7, f32))
    assert "axis 0 of A has length 4, but its extent n // 2 is 3; n = 7 (by axis 0 of B)" in text


def test_integer_params_in_extents():
    w = ps.Param("w", ps.int32)
    assert sizes(program((n + w,)), (9,), w=4) == {"n": 5}
    text = refusal(ps.CallValueError, program((n,), (w,)), ok[:2], ok, w=4)
    assert "axis 0 of B has length 3, but its extent w is 4; w = 4 (by w=4)" in text


def test_shapes_of_outputs_take_part():
    f = ps.Func("f", (n, n + m))
    f[i, j] = i
    p = ps.Program((f,))
    assert bind(p, out=np.empty((2, 5), np.int64)).sizes == {"n": 2, "m": 3}
    assert bind(p, shape=(2, 5)).sizes == {"n": 2, "m": 3}
    text = refusal(ps.CallValueError, p, out=np.empty((2, 5), np.int64), m=4)
    assert "axis 1 of out= of f has length 5, but its extent n + m is 6" in text
    assert "m = 4 (by m=4)" in text


def test_a_clash_names_both_arrays_and_axes():
    text = refusal(ps.CallValueError, program((n, m), (m, k)), np.zeros((2, 3), f32),
                   np.zeros((4, 5), f32))  # fmt: skip
    assert "axis 0 of B has length 4, but its extent m is 3; m = 3 (by axis 1 of A)" in text
    assert "hint: pass B with 3 elements along axis 0" in text


@pytest.mark.parametrize(
    ("extent", "length", "hint"),
    [(2 * n + 1, 4, "3 and 5"), (n + 5, 3, "5"), (2 * n + 1, 0, "1"), (7 - n, 9, "7")],
)
def test_no_size_gives_the_length(extent, length, hint):
    text = refusal(ps.CallValueError, program((extent,)), np.zeros(length, f32))
    assert f"axis 0 of A has length {length}, and its extent is {extent}: no size n gives" in text
    assert text.split("nearest length")[1].lstrip("s aeri") == hint


def test_a_constant_extent():
    assert "but its extent 3 is 3" in refusal(ps.CallValueError, program((3,)), np.zeros(4, f32))


def test_a_size_that_nothing_fixes():
    text = refusal(ps.CallTypeError, program((n + k,)), np.zeros(4, f32))
    assert "nothing in this call fixes the sizes n and k" in text
    assert "pass by name: n=..., k=..." in text


@pytest.mark.parametrize("value", [-1, 2**40])
def test_sizes_are_within_limits(value):
    text = refusal(ps.CallValueError, program((n + k,)), np.zeros(4, f32), k=value)
    assert "at least 0 and below 2**40" in text


def test_sizes_from_shapes_are_within_limits():
    huge = np.broadcast_to(f32(0), (2**40,))
    assert "sizes are below 2**40" in refusal(ps.CallValueError, program((n,)), huge)


@pytest.mark.parametrize("value", [2.0, True, "2", None])
def test_sizes_are_integers(value):
    text = refusal(ps.CallTypeError, program((n + k,)), np.zeros(4, f32), k=value)
    assert "a size is an integer" in text


def test_a_negative_default():
    d = ps.size("d", default=n - 9)
    text = refusal(ps.CallValueError, program((n,), reads=[ps.cast(ps.float32, d)]),
                   np.zeros(4, f32))  # fmt: skip
    assert "the size d is n - 9 = -5 by default, which is negative" in text


def test_a_negative_extent_of_a_func():
    f = ps.Func("f", (n - 3,))
    f[i] = i
    text = refusal(ps.CallValueError, ps.Program((f,)), n=1)
    assert "axis 0 of f would have n - 3 = -2 elements at n=1" in text


# arrays ---------------------------------------------------------------------------------------
two = program((n,), (n,))


def test_positions_and_names():
    a, b = np.zeros(3, f32), np.ones(3, f32)
    for args, kwargs in (((a, b), {}), ((a,), {"B": b}), ((), {"B": b, "A": a})):
        bound = bind(two, args, kwargs)
        assert [bound.arrays[x] is y for x, y in zip(two.inputs, (a, b), strict=True)] == [True] * 2


def test_missing_unknown_twice_and_too_many():
    assert "the Input B is not passed: float32[n]" in refusal(ps.CallTypeError, two, ok)
    text = refusal(ps.CallTypeError, two, ok, ok, X=1)
    assert "there is no argument 'X'" in text
    assert "hint: arguments are A, B, n, out, shape" in text
    assert "A is passed twice" in refusal(ps.CallTypeError, two, ok, B=ok, A=ok)
    text = refusal(ps.CallTypeError, two, ok, ok, ok)
    assert "3 arguments by position, but the Inputs are 2: A, B" in text


def test_a_wrong_dtype_names_both():
    text = refusal(ps.CallTypeError, two, ok, np.zeros(3))
    assert "B has the dtype float64, not float32" in text
    assert "hint: B.astype(np.float32), or declare it as float64" in text


def test_a_foreign_byte_order():
    text = refusal(ps.CallTypeError, two, ok, np.zeros(3, ">f4"))
    assert "B has the dtype >f4: its bytes are not in this machine's order" in text


def test_a_wrong_rank():
    text = refusal(ps.CallValueError, two, ok, np.zeros((3, 1), f32))
    assert "B has 2 axes (shape (3, 1)), not 1" in text


@pytest.mark.parametrize("value", [[1.0, 2.0, 3.0], (1.0,), 3.0, np.float32(1), None, "abc"])
def test_what_is_no_array_is_not_copied(value):
    text = refusal(ps.CallTypeError, two, ok, value)
    what = "None" if value is None else f"(a|an) {type(value).__name__}"
    assert re.search(rf"B is {what}, not an array", text)
    assert "np.asarray(B, dtype=np.float32)" in text


def test_buffers_and_subclasses_are_arrays():
    class Sub(np.ndarray):
        pass

    buffer = python_array.array("f", [1, 2, 3])
    for value in (buffer, memoryview(buffer), ok.view(Sub)):
        bound = bind(two, (ok, value))
        assert np.shares_memory(bound.arrays[two.inputs[1]], np.asarray(value))


def test_a_masked_array_is_refused():
    masked = np.ma.masked_array(ok, mask=[True, False, False])
    assert "the mask would be ignored" in refusal(ps.CallTypeError, two, ok, masked)


def test_an_array_with_an_equal_dtype_object():
    """A dtype of the same meaning that is another object, as after unpickling."""
    other = np.dtype("f4", metadata={"unit": "m"})
    assert bind(two, (ok, ok.astype(other))).sizes == {"n": 3}


# Params ---------------------------------------------------------------------------------------
def with_param(dtype, **options):
    p = ps.Param("p", dtype, **options)
    f = ps.Func("f", (1,), dtype=ps.float64)
    f[i] = ps.cast(ps.float64, ps.cast(dtype, p))
    return ps.Program((f,))


@pytest.mark.parametrize(
    ("dtype", "given", "expected"),
    [
        (ps.int8, -128, -128), (ps.int8, np.int64(5), 5), (ps.uint64, 2**64 - 1, 2**64 - 1),
        (ps.int32, np.array(3), 3), (ps.int32, True, 1), (ps.bool_, True, True),
        (ps.bool_, np.bool_(False), False), (ps.float64, 2, 2.0), (ps.float64, 0.1, 0.1),
        (ps.float32, 0.1, float(np.float32(0.1))), (ps.float32, np.float64(0.1), float(f32(0.1))),
        (ps.float32, float("inf"), float("inf")),
    ],
)  # fmt: skip
def test_params_in_their_dtype(dtype, given, expected):
    value = bind(with_param(dtype), (), {"p": given}).params["p"]
    assert (value, type(value)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("dtype", "given", "error", "text"),
    [
        (ps.int8, 128, ps.CallValueError, "p=128 does not fit in int8, which holds -128 to 127"),
        (ps.uint8, -1, ps.CallValueError, "does not fit in uint8"),
        (ps.int32, 2.0, ps.CallTypeError, "p=2.0 is a float; the Param is int32"),
        (ps.int32, np.float64(2), ps.CallTypeError, "the Param is int32"),
        (ps.int32, "2", ps.CallTypeError, "hint: pass an integer"),
        (ps.float32, "2", ps.CallTypeError, "hint: pass a number"),
        (ps.float32, 1e39, ps.CallValueError, "p=1e+39 does not fit in float32"),
        (ps.float64, 10**400, ps.CallValueError, "does not fit in float64"),
        (ps.float64, 1j, ps.CallTypeError, "is a complex"),
        (ps.bool_, 1, ps.CallTypeError, "hint: pass a bool"),
        (ps.int32, np.array([1]), ps.CallTypeError, "is a ndarray"),
    ],
)
def test_params_refused(dtype, given, error, text):
    assert text in refusal(error, with_param(dtype), p=given)


def test_params_without_a_value_and_with_a_default():
    text = refusal(ps.CallTypeError, with_param(ps.int32))
    assert "the Param p (int32) is not passed and has no default" in text
    assert bind(with_param(ps.int32, default=4)).params == {"p": 4}


def test_declared_bounds_of_params():
    p = with_param(ps.float32, min=0, max=0.1)
    assert bind(p, (), {"p": 0.1}).params["p"] == f32(0.1)  # though above 0.1 as float64
    text = refusal(ps.CallValueError, p, p=0.2)
    assert "p=0.20000000298023224 is outside its declared bounds 0 <= p <= 0.1" in text
    assert "outside" in refusal(ps.CallValueError, p, p=float("nan"))
    assert "outside" in refusal(ps.CallValueError, with_param(ps.int8, min=1), p=0)


# ranges and requirements ----------------------------------------------------------------------
def test_declared_ranges_are_checked():
    A = ps.Input("A", ps.int32, (n, n), range=(0, n))
    f = ps.Func("f", (1,))
    f[i] = A[0, 0]
    p = ps.Program((f,))
    bind(p, (np.array([[0, 1], [1, 0]], np.int32),))
    bind(p, (np.empty((0, 0), np.int32),))
    text = refusal(ps.CallValueError, p, np.array([[0, 1], [2, 5]], np.int32))
    assert "A[1, 0] is 2, outside the declared range 0 <= value < 2" in text
    assert "A[0, 1] is -1" in refusal(ps.CallValueError, p, np.array([[0, -1], [0, 0]], np.int32))


def test_a_range_of_floats_excludes_nan():
    p = program((n,), range=(0.0, 1.0))
    bind(p, (np.array([0, 0.99], f32),))
    assert "A[1] is nan" in refusal(ps.CallValueError, p, np.array([0, np.nan], f32))
    assert "A[0] is 1.0" in refusal(ps.CallValueError, p, np.array([1], f32))


def test_requirements():
    f = ps.Func("f", (n - 2,))
    alpha = ps.Param("alpha", ps.float32, default=1.0)
    ps.require(n >= 3, "the filter needs three rows", f)
    ps.require((alpha > 0) & (n % 2 == 1), "alpha is positive, n odd", f)
    f[i] = ps.cast(ps.float32, i) * alpha
    p = ps.Program((f,))
    assert bind(p, (), {"n": 5}).shapes[f] == (3,)
    text = refusal(ps.CallValueError, p, n=1)
    assert "the filter needs three rows: n >= 3 is required (" in text
    assert "fails at n=1" in text
    assert "alpha is positive, n odd" in refusal(ps.CallValueError, p, n=4)
    assert "fails at alpha=-1.0, n=5" in refusal(ps.CallValueError, p, n=5, alpha=-1)


@pytest.mark.parametrize(
    ("condition", "good", "bad"),
    [
        (lambda: n < 2.5, 2, 3),
        (lambda: ps.cast(ps.uint8, n) < 5, 260, 261),
        (lambda: 3 * n - 1 >= 2 * n + 4, 5, 4),
        (lambda: (n // 3) * 3 == n, 6, 7),
        (lambda: ~((n > 4) | (n << 1 == 2)), 3, 1),
        (lambda: ps.select(n > 4, n, 10) < ps.maximum(9, n), 6, 3),
        (lambda: ps.sqrt(ps.cast(ps.float64, n)) * 2 == 6, 9, 10),
    ],
)
def test_requirements_of_all_kinds(condition, good, bad):
    f = ps.Func("f", (n,))
    ps.require(condition(), "as it must be", f)
    f[i] = i
    p = ps.Program((f,))
    assert bind(p, (), {"n": good}).sizes == {"n": good}
    assert "as it must be" in refusal(ps.CallValueError, p, n=bad)


def test_a_requirement_that_needs_a_function():
    f = ps.Func("f", (n,))
    alpha = ps.Param("alpha", ps.float64, default=1.0)
    ps.require(ps.exp(alpha) > 1, "alpha is positive", f)
    f[i] = i
    assert bind(ps.Program((f,)), kwargs={"n": 1, "alpha": 1e-15}).params == {"alpha": 1e-15}
    assert "alpha is positive" in refusal(ps.CallValueError, ps.Program((f,)), n=1, alpha=0.0)


# outputs --------------------------------------------------------------------------------------
def outputs():
    f = ps.Func("f")
    g = ps.Func("g", (n,), dtype=(ps.int64, ps.float32))
    f[i, j] = i
    g[i] = (i, 0.5)
    return ps.Program((f, g)), f, g


def test_shapes_and_arrays_of_outputs():
    p, f, g = outputs()
    a, b, c = np.empty((2, 3), np.int64), np.empty(4, np.int64), np.empty(4, f32)
    for out in ((a, (b, c)), {"f": a, "g": (b, c)}):
        bound = bind(p, out=out)
        assert bound.shapes == {f: (2, 3), g: (4,)}
        assert bound.out[g][1] is c
    assert bind(p, (), {"n": 1}, shape=(5, 6)).shapes[f] == (5, 6)
    assert bind(p, (), {"n": 1}, shape={"f": (5, 6)}).out == {}
    assert bind(p, (), {"n": 1}, out=(a, None)).shapes[f] == (2, 3)


@pytest.mark.parametrize(
    ("out", "error", "text"),
    [
        ({"h": 1}, ps.CallTypeError, "out= names 'h', which is no output"),
        (np.empty(3), ps.CallTypeError, "out= has one entry an output, 2 in all"),
        ({"f": np.empty((2, 2))}, ps.CallTypeError, "out= of f has the dtype float64, not int64"),
        ({"f": np.empty(2, np.int64)}, ps.CallValueError, "out= of f has 1 axis"),
        ({"f": [[1]]}, ps.CallTypeError, "out= of f is a list, not an array"),
        ({"g": np.empty(2, np.int64)}, ps.CallTypeError, "out= holds 1 arrays for g, which has 2"),
        ({"g": (np.empty(2, np.int64), np.empty(3, f32))}, ps.CallValueError, "different shapes"),
    ],
)
def test_outputs_refused(out, error, text):
    assert text in refusal(error, outputs()[0], out=out, shape=None, n=2)


def test_a_read_only_output():
    a = np.empty((2, 2), np.int64)
    a.flags.writeable = False
    assert "out= of f is read-only" in refusal(ps.CallValueError, outputs()[0], out={"f": a}, n=2)


def test_shape_and_out_must_agree():
    p, _, _ = outputs()
    text = refusal(ps.CallValueError, p, shape=(2, 3), out={"f": np.empty((3, 2), np.int64)}, n=1)
    assert "shape= of f is (2, 3), but its array in out= has the shape (3, 2)" in text
    assert "has 1 axis, and f has 2" in refusal(ps.CallValueError, p, shape=(2,), n=1)
    assert "a size is an integer" in refusal(ps.CallTypeError, p, shape=(2, 3.0), n=1)


def test_an_output_without_a_shape_needs_one():
    p, _, _ = outputs()
    assert "the output f has no declared shape" in refusal(ps.CallTypeError, p, n=1)


# effort ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("scale", [1, 100])
def test_three_arrays_are_bound_with_little_effort(scale):
    """It takes some 40 calls of functions, however large the arrays are: a few microseconds."""
    binder = Binder(program((n, m), (m, k), (n, k)))
    args = [np.zeros((scale * a, scale * b), f32) for a, b in ((4, 5), (5, 6), (4, 6))]
    with calls(limit=60):
        binder.bind(args, {})
