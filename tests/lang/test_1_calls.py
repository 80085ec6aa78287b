"""Rules 1.4 and 1.5: the order of arguments, signatures, results, sizes from shapes."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from lang.support import refused, run

import polysched as ps

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")


def vectors(names, extent=n):
    return tuple(ps.Input(name, ps.float32, (extent,)) for name in names)


def product():
    A, B = ps.Input("A", ps.float32, (n, l)), ps.Input("B", ps.float32, (l, m))
    k = ps.RVar("k", 0, l)
    C = ps.Func("C", (n, m))
    C[i, j] = 0.0
    C[i, j] += A[i, k] * B[k, j]
    return C


# 1.4 order and signature ----------------------------------------------------------------------
def test_1_4_arguments_go_by_name_or_in_the_order_of_first_reading():
    a, b = np.ones((2, 3), np.float32), np.arange(12, dtype=np.float32).reshape(3, 4)
    C = product()
    for result in (C(a, b), C(a, B=b), C(B=b, A=a)):
        assert np.array_equal(result, a @ b)
    assert np.array_equal(run(C, a, b), a @ b)


def test_1_4_the_order_is_that_of_the_text_not_of_the_typed_nodes():
    """X + Y * Z becomes fma(Y, Z, X), but is read in the order X, Y, Z."""
    X, Y, Z = vectors("XYZ")
    f = ps.Func("f", (n,))
    f[i] = X[i] + Y[i] * Z[i]
    assert [t.name for t in ps.Program((f,)).inputs] == ["X", "Y", "Z"]
    x, y, z = (np.float32([k]) for k in (1, 2, 3))
    assert f(x, y, z) == 7


def test_1_4_comparisons_of_signs_keep_the_order():
    X, Y = ps.Input("X", ps.uint64, (n,)), ps.Input("Y", ps.int64, (n,))
    f = ps.Func("f", (n,))
    f[i] = X[i] > Y[i]
    assert [t.name for t in ps.Program((f,)).inputs] == ["X", "Y"]


def test_1_4_definitions_are_walked_in_the_order_written():
    A, B, D, T = vectors("ABDT")
    late, early = ps.Func("late", (n,)), ps.Func("early", (n,))
    early[i] = D[i]
    late[i] = T[i]
    late[i] += B[i]
    f = ps.Func("f", (n,))
    f[i] = A[i] + late[i] + early[i]
    assert [t.name for t in ps.Program((f,)).inputs] == ["D", "T", "B", "A"]


def test_1_4_an_index_is_read_before_what_it_indexes():
    T, at = ps.Input("T", ps.float32, (n,)), ps.Input("at", ps.int32, (m,), range=(0, n))
    f = ps.Func("f", (m,))
    f[i] = T[at[i]]
    assert [t.name for t in ps.Program((f,)).inputs] == ["at", "T"]


def test_1_4_bounds_and_conditions_of_rvars_are_read_too():
    A, flag = vectors("AF")
    k = ps.RVar("k", 0, n, where=lambda k: flag[k] > 0)
    f = ps.Func("f", ())
    f[()] = 0.0
    f[()] += A[k]
    assert [t.name for t in ps.Program((f,)).inputs] == ["A", "F"]
    assert run(f, np.float32([1, 2, 4]), np.float32([1, -1, 1])) == 5


def test_1_4_sizes_of_rvars_that_only_bound_other_rvars_are_found():
    outer = ps.RVar("outer", 0, n)
    inner = ps.RVar("inner", 0, outer)
    f = ps.Func("f", ())
    f[()] = 0
    f[()] += inner
    assert run(f, n=5) == sum(x for o in range(5) for x in range(o))


def test_1_4_args_of_a_schedule_give_the_order():
    X, Y = vectors("XY")
    f = ps.Func("f", (n,))
    f[i] = X[i] - Y[i]
    kernel = ps.Schedule(f, args=(Y, X)).compile()
    assert kernel(np.float32([1]), np.float32([5])) == 4
    assert list(inspect.signature(kernel).parameters)[:2] == ["Y", "X"]


def test_1_4_args_may_list_an_input_that_is_not_read():
    X, Y = vectors("XY")
    f = ps.Func("f", (n,))
    f[i] = X[i]
    kernel = ps.Schedule(f, args=[X, Y]).compile()
    assert kernel(np.float32([1]), np.float32([5])) == 1


@pytest.mark.parametrize(
    ("pick", "what"),
    [
        (lambda X, Y: (X,), "args= leaves out Y, which the program reads"),
        (lambda X, Y: (X, Y, X), "args= lists X twice"),
        (lambda X, Y: (X, Y, n), "args= lists Inputs and InOuts, not n"),
        (lambda X, Y: (X, Y, "Z"), "args= lists Inputs and InOuts, not 'Z'"),
    ],
)
def test_1_4_wrong_args_are_refused(pick, what):
    X, Y = vectors("XY")
    f = ps.Func("f", (n,))
    f[i] = X[i] - Y[i]
    with refused(what):
        ps.Schedule(f, args=pick(X, Y))


def test_1_4_params_and_free_sizes_are_keywords():
    A, alpha = vectors("A")[0], ps.Param("alpha", ps.float32, default=2)
    f = ps.Func("f", (m, n))
    f[i, j] = A[j] * alpha
    assert np.array_equal(run(f, np.float32([1, 2]), m=1), [[2, 4]])
    assert np.array_equal(run(f, np.float32([1, 2]), m=1, alpha=3), [[3, 6]])
    with refused("the size m", hint="m=...", error=ps.CallTypeError):
        f(np.float32([1, 2]))
    with refused("2 arguments by position", "A", error=ps.CallTypeError):
        f(np.float32([1, 2]), 3)


def test_1_4_the_signature_is_shown():
    A, alpha = vectors("A")[0], ps.Param("alpha", ps.float32, default=2)
    f = ps.Func("f", (m, n))
    f[i, j] = A[j] * alpha
    text = "f(A: float32[n], alpha: float32 = 2, m: size) -> float32[m, n]"
    assert repr(f) == f"Func {text}"
    assert repr(ps.Schedule(f)) == f"Schedule of {text}"
    for callable in (f, ps.Schedule(f).compile()):
        shown = inspect.signature(callable)
        assert list(shown.parameters) == ["A", "alpha", "m", "out", "shape", "region"]
        assert shown.parameters["A"].kind == inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert shown.parameters["alpha"].default == 2


def test_1_4_looking_at_a_func_does_not_complete_it():
    (A,) = vectors("A")
    f, g = ps.Func("f", (n,), dtype=ps.float32), ps.Func("g", (n,))
    f[i] = A[i]
    for _ in range(2):
        repr(f), str(f), f._repr_html_(), inspect.signature(f), f.dtype, f.vars, f.ndim
        f[i] += 1
    repr(g), str(g)
    assert np.array_equal(run(f, A=np.float32([1])), [3])


def test_1_4_a_func_that_is_not_callable_yet_can_be_shown():
    (A,) = vectors("A")
    f = ps.Func("f", (n,))
    assert repr(f) == "Func f[n], not defined yet"
    early = ps.Func("early", dtype=ps.float32)
    f[i] = early[i] + A[i]
    assert repr(f) == "Func f[n] float32"


def test_1_4_all_outputs_are_returned_also_those_given():
    (A,) = vectors("A")
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = A[i] + 1
    g[i] = f[i] * 2
    kernel = ps.Schedule((f, g)).compile()
    a = np.float32([1, 2])
    x, y = kernel(a)
    assert (x.tolist(), y.tolist()) == ([2, 3], [4, 6])
    given = np.empty(2, np.float32)
    x, y = kernel(a, out={"g": given})
    assert y is given
    assert (x.tolist(), y.tolist()) == ([2, 3], [4, 6])
    x, y = kernel(a, out=(None, given))
    assert y is given


def test_1_4_one_output_by_out_is_returned():
    (A,) = vectors("A")
    f = ps.Func("f", (n,))
    f[i] = A[i] + 1
    out = np.empty(2, np.float32)
    assert f(np.float32([1, 2]), out=out) is out
    assert np.array_equal(out, [2, 3])


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda C, a, b: C(a), "the Input B is not passed"),
        (lambda C, a, b: C(a, b, a), "3 arguments by position"),
        (lambda C, a, b: C(a, A=a, B=b), "A is passed twice"),
        (lambda C, a, b: C(a, b, D=b), "there is no argument 'D'"),
        (lambda C, a, b: C(a.astype(np.float64), b), "A has the dtype float64, not float32"),
        (lambda C, a, b: C(a.tolist(), b), "A is a list, not an array"),
        (lambda C, a, b: C(a, 1.0), "B is a float, not an array"),
        (lambda C, a, b: C(a, b, out=np.zeros((2, 4))), "float64"),
        (lambda C, a, b: C(a, b, n=2.5), "n=2.5: a size is an integer"),
    ],
)
def test_1_4_arguments_of_the_wrong_kind_are_refused(call, what):
    a, b = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
    with refused(what, error=ps.CallTypeError):
        call(product(), a, b)


def test_1_4_calling_with_expressions_says_how_to_read():
    C = product()
    with refused("C(...) calls the compiled program on arrays", hint="C[i, j]"):
        C(i, j)


def test_1_4_outputs_are_funcs_and_each_is_named_once():
    C = product()
    with refused("a program computes Funcs, not n"):
        ps.Program((n,))
    with refused("a program computes at least one Func"):
        ps.Schedule(())
    with refused("an output is listed twice: C, C"):
        ps.Schedule((C, C))


def test_1_4_an_undefined_func_cannot_be_called():
    f = ps.Func("f", (n,))
    for use in (f, ps.Schedule, ps.interpret):
        with refused("Func f is used but has no definition", hint="f[i] = ..."):
            use(f) if use is not f else f()


# 1.5 sizes from shapes ------------------------------------------------------------------------
def test_1_5_sizes_are_solved_from_affine_extents():
    A = ps.Input("A", ps.float32, (2 * n + 3,))
    f = ps.Func("f", (n,))
    f[i] = A[2 * i + 3]
    assert np.array_equal(run(f, A=np.arange(9, dtype=np.float32)), [3, 5, 7])
    with refused("axis 0 of A has length 8", hint="7 and 9", error=ps.CallValueError):
        f(A=np.zeros(8, np.float32))


def test_1_5_a_size_is_solved_after_another():
    A, B = ps.Input("A", ps.float32, (n + m,)), ps.Input("B", ps.float32, (m,))
    f = ps.Func("f", (n,))
    f[i] = A[i] + B[ps.clip(i, 0, m - 1)]
    assert run(f, A=np.zeros(5, np.float32), B=np.ones(2, np.float32)).shape == (3,)


def test_1_5_a_clash_names_both_arrays_and_axes():
    a, b = np.ones((2, 3), np.float32), np.ones((4, 5), np.float32)
    with refused("axis 0 of B has length 4", "l", "axis 1 of A", error=ps.CallValueError):
        product()(a, b)


def test_1_5_a_size_that_is_given_too_is_checked():
    a, b = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
    assert product()(a, b, n=2).shape == (2, 4)
    with refused("axis 0 of A has length 2", "n = 3", error=ps.CallValueError):
        product()(a, b, n=3)


def test_1_5_the_wrong_number_of_axes():
    with refused("A has 1 axis", "not 2", error=ps.CallValueError):
        product()(np.ones(3, np.float32), np.ones((3, 4), np.float32))


@pytest.mark.parametrize("extents", [(0, 3, 4), (2, 0, 4), (2, 3, 0), (0, 0, 0), (1, 1, 1)])
def test_1_5_empty_arrays(extents):
    rows, inner, columns = extents
    a, b = np.ones((rows, inner), np.float32), np.ones((inner, columns), np.float32)
    assert np.array_equal(run(product(), a, b), a @ b)


def test_1_5_conditions_on_sizes_are_shown_and_checked_before_anything_runs():
    A = ps.Input("A", ps.float32, (n,))
    f = ps.Func("f", (m,))
    f[i] = A[i + 2]
    schedule = ps.Schedule(f)
    assert len(schedule.conditions) == 1
    assert "f reads A[i + 2] (" in schedule.conditions[0]
    out = np.full(3, -1, np.float32)
    kernel = schedule.compile()
    with refused("out of bounds at n=4, m=3: f reads A[i + 2]", error=ps.CallValueError):
        kernel(np.ones(4, np.float32), out=out)
    assert np.array_equal(out, [-1, -1, -1])
    assert np.array_equal(kernel(np.ones(5, np.float32), out=out), [1, 1, 1])
