"""Which points are computed, over what Vars run, and which instances there are."""

from __future__ import annotations

import numpy as np
import pytest

import polysched as ps
from polysched.interp import instances, interpret

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def points(func, outputs, sizes, **more):
    """The points of `func` that its definitions write, by definition."""
    program = ps.Program(outputs)
    found: dict[str, list] = {}
    for x in instances(program, sizes, **more):
        if x.definition.func is func:
            found.setdefault(x.definition.name, []).append(x.write[1])
    return found


def reads(func, outputs, sizes, **more):
    """What is read of `func`, as a set."""
    program = ps.Program(outputs)
    return {
        index
        for x in instances(program, sizes, **more)
        for tensor, index in x.reads
        if tensor is func
    }


# regions of Funcs without a shape -------------------------------------------------------------
def test_a_region_may_start_below_zero():
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i] = i * i
    g[i] = f[i - 2] + f[2 * i]
    assert points(f, (g,), {"n": 3})["f"] == [(-2,), (-1,), (0,), (2,), (4,)]
    assert interpret(g, n=3).tolist() == [4, 1 + 4, 16]


def test_a_region_is_exactly_what_is_read_not_its_box():
    A = ps.Input("A", ps.int64, (n,))
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i] = A[i // 4]  # in bounds at the multiples of 4 alone
    g[i] = f[4 * i]
    assert points(f, (g,), {"n": 3})["f"] == [(0,), (4,), (8,)]
    assert interpret(g, np.arange(3)).tolist() == [0, 1, 2]


def test_an_update_of_its_own_element_runs_where_that_is_needed():
    A = ps.Input("A", ps.int64, (n,))
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i] = 1
    f[i] += A[i // 4]  # in bounds at the multiples of 4 alone
    g[i] = f[4 * i]
    assert points(f, (g,), {"n": 3})["f.update(0)"] == [(0,), (4,), (8,)]
    assert interpret(g, np.arange(3)).tolist() == [1, 2, 3]


def test_an_update_of_other_elements_runs_over_the_box():
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i] = i
    f[i] += f[-1]
    g[i] = f[4 * i]
    assert points(f, (g,), {"n": 3})["f.update(0)"] == [(i,) for i in range(9)]


def test_nothing_is_computed_for_an_empty_output():
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i] = 1
    f[i] += 1
    g[i] = f[i + 5]
    assert points(f, (g,), {"n": 0}) == {}
    assert interpret(g, n=0).shape == (0,)


def test_reads_happen_where_their_conditions_hold():
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i] = i
    g[i] = ps.select((i >= 2) & (i != 4), f[i], (i == 0) | (i > 100), f[100], -1)
    assert points(f, (g,), {"n": 6})["f"] == [(2,), (3,), (5,), (100,)]


def test_a_condition_on_data_may_hold():
    A = ps.Input("A", ps.int64, (n,))
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i] = i
    g[i] = ps.select((i > 0) & (A[i] > 3), f[i], 0)
    assert points(f, (g,), {"n": 3})["f"] == [(1,), (2,)]
    other = ps.Func("other", (n,))
    other[i] = ps.select(A[i] > 3, 0, ps.select(A[i] < i, f[-i], 0))
    assert points(f, (other,), {"n": 3})["f"] == [(-2,), (-1,), (0,)]
    x = ps.Param("x", ps.float32)
    h = ps.Func("h", (n,))
    h[i] = ps.select(x > 0, f[i], 0)
    assert points(f, (h,), {"n": 2}, params={"x": -1.0})["f"] == [(0,), (1,)]


def test_an_index_on_data_reaches_its_whole_interval():
    A = ps.Input("A", ps.int32, (n,))
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i, j] = i + j
    g[i] = f[ps.clip(A[i], -1, 1), A[i] % 2 + i]
    expected = [(a, b) for a in (-1, 0, 1) for b in (0, 1, 2)]
    assert points(f, (g,), {"n": 2})["f"] == expected
    assert interpret(g, np.array([-9, 9], np.int32)).tolist() == [-1 + 1, 1 + 2]


def test_declared_ranges_are_half_open():
    A = ps.Input("A", ps.int32, (n,), range=(-1, m))
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i] = i
    g[i] = f[2 * A[i]]
    assert points(f, (g,), {"n": 1, "m": 2})["f"] == [(k,) for k in range(-2, 3)]


def test_a_type_bounds_an_index():
    A = ps.Input("A", ps.int8, (n,))
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i] = i
    g[i] = f[A[i] // 32] + f[ps.cast(ps.uint8, A[i]) >> 6]
    assert points(f, (g,), {"n": 1})["f"] == [(k,) for k in range(-4, 4)]


def test_a_select_between_indices():
    A = ps.Input("A", ps.int32, (n,))
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i] = i
    g[i] = f[ps.select(A[i] > 0, i + 5, i - 5)] + f[ps.select(i < 1, i, i + 40)]
    assert points(f, (g,), {"n": 2})["f"] == [(k,) for k in (*range(-5, 7), 41)]


# regions and updates --------------------------------------------------------------------------
def test_updates_extend_the_region():
    """Written points and self-reads belong to it, last update first."""
    f, g = ps.Func("f"), ps.Func("g", (2,))
    f[i] = i
    f[7] = f[5] + 100
    f[3] = f[7] + f[0]
    g[i] = f[3 * i]
    assert points(f, (g,), {})["f"] == [(0,), (3,), (5,), (7,)]
    assert interpret(g).tolist() == [0, 105]


def test_the_vars_of_an_update_run_over_the_box_of_what_is_needed_after_it():
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i] = i
    f[i] += 10
    f[i] = f[i] + f[i + 0]
    f[-5] = f[-6]
    g[i] = f[2 * i + 1]
    found = points(f, (g,), {"n": 3})
    assert found["f.update(2)"] == [(-5,)]
    assert found["f.update(1)"] == [(k,) for k in range(-6, 6)]
    assert found["f.update(0)"] == [(k,) for k in range(-6, 6)]
    assert found["f"] == [(k,) for k in range(-6, 6)]


def test_a_var_on_two_axes_runs_over_both():
    f = ps.Func("f", (n, m))
    f[i, j] = 0
    f[i, i] = 1
    assert np.array_equal(interpret(f, n=3, m=5), np.eye(3, 5, dtype=np.int64))
    assert np.array_equal(interpret(f, n=5, m=2), np.eye(5, 2, dtype=np.int64))


def test_a_var_inside_of_an_index_runs_where_that_is_in_the_region():
    f = ps.Func("f", (n,))
    f[i] = 0
    f[3 * i + 1] = i + 50
    assert interpret(f, n=9).tolist() == [0, 50, 0, 0, 51, 0, 0, 52, 0]
    g = ps.Func("g", (n,))
    g[i] = 0
    g[n - 1 - 2 * i] = i
    assert interpret(g, n=5).tolist() == [2, 0, 1, 0, 0]


def test_two_vars_inside_of_two_indices():
    f = ps.Func("f", (4, 4))
    f[i, j] = -1
    f[i + j, i - j] = 10 * i + j
    expected = np.full((4, 4), -1)
    for a in range(-9, 9):
        for b in range(-9, 9):
            if 0 <= a + b < 4 and 0 <= a - b < 4:
                expected[a + b, a - b] = 10 * a + b
    assert np.array_equal(interpret(f), expected)


def test_solutions_come_in_order():
    f = ps.Func("f", (4, 4))
    f[i, j] = 0
    f[i + j, i - j] = 1
    program = ps.Program((f,))
    found = [tuple(x.point.values()) for x in instances(program, {}) if x.definition.is_update]
    assert found == sorted(found)
    assert len(found) == 8


def test_a_quotient_and_a_remainder_split_one_var():
    f = ps.Func("f", (n, 4))
    f[i, j] = 0
    f[i // 4, i % 4] = i
    assert np.array_equal(interpret(f, n=3), np.arange(12).reshape(3, 4))


def test_a_plain_var_beside_one_inside():
    f = ps.Func("f", (3, 3))
    f[i, j] = 0
    f[i, i + j] = 1 + j
    assert interpret(f).tolist() == [[1, 2, 3], [0, 1, 2], [-1, 0, 1]]


def test_an_index_with_an_rvar_does_not_bound_vars():
    k = ps.RVar("k", 0, 2)
    f = ps.Func("f", (n, n))
    f[i, j] = 0
    f[2 * i, i + k] = i + 1
    assert interpret(f, n=4).tolist() == [[1, 1, 0, 0], [0] * 4, [0, 2, 2, 0], [0] * 4]


def test_conditions_on_rvars_read():
    """Also at iterations that they leave out."""
    mask, total = ps.Func("mask"), ps.Func("total", ())
    k = ps.RVar("k", 0, n, where=lambda k: mask[2 * k] > 3)
    mask[i] = i
    total[()] = 0
    total[()] += k
    assert points(mask, (total,), {"n": 3})["mask"] == [(0,), (2,), (4,)]
    assert interpret(total, n=4) == 2 + 3


def test_an_rvar_alone_writes_where_it_runs():
    k = ps.RVar("k", 1, n - 1, where=lambda k: k % 2 == 1)
    f = ps.Func("f", (n,))
    f[i] = 0
    f[k] = f[k - 1] + k
    assert interpret(f, n=6).tolist() == [0, 1, 0, 3, 0, 0]


# instances ------------------------------------------------------------------------------------
def test_instances_come_in_the_order_of_the_program():
    A = ps.Input("A", ps.int64, (n,))
    k = ps.RVar("k", 0, i)
    f, g = ps.Func("f", (n,)), ps.Func("g", (1,))
    f[i] = A[i]
    f[i] += f[i] * A[k]
    g[i] = f[i]
    found = [
        (x.definition.name, dict(x.point), [(t.name, at) for t, at in x.reads], x.write[1])
        for x in instances(ps.Program((g,)), {"n": 3})
    ]
    assert [(name, point, write) for name, point, _, write in found] == [
        ("f", {"i": 0}, (0,)), ("f", {"i": 1}, (1,)), ("f", {"i": 2}, (2,)),
        ("f.update(0)", {"i": 1, "k": 0}, (1,)),
        ("f.update(0)", {"i": 2, "k": 0}, (2,)), ("f.update(0)", {"i": 2, "k": 1}, (2,)),
        ("g", {"i": 0}, (0,)),
    ]  # fmt: skip
    assert sorted(found[-2][2]) == [("A", (1,)), ("f", (2,))]


def test_instances_of_may_accesses_are_boxes():
    nnz = ps.sizes("nnz")
    start = ps.Input("start", ps.int64, (n + 1,), range=(0, nnz + 1))
    value = ps.Input("value", ps.float32, (nnz,))
    k = ps.RVar("k", start[i], start[i + 1])
    f = ps.Func("f", (n,))
    f[i] = 0.0
    f[i] += value[k]
    (only,) = (x for x in instances(ps.Program((f,)), {"n": 1, "nnz": 4}) if x.definition.is_update)
    assert only.point == {"i": 0, "k": (0, 3)}
    assert (value, ((0, 3),)) in only.reads


def test_instances_leave_out_what_certainly_does_not_happen():
    r, c = ps.rdom("r c", (0, 2), (0, 2), where=lambda r, c: r != c)
    f = ps.Func("f", ())
    f[()] = 0
    f[()] += r + c
    found = [x.point for x in instances(ps.Program((f,)), {}) if x.definition.is_update]
    assert found == [{"r": 0, "c": 1}, {"r": 1, "c": 0}]


@pytest.mark.parametrize("extent", [0, 1, 7])
def test_instances_of_a_shapeless_output(extent):
    f = ps.Func("f")
    f[i] = 1
    assert len(points(f, (f,), {}, shapes={f: (extent,)}).get("f", ())) == extent
