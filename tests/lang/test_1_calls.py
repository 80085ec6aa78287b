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


# 1.4 signature --------------------------------------------------------------------------------
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
