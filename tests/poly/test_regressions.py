"""Programs that went wrong once, each with what was wrong."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest
from counting import operations
from fuzz.limits import counted

import polysched as ps
from polysched.checking.examine import examine
from polysched.lang.arithmetic.evaluate import compile_nodes
from polysched.lang.expr.expr import as_node
from polysched.lang.nodes.printer import expr_text
from polysched.lang.program.program import Program
from polysched.poly.model.model import Model
from polysched.poly.model.updates import check_updates
from polysched.poly.sets.budget import budget
from polysched.poly.sets.expressions import Translator
from polysched.poly.sets.hulls import PIECES_LIMIT, filled, small_sizes
from polysched.poly.sets.isl import Frame, Set, complement
from polysched.poly.sets.smallest import smallest_point

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
SCHEDULES = pytest.mark.parametrize("make", [ps.Schedule, ps.Schedule.default])


def check(make: Any, outputs: Any, **arguments: Any) -> Any:
    """Native code computes what the interpreter does."""
    found, wanted = make(outputs).compile()(**arguments), ps.interpret(outputs, **arguments)
    for f, w in zip(_flat(found), _flat(wanted), strict=True):
        np.testing.assert_array_equal(f, w)
    return found


def _flat(results: Any) -> list[Any]:
    return [a for r in results for a in _flat(r)] if isinstance(results, tuple) else [results]


def arange(*shape: int, dtype: Any = np.int32) -> Any:
    return np.arange(np.prod(shape, dtype=int), dtype=dtype).reshape(shape)


@SCHEDULES
def test_a_region_that_is_a_union_without_a_common_end(make: Any) -> None:
    """[0, n) and [0, m) have no hull that sizes alone bound: the loop had no upper bound."""
    A = ps.Input("A", ps.int32, (4,))
    g, f, h = ps.Func("g"), ps.Func("f", (n,)), ps.Func("h", (2 * m,))
    g[i] = A[i % 4] + i
    f[i] = g[i] + g[i + 1]
    h[i] = g[i] * g[n - i]
    for sizes in ({"n": 2, "m": 4}, {"n": 7, "m": 1}, {"n": 0, "m": 3}):
        check(make, (f, h), A=arange(4), **sizes)


@SCHEDULES
def test_coordinates_that_bound_one_another_only(make: Any) -> None:
    """A hull like { [x, y] : x <= y + m, y <= x } passed for bounded, and isl failed at it."""
    A = ps.Input("A", ps.int32, (4,))
    g, f = ps.Func("g"), ps.Func("f", (n, m))
    g[i, j] = A[(i + j) % 4]
    f[i, j] = g[i, j] + g[i + j, j - i] + g[i - j, i] + g[m - i, n - j]
    check(make, f, A=arange(4), n=3, m=5)


def test_an_update_of_vars_that_share_coordinates_with_plain_ones() -> None:
    """`i` of f[i + j, j] has bounds because `j` has: together they must be asked for them."""
    f = ps.Func("f", (n, m))
    f[i, j] = 0
    f[i + j, j] += i
    check(ps.Schedule, f, n=4, m=3)


@SCHEDULES
def test_a_literal_beyond_int64_in_a_condition(make: Any) -> None:
    """isl's integers are made of C's long, unless they come as text."""
    A = ps.Input("A", ps.uint64, (n,))
    f = ps.Func("f", (n,))
    f[i] = ps.select(ps.cast(ps.uint64, i) < np.uint64(2**64 - 1), A[i], 0)
    check(make, f, A=arange(3, dtype=np.uint64))


@SCHEDULES
def test_a_check_makes_its_own_axis_safe_alone(make: Any) -> None:
    """The read lost its guard, and at n = 0 it touched A[-1, 1]."""
    A, X = ps.Input("A", ps.int32, (n, 4)), ps.Input("X", ps.int32, (m,))
    f = ps.Func("f", (m,))
    f[i] = ps.select(i < n, A[ps.clip(i, 0, n - 1), X[i]], -1)
    assert A not in {read.tensor for _, read in make(f).proven.safe}
    x = np.array([1, 3], np.int32)
    for size in (0, 2):
        check(make, f, A=arange(size, 4), X=x)


@SCHEDULES
def test_a_check_of_indices_and_a_condition_on_the_sizes(make: Any) -> None:
    """Checking one axis did not help where another one needs n >= 1."""
    A, X = ps.Input("A", ps.int32, (n, m)), ps.Input("X", ps.uint64, (2,))
    f = ps.Func("f", (2,))
    f[i] = A[ps.clip(i, 0, n - 1), X[i]]
    x = np.array([1, 2], np.uint64)
    check(make, f, A=arange(2, 3), X=x)
    with pytest.raises(ps.CallError, match="X"):
        make(f).compile()(A=arange(2, 2), X=x)
    with pytest.raises(ps.CallError, match="n"):
        make(f).compile()(A=arange(0, 3), X=x)


@SCHEDULES
def test_a_clamp_of_a_narrow_type(make: Any) -> None:
    """Refused, as the type of the data matters for sizes beyond it."""
    A = ps.Input("A", ps.uint16, (n + 1,))
    f = ps.Func("f")
    f[i] = 0
    r = ps.RVar("r", 0, n + 1)
    f[ps.clip(A[r], 0, n)] += 1
    check(make, f, A=arange(4, dtype=np.uint16), shape=(4,))


@SCHEDULES
@pytest.mark.parametrize("declared", [True, False])
def test_an_axis_keeps_its_extent_where_another_one_is_empty(make: Any, declared: bool) -> None:
    """At n = 0 the update has m instances, and each writes out of bounds."""
    f = ps.Func("f", (n, m) if declared else None)
    f[i, j] = 0
    f[n - 1, j] += j
    given = {"n": 0, "m": 3} if declared else {"n": 0, "shape": (0, 3)}
    with pytest.raises(ps.CallError):
        ps.interpret(f, **given)
    with pytest.raises(ps.CallError):
        make(f).compile()(**given)


@SCHEDULES
def test_what_a_shape_forbids_is_forbidden_inline(make: Any) -> None:
    """g was inlined and its shape forgotten."""
    g, f = ps.Func("g", (n,)), ps.Func("f", (m,))
    g[i] = 2 * i
    f[i] = g[i] + 1
    with pytest.raises(ps.CallError, match="g"):
        make(f).compile()(n=2, m=3)
    check(make, f, n=3, m=3)


@SCHEDULES
def test_an_update_grows_the_region_behind_a_later_one(make: Any) -> None:
    """The later update need not run where only the earlier one wrote."""
    A = ps.Input("A", ps.int32, (m,))
    g, f = ps.Func("g"), ps.Func("f", (n,))
    g[i, j] = i - j
    r = ps.RVar("r", 0, m)
    g[n, r] += A[r]
    g[i, j] *= 3
    f[i] = g[i, 0]
    check(make, f, A=arange(4), n=3)


@SCHEDULES
def test_a_scatter_into_a_func_without_a_shape(make: Any) -> None:
    """Its region was everything that the index may be, and the loop over it had no bounds."""
    at, r = ps.Input("at", ps.uint32, (m,)), ps.RVar("r", 0, m)

    def histogram(*shape: Any) -> ps.Func:
        g, f = ps.Func("g", *shape), ps.Func("f", (n,))
        g[i] = 0
        g[at[r]] += 1
        f[i] = g[i]
        return f

    with pytest.raises(ps.LanguageError, match=r"g\[at\[r\]\] .* g has no declared shape") as error:
        make(histogram())
    assert "ps.Func('g', (n, m))" in (error.value.hint or "")
    check(make, histogram((n,)), at=np.uint32([1, 1, 2]), n=3)


@pytest.mark.slow
def test_the_complement_of_many_pieces() -> None:
    """Each of them multiplied the half-spaces outside of the others: seconds for a dozen."""
    rng = random.Random(0)
    frame = Frame(tuple("abcdefgh"), ())
    where = frame.empty
    for _ in range(10):
        piece = frame.universe
        for name in rng.sample(frame.params, 4):
            piece = piece.intersect(frame.param(name).ge_set(frame.constant(rng.randint(1, 3))))
        where = where.union(piece)
    with budget(2_000_000):
        outside = complement(where)
    assert outside.is_equal(where.complement())


@SCHEDULES
def test_other_coordinates_say_nothing_about_a_var(make: Any) -> None:
    """The interpreter ran `i` nowhere where the column `n` is none, instead of refusing it."""
    f = ps.Func("f", (n, m))
    f[i, j] = 0
    f[3 * i, n] += 1
    check(make, f, n=4, m=5)
    for run in (make(f).compile(), lambda **sizes: ps.interpret(f, **sizes)):
        with pytest.raises(ps.CallError, match="out of bounds"):
            run(n=4, m=4)


@SCHEDULES
def test_a_func_that_is_inlined_divides_where_it_is_read(make: Any) -> None:
    """Kernels count what is computed, and of `g` that is one element; the interpreter, all."""
    g, f = ps.Func("g", (n,), ps.int64), ps.Func("f", (n,))
    g[i] = 6 // i
    f[i] = ps.select(i == 1, g[i], 0)
    assert np.array_equal(make(f).compile(checks=True)(n=3), [0, 6, 0])
    for run in (lambda: ps.interpret(f, n=3, checks=True),
                lambda: make((f, g)).compile(checks=True)(n=3)):  # fmt: skip
        with pytest.raises(ps.CallError, match="by zero"):
            run()


def test_updates_of_plain_vars_are_legal_without_a_proof() -> None:
    """isl compared all pieces of a region with each other, for an update of one element."""
    f = ps.Func("f", (n, m))
    f[i, j] = 0
    f[i, j] += 2 * f[i, j]
    model = Model(Program((f,)))
    with budget(1):
        check_updates(model)


@SCHEDULES
@pytest.mark.parametrize("shared", [True, False])
def test_a_read_in_a_condition_and_in_what_it_guards(make: Any, shared: bool) -> None:
    """The guard of the read contained the read, and compiling it went on for ever."""
    A = ps.Input("A", ps.int32, (n,))
    positive = A[i] > 0 if shared else ps.select(i < n, A[i] > 0, False)
    value = ps.select(positive, A[i], 7)
    f = ps.Func("f", (m,))
    if shared:
        f[i] = ps.select(i < n, value, 0) + ps.select(i + 1 < n, ps.select(positive, A[i], 1), 0)
    else:
        f[i] = value
    for size in (0, 1, 3):
        check(make, f, A=np.int32([5, -1, 2])[:size], m=4)


@SCHEDULES
@pytest.mark.parametrize("most", [1.5, -0.5, np.inf, -np.inf, np.nan, 1e300])
@pytest.mark.parametrize("of", ["a loop", "a Param"])
def test_updates_under_comparisons_of_floats(make: Any, most: float, of: str) -> None:
    """They were taken for comparisons of indices, and NaN for a number that an index may be."""
    p = ps.Param("p", ps.float32)
    x = ps.cast(ps.float64, j) if of == "a loop" else p
    r = ps.RVar("r", 0, n, where=lambda r: x <= most)
    q = ps.RVar("q", 0, n, where=lambda q: x > most)
    f = ps.Func("f", (n, n))
    f[i, j] = 0
    f[r, j] += 1
    f[q, j] += 2
    check(make, f, n=4, **({"p": 1.2} if of == "a Param" else {}))


@SCHEDULES
def test_reads_whose_guards_depend_on_one_another(make: Any) -> None:
    """They were refused when they were compiled: which happens first depends on the data."""
    A, B = ps.Input("A", ps.int32, (n,)), ps.Input("B", ps.int32, (n,))
    a, b = A[i], B[i]
    first = ps.select(i < n, a > 0, False)
    second = ps.select(i < n, b > 0, first)
    f = ps.Func("f", (m,))
    f[i] = ps.select(first, b, 7) + ps.select(second, a, 5)
    found = check(make, f, A=np.int32([-1, -1, 1, 1]), B=np.int32([-2, 2, -2, 2]), m=6)
    assert found.tolist() == [12, 6, 3, 3, 12, 12]


@SCHEDULES
def test_a_reduction_runs_only_where_the_condition_around_it_holds(make: Any) -> None:
    """It ran over the box around the triangle, and was refused for what it read beyond."""
    A = ps.Input("A", ps.int32, (n, m))
    k = ps.RVar("k", 0, m)
    f = ps.Func("f", (n, n))
    f[i, j] = ps.select(j <= i, ps.sum(A[i - j, k], k), 0)
    assert make(f).conditions == ()
    assert np.array_equal(np.triu(check(make, f, A=arange(4, 3)), 1), np.zeros((4, 4)))


@SCHEDULES
def test_a_recurrence_through_a_reduction_over_a_triangle(make: Any) -> None:
    """Above the diagonal the sum would need values that come later: no order was found."""
    A = ps.Input("A", ps.int32, (n, n))
    k = ps.RVar("k", 0, j)
    L = ps.Func("L", (n, n), ps.int32)
    L[i, j] = ps.select(j <= i, A[i, j] + ps.sum(L[i, k] * L[j, k], k), 0)
    check(make, L, A=arange(5, 5))


@SCHEDULES
def test_a_reduction_of_what_does_not_depend_on_its_rvar(make: Any) -> None:
    """The RVar was taken from the value, and so lost where that does not mention it."""
    A = ps.Input("A", ps.int32, (n,))
    k = ps.RVar("k", 0, n)
    f, g = ps.Func("f", (n,)), ps.Func("g", ())
    f[i] = ps.sum(A[i], k) + ps.sum(ps.sum(A[i], k), ps.RVar("l", 0, i))
    g[()] = ps.sum(1, (k, ps.RVar("l", 0, k))) + 100 * ps.prod(2, k)
    for size in (0, 1, 4):
        a = arange(size)
        found = check(make, (f, g), A=a)
        assert found[0].tolist() == [size * (1 + x) * x for x in range(size)]
        assert found[1] == size * (size - 1) // 2 + 100 * 2**size


@SCHEDULES
def test_counting_by_bounds_that_are_read(make: Any) -> None:
    start = ps.Input("start", ps.int32, (n + 1,), range=(0, m + 1))
    f = ps.Func("f", (n,))
    f[i] = ps.sum(1, ps.RVar("k", start[i], start[i + 1]))
    found = check(make, f, start=np.array([0, 2, 2, 5], np.int32), m=5)
    assert found.tolist() == [2, 0, 3]


@SCHEDULES
def test_a_reduction_of_literals_in_a_block(make: Any) -> None:
    """Its dtype was asked for, by a name that nobody wrote."""
    A = ps.InOut("A", ps.int64, (n,))
    with ps.sequential("t", 0, n) as t:
        A[t] += ps.sum(1, ps.RVar("k", 0, t))
    assert make(A).compile()(A=np.zeros(4, np.int64)).tolist() == [0, 1, 2, 3]
    assert ps.interpret(A, A=np.zeros(4, np.int64)).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("several", [False, True])
def test_an_array_in_place_that_nothing_updates(several: bool) -> None:
    """It has no definition, and a list of them had no first element."""
    A, B = (ps.InOut(name, ps.int64, (n,)) for name in "AB")
    B[i] += A[i]
    with pytest.raises(ps.LanguageError, match="A is not updated by anything"):
        ps.Schedule((A, B) if several else A)
    assert ps.Schedule(B).compile()(
        A=arange(3, dtype=np.int64), B=arange(3, dtype=np.int64)
    ).tolist() == [0, 2, 4]


@SCHEDULES
def test_bounds_that_are_read_and_clamped_from_one_side(make: Any) -> None:
    """A last value needs no lower bound, nor a first one an upper one."""
    c, x = ps.Input("c", ps.int32, (n,)), ps.Input("x", ps.int32, (n,))
    below = ps.RVar("below", 0, ps.minimum(c[i], n))
    above = ps.RVar("above", ps.maximum(c[i], 0), n)
    f = ps.Func("f", (n,))
    f[i] = ps.sum(x[below], below) - ps.sum(x[above], above)
    large = 2**31 - 1
    found = check(make, f, c=np.array([2, -large, large, 0], np.int32), x=arange(4) + 1)
    assert found.tolist() == [3 - 7, -10, 10, -10]


@pytest.mark.parametrize("ends", ["first", "last"])
def test_bounds_that_are_read_and_clamped_from_the_other_side(ends: str) -> None:
    c, x = ps.Input("c", ps.int32, (n,)), ps.Input("x", ps.int32, (n,))
    bounds = (ps.minimum(c[i], n), n) if ends == "first" else (0, ps.maximum(c[i], 0))
    k = ps.RVar("k", *bounds)
    f = ps.Func("f", (n,))
    f[i] = ps.sum(x[k], k)
    with pytest.raises(ps.LanguageError, match="nothing bounds the RVar k"):
        ps.Schedule(f)


def test_the_smallest_point_where_only_sizes_bound_a_coordinate() -> None:
    """Over all sizes -j has no least value, and any point was as good as another."""
    where = Set("[n, m] -> { [i, j] : 1 <= i < n and -m <= j < 0 and j <= -i }")
    assert smallest_point(where) == ({"n": 2, "m": 1}, [1, -1])
    every = Set("[n] -> { [i, j] : j < i and 0 <= i < n }")
    found = smallest_point(every)
    assert found is not None
    assert found[0] == {"n": 1}


def test_a_conflict_whose_smallest_point_isl_cannot_find() -> None:
    """isl fails on the lexicographic minimum of this one: the refusal was an internal error."""
    D = ps.InOut("D", ps.uint8, (n, m))
    with ps.sequential("t", 1, -1, -3) as t:
        row = ps.cast(ps.int64, D[ps.clip(2, 0, n - 1), ps.clip(t % 3, 0, m - 1)])
        D[ps.clip(row, 0, n - 1), j] = ps.cast(ps.uint8, 1 + j)
    with pytest.raises(ps.LanguageError, match="depends on the order of its Vars"):
        ps.Schedule(D)


def test_an_unrolled_loop_whose_iterations_differ() -> None:
    """The bounds of a peeled loop hold more than what is needed: all of that is unrolled."""
    n, T = ps.sizes("n T")
    A = ps.InOut("A", ps.int64, (n,))
    with ps.sequential("t", 0, T), ps.sequential("i", 1, n) as i:
        A[i] += A[i - 1]
    schedule = ps.Schedule(A)
    stage = schedule["A.update(0)"].unroll("i", 2)
    stage.peel("ii", first=1)
    found = schedule.compile()(A=np.arange(1, 8), T=2)
    assert np.array_equal(found, ps.interpret(A, A=np.arange(1, 8), T=2))


@pytest.mark.slow
def test_an_unrolled_loop_whose_hull_has_no_constant_extent() -> None:
    """It begins at the first iteration that is needed, and where none is, does nothing."""
    n = ps.sizes("n")
    d = ps.InOut("d", ps.int64, (n, n))
    with ps.sequential("k", 0, n) as k:
        r, c = ps.rdom("r c", (0, n), (0, n))
        d[r, c] = ps.minimum(d[r, c], d[r, k] + d[k, c])
    schedule = ps.Schedule(d)
    stage = schedule["d.update(0)"]
    stage.split("c", 4, names=("co", "ci"))
    stage.unroll("ci").peel("k", first=1, last=1)
    first = schedule["d.update(0).first"]
    first.skew("r", "co", 2)
    first.peel("co", last=1)
    schedule["d.update(0).first.last"].compute_with(first, "co", shift=2)
    kernel = schedule.compile()
    for size in (1, 2, 5, 9):
        weights = np.random.default_rng(size).integers(0, 9, (size, size))
        assert np.array_equal(kernel(weights.copy()), ps.interpret(d, weights.copy()))


def test_a_loop_over_two_points() -> None:
    """Each piece begins and ends at one point, and between the two there is nothing."""
    n = ps.sizes("n")
    a = ps.InOut("a", ps.int64, (n, n))
    r, c = ps.rdom("r c", (0, n), (0, n))
    a[r, c] = a[r, c] + 1
    schedule = ps.Schedule(a)
    crossed, _ = schedule["a"].partition((c == r) | (c == n - 1 - r))
    crossed.fission("c")
    found = schedule.compile()(np.zeros((7, 7), np.int64))
    assert np.array_equal(found, np.ones((7, 7), np.int64))


@pytest.mark.slow
def test_storage_of_intricate_extents_has_room_for_all() -> None:
    """isl looked for the exact extent of a copy in skewed tiles of a wavefront, and gave up."""
    a, b = ps.Input("a", ps.float64, (n,)), ps.InOut("b", ps.float64, (n, m))
    r = ps.RVar("r", 1, n - 1)
    q = ps.RVar("q", 2, m, where=lambda q: q % 2 == 0)
    with ps.sequential():
        b[i, j] = 2 * b[i, j]
        b[r, q - 2] = 2 * b[n - 1 - r, q - 2] + a[r + 1]
    s = ps.Schedule(b)
    u = s["b.update(1)"]
    u.wavefront("r", "q")
    u.reorder("wave", "q").tile("wave", 3)
    u.skew("waveo", "q", -1)
    u.skew("waveo", "wavei", 2)
    u.unroll_and_jam("wavei", 3)
    u.stage("a", at="wavei", pad=True)
    assert "store a.wavei[n]:" in str(s)
    given = {"a": np.arange(7.0), "b": np.arange(42.0).reshape(7, 6)}
    assert not examine(s, **given).breaches


@pytest.mark.slow
def test_a_piece_of_a_tile_in_which_some_rows_never_run() -> None:
    """What was left of them, a statement without stores, could not be emitted."""
    a, b = ps.Input("a", ps.int32, (n, m)), ps.Input("b", ps.int32, (m, n))
    c, k = ps.Func("c", (n, n)), ps.RVar("k", 0, m)
    c[i, j] = 0
    c[i, j] += a[i, k] * b[k, j]
    s = ps.Schedule(c)
    u = s["c"].update(0)
    u.split(i, 4, tail="peel")
    u.split(j, 3, tail="guard")
    u.unroll("ii").vectorize("ji")
    u.partition(i < 3)
    x, y = arange(9, 5), arange(5, 9)
    np.testing.assert_array_equal(s.compile()(a=x, b=y), x @ y)


def test_storage_of_parts_of_one_sum_inside_of_each_other() -> None:
    """What the inner one had left was written over by what the outer one had begun with."""
    a = ps.InOut("a", ps.float32, (n, m))
    with ps.sequential("t", 0, 3):
        r, q = ps.RVar("r", 0, n), ps.RVar("q", 0, m)
        a[r, q] -= 1
    s = ps.Schedule(a)
    s["a.update(0)"].peel("q", last=1)
    s["a.update(0)"].accumulate_at("q")
    with pytest.raises(ps.ScheduleError, match="two private accumulators of a"):
        s["a.update(0).last"].accumulate_at("r")
    x = np.zeros((4, 5), np.float32)
    s.compile()(a=x)
    assert np.all(x == -3)


@pytest.mark.slow
def test_a_recurrence_in_tiles_of_tiles_is_proven_with_little_effort() -> None:
    """The pairs of instances that nothing orders were made of a hundred cases: a minute. And what
    is needed in an iteration had the existentials of each step of the recurrence: to find that no
    window of f is enough took isl another ten seconds."""
    a = ps.Input("a", ps.int64, (n,))
    f, g = ps.Func("f", (n, m), ps.int64), ps.Func("g", (n,), ps.int64)
    before = f[i - 1, ps.clip(j - 1, 0, m - 1)] + f[i - 1, ps.clip(j - 2, 0, m - 1)]
    f[i, j] = ps.select(i > 1, before, a[ps.clip(i + 2, 0, n - 1)])
    g[i] = f[i, m - 1] + f[n - 1, 0]
    s = ps.Schedule.default(g)
    s["f"].compute_at(s["g"], "i")
    s["g"].split("i", 8)
    assert operations(lambda: s["g"].tile("io", "ii", 4, 5)) < 2_000_000
    assert operations(lambda: str(s)) < 1_000_000
    assert not examine(s, a=np.arange(5), m=4).breaches


def test_a_func_of_which_only_a_clone_is_read() -> None:
    """It never runs, and stood where what it reads is not stored: an internal error."""
    a = ps.Input("a", ps.int64, (n,))
    e, u, y = ps.Func("e"), ps.Func("u"), ps.Func("y", (n,))
    e[i] = a[i] + 1
    u[i] = e[i] * 2
    y[i] = u[i] + 3
    s = ps.Schedule(y)
    s["e"].compute_root()
    s["u"].compute_root()
    s["u"].clone_in("y")
    s["e"].compute_at("u.in.y", i)
    given = np.arange(5)
    assert np.array_equal(s.compile()(given), ps.interpret(y, given))
    assert not examine(s, given).breaches
    assert "u[i] = " not in str(s)


@pytest.mark.slow
def test_a_copy_for_two_parts_in_different_loops() -> None:
    """One has a loop more around it: the sets of both were of different spaces."""
    a = ps.Input("a", ps.int64, (n, m + 1))
    f, y = ps.Func("f", (n, m + 1)), ps.Func("y", (n, m))
    p, q = ps.vars("p q")
    f[p, q] = a[p, q] * 2
    y[i, j] = f[i, j] + f[i, j + 1]
    s = ps.Schedule(y)
    s["f"].compute_at("y", j)
    s["y"].skew(i, j, 1)
    s["y"].peel(j, first=1)
    s["f"].stage("a", at=i, layout=(p, q))
    for rows, columns in ((0, 1), (1, 2), (4, 5)):
        given = np.arange(rows * columns).reshape(rows, columns)
        assert np.array_equal(s.compile()(given), ps.interpret(y, given))
        assert not examine(s, given).breaches


def test_an_array_of_the_caller_that_is_kept_in_another_order() -> None:
    """It has no Vars to call its axes by: the listing failed."""
    a, b = ps.InOut("a", ps.int64, (n, m)), ps.Input("b", ps.int64, (n, m))
    r, c, k = ps.rdom("r c k", (0, n), (0, m), (0, m))
    a[r, c] += b[r, k]
    s = ps.Schedule(a)
    s["a"].accumulate_at("c").reorder_storage(1, 0)
    s["a"].align_storage(0, 4)
    assert "keeps a as [axis 1, axis 0] with axis 0 in multiples of 4" in str(s)
    assert "axis 1, axis 0" in str(s.explain())
    given = np.arange(6).reshape(2, 3)
    expected = ps.interpret(a, a=given.copy(), b=given)
    assert np.array_equal(s.compile()(a=given.copy(), b=given), expected)


def test_a_copy_for_a_loop_that_is_empty() -> None:
    """Nothing of it runs, nor of what it would copy, so neither is written anywhere."""
    f, g = ps.Func("f", (4, 2 * n)), ps.Func("g", (n, n))
    r = ps.RVar("r", 1, 0)
    f[i, j] = 1.0
    g[i, j] = 0
    g[0, j] += f[ps.clip(r, 0, 3), j]
    s = ps.Schedule(g)
    s["f"].compute_at("g.update(0)", "r")
    s["g.update(0)"].stage("f", at="j")
    assert "store f.j[0, 0]:" in str(s)
    assert "f: computed at r for nothing that runs, stored there" in s.explain()
    assert not examine(s, n=3).breaches
    assert np.array_equal(s.compile()(n=3), np.zeros((3, 3)))


def test_a_read_that_never_happens_of_what_is_stored_in_another_loop() -> None:
    """No call is accepted at which it does: the loop IR named storage that is not there."""
    f, g = ps.Func("f"), ps.Func("g", (3, n))
    a = ps.Input("a", ps.int64, (m,))
    r = ps.RVar("r", 0, 1)
    f[i, j] = i * 3 + j
    g[i, j] = f[m - 1 - j, 2 * j]
    g[r, 0] += a[0]
    g[i, j] += ps.select(m != 0, 1, f[0, 0])
    s = ps.Schedule(g)
    s["f"].compute_at("g", "j")
    given = np.int64([5])
    assert np.array_equal(s.compile()(given, n=4), ps.interpret(g, given, n=4))
    assert not examine(s, given, n=4).breaches


def test_a_guard_whose_pieces_become_one() -> None:
    """isl forgets what the quotients in them are."""
    first = "3e >= -3 - i + j and 3e > -q + j and -p - i + j < 3e and 3e <= -i + j"
    last = "3e >= -3 - i + j and 3e > -q + j and 3e > -p - i + j and 3e > 1 - m + j and 3e <= j - i"
    pieces = (
        f"m >= 5 and q < m and {first}",
        f"p < m and q < m and {first}",
        f"q <= 3 + m - 3p and {last}",
    )
    some = " or ".join(f"(exists (e: {piece}))" for piece in pieces)
    where = Set(f"[n, m, p, q] -> {{ [i, j] : 0 <= i < n and 0 <= j <= 2 and ({some}) }}")
    sizes = {str(size): as_node(size) for size in ps.sizes("n m p q i j")}
    guard = Translator(sizes, (sizes["i"], sizes["j"])).condition(where)
    assert guard is not None
    test = compile_nodes([guard])
    python = compile(" or ".join(pieces).replace("3e", "3 * e").replace("3p", "3 * p"), "", "eval")
    for at in random.Random(1).sample(list(np.ndindex(4, 7, 5, 5, 5, 4)), 300):
        point = {name: int(x) for name, x in zip("nmpqij", at, strict=True)}
        found = any(eval(python, {"e": e, **point}) for e in range(-9, 9))
        assert test(point) == (found and point["i"] < point["n"] and point["j"] <= 2,)


def test_parts_that_have_nothing_in_common_are_not_compared_in_time() -> None:
    """Each directive on parallel tiles asked for long whether two parts ran an instance twice."""
    f = ps.Func("f", (m, n + 3))
    f[i, j] = i + j
    s = ps.Schedule(f)
    s["f"].split("j", 4)
    s["f"].parallel("ji")
    s["f"].split("jo", 3, tail="mask")
    s["f"].split("joi", 2)
    s["f"].peel("ji", last=1)
    s["f"].compute_with(s["f.last"], "ji", shift=1)
    s["f.last"].wavefront("joio", "joii")
    s["f"].unroll_and_jam("wave", 3)
    s["f"].skew("joii", "ji", -1)
    assert operations(lambda: s["f.last"].unroll("wave", 2)) < 60_000


def test_a_loop_with_bounds_read_from_data_where_it_has_no_iterations() -> None:
    """Those of the loops around go further where none of its own follow: an element was read
    there of an array that is empty."""
    f, g = ps.Func("f"), ps.Func("g", (m, 1))
    ends = ps.Input("ends", ps.int16, (m,), range=(0, m))
    r = ps.RVar("r", ends[ps.clip(i, 0, m - 1)], m)
    f[i, j] = i + j
    f[i, r] = 0
    g[i, j] = f[0, 0]
    s = ps.Schedule(g)
    assert not examine(s, np.empty(0, np.int16)).breaches
    given = np.int16([1, 0, 2])
    assert not examine(s, given).breaches
    assert np.array_equal(s.compile()(given), ps.interpret(g, given))


def test_a_guard_that_holds_by_the_type_of_a_param() -> None:
    """One constant of these is beyond 64 bits: the loops were refused for it."""
    p = ps.Param("p", ps.int64)
    names = {"n": as_node(n), "p": as_node(p)}
    ends = "p >= -9223372036854775808 and p <= 9223372036854775807"
    guard = Translator(names, ()).condition(Set(f"[n, p] -> {{ [] : n > 3 and {ends} }}"))
    assert guard is not None
    shown = expr_text(guard)
    assert "n >= 4" in shown
    assert "4611686018427387904" not in shown


def test_what_a_size_bounds_is_not_stored_for_the_range_of_its_type() -> None:
    """The hull of what one read is certain to need and another one may need is bounded by the
    type of the index alone."""
    f, g = ps.Func("f"), ps.Func("g", (n,))
    rows = ps.Input("rows", ps.int16, (n,), range=(0, m))
    columns = ps.Input("columns", ps.uint16, (n,), range=(0, 3))
    f[i, j] = i + j
    g[i] = f[columns[i], columns[i]] + f[0, rows[i]] + f[3 * i, 2]
    s = ps.Schedule(g)
    few = small_sizes(s.model.context, 5)
    for region in (s.model.regions[f], filled(s.model.regions[f], s.model.context, exact=True)):
        assert all(region.intersect_params(few).dim_max_val(k).to_python() < 15 for k in range(2))
    given = np.int16([1, 0, 4]), np.uint16([2, 0, 1])
    assert np.array_equal(s.compile()(*given, m=5), ps.interpret(g, *given, m=5))


def test_a_region_of_many_pieces_is_not_stored_for_the_range_of_a_type() -> None:
    """The hull of these is bounded by the type of the index alone, and there are too many to work
    with."""
    pieces = ["i = 0 and 0 <= j <= 32767 and j < m", "i = 0 and 0 <= j < 2n"]
    pieces += [f"i = {3 * k} and {-k} <= j <= n" for k in range(1, 10)]
    where = Set("[n, m] -> { [i, j] : n >= 0 and (" + ") or n >= 0 and (".join(pieces) + ") }")
    assert where.n_basic_set() > PIECES_LIMIT
    context = Set("[n, m] -> { : n >= 0 and m >= 0 }")
    found = filled(where, context, exact=True)
    assert where.is_subset(found)
    assert found.n_basic_set() <= PIECES_LIMIT
    assert found.intersect_params(small_sizes(context, 5)).dim_max_val(1).to_python() < 20


STRIDED = """
    (1 + i) mod 2 = 0 and 3 <= i < 2n and -32765 + 2i <= j <= 2 + 2i and 2j >= 5 - n + 4i and
      0 <= k <= 65535 and k < n;
    (1 + i) mod 2 = 0 and -1 <= i <= 65533 and i <= -2 + n and 7 + 3i <= 2j <= 3 + 2n + 3i and
      0 <= k <= 65535 and k < n;
    (j + k) mod 2 = 0 and k >= -8 + j and k >= -4i + j and -2n + j <= k <= 2 - 4i + j and k <=
      -4 + j and j <= 3k <= 65534 + j and 3k < n + j;
    (j + k) mod 2 = 0 and k >= -8 + j and -4i + j <= k <= 2 - 4i + j and k <= j <= 2k <= 32767
      + j and 4 + j <= 3k <= 2n + j and 4k < n + 2j;
    i = 2 and (j + k) mod 2 = 0 and k <= -10 + j and j <= 2k <= 32767 + j and 3k <= 2n + j and
      4k < n + 2j;
    i = 2 and (j + k) mod 2 = 0 and -2n + j <= k <= -10 + j and j <= 3k <= 65534 + j and 3k <
      n + j;
    i = 2 and (-j + k) mod 4 = 0 and 4 - 4n + j <= k <= -12 + j and j <= 3k <= 131070 + j and
      3k <= -2 + 2n + j;
    (1 + i) mod 2 = 0 and (1 + i + 2j) mod 4 = 0 and -1 <= i <= 131069 and i <= -3 + 2n and 3
      + 3i <= 2j < 4n + 3i and 0 <= k <= 65535 and k < n;
    k = -4i + j and 0 <= i <= 2 and i < n and 6i <= j <= 65535 + 6i and j < n + 6i
"""


def test_the_end_of_a_region_with_strides_is_not_that_of_a_type() -> None:
    """Along one axis that is said by points between its own."""
    pieces = ") or (".join(STRIDED.split(";"))
    where = Set(f"[n] -> {{ [i, j, k] : ({pieces}) }}")
    assert where.n_basic_set() > PIECES_LIMIT
    context = Set("[n] -> { : n >= 0 }")
    found = filled(where, context, exact=True)
    assert where.is_subset(found)
    assert found.n_basic_set() <= PIECES_LIMIT
    few = found.intersect_params(small_sizes(context, 5))
    assert all(few.dim_max_val(axis).to_python() < 50 for axis in range(3))


READ = """
    exists (e, v = floor((2 - i + 2j + 2k)/4):
      0 <= i <= 3 and i < m and f1 <= k < c1 + f1 and k < 2n and
      4v >= -1 + f0 - i + 4j and 4v <= -i + 2j + 2k and 4v <= -i + 4j + 2k and
      4v <= -2 + c0 + f0 - i + 4j and 4v < m - i + 4j and
      e >= 0 and -1 + f2 <= 3e <= -2 + c2 + f2 and 3e <= -2 + m and {only})
"""
ONLY = (
    "4v >= -1 + n - i + 4j",
    "4v >= -1 - i + 4j and 4v <= -3 + n - i + 4j and -2m - 2n - i + 4j + 2k < 4v",
)


def test_pieces_that_fall_short_of_their_hull_are_soon_known() -> None:
    """What two reads of a part of a result need, at c elements from f on along each axis: their
    ends have hundreds of cases, and those of the sets around them few."""
    sizes = "[m, n, c0, c1, c2, f0, f1, f2] ->"
    where = Set(f"{sizes} {{ [i, j, k] : {' or '.join(READ.format(only=x) for x in ONLY)} }}")
    context = Set(
        f"{sizes} {{ : c0 >= 0 and c1 >= 0 and c2 >= 0 and 0 <= f0 <= 1 + m - c0 and "
        "0 <= f1 <= 2 + 3n - c1 and 0 <= f2 <= m - c2 }"
    )
    assert where.n_basic_set() == 2
    found: list[Set] = []
    used = operations(lambda: found.append(filled(where, context, exact=False)))
    assert found[0].is_equal(where)
    assert used < 400_000


def test_the_lanes_of_a_vector_are_not_those_between_iterations_far_apart() -> None:
    """Each vector of the copy needs up to two elements, whose bounds have no constraint of its four
    lanes in common."""
    rows = ps.Input("rows", ps.int16, (n,), range=(0, n))
    f = ps.Func("f", (n, n))
    at = 2 * j - 3
    f[i, j] = rows[j] + ps.select((at >= 0) & (at < n), rows[at], i)
    s = ps.Schedule(f)
    s[f].transform(["i", "j"], lambda a, b: (2 * a + b, b))
    s[f].reorder("j", "i").stage("rows", at="i", pad=True)
    s["rows.i"].vectorize("x0", 4)
    s.assume(n < 1 << 20)
    given = np.int16([4, 2, 0, 1, 3])
    assert np.array_equal(s.compile()(given), ps.interpret(f, given))
    assert all(int(lanes) <= 4 for lanes in re.findall(r"<(\d+) x i32>", s.compile().llvm))


def test_loops_begin_only_where_a_line_crosses_the_loop_around_them() -> None:
    """A result needs two lines of a plane, with an axis of its own behind each point: iterations
    grow with the points of the plane and those behind the lines, not with those of the box."""
    k = ps.vars("k")
    f, g = ps.Func("f"), ps.Func("g", (n, n))
    f[i, j, k] = 1.0 * i + j * k
    g[i, k] = f[i, i, k] + f[i, n - i, 2 * k]
    s = ps.Schedule(g)
    s[f].compute_root()
    listing = str(s)
    assert listing.index("i + j == n") < listing.index("for k"), listing
    size = 16
    with counted(2 * (size + 1) * size + 6 * size * size):
        assert not examine(s, n=size).breaches
    assert np.array_equal(s.compile()(n=size), ps.interpret(g, n=size))


@SCHEDULES
def test_a_func_that_no_accepted_size_needs(make: Any) -> None:
    """An RVar from `m + 1` to 0 has no values: the pieces of what it reads have no hull."""
    r = ps.RVar("r", m + 1, 0)
    f, g = ps.Func("f"), ps.Func("g", (n,))
    f[i, j] = i + j
    g[i] = 3
    g[i] += f[2 * r, i % 3] + f[r - 7, i]
    s = make(g)
    for place in (lambda: None, lambda: s["f"].compute_at(s["g"].update(0), "r")):
        place()
        assert "g[i] = 3" in str(s)
        assert s.compile()(n=4, m=2).tolist() == [3, 3, 3, 3]
        assert not examine(s, n=4, m=2).breaches
