"""Rules 3.8 and 3.9: Funcs of several values, and boundaries."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.ndimage
from lang.support import refused, run

import polysched as ps

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
A = ps.Input("A", ps.float32, (n,))


# 3.8 tuples -----------------------------------------------------------------------------------
def complex_product(z, w):
    (zr, zi), (wr, wi) = z, w
    return ps.strict(zr * wr) - zi * wi, ps.strict(zr * wi) + zi * wr


def test_3_8_a_tuple_of_values_at_each_point():
    z = ps.Func("z", (n,), dtype=(ps.float32, ps.int64))
    z[i] = (A[i] * 2, i)
    first, second = run(z, A=np.float32([1, 2]))
    assert (first.dtype, second.dtype) == (np.float32, np.int64)
    assert (first.tolist(), second.tolist()) == ([2, 4], [0, 1])
    assert z.dtype == (ps.float32, ps.int64)


def test_3_8_reads_are_unpacked_or_indexed():
    z, f = ps.Func("z"), ps.Func("f", (n,))
    z[i] = (A[i], A[i] * 10, i)
    a, b, _ = z[i]
    f[i] = a + b + z[i][2]
    assert len(z[i]) == 3
    assert repr(z[i]) == "(z[i][0], z[i][1], z[i][2])"
    assert run(f, A=np.float32([1, 2])).tolist() == [11, 23]


def test_3_8_all_values_are_computed_before_any_is_stored():
    z = ps.Func("z", (n,))
    z[i] = (A[i], i)
    a, b = z[i]
    z[i] = (b, a)
    assert [r.tolist() for r in run(z, A=np.float32([5, 6]))] == [[0, 1], [5, 6]]


def test_3_8_iterating_complex_numbers():
    z = ps.Func("z", (n,), dtype=(ps.float32, ps.float32))
    t = ps.RVar("t", 0, 5)
    z[i] = (0.0, 0.0)
    re, im = complex_product(z[i], z[i])
    z[i] = (re + A[i], im + 0.25 + 0 * t)
    x = np.float32([0.1, -0.3])
    c, value = x + 0.25j, np.zeros(2, np.complex64)
    for _ in range(5):
        value = value * value + c
    real, imaginary = run(z, A=x)
    np.testing.assert_allclose(real + 1j * imaginary, value, rtol=1e-5)


def test_3_8_a_tuple_may_be_passed_on():
    z, w = ps.Func("z"), ps.Func("w", (n,))
    z[i] = (A[i], 2)
    w[i] = z[n - 1 - i]
    assert [r.tolist() for r in run(w, A=np.float32([5, 6]))] == [[6, 5], [2, 2]]


def test_3_8_pieces_of_tuples():
    z = ps.Func("z", (n,))
    z[0] = (-1, 0.5)
    z[i] = (i, A[i])
    assert [r.tolist() for r in run(z, A=np.float32([5, 6]))] == [[-1, 1], [0.5, 6]]


def test_3_8_a_tuple_of_one():
    z = ps.Func("z", (n,), dtype=(ps.int8,))
    z[i] = 3
    assert z.dtype == ps.int8
    assert run(z, n=2).tolist() == [3, 3]


def test_3_8_tuples_by_out():
    z = ps.Func("z", (n,))
    z[i] = (A[i], i)
    out = np.empty(2, np.float32), np.empty(2, np.int64)
    found = z(A=np.float32([5, 6]), out=out)
    assert found[0] is out[0]
    assert found[1] is out[1]
    assert out[1].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (1, "z holds 2 values at each point, but 1 is assigned"),
        ((1, 2, 3), "z holds 2 values at each point, but 3 are assigned"),
        ((), "z holds 2 values at each point, but 0 are assigned"),
    ],
)
def test_3_8_the_number_of_values_is_fixed(value, what):
    z = ps.Func("z", (n,), dtype=(ps.float32, ps.float32))
    with refused(what, hint="a tuple with one value a component", error=ps.LanguageTypeError):
        z[i] = value
    z[i] = (0, 0)
    with refused(what):
        z[i] = value


def test_3_8_a_second_definition_has_as_many_values_as_the_first():
    f = ps.Func("f", (n,))
    f[i] = 0
    with refused("f holds 1 value at each point, but 2 are assigned"):
        f[i] = (1, 2)
    with refused("g holds 1 value at each point, but 0 are assigned"):
        ps.Func("g", (n,))[i] = ()


def test_3_8_tuples_do_not_nest():
    f = ps.Func("f", (n,))
    with refused("a tuple is not one value", hint="unpack it"):
        f[i] = (1, (2, 3))


# 3.9 boundaries -------------------------------------------------------------------------------
MODES = {"repeat_edge": "nearest", "constant": "constant", "reflect": "reflect",
         "mirror": "mirror", "wrap": "wrap"}  # fmt: skip


def extended(rule, tensor, **more):
    if rule == "constant":
        return ps.boundary.constant(tensor, 7, **more)
    return getattr(ps.boundary, rule)(tensor, **more)


@pytest.mark.parametrize("rule", MODES)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_3_9_names_are_those_of_scipy(rule, size):
    """One point far beyond either edge: SciPy's correlation with a single tap there."""
    reach = 12
    f = ps.Func("f", (2 * reach + 1,))
    f[i] = extended(rule, A)[i - reach]
    a = np.arange(1, size + 1, dtype=np.float32)
    at = np.arange(-reach, reach + 1, dtype=float)
    mode = "grid-wrap" if rule == "wrap" else MODES[rule]
    wanted = scipy.ndimage.map_coordinates(a, [at], order=0, mode=mode, cval=7)
    assert np.array_equal(run(f, A=a), wanted)


@pytest.mark.parametrize("rule", MODES)
def test_3_9_inside_and_within_a_period_proofs_are_exact(rule):
    f = ps.Func("f", (n,))
    e = extended(rule, A)
    f[i] = e[i - 1] + e[i] + e[i + 1]
    schedule = ps.Schedule(f)
    assert not schedule.proven.checked
    a = np.arange(4, dtype=np.float32)
    weights = np.ones(3, np.float32)
    wanted = scipy.ndimage.correlate1d(a, weights, mode=MODES[rule], cval=7)
    assert np.array_equal(run(f, A=a), wanted)


@pytest.mark.parametrize("rule", MODES)
def test_3_9_axes(rule):
    M = ps.Input("M", ps.float32, (n, m))
    f = ps.Func("f", (n, m + 2))
    f[i, j] = extended(rule, M, axes=(1,))[i, j - 1]
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    kinds = {"repeat_edge": "edge", "reflect": "symmetric", "mirror": "reflect"}
    more = {"constant_values": 7} if rule == "constant" else {}
    wanted = np.pad(a, ((0, 0), (1, 1)), mode=kinds.get(rule, rule), **more)
    assert np.array_equal(run(f, M=a), wanted)


@pytest.mark.parametrize("axes", [(-1,), [0], (), None])
def test_3_9_axes_count_from_the_end_and_may_be_none(axes):
    M = ps.Input("M", ps.float32, (n, m))
    f = ps.Func("f", (n, m))
    f[...] = ps.boundary.mirror(M, axes=axes)[...]
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(run(f, M=a), a)


def test_3_9_boundaries_of_funcs_tables_and_tuples():
    g, z = ps.Func("g", (n,)), ps.Func("z", (n,))
    g[i] = A[i] * 2
    z[i] = (A[i], i)
    T = ps.Const("T", np.int32([1, 2]))
    f = ps.Func("f", (n,))
    a, b = ps.boundary.constant(z, -1)[i + 1]
    f[i] = ps.boundary.wrap(g)[i + 1] + ps.boundary.repeat_edge(T)[i] + a + b
    x = np.float32([1, 2, 3])
    wanted = np.roll(x, -1) * 2 + [1, 2, 2] + [2 + 1, 3 + 2, -1 - 1]
    assert np.array_equal(run(f, A=x), wanted)


def test_3_9_a_constant_may_be_an_expression():
    p = ps.Param("p", ps.float32)
    f = ps.Func("f", (n + 2,))
    f[i] = ps.boundary.constant(A, p * n)[i - 1]
    assert run(f, A=np.float32([1, 2]), p=3).tolist() == [6, 1, 2, 6]


def test_3_9_reading_an_empty_array_is_refused_at_the_call():
    f = ps.Func("f", (3,))
    f[i] = ps.boundary.repeat_edge(A)[i]
    with refused("out of bounds at n=0", error=ps.CallValueError):
        f(A=np.zeros(0, np.float32))
    g = ps.Func("g", (3,))
    g[i] = ps.boundary.constant(A, 5)[i]
    assert run(g, A=np.zeros(0, np.float32)).tolist() == [5, 5, 5]


@pytest.mark.parametrize(
    ("use", "what", "hint"),
    [
        (lambda: ps.boundary.wrap(A[i]), "boundary.wrap extends an Input, a Const or a Func, not",
         "the tensor itself"),
        (lambda: ps.boundary.reflect(np.zeros(3)), "boundary.reflect extends an Input", "itself"),
        (lambda: ps.boundary.mirror(A, axes=1), "axes= is a tuple of integers, not 1",
         "axes=(0, 1)"),
        (lambda: ps.boundary.mirror(A, axes=("x",)), "axes= is a tuple of integers", "(0, 1)"),
        (lambda: ps.boundary.mirror(A, axes=(1,)), "boundary.mirror: A has no axis 1", None),
        (lambda: ps.boundary.constant(A, "x"), "'x' (a str) is not a value of the language", None),
        (lambda: ps.boundary.constant(A, A), "A is a whole array, not one value", "A[i]"),
        (lambda: ps.boundary.constant(A, i), "the Var i is not on the left side", None),
        (lambda: ps.boundary.wrap(ps.Func("f")), "the rank of Func f is not known yet", "shape"),
        (lambda: ps.boundary.wrap(_shapeless()), "Func g has no declared shape", "(n, m)"),
    ],
)  # fmt: skip
def test_3_9_wrong_boundaries_are_refused(use, what, hint):
    with refused(what, hint=hint):
        use()


def _shapeless():
    g = ps.Func("g")
    g[i] = i
    return g
