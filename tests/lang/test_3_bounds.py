"""Rules 3.10 and 3.11: requirements and bounds."""

from __future__ import annotations

import numpy as np
import pytest
from lang.support import refused, run

import polysched as ps

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
A = ps.Input("A", ps.float32, (n,))
B = ps.Input("B", ps.float32, (m,))


def func(*shape):
    return ps.Func("f", shape or (n,))


def copy_of(tensor, name="f"):
    f = ps.Func(name, tensor.shape)
    f[...] = tensor[...]
    return f


zeros = np.zeros(2, np.float32)


# 3.10 requirements ----------------------------------------------------------------------------
def test_3_10_a_requirement_is_checked_at_the_call():
    f = func()
    ps.require(n >= 3, "the filter needs three rows", f)
    f[i] = A[i]
    what = "the filter needs three rows: n >= 3 is required ("
    for call in (f, lambda **a: ps.interpret(f, **a)):
        with refused(what, "test_3_bounds.py:", "fails at n=2", error=ps.CallValueError):
            call(A=zeros)
    assert run(f, A=np.zeros(3, np.float32)).shape == (3,)


def test_3_10_requirements_on_params():
    p, q = ps.Param("p", ps.float32), ps.Param("q", ps.int32)
    f = func()
    ps.require((p > 0) & (q < n), "a positive p and a small q", f)
    f[i] = A[i] * p + q
    assert run(f, A=zeros, p=2, q=1).tolist() == [1, 1]
    for p_, q_ in ((0, 1), (1, 2), (np.nan, 0)):
        with refused("a positive p and a small q", error=ps.CallValueError):
            f(A=zeros, p=p_, q=q_)


def test_3_10_a_requirement_is_used_in_proofs():
    f = func(m)
    f[i] = A[i + 2]
    assert ps.Schedule(f).conditions
    g = ps.Func("g", (m,))
    ps.require(n >= m + 2, "two more", g)
    g[i] = A[i + 2]
    assert [c.split(":")[1] for c in ps.Schedule(g).conditions] == [" two more"]


def test_3_10_without_funcs_it_is_that_of_the_func_before():
    f = copy_of(A)
    ps.require(n >= 3, "three")
    with refused("three", error=ps.CallValueError):
        f(A=zeros)


def test_3_10_or_that_of_the_func_after():
    copy_of(A)(A=zeros)
    ps.require(n >= 3, "three")
    f = copy_of(A)
    with refused("three", error=ps.CallValueError):
        f(A=zeros)


def test_3_10_but_not_of_a_func_made_when_the_one_before_was_used():
    f = copy_of(A)
    ps.require(n >= 3, "three")
    f(A=np.zeros(3, np.float32))
    g = copy_of(A)
    assert g(A=zeros).shape == (2,)


def test_3_10_nor_of_a_program_without_its_sizes():
    f = copy_of(A)
    ps.require(n >= 3, "three")
    g = copy_of(B, "g")
    assert g(B=zeros).shape == (2,)
    with refused("three", error=ps.CallValueError):
        f(A=zeros)


def test_3_10_a_program_checks_those_of_its_producers():
    inner, f = ps.Func("inner"), ps.Func("f", (n,))
    ps.require(n % 2 == 0, "an even size", inner)
    inner[i] = A[i]
    f[i] = inner[i]
    with refused("an even size", error=ps.CallValueError):
        f(A=np.zeros(3, np.float32))
    assert "n % 2 == 0: an even size" in ps.Schedule(f).conditions


def test_3_10_a_requirement_that_never_holds():
    f = func()
    ps.require(False, "never", f)
    f[i] = A[i]
    with refused("never", error=ps.CallValueError):
        f(A=zeros)


@pytest.mark.parametrize(
    ("use", "what", "hint"),
    [
        (lambda: ps.require(n, "x"), "the requirement n is an index, not a condition", "x != 0"),
        (lambda: ps.require(i > 2, "x"), "is about sizes and Params, and cannot contain i", "sel"),
        (lambda: ps.require(A[0] > 2, "x"), "cannot contain A[0]", "ps.select makes a value"),
        (lambda: ps.require(ps.RVar("k", 0, n) > 0, "x"), "cannot contain k", None),
        (lambda: ps.require(n > 2, 3), "the message of a requirement is a string", None),
        (lambda: ps.require(n > 2, "x", A), "a requirement belongs to Funcs, not to Input A", None),
        (lambda: ps.require("n > 2", "x"), "'n > 2' (a str) is not a value", None),
        (lambda: ps.require(0 < n < 3, "x"), "n > 0 has no truth value", "(lo <= x) & (x < hi)"),
    ],
)
def test_3_10_wrong_requirements_are_refused(use, what, hint):
    with refused(what, hint=hint):
        use()


# 3.11 bounds ----------------------------------------------------------------------------------
def test_3_11_every_read_is_proven():
    f = func()
    f[i] = A[i] + A[n - 1 - i] + A[i // 2] + A[ps.clip(i - 3, 0, n - 1)] + A[ps.minimum(i, 5)]
    assert not ps.Schedule(f).conditions
    assert run(f, A=np.arange(9, dtype=np.float32)).shape == (9,)


def test_3_11_or_turned_into_the_weakest_condition():
    f = func(m)
    f[i] = A[2 * i + 1]
    (condition,) = ps.Schedule(f).conditions
    assert "f reads A[2 * i + 1]" in condition
    for size, extent in ((3, 6), (0, 0), (1, 2)):
        assert run(f, A=np.zeros(extent, np.float32), m=size).shape == (size,)
    for size, extent in ((3, 5), (1, 1)):
        with refused("out of bounds", hint="the sizes must satisfy", error=ps.CallValueError):
            f(A=np.zeros(extent, np.float32), m=size)


def test_3_11_the_message_names_the_sizes_and_the_line():
    f = func(m)
    f[i] = A[i + 3]
    with refused("out of bounds at m=2, n=2: f reads A[i + 3] (", "test_3_bounds.py:",
                 error=ps.CallValueError):  # fmt: skip
        f(A=zeros, m=2)


@pytest.mark.parametrize(
    ("index", "witness"),
    [
        (lambda: A[i + 1], "f[i=0] touches A[1], at n=1"),
        (lambda: A[i - 1], "f[i=0] touches A[-1], at n=1"),
        (lambda: A[2 * i + 5], "touches A[5]"),
        (lambda: A[n], "touches A[1]"),
        (lambda: A[-i - 1], "touches A[-1]"),
        (lambda: A[ps.maximum(i, n)], "touches A[1]"),
        (lambda: ps.select(i > 3, A[i], A[i - 4]), "touches A[-4]"),
    ],
)
def test_3_11_what_only_empty_outputs_meet_is_refused_with_a_witness(index, witness):
    f = func()
    f[i] = index()  # here
    with refused("is read out of bounds for all sizes: ", witness, hint="change the index",
                 marked=True):  # fmt: skip
        ps.Schedule(f)


def test_3_11_constants_are_checked_against_tables():
    T = ps.Const("T", np.arange(3))
    f = func(4)
    f[i] = T[i]  # here
    with refused("T[i] is read out of bounds for all sizes", "touches T[3]", marked=True):
        ps.Schedule(f)


def test_3_11_a_write_out_of_bounds_is_refused():
    f = func()
    f[i] = 0
    f[n] = 1  # here
    with refused("f[n] is written out of bounds for all sizes", "f.update(0)", marked=True):
        ps.Schedule(f)
    g = ps.Func("g", (n,))
    g[i] = 0
    g[ps.RVar("k", 0, m)] += 1
    assert run(g, n=3, m=2).tolist() == [1, 1, 0]
    with refused("out of bounds at n=3, m=4: g.update(0)", error=ps.CallValueError):
        g(n=3, m=4)


def test_3_11_reads_of_a_func_with_a_shape():
    g, f = ps.Func("g", (n,)), func()
    g[i] = i
    f[i] = g[i + 1]  # here
    with refused("g[i + 1] is read out of bounds for all sizes", "touches g[1]", marked=True):
        ps.Schedule(f)


def test_3_11_reads_in_indices_and_conditions_are_checked():
    I = ps.Input("I", ps.int32, (m,), range=(0, n))
    f = ps.Func("f", (m,))
    f[i] = A[I[i + 1]]  # here
    with refused("I[i + 1] is read out of bounds for all sizes", marked=True):
        ps.Schedule(f)
    g = ps.Func("g", (m,))
    g[i] = ps.select(A[i] > 0, 1, 0)
    assert len(ps.Schedule(g).conditions) == 1


def test_3_11_conditions_of_several_accesses():
    f = func(m)
    f[i] = A[i] + A[i + 1] + A[i + 2]
    schedule = ps.Schedule(f)
    assert len(schedule.conditions) == 1, "the strongest condition implies the others"
    with refused("reads A[i + 2]", error=ps.CallValueError):
        schedule.compile()(A=np.zeros(3, np.float32), m=2)


def test_3_11_conditions_that_exclude_each_other_are_refused():
    f = func(m)
    f[i] = A[i] + ps.Input("C", ps.float32, (n,))[i + n]  # here
    with refused("is read out of bounds for all sizes", marked=True):
        ps.Schedule(f)


def test_3_11_empty_outputs_are_fine_where_others_fail():
    f = func(m)
    f[i] = A[i + 3]
    assert run(f, A=np.zeros(0, np.float32), m=0).shape == (0,)


def test_3_11_a_region_that_grows_without_end_is_refused():
    g, f = ps.Func("g"), func()
    r = ps.RVar("r", 0, n)
    g[i] = i
    g[r] += g[r + 1]
    f[i] = g[i]
    assert run(f, n=3).tolist() == [1, 3, 5]
    h = ps.Func("h")
    k = ps.RVar("k", 0, 3)
    h[i] = i
    h[2 * i + k] += h[2 * i + 1]  # here
    f = ps.Func("f", (n,))
    f[i] = h[i]
    with refused("", marked=True):
        ps.Schedule(f)


def test_3_11_several_outputs_with_shapes_of_their_own():
    f, g = ps.Func("f", (n,)), ps.Func("g", (n - 1,))
    f[i] = A[i]
    g[i] = f[i + 1] - f[i]
    kernel = ps.Schedule((f, g)).compile()
    x, y = kernel(np.float32([1, 4, 9]))
    assert (x.tolist(), y.tolist()) == ([1, 4, 9], [3, 5])
    with refused("axis 0 of g", "-1 elements", error=ps.CallValueError):
        kernel(np.zeros(0, np.float32))
