"""Rule 3.2: select is lazy, takes part in regions exactly, and data never makes an index safe."""

from __future__ import annotations

import numpy as np
import pytest
from lang.support import at_points, refused, run

import polysched as ps

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
A = ps.Input("A", ps.float32, (n,))
I = ps.Input("I", ps.int32, (m,))
T = ps.Input("T", ps.float32, (n,))


def func(*shape):
    return ps.Func("f", shape or (n,))


a = np.float32([1, 2, 3, 4])


# lazy -----------------------------------------------------------------------------------------
def test_3_2_a_read_happens_only_where_its_condition_holds():
    f = func()
    f[i] = ps.select(i >= 1, A[i - 1], 0) + ps.select(i + 1 < n, A[i + 1], 0)
    assert run(f, A=a).tolist() == [2, 4, 6, 3]
    assert not ps.Schedule(f).conditions


def test_3_2_arms_are_tried_in_order():
    f = func()
    f[i] = ps.select(i == 0, A[0], i == n - 1, -A[n - 1], i < 2, A[i - 1] * 100, A[i - 2])
    assert run(f, A=a).tolist() == [1, 100, 1, -4]


def test_3_2_conditions_around_nested_selects():
    f = func()
    f[i] = ps.select(i > 0, ps.select(i < n - 1, A[i - 1] + A[i + 1], A[i - 1]), A[i])
    assert run(f, A=a).tolist() == [1, 4, 6, 3]
    assert not ps.Schedule(f).conditions


@pytest.mark.parametrize(
    "inside",
    [
        (i >= 2) & (i < n - 2),
        ~((i < 2) | (i >= n - 2)),
        ps.select(i < 2, False, i < n - 2),
        np.logical_and(i >= 2, i + 2 < n),
        ~(i < 2) & ~(i + 2 >= n),
        (abs(2 * i - (n - 1)) <= n - 5),
    ],
)
def test_3_2_quasi_affine_conditions_are_exact(inside):
    f = func()
    f[i] = ps.select(inside, A[i - 2] * A[i + 2], -1)
    wanted = [-1, -1, 1 * 5, 2 * 6, -1, -1]
    assert run(f, A=np.arange(1, 7, dtype=np.float32)).tolist() == wanted
    assert not ps.Schedule(f).conditions


def test_3_2_modulo_and_floor_division_in_conditions():
    f = func()
    f[i] = ps.select(i % 2 == 0, A[i // 2], i // 3 == 1, A[n - i], A[i])
    a = np.arange(8, dtype=np.float32)
    assert run(f, A=a).tolist() == [0, 1, 1, 5, 2, 3, 3, 7]


def test_3_2_ampersand_does_not_short_circuit():
    """Both operands of & are evaluated: a read in the second one is not guarded by the first."""
    f = func()
    f[i] = ps.select((i > 0) & (A[i - 1] > 0), 1, 0)
    with refused("A[i - 1] is read out of bounds"), _marked():
        ps.Schedule(f)


class _marked:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        assert isinstance(error, ps.LanguageError)
        raise ps.LanguageError(error.what)


def test_3_2_the_condition_itself_is_always_read():
    f = func()
    f[i] = ps.select(A[i] > 0, ps.sqrt(A[i]), 0)
    assert run(f, A=np.float32([4, -1, 0])).tolist() == [2, 0, 0]


def test_3_2_what_both_arms_read_needs_no_guard():
    f = func()
    f[i] = ps.select(A[i] > 0, T[i] + 1, T[i] - 1)
    kernel = ps.Schedule(f).compile()
    assert kernel(np.float32([1, -1]), np.float32([5, 5])).tolist() == [6, 4]


def test_3_2_a_read_that_several_conditions_share():
    f = func()
    e = A[i - 1]
    f[i] = ps.select(i > 2, e, 0) + ps.select(i > 1, e * 10, 0)
    assert run(f, A=a).tolist() == [0, 0, 20, 33]
    assert not ps.Schedule(f).conditions


def test_3_2_regions_shrink_to_what_conditions_let_through():
    inner, f = ps.Func("inner"), func()
    inner[i] = A[i]
    inner[i] += 1
    f[i] = ps.select(i < n - 3, inner[i + 3], inner[0])
    assert run(f, A=a).tolist() == [5, 2, 2, 2]


def test_3_2_division_by_zero_in_an_arm_that_is_not_taken():
    f = func()
    f[i] = ps.select(I[i] == 0, 0, 10 // I[i])
    g = ps.Func("g", (m,))
    g[i] = ps.select(I[i] == 0, 0, 10 // I[i])
    assert run(g, I=np.int32([0, 3])).tolist() == [0, 3]


def test_3_2_a_nan_in_an_arm_that_is_not_taken():
    f = func()
    f[i] = ps.select(A[i] >= 0, ps.sqrt(A[i]), A[i] / 0.0 * 0.0 + 1)
    assert run(f, A=np.float32([4])).tolist() == [2]


# other spellings ------------------------------------------------------------------------------
def test_3_2_where_clip_and_mux():
    f = func()
    f[i] = ps.where(i > 1, ps.clip(A[i], 2.5, 3.5), ps.mux(i, [10, 20, 30]))
    assert run(f, A=a).tolist() == [10, 20, 3, 3.5]


def test_3_2_mux_takes_the_last_value_beyond_its_end():
    f = func()
    f[i] = ps.mux(i - 1, [A[0], A[1] * 10, -1])
    assert run(f, A=a).tolist() == [-1, 1, 20, -1]
    assert at_points(ps.mux(i, np.array([5, 6])), 3).tolist() == [5, 6, 6]
    assert at_points(ps.mux(i, [7]), 2).tolist() == [7, 7]


def test_3_2_selects_of_tuples():
    f = func()
    f[i] = ps.select(i == 0, (A[i], 1), i == 1, (0, 2), (A[i - 1], 3))
    first, second = run(f, A=a)
    assert (first.tolist(), second.tolist()) == ([1, 0, 2, 3], [1, 2, 3, 3])
    g = func()
    g[i] = ps.mux(i, [(1, 2), (3, 4)])
    assert [r.tolist() for r in run(g, n=3)] == [[1, 3, 3], [2, 4, 4]]


# gathers --------------------------------------------------------------------------------------
def test_3_2_a_clamped_index_is_safe():
    f = func(m)
    f[i] = T[ps.clip(I[i], 0, n - 1)]
    assert run(f, T=a, I=np.int32([-5, 2, 99])).tolist() == [1, 3, 4]
    with refused("out of bounds", error=ps.CallValueError):
        f(T=a[:0], I=np.int32([0]))


def test_3_2_a_reduced_or_masked_index_is_safe():
    table = ps.Const("table", np.arange(8))
    for index in (I[i] % 8, I[i] & 7, abs(I[i] % 7), ps.cast(ps.uint8, I[i]) // 32):
        f = func(m)
        f[i] = table[index]
        assert not ps.Schedule(f).proven.checked
        run(f, I=np.int32([-5, 2, 99, -(2**31)]))


def test_3_2_an_index_bounded_by_its_type():
    table, U = ps.Input("table", ps.int32, (256,)), ps.Input("U", ps.uint8, (m,))
    f = func(m)
    f[i] = table[U[i]]
    assert run(f, table=np.arange(256, dtype=np.int32), U=np.uint8([255, 0])).tolist() == [255, 0]


def test_3_2_an_element_of_an_input_is_checked_at_the_call():
    f = func(m)
    f[i] = T[I[i]] * 2
    assert run(f, I=np.int32([3, 0]), T=a).tolist() == [8, 2]
    for wrong in (4, -1):
        for call in (f, lambda **k: ps.interpret(f, **k)):
            with refused(f"I[1] is {wrong}", "T", hint="clamp", error=ps.CallValueError):
                call(I=np.int32([0, wrong]), T=a)


def test_3_2_an_element_widened_or_narrowed_is_checked_if_that_keeps_it():
    f = func(m)
    f[i] = T[ps.cast(ps.int64, I[i])]
    assert run(f, I=np.int32([3, 0]), T=a).tolist() == [4, 1]
    with refused("I[0] is 7", error=ps.CallValueError):
        f(I=np.int32([7]), T=a)


@pytest.mark.parametrize(
    "index",
    [
        lambda: I[i] + 1,
        lambda: I[i] * 2,
        lambda: -I[i],
        lambda: ps.select(I[i] > 0, I[i], 0),
        lambda: ps.cast(ps.int32, A[ps.clip(i, 0, n - 1)]),
        lambda: ps.maximum(I[i], 0),
        lambda: ps.minimum(I[i], n - 1),
        lambda: I[i] % n + 1,
        lambda: ps.cast(ps.int8, I[i]),
        lambda: ps.Param("p", ps.int32) * i,
    ],
)
def test_3_2_an_index_that_nothing_bounds_is_refused(index):
    f = func(m)
    f[i] = T[index()]  # here
    with refused("T[", "is read at an index that depends on data",
                 hint="ps.clip(x, 0, n - 1)", marked=True):  # fmt: skip
        ps.Schedule(f)


def test_3_2_a_condition_on_data_does_not_make_an_index_safe():
    f = func(m)
    f[i] = ps.select((I[i] + 1 >= 0) & (I[i] + 1 < n), T[I[i] + 1], 0)  # here
    with refused("T[I[i] + 1] is read at an index that depends on data", marked=True):
        ps.Schedule(f)


def test_3_2_a_gather_of_a_func_without_shape_is_refused():
    inner, f = ps.Func("inner"), func(m)
    inner[i] = i * 2  # here
    inner[i] += 1
    f[i] = inner[I[i]]
    with refused("the region of inner that is needed has no bounds along axis 0",
                 hint="clamp the index, or declare a shape: ps.Func(", marked=True):  # fmt: skip
        ps.Schedule(f)


def test_3_2_a_clamped_gather_of_a_func_without_shape():
    inner, f = ps.Func("inner"), func(m)
    inner[i] = i * 2
    inner[i] += 1
    f[i] = inner[ps.clip(I[i], -2, 5)]
    assert run(f, I=np.int32([-9, 3, 9])).tolist() == [-3, 7, 11]


def test_3_2_an_index_by_two_gathers():
    perm = ps.Input("P", ps.int32, (n,), range=(0, n))
    f = func()
    f[i] = T[perm[perm[i]]]
    p = np.int32([2, 0, 1, 3])
    assert np.array_equal(run(f, P=p, T=a), a[p[p]])


def test_3_2_products_of_indices():
    """i * j is not affine: it is bounded by nothing but its type, so it is clamped."""
    f = func(n, n)
    f[i, j] = T[ps.minimum(i * j, n - 1)]
    a = np.arange(5, dtype=np.float32)
    wanted = [[min(p * q, 4) for q in range(5)] for p in range(5)]
    with refused("T[min(i * j, n - 1)] is read at an index that depends on data"), _marked():
        ps.Schedule(f)
    g = func(n, n)
    g[i, j] = T[ps.clip(i * j, 0, n - 1)]
    assert run(g, T=a).tolist() == wanted


def test_3_2_scatters_are_held_to_the_same():
    k = ps.RVar("k", 0, m)
    f = func()
    f[i] = 0
    f[I[k] * 2] += 1  # here
    with refused("f[I[k] * 2] is read at an index that depends on data", marked=True):
        ps.Schedule(f)
    h = ps.Func("h", (n,))
    h[i] = 0
    h[I[k] * 2] = 1
    with refused("h[I[k] * 2] is written at an index"), _marked():
        ps.Schedule(h)
    g = func()
    g[i] = 0
    g[I[k]] += 1
    assert run(g, I=np.int32([1, 1, 0]), n=3).tolist() == [1, 2, 0]
    with refused("I[0] is 3", error=ps.CallValueError):
        g(I=np.int32([3]), n=3)
