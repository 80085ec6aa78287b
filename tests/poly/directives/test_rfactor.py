"""Reductions taken apart: partial results, and these merged."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import polysched as ps

from ..schedule.test_serial import survives
from .cases import jacobi
from .kernels import best, histogram, i, j, m, n, product
from .support import judged, listed, refused, same, stored


def rows() -> tuple[ps.Schedule, ps.Func]:
    """A histogram by blocks of four rows."""
    s = ps.Schedule(histogram())
    u = s["H"].update(0)
    u.split("r", 4)
    return s, u.rfactor("ro")


# sums ---------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_a_histogram_by_blocks_of_rows() -> None:
    s, partial = rows()
    assert partial.name == "H.by.ro"
    s[partial].update(0).parallel("ro")
    listed(s, """
        for i in [0, 256):
          H[i] = 0
        for ro in [0, (n - 1) // 4 + 1):
          for i in [0, 256):
            H.by.ro[ro, i] = 0
        for ro in [0, (n - 1) // 4 + 1) (parallel):
          for ri in [0, min(n - ro * 4, 4)):
            for q in [0, m):
              H.by.ro[r // 4, x[r, q]] = H.by.ro[r // 4, x[r, q]] + 1  # r = ro * 4 + ri
        for i in [0, 256):
          for ro in [0, (n - 1) // 4 + 1):
            H[i] = H[i] + H.by.ro[ro, i]
    """)  # fmt: skip
    assert s.bit_exact
    assert stored(s, n=13, m=5) == {"H.by.ro": (4, 256)}
    judged(s, n=5, m=3)
    same(s)


@pytest.mark.slow
def test_partial_results_in_the_loop_of_the_blocks() -> None:
    """Begun, accumulated and merged block by block, with storage for one."""
    s, partial = rows()
    s["H.update(0)"].reorder("ro", i)
    s[partial].compute_at("H.update(0)", "ro")
    assert stored(s, n=13, m=5) == {"H.by.ro": (1, 256)}
    judged(s, n=5, m=3)
    same(s)


@pytest.mark.slow
def test_merged_in_vectors() -> None:
    s, partial = rows()
    s["H.update(0)"].reorder("ro", i).vectorize(i, 16)
    s[partial].vectorize(i, 16)
    judged(s, n=5, m=3)
    same(s)


@pytest.mark.slow
def test_a_float_sum_that_may_be_reassociated() -> None:
    s = ps.Schedule(product())
    u = s["C"].update(0).reassociate()
    u.split("k", 4)
    partial = u.rfactor("ko")
    s[partial].update(0).parallel("ko")
    assert not s.bit_exact
    assert s.broken_by == ("C.by.ko.update(0)", "C.update(0)")
    rng = np.random.default_rng(0)
    for sizes in ((3, 5, 4), (1, 9, 1), (2, 0, 3), (0, 1, 1), (5, 13, 7)):
        A = rng.random((sizes[0], sizes[1])).astype("f4")
        B = rng.random((sizes[1], sizes[2])).astype("f4")
        np.testing.assert_allclose(s.compile()(A, B), A @ B, rtol=1e-5)
    judged(s, n=3, m=4, l=6)


@pytest.mark.slow
def test_an_array_in_place() -> None:
    """Partial sums are added to what is there."""
    x, a, r = ps.Input("x", ps.int32, (n, m)), ps.InOut("a", ps.int32, (n,)), ps.RVar("r", 0, m)
    a[i] += x[i, r]
    s = ps.Schedule(a)
    u = s["a.update(0)"]
    u.split(r, 4)
    u.rfactor("ro")
    judged(s, n=3, m=6)
    same(s)


@pytest.mark.slow
def test_a_sum_in_lanes() -> None:
    """One partial sum for each lane of a vector."""
    x, z, r = ps.Input("x", ps.int32, (n, m)), ps.Func("z", (n,), ps.int32), ps.RVar("r", 0, m)
    z[i] = 0
    z[i] += x[i, r]
    s = ps.Schedule(z)
    u = s["z"].update(0)
    u.split(r, 8)
    lanes = u.rfactor("ri")
    s[lanes].update(0).vectorize("ri")
    s[lanes].reorder(i, "ri").vectorize("ri")
    s["z"].update(0).unroll("ri")
    s[lanes].compute_at("z.update(0)", i)
    assert stored(s, n=7, m=9) == {"z.by.ri": (8, 1)}
    judged(s, n=2, m=19)
    same(s, over=(0, 1, 7, 8, 20))


def test_nothing_added_leaves_minus_zero() -> None:
    """Partial sums begin with -0.0, which changes nothing."""
    x, z = ps.Input("x", ps.float32, (n,)), ps.Func("z", ())
    r = ps.RVar("r", 0, n)
    z[()] = -0.0
    z[()] += x[r]
    s = ps.Schedule(z)
    u = s["z"].update(0).reassociate()
    u.split(r, 4)
    u.rfactor("ro")
    k = s.compile()
    assert np.signbit(k(np.full(6, -0.0, "f4")))
    assert np.signbit(k(np.zeros(0, "f4")))
    assert not np.signbit(k(np.zeros(5, "f4")))


@pytest.mark.parametrize("op", ["+", "-", "*", "min", "max", "&", "|"])
@pytest.mark.parametrize("dtype", [ps.int32, ps.uint8], ids=str)
def test_every_operator_of_integers(op: str, dtype: ps.DType) -> None:
    x, a = ps.Input("x", dtype, (n, m)), ps.Func("a", (n,), dtype)
    r = ps.RVar("r", 0, m)
    a[i] = 5
    if op in ("min", "max"):
        a[i] = getattr(ps, f"{op}imum")(a[i], x[i, r])
    elif op == "&":
        a[i] &= x[i, r]
    elif op == "|":
        a[i] |= x[i, r]
    elif op == "*":
        a[i] *= x[i, r]
    elif op == "+":
        a[i] += x[i, r]
    else:
        a[i] -= x[i, r]
    s = ps.Schedule(a)
    s["a"].update(0).split(r, 3)
    s["a"].update(0).rfactor("ro")
    same(s, over=(0, 1, 4, 7))


@pytest.mark.slow
@pytest.mark.parametrize("op", ["minimum", "maximum"])
def test_least_and_largest_of_floats(op: str) -> None:
    x, a = ps.Input("x", ps.float32, (n, m)), ps.Func("a", (n,))
    r = ps.RVar("r", 0, m)
    a[i] = 0.5
    a[i] = getattr(ps, op)(a[i], x[i, r])
    s = ps.Schedule(a)
    s["a"].update(0).split(r, 3)
    s["a"].update(0).rfactor("ro")
    assert s.bit_exact
    judged(s, n=2, m=7)
    same(s, over=(0, 1, 4, 7))


@pytest.mark.slow
@pytest.mark.parametrize("which", ["any", "all", "prod", "max"])
def test_inline_reductions(which: str) -> None:
    x, a, r = ps.Input("x", ps.int32, (n, m + 1)), ps.Func("a", (n,)), ps.RVar("r", 0, m + 1)
    value = x[i, r] > 0 if which in ("any", "all") else x[i, r]
    a[i] = getattr(ps, which)(value, r)
    s = ps.Schedule(a)
    u = s[f"a.{which}0"].update(0)
    u.split(r, 3)
    u.rfactor("ro")
    judged(s, n=2, m=5)
    same(s, over=(0, 1, 4, 7))


@pytest.mark.slow
def test_twice_in_a_row() -> None:
    s, partial = rows()
    second = s[partial].update(0).rfactor("q")
    assert stored(s, n=5, m=3) == {"H.by.ro": (2, 256), second.name: (3, 2, 256)}
    judged(s, n=5, m=3)
    same(s, over=(0, 1, 5))


@pytest.mark.slow
def test_behind_a_loop_taken_apart_all_parts_are_merged() -> None:
    s = ps.Schedule(histogram())
    s["H"].update(0).peel("r", first=1, last=2)
    s["H"].update(0).rfactor("r")
    assert stored(s, n=13, m=5) == {"H.by.r": (13, 256)}
    judged(s, n=5, m=3)
    same(s, over=(0, 1, 2, 7))


def test_written_down_and_read_back() -> None:
    s, _ = rows()
    v = s.specialize(n >= 64)
    v["H.by.ro.update(0)"].parallel("ro")
    survives(s)
    assert s.copy() == s


# argmin and argmax --------------------------------------------------------------------------------
VALUES = (1.0, np.nan, -0.0, 0.0, np.inf)


@pytest.mark.parametrize("which", ["argmax", "argmin"])
@pytest.mark.parametrize("factor", [1, 2, 3, 4])
@pytest.mark.parametrize("loop", ["ko", "ki"])
def test_ties_and_nan_in_all_orders(which: str, factor: int, loop: str) -> None:
    """Every row of four of five values, cut in every way, one after the other or every other one:
    the interpreter's element."""
    f = best(which)
    s = ps.Schedule(f)
    u = s[f"at.{which}0"].update(0)
    u.split("k", factor)
    u.rfactor(loop if factor > 1 else "ko")
    x = np.array(list(itertools.product(VALUES, repeat=4)), "f4")
    np.testing.assert_array_equal(s.compile()(x), ps.interpret(f, x))


def place_from(which: str, lo: int | ps.Expr) -> ps.Func:
    """The place of the best value of each row, from a place on."""
    x, f = ps.Input("x", ps.float32, (n, m + 6)), ps.Func("f", (n,))
    k = ps.RVar("k", lo, m + 6)
    f[i] = getattr(ps, which)(x[i, k], k)
    return f


@pytest.mark.parametrize("which", ["argmax", "argmin"])
@pytest.mark.parametrize("lo", [0, 2, 5])
def test_the_first_place_where_no_value_is_better_than_the_worst(which: str, lo: int) -> None:
    """Rows of infinities, of which those of some lanes alone are the worst, and lanes without
    any element."""
    f = place_from(which, lo)
    s = ps.Schedule(f)
    u = s[f"f.{which}0"].update(0)
    u.split("k", 8)
    partial = u.rfactor("ki")
    assert len(partial.dtypes) == 2
    x = np.array(list(itertools.product((-np.inf, np.inf, np.nan), repeat=6)), "f4")
    np.testing.assert_array_equal(s.compile()(x), ps.interpret(f, x))


def test_partial_places_say_whether_there_are_any_where_the_first_differs() -> None:
    """Each element begins at a place of its own: no number is the first one of all."""
    f = place_from("argmax", ps.clip(i, 0, 5))
    s = ps.Schedule(f)
    u = s["f.argmax0"].update(0)
    u.split("k", 4)
    partial = u.rfactor("ki")
    assert len(partial.dtypes) == 3
    x = np.full((4, 6), -np.inf, "f4")
    np.testing.assert_array_equal(s.compile()(x), ps.interpret(f, x))


@pytest.mark.parametrize("which", ["argmax", "argmin"])
@pytest.mark.parametrize("loop", ["ko", "ki"])
@pytest.mark.parametrize("again", ["outer", "inner"])
def test_partial_places_of_partial_places(which: str, loop: str, again: str) -> None:
    """The numbers of partial results are no places: the first one is not where a row may begin."""
    f = place_from(which, 5)
    s = ps.Schedule(f)
    u = s[f"f.{which}0"].update(0)
    u.split("k", 4)
    u.rfactor(loop)
    u.split(loop, 2, names=("outer", "inner"))
    u.rfactor(again)
    x = np.full((2, 12), -np.inf if which == "argmax" else np.inf, "f4")
    x[1, 8] = np.nan
    np.testing.assert_array_equal(s.compile()(x), [5, 8])


@pytest.mark.slow
@pytest.mark.parametrize("which", ["argmax", "argmin"])
def test_merged_in_any_order(which: str) -> None:
    """The last block first."""
    f = best(which)
    s = ps.Schedule(f)
    u = s[f"at.{which}0"].update(0)
    u.split("k", 2)
    partial = u.rfactor("ko")
    s[partial].update(0).parallel("ko").transform(["ki"], lambda a: a)
    x = np.array(list(itertools.product(VALUES[:4], repeat=5)), "f4")
    np.testing.assert_array_equal(s.compile()(x), ps.interpret(f, x))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [ps.uint8, ps.int64, ps.float64], ids=str)
def test_argmax_of_other_types(dtype: ps.DType) -> None:
    s = ps.Schedule(best("argmax", dtype))
    u = s["at.argmax0"].update(0)
    u.split("k", 3)
    u.rfactor("ko")
    judged(s, n=3, m=7)
    same(s, over=(0, 1, 4, 9))


@pytest.mark.slow
def test_argmax_taken_apart_before() -> None:
    """The parts of a stage share the partial results."""
    s = ps.Schedule(best())
    a, b = s["at.argmax0"].update(0).partition(2 * ps.vars("k") < m)
    b.rfactor("k")
    assert a.name == "at.argmax0.update(0)[0]"
    judged(s, n=3, m=6)
    same(s, over=(0, 1, 4, 9))


def first_of(op: str, begins: int = -1, dtype: ps.DType = ps.float32, lo: int = 0) -> ps.Func:
    """The best value of each row and its place, as a user writes them."""
    x, f, k = ps.Input("x", dtype, (n, m)), ps.Func("f", (n,)), ps.RVar("k", lo, m)
    f[i] = (x[i, 0], begins)
    better = {">": x[i, k] > f[i][0], "<": f[i][0] > x[i, k], ">=": x[i, k] >= f[i][0]}[op]
    f[i] = ps.select(better, (x[i, k], k), f[i])
    return f


@pytest.mark.parametrize("op", [">", "<"])
@pytest.mark.parametrize("loop", ["ko", "ki"])
def test_ties_and_nan_of_users_in_all_orders(op: str, loop: str) -> None:
    """What it begins with wins over equal values, and a NaN never is better."""
    f = first_of(op)
    s = ps.Schedule(f)
    u = s["f"].update(0)
    u.split("k", 2)
    u.rfactor(loop)
    x = np.array(list(itertools.product((*VALUES, -np.inf), repeat=4)), "f4")
    for made, want in zip(s.compile()(x), ps.interpret(f, x), strict=True):
        assert made.tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", [ps.uint8, ps.int64], ids=str)
def test_places_of_users_of_integers(dtype: ps.DType) -> None:
    f = first_of(">", 0, dtype)
    s = ps.Schedule(f)
    u = s["f"].update(0)
    u.split("k", 3)
    u.rfactor("ki")
    least = 0 if dtype is ps.uint8 else np.iinfo("i8").min
    x = np.array(list(itertools.product((least, 1, 2), repeat=4)), dtype.name)
    for made, want in zip(s.compile()(x), ps.interpret(f, x), strict=True):
        np.testing.assert_array_equal(made, want)


# refused ------------------------------------------------------------------------------------------
def test_refuses_what_is_no_reduction() -> None:
    s = ps.Schedule(product())
    with refused(s, "C is no reduction", hint="an update does, C[i] += ...", status="malformed"):
        s["C"].rfactor(i)
    x, f, r = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n,), ps.int64), ps.RVar("r", 0, n)
    f[i] = 0
    f[x[r] % n] = 3
    s = ps.Schedule(f)
    with refused(s, "f.update(0) is no reduction"):
        s["f"].update(0).rfactor(r)


def test_refuses_tuples_of_the_user() -> None:
    """How two of them were to be merged nobody has said."""
    x, p = ps.Input("x", ps.int64, (n,)), ps.Func("p", (), (ps.int64, ps.int64))
    r = ps.RVar("r", 0, n)
    p[()] = (0, 0)
    p[()] = (p[()][0] + x[r], p[()][1] * 2)
    s = ps.Schedule(p)
    with refused(s, "p.update(0) is no reduction", status="malformed"):
        s["p"].update(0).rfactor(r)


@pytest.mark.parametrize(
    ("op", "begins"), [(">=", -1), (">", 1)], ids=["the last of equal ones", "a place within"]
)
def test_refuses_places_of_users_that_are_not_the_first(op: str, begins: int) -> None:
    """Of equal values the last one wins, or what it begins with, which has a larger index."""
    s = ps.Schedule(first_of(op, begins))
    with refused(s, "f.update(0) is no reduction", status="malformed"):
        s["f"].update(0).rfactor("k")


def test_refuses_a_float_sum() -> None:
    s = ps.Schedule(product())
    with refused(
        s, "C.update(0) is a sum of floats: adding partial sums gives other bits",
        hint="reassociate() allows it", status="malformed",
    ):  # fmt: skip
        s["C"].update(0).rfactor("k")


def test_refuses_a_loop_over_vars() -> None:
    s = ps.Schedule(product(ps.int32))
    with refused(s, "the loop j runs over no RVar: its iterations write apart already"):
        s["C"].update(0).rfactor(j)


def test_refuses_recurrences() -> None:
    s = ps.Schedule(jacobi())
    stage = s["f"].loops[0].stage
    with refused(s, "f is no reduction"):
        stage.rfactor("t")


def test_refuses_what_is_computed_at_a_loop() -> None:
    x, g, f = ps.Input("x", ps.int64, (n, m)), ps.Func("g"), ps.Func("f", (n,))
    r = ps.RVar("r", 0, m)
    g[i] = ps.sum(x[i, r], r)
    f[i] = g[i] + 1
    s = ps.Schedule(f)
    s["g.sum0"].compute_at("f", i)
    with refused(s, "is computed inside of the loops of others", hint="rfactor first"):
        s["g.sum0"].update(0).rfactor(r)


def test_refuses_what_a_sequential_accumulates() -> None:
    x, a = ps.Input("x", ps.int64, (n, m)), ps.InOut("a", ps.int64, (n,))
    r = ps.RVar("r", 0, m)
    with ps.sequential("t", 0, n) as t:
        a[t] += x[t, r]
    s = ps.Schedule(a)
    with refused(s, "a.update(0)", status="malformed"):
        s["a.update(0)"].rfactor(r)


def test_refuses_parts_of_less_than_there_is_afterwards() -> None:
    """Elements at even indices are needed, and were taken apart; of partial sums all are made."""
    n, m = ps.sizes("n m")
    i, r = ps.vars("i"), ps.RVar("r", 2, m)
    x, f, g = ps.Input("x", ps.float64, (n,)), ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = ps.sum(x[i], r)
    g[i] = ps.select(i % 2 == 0, f[i], 1)
    s = ps.Schedule(g)
    s["f.sum0.update(0)"].reassociate().peel("i", last=3)
    with refused(s, "would compute more than the parts", hint="then peel", status="malformed"):
        s["f.sum0.update(0)"].rfactor("r")


@pytest.mark.slow
@pytest.mark.parametrize("op", ["mul", "and", "add", "or", "xor"])
def test_of_truths(op: str) -> None:
    """A product of bools is true where all are."""
    x, k = ps.Input("x", ps.int32, (n, m)), ps.RVar("k", 0, m)
    f = ps.Func("f", (n,), ps.bool_)
    f[i] = op in ("mul", "and")
    value = x[i, k] > -5
    match op:
        case "mul":
            f[i] *= value
        case "and":
            f[i] &= value
        case "add":
            f[i] += value
        case "or":
            f[i] |= value
        case _:
            f[i] ^= value
    s = ps.Schedule(f)
    s["f"].update(0).rfactor("k")
    judged(s, n=3, m=4)
    same(s)


def test_partial_results_are_added_at_once() -> None:
    x, k = ps.Input("x", ps.int32, (n,)), ps.RVar("k", 0, n)
    f = ps.Func("f", ())
    f[()] = 7
    f[()] += x[k]
    s = ps.Schedule(f)
    s["f"].update(0).rfactor("k")
    s["f"].update(0).atomic().parallel("k")
    judged(s, n=5)
    same(s)
