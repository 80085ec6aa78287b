"""What the interpreter refuses, and what it says."""

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps
from polysched.interp import interpret

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def refusal(error, *args, **kwargs) -> str:
    with pytest.raises(error) as caught:
        interpret(*args, **kwargs)
    return str(caught.value)


def identity(dtype=np.int64):
    A = ps.Input("A", dtype, (n,))
    return A, ps.Func("f", (n,))


# bounds ---------------------------------------------------------------------------------------
def test_a_read_outside():
    A, f = identity()
    f[i] = A[i + 1]
    text = refusal(ps.CallValueError, f, np.arange(3))
    assert "A[3] is out of bounds: A has the shape (3,)" in text
    assert "A[i + 1], read by f (" in text
    assert "test_refusals.py:" in text
    assert "at i=2" in text
    assert "ps.clip" in text


def test_a_read_before_the_start_does_not_count_from_the_end():
    A, f = identity()
    f[i] = A[i - 1]
    assert "A[-1] is out of bounds" in refusal(ps.CallValueError, f, np.arange(3))


def test_a_read_of_a_func_with_a_shape():
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = i
    g[i] = f[i + 1]
    assert "f[2] is out of bounds" in refusal(ps.CallValueError, g, n=2)


def test_a_write_outside_in_an_update():
    k = ps.RVar("k", 0, n + 1)
    f = ps.Func("f", (n,))
    f[i] = 0
    f[k] = 1
    text = refusal(ps.CallValueError, f, n=2)
    assert "f[2] is out of bounds" in text
    assert "f[k], written by f.update(0) (" in text
    assert "at k=2" in text


def test_a_read_where_a_condition_on_data_may_hold():
    A, f = identity()
    f[i] = ps.select(A[i] > 0, A[i + 1], 0)
    assert "A[2] is out of bounds" in refusal(ps.CallValueError, f, np.zeros(2, np.int64))


def test_and_does_not_short_circuit():
    """The read in a condition happens though the other condition is false."""
    A, f = identity()
    f[i] = ps.select((i > 0) & (A[i - 1] > 0), 1, 0)
    assert "A[-1] is out of bounds" in refusal(ps.CallValueError, f, np.zeros(2, np.int64))


def test_a_read_in_the_bound_of_an_rvar():
    A, f = identity()
    k = ps.RVar("k", 0, A[i + 1])
    f[i] = 0
    f[i] += k
    text = refusal(ps.CallValueError, f, np.zeros(2, np.int64))
    assert "A[2] is out of bounds" in text
    assert "read by f.update(0)" in text


# indices that depend on data ------------------------------------------------------------------
def gather(dtype, index=lambda x: x, **options):
    A = ps.Input("A", dtype, (n,), **options)
    T = ps.Input("T", ps.float32, (m,))
    f = ps.Func("f", (n,))
    f[i] = T[index(A[i])]
    return f


table = np.arange(5, dtype=np.float32)


def test_an_index_read_from_an_input_is_checked():
    f = gather(ps.int32)
    assert interpret(f, A=np.array([4, 0], np.int32), T=table).tolist() == [4, 0]
    text = refusal(ps.CallValueError, f, A=np.array([4, 0, -1, 7], np.int32), T=table)
    assert "A[2] is -1, which is no index of T: T has 5 elements along axis 0" in text
    assert "T[int64(A[i])], read by f (" in text


def test_the_check_looks_at_all_of_the_array():
    """Also at elements that no instance reads."""
    A = ps.Input("A", ps.int32, (n,))
    T = ps.Input("T", ps.float32, (m,))
    f = ps.Func("f", (1,))
    f[i] = T[A[i]]
    text = refusal(ps.CallValueError, f, A=np.array([1, 9], np.int32), T=table)
    assert "A[1] is 9" in text


def test_a_check_through_widening_casts():
    f = gather(ps.uint16, lambda x: ps.cast(ps.int32, x))
    assert interpret(f, A=np.array([4], np.uint16), T=table).tolist() == [4]
    text = refusal(ps.CallValueError, f, A=np.array([5], np.uint16), T=table)
    assert "A[0] is 5, which is no index of T" in text


def test_no_check_where_the_type_suffices():
    f = gather(ps.uint8)
    big = np.zeros(256, np.float32)
    assert interpret(f, A=np.array([255], np.uint8), T=big).tolist() == [0]


def test_a_scatter_is_checked_too():
    A = ps.Input("A", ps.int64, (n,))
    k = ps.RVar("k", 0, n)
    f = ps.Func("f", (m,))
    f[i] = 0
    f[A[k]] += 1
    assert interpret(f, np.array([1, 1]), m=2).tolist() == [0, 2]
    text = refusal(ps.CallValueError, f, np.array([1, 2]), m=2)
    assert "A[1] is 2, which is no index of f" in text
    assert "the index is in f[A[k]], read by f.update(0) (" in text


def test_a_write_alone_is_checked():
    A = ps.Input("A", ps.int64, (n,))
    k = ps.RVar("k", 0, n)
    f = ps.Func("f", (m,))
    f[i] = 0
    f[A[k]] = 1
    text = refusal(ps.CallValueError, f, np.array([1, 2]), m=2)
    assert "the index is in f[A[k]], written by f.update(0) (" in text


def test_arithmetic_on_data_is_refused():
    f = gather(ps.int32, lambda x: x + 1)
    text = refusal(ps.LanguageError, f, A=np.array([1], np.int32), T=table)
    assert "the index int64(A[i] + 1) lies in -2147483648..2147483647" in text
    assert "T has 5 elements along axis 0" in text
    assert "clamp it: ps.clip(" in text


def test_a_narrowing_cast_is_not_a_direct_read():
    f = gather(ps.int32, lambda x: ps.cast(ps.int16, x))
    assert "lies in -32768..32767" in refusal(
        ps.LanguageError, f, A=np.array([1], np.int32), T=table
    )


def test_a_condition_does_not_make_an_index_safe():
    A = ps.Input("A", ps.int32, (n,))
    T = ps.Input("T", ps.float32, (m,))
    f = ps.Func("f", (n,))
    f[i] = ps.select((A[i] + 1 >= 0) & (A[i] + 1 < m), T[A[i] + 1], 0)
    refusal(ps.LanguageError, f, A=np.array([1], np.int32), T=table)


def test_a_value_of_a_func_is_not_checked():
    f = ps.Func("f", (n,), dtype=ps.int32)
    g = ps.Func("g", (n,))
    f[i] = ps.cast(ps.int32, i)
    g[i] = f[f[i]]
    assert "the index int64(f[i]) lies in" in refusal(ps.LanguageError, g, n=2)


def test_what_other_sizes_would_mend_is_a_fault_of_the_call():
    f = gather(ps.uint8, lambda x: x // 2)
    text = refusal(ps.CallValueError, f, A=np.zeros(1, np.uint8), T=table)
    assert "lies in 0..127" in text
    assert "hint: other sizes, or clamp it" in text
    declared = gather(ps.int64, range=(0, n))
    assert interpret(declared, A=np.zeros(5, np.int64), T=table).shape == (5,)
    assert "lies in 0..6" in refusal(ps.CallValueError, declared, A=np.zeros(7, np.int64), T=table)


def test_a_shapeless_func_at_an_unbounded_index():
    A, f = identity()
    g = ps.Func("g")
    g[i] = i
    f[i] = g[A[i]]
    text = refusal(ps.LanguageError, f, np.arange(2))
    assert "g has no declared shape, and the index in g[A[i]], read by f (" in text
    assert "all of that would have to be computed" in text


# pieces ---------------------------------------------------------------------------------------
def test_two_pieces_cover_one_point():
    f = ps.Func("f", (n,))
    f[0] = 1
    f[n - 1] = 2
    f[i] = 3
    assert interpret(f, n=3).tolist() == [1, 3, 2]
    text = refusal(ps.LanguageError, f, n=1)
    assert "two pieces of f both define f[0]: " in text
    assert "f[0] = 1 (" in text
    assert "f[n - 1] = 2 (" in text


def test_crossing_pieces():
    f = ps.Func("f", (n, n))
    f[0, j] = 1
    f[i, 0] = 2
    f[i, j] = 3
    assert "both define f[0, 0]" in refusal(ps.LanguageError, f, n=2)


def test_a_point_that_no_piece_covers():
    f = ps.Func("f", (n,))
    f[0] = 1
    f[1] = 2
    assert interpret(f, n=2).tolist() == [1, 2]
    text = refusal(ps.LanguageError, f, n=3)
    assert "no piece of the pure definition of f covers f[2], which is needed" in text
    assert "f[0] (" in text


# Vars -----------------------------------------------------------------------------------------
def test_a_var_that_nothing_bounds():
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i % 4] = i
    text = refusal(ps.LanguageError, f, n=4)
    assert "nothing bounds the Var i in f[i % 4] = i" in text
    assert "ps.RVar('i', lo, hi)" in text


def test_a_var_that_is_only_in_bounds_far_away():
    """Beyond what index arithmetic is proved for; a part of the solutions would be silent."""
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i - (2**40 - 2)] = 1
    assert "nothing bounds the Var i" in refusal(ps.LanguageError, f, n=4)


@pytest.mark.slow
def test_two_vars_in_one_index():
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i + j] = 1
    assert "nothing bounds the Vars i and j" in refusal(ps.LanguageError, f, n=4)


def test_a_var_beside_rvars_only():
    k = ps.RVar("k", 0, 2)
    f = ps.Func("f", (n,))
    f[i] = 0
    f[2 * i + k] = 1
    assert "nothing bounds the Var i" in refusal(ps.LanguageError, f, n=4)


def test_an_update_that_depends_on_the_order_of_its_vars():
    f = ps.Func("f", (n,))
    f[i] = i
    f[i] = f[ps.maximum(i - 1, 0)] + 1
    text = refusal(ps.LanguageError, f, n=3)
    assert "f.update(0) depends on the order of its Vars: " in text
    assert "i=0 writes f[0], and i=1 reads it" in text
    assert "make i an RVar" in text


def test_the_order_of_vars_is_judged_before_bounds():
    """The example of the contract, whose first instance is out of bounds as well."""
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i] = f[i - 1] + 1
    assert "i=0 writes f[0], and i=1 reads it" in refusal(ps.LanguageError, f, n=3)
    assert "f[-1] is out of bounds" in refusal(ps.CallValueError, f, n=1)


def test_a_read_before_a_write_by_other_vars():
    f = ps.Func("f", (n,))
    f[i] = i
    f[i] = f[ps.minimum(i + 1, n - 1)] + 1
    assert "i=0 reads f[1], and i=1 writes it" in refusal(ps.LanguageError, f, n=3)


def test_two_vars_write_one_element():
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i // 2] = i
    assert "i=0 writes f[0], and i=1 writes it" in refusal(ps.LanguageError, f, n=3)


def test_a_scatter_over_vars_may_collide():
    A = ps.Input("A", ps.uint8, (n, m))
    f = ps.Func("f", (n, 256))
    f[i, j] = 0
    k = ps.RVar("k", 0, m)
    f[i, A[i, k]] += 1  # rows are apart
    assert interpret(f, np.zeros((2, 3), np.uint8))[:, 0].tolist() == [3, 3]
    g = ps.Func("g", (n, 256))
    g[i, j] = 0
    g[i % n, A[i % n, 0]] = 1
    assert "nothing bounds" in refusal(ps.LanguageError, g, np.zeros((2, 3), np.uint8))
    h = ps.Func("h", (256, n))
    h[i, j] = 0
    h[A[i, 0], i // 2] = 1
    text = refusal(ps.LanguageError, h, np.zeros((2, 3), np.uint8))
    assert "i=0 may write h[0, 0], and i=1 may write it" in text


def test_a_scatter_over_vars_into_a_shapeless_func():
    """Outside of what is read, too."""
    A = ps.Input("A", ps.uint8, (n,))
    f, g = ps.Func("f"), ps.Func("g", (1,))
    f[i, j] = 0
    f[A[i // 2 + i * 0], i // 2] = i
    g[i] = f[300, 0] + f[301, 1]
    text = refusal(ps.LanguageError, g, np.zeros(3, np.uint8))
    assert "i=0 may write f[0, 0], and i=1 may write it" in text


def test_a_scatter_that_may_go_anywhere_is_refused_for_that():
    A = ps.Input("A", ps.int32, (n,))
    f, g = ps.Func("f"), ps.Func("g", (1,))
    f[i, j] = 0
    f[A[i], i // 2] = i
    g[i] = f[i, i]
    text = refusal(ps.LanguageError, g, np.zeros(3, np.int32))
    assert "written by f.update(0)" in text
    assert "all of that would have to be computed" in text


def test_vars_that_are_apart_need_no_order():
    """Reads at other places that no instance writes are fine, and so are RVars."""
    k = ps.RVar("k", 1, m)
    f = ps.Func("f", (n, m))
    f[i, j] = i + j
    f[i, k] += f[i, k - 1]
    assert interpret(f, n=1, m=4).tolist() == [[0, 1, 3, 6]]
    g = ps.Func("g", (n, 2))
    g[i, j] = i
    g[i, 1] = g[n - 1 - i, 0]
    assert interpret(g, n=3).tolist() == [[0, 2], [1, 1], [2, 0]]


# calls ----------------------------------------------------------------------------------------
def test_an_output_without_a_shape():
    f = ps.Func("f")
    f[i] = i
    text = refusal(ps.CallTypeError, f)
    assert "the output f has no declared shape" in text
    assert "shape=(...) or out=array" in text


def test_nothing_to_compute():
    refusal(ps.LanguageTypeError, ())
    refusal(ps.LanguageTypeError, "f")
