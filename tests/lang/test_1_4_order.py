"""Rule 1.4: Inputs go by position in the order in which they were made."""

from __future__ import annotations

import inspect
import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from lang.support import refused, run

import polysched as ps

n, m, l = ps.sizes("n m l")
i, j = ps.vars("i j")


def vectors(names, extent=n):
    return tuple(ps.Input(name, ps.float32, (extent,)) for name in names)


def product(swapped=False):
    """A is made before B, however the product is written."""
    A, B = ps.Input("A", ps.float32, (n, l)), ps.Input("B", ps.float32, (l, m))
    k = ps.RVar("k", 0, l)
    C = ps.Func("C", (n, m))
    C[i, j] = 0.0
    C[i, j] += B[k, j] * A[i, k] if swapped else A[i, k] * B[k, j]
    return C


def order(*outputs):
    return [t.name for t in ps.Program(outputs).inputs]


# the order in which they were made --------------------------------------------------------------
@pytest.mark.parametrize("swapped", [False, True])
def test_1_4_arguments_go_by_name_or_in_the_order_in_which_they_were_made(swapped):
    a, b = np.ones((2, 3), np.float32), np.arange(12, dtype=np.float32).reshape(3, 4)
    C = product(swapped)
    for result in (C(a, b), C(a, B=b), C(B=b, A=a)):
        assert np.array_equal(result, a @ b)
    assert np.array_equal(run(C, a, b), a @ b)


@pytest.mark.parametrize("read", list(itertools.permutations("XYZ")))
def test_1_4_how_it_is_written_has_no_part_in_it(read):
    made = dict(zip("XYZ", vectors("XYZ"), strict=True))
    a, b, c = (made[name] for name in read)
    f = ps.Func("f", (n,))
    f[i] = a[i] + b[i] * c[i]
    assert order(f) == ["X", "Y", "Z"]
    given = {name: np.float32([2 + k]) for k, name in enumerate("XYZ")}
    x, y, z = (given[name] for name in read)
    assert run(f, *given.values()) == x + y * z
    assert str(inspect.signature(f)).startswith("(X, Y, Z, *, ")


@pytest.mark.parametrize("made", list(itertools.permutations("ABD")))
def test_1_4_nor_has_the_order_of_definitions(made):
    inputs = dict(zip(made, vectors(made), strict=True))
    late, early = ps.Func("late", (n,)), ps.Func("early", (n,))
    early[i] = inputs["D"][i]
    late[i] = 0
    late[i] += inputs["B"][i]
    f = ps.Func("f", (n,))
    f[i] = inputs["A"][i] + late[i] + early[i]
    assert order(f) == list(made)


def test_1_4_an_index_and_what_it_indexes():
    T, at = ps.Input("T", ps.float32, (n,)), ps.Input("at", ps.int32, (m,), range=(0, n))
    f = ps.Func("f", (m,))
    f[i] = T[at[i]]
    assert order(f) == ["T", "at"]


def test_1_4_operands_of_einsum():
    A, B = ps.Input("A", ps.float32, (n, l)), ps.Input("B", ps.float32, (l, m))
    C = ps.einsum("kj,ik->ij", B, A, name="C")
    assert order(C) == ["A", "B"]
    a, b = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
    assert np.array_equal(run(C, a, b), a @ b)


def test_1_4_inputs_that_functions_make():
    """Those of a library function come where it was called, between those made before and after."""

    def scaled(x):
        w = ps.Input("w", ps.float32, (n,))
        y = ps.Func("y", (n,))
        y[i] = w[i] * x[i]
        return y

    first = ps.Input("first", ps.float32, (n,))
    y = scaled(first)
    last = ps.Input("last", ps.float32, (n,))
    f = ps.Func("f", (n,))
    f[i] = last[i] + y[i]
    assert order(f) == ["first", "w", "last"]


def test_1_4_an_inout_stands_where_it_was_made_however_it_is_read():
    A, B, C = vectors("A")[0], ps.InOut("B", ps.float32, (n,)), vectors("C")[0]
    B[i] += C[i]
    f = ps.Func("f", (n,))
    f[i] = B.final[i] + B.initial[i] + A[i]
    assert order(f) == ["A", "B", "C"]


def test_1_4_inputs_of_several_outputs():
    A, B = vectors("AB")
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i], g[i] = B[i], A[i]
    assert order(f, g) == order(g, f) == ["A", "B"]
    assert order(f) == ["B"]


def test_1_4_the_order_holds_where_threads_make_inputs():
    """What one thread has made before another begins comes first; in each, its own order holds."""
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda t: vectors([f"x{t}_{k}" for k in range(50)]), range(4)))
    serials = [x.serial for xs in made for x in xs]
    assert len(set(serials)) == len(serials)
    for xs in made:
        f = ps.Func("f", (n,))
        f[i] = sum(x[i] for x in reversed(xs))
        assert order(f) == [x.name for x in xs]


def test_1_4_parts_of_outputs_take_the_same_order():
    A, B = vectors("AB")
    f = ps.Func("f", (n,))
    f[i] = B[i] - A[i]
    a, b = np.float32([1, 2, 3]), np.float32([5, 7, 9])
    assert np.array_equal(f(a, b, region=(1, 3)), [5, 6])
    swapped = ps.Schedule(f, args=(B, A)).compile()
    assert np.array_equal(swapped(b, a, region=(1, 3)), [5, 6])


def test_1_4_bounds_and_conditions_of_rvars_are_read_too():
    flag, A = vectors("FA")
    k = ps.RVar("k", 0, n, where=lambda k: flag[k] > 0)
    f = ps.Func("f", ())
    f[()] = 0.0
    f[()] += A[k]
    assert order(f) == ["F", "A"]
    assert run(f, np.float32([1, -1, 1]), np.float32([1, 2, 4])) == 5


def test_1_4_sizes_of_rvars_that_only_bound_other_rvars_are_found():
    outer = ps.RVar("outer", 0, n)
    inner = ps.RVar("inner", 0, outer)
    f = ps.Func("f", ())
    f[()] = 0
    f[()] += inner
    assert run(f, n=5) == sum(x for o in range(5) for x in range(o))


# another order ---------------------------------------------------------------------------------
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
