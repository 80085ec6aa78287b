"""Rule 3.1: pure definitions and their pieces."""

from __future__ import annotations

import numpy as np
import pytest
from lang.support import refused, run

import polysched as ps

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
A = ps.Input("A", ps.float32, (n,))
M = ps.Input("M", ps.float32, (n, m))


def func(*shape):
    return ps.Func("f", shape or (n,))


# 3.1 an equation at every point ---------------------------------------------------------------
def test_3_1_an_equation_holds_everywhere():
    f = func(n, m)
    f[i, j] = M[n - 1 - i, j] * 10 + i - j
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    rows, columns = np.indices((2, 3))
    assert np.array_equal(run(f, M=a), a[::-1] * 10 + rows - columns)


def test_3_1_vars_are_names_for_axes_and_need_no_order():
    f, g = func(n, m), ps.Func("g", (m, n))
    f[j, i] = M[j, i]
    g[i, j] = f[j, i]
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(run(g, M=a), a.T)


def test_3_1_a_diagonal():
    f = func()
    f[i] = M[i, i]
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert np.array_equal(run(f, M=a), np.diag(a))
    with refused("out of bounds", hint="the sizes must satisfy", error=ps.CallValueError):
        f(M=a.T)


@pytest.mark.parametrize(
    ("define", "what", "hint"),
    [
        (lambda f: f.__setitem__(i + 1, 0), "f[i + 1]", "compute the index on the right"),
        (lambda f: f.__setitem__(2 * i, 0), "f[2 * i]", "f[i] = ... at every i"),
        (lambda f: f.__setitem__(n - 1 - i, 0), "f[n - 1 - i]", "on the right"),
        (lambda f: f.__setitem__(ps.Param("p", ps.int32), 0), "f[p]", "on the right"),
    ],
)
def test_3_1_the_left_side_has_plain_vars(define, what, hint):
    f = func()
    with refused(
        "the left side of a pure definition has distinct Vars or constants", what, hint=hint
    ):
        define(f)


def test_3_1_the_vars_are_distinct():
    f = func(n, n)
    with refused("has distinct Vars or constants: f[i, i]"):
        f[i, i] = 0


def test_3_1_a_var_that_is_not_on_the_left_is_refused():
    f = func()
    what = "the Var j is not on the left side of this definition of f, so nothing says where"
    with refused(what, hint="j = ps.RVar('j', lo, hi)"):
        f[i] = A[j]
    with refused(what):
        f[i] = ps.select(j > 2, A[i], 0)
    f[i] = 0
    with refused(what):
        f[i] += ps.RVar("k", 0, j)


def test_3_1_an_rvar_in_a_pure_definition_is_refused():
    f, k = func(), ps.RVar("k", 0, n)
    with refused("the pure definition of f uses the RVar k", "no order", hint="f[i] += ..."):
        f[i] = A[k]
    with refused("f[k] is an update, but f has no pure definition to update", hint="starts from"):
        f[k] = 0


def test_3_1_an_update_before_a_definition_is_refused():
    f = func()
    with refused("f[i] is an update, but f has no pure definition", hint="f[i] = 0"):
        f[i] += A[i]
    g = ps.Func("g", ())
    with refused("g[()] is an update, but g has no pure definition", hint="g[()] = 0"):
        g[()] += 1.0


def test_3_1_the_rank_is_that_of_the_shape_or_of_the_first_definition():
    f = func()
    with refused("f has 1 axis but is indexed with 2", hint="f[i]"):
        f[i, j] = 0
    g = ps.Func("g")
    g[i, j] = 0
    with refused("g has 2 axes but is indexed with 1", hint="g[i, j]"):
        g[i] += 1
    with refused("g has 2 axes but is indexed with 3"):
        M[i, j] + g[i, j, i]


def test_3_1_slices_are_refused_on_the_left_too():
    f = func()
    with refused("slices are not part of the language"):
        f[:] = 0


# pieces ---------------------------------------------------------------------------------------
def test_3_1_pieces_cover_each_point_once():
    f = func(n, m)
    ps.require((n >= 2) & (m >= 2), "four corners", f)
    f[0, 0] = 1
    f[0, j] = 2
    f[i, 0] = 3
    f[n - 1, m - 1] = 4
    f[i, j] = 5
    wanted = np.full((3, 4), 5)
    wanted[:, 0], wanted[0, :], wanted[0, 0], wanted[-1, -1] = 3, 2, 1, 4
    assert np.array_equal(run(f, n=3, m=4), wanted)


def test_3_1_the_more_specific_piece_wins_whatever_the_order_of_pieces():
    f = func(n, m)
    f[i, 0] = 3
    f[0, 0] = 1
    f[0, j] = 2
    f[i, j] = 5
    assert run(f, n=2, m=2).tolist() == [[1, 2], [3, 5]]


def test_3_1_constants_alone_may_cover_all():
    f = ps.Func("f", (3,))
    f[2] = 20
    f[0] = 0
    f[1] = 10
    assert run(f).tolist() == [0, 10, 20]


def test_3_1_a_constant_after_the_general_piece_is_an_update():
    f = ps.Func("f", (3,))
    f[i] = i
    f[1] = 7
    assert len([d for d in f.history.typed() if d.is_update]) == 1
    assert run(f).tolist() == [0, 7, 2]


def test_3_1_pieces_of_what_is_needed():
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[0] = 100
    f[-1] = 50
    f[i] = i
    g[i] = f[i - 2]
    assert run(g, n=5).tolist() == [-2, 50, 100, 1, 2]


def test_3_1_an_uncovered_point_is_refused():
    f = func()
    f[0] = 1  # here
    f[1] = 2
    with refused("f[2] is not defined at n=3", "no piece", hint="a Var for each axis", marked=True):
        ps.Schedule(f)


def test_3_1_an_uncovered_point_of_two_axes_is_refused():
    f = func(n, m)
    f[0, j] = 1  # here
    f[i, 0] = 2
    f[0, 0] = 3
    with refused("f[1, 1] is not defined at n=2, m=2: no piece", marked=True):
        ps.Schedule(f)


def test_3_1_a_point_defined_twice_is_refused():
    f = func(n, m)
    f[0, j] = 1
    f[i, 0] = 2  # here
    f[i, j] = 3
    with refused(
        "f[0, 0] is defined twice at n=1, m=1",
        "more specific",
        hint="add a piece for the points that both claim",
        marked=True,
    ):
        ps.Schedule(f)
    with pytest.raises(ps.LanguageError) as refusal:
        ps.Schedule(f)
    assert "exclude" not in str(refusal.value)  # they meet at all sizes


def test_3_1_a_point_defined_twice_at_some_sizes_is_refused():
    f = func()
    f[0] = 1
    f[n - 1] = 2  # here
    f[i] = 3
    with refused("f[0] is defined twice at n=1", hint="exclude the sizes at which", marked=True):
        ps.Schedule(f)


def test_3_1_a_requirement_may_tell_pieces_apart():
    f = func()
    ps.require(n >= 2, "two points", f)
    f[0] = 1
    f[n - 1] = 2
    f[i] = 3
    assert run(f, n=4).tolist() == [1, 3, 3, 2]
    with refused("two points", error=ps.CallValueError):
        f(n=1)


def test_3_1_a_piece_written_twice_is_refused():
    f = func(n, m)
    f[0, j] = 1
    with refused("this piece of f was defined already, at ", "test_3_pure.py:", hint="update"):
        f[0, i] = 2


def test_3_1_indices_from_the_end_are_refused_on_the_left():
    f = func()
    with refused("f[-1]: indices do not count from the end", hint="n - 1"):
        f[-1] = 0
