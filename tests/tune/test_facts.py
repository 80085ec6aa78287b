"""Facts of programs, compared with what their schedules and the interpreter say."""

from __future__ import annotations

import pytest
from gallery.case import Case
from gallery.execute import schedule
from gallery.registry import CASES

import polysched as ps
from polysched.poly.directives.kinds import Parallel
from polysched.poly.schedule.stages import StageHandle
from polysched.tune.facts.amount import amount_of
from polysched.tune.facts.facts import Facts, facts_of
from polysched.tune.facts.sizes import USUAL

from .programs import i, j, m, n, product

#: `parallel` is proven for one loop after the other, which takes long where there are many.
TOO_LARGE = 40


def blur() -> ps.Func:
    x = ps.Input("x", ps.float32, (n + 2, m))
    rows, f = ps.Func("rows"), ps.Func("f", (n, m))
    rows[i, j] = x[i, j] * 2
    f[i, j] = rows[i, j] + rows[i + 1, j] + rows[i + 2, j]
    return f


def smoothed() -> ps.Func:
    """Gauss-Seidel steps: each element needs neighbours of this step and of the last one."""
    t = ps.vars("t")
    steps = ps.size("steps")
    x = ps.Input("x", ps.float64, (n, m))
    f = ps.Func("f", (steps, n, m))
    inside = (t > 0) & (i > 0) & (i < n - 1) & (j > 0) & (j < m - 1)
    before = ps.clip(t - 1, 0, steps - 1)
    up, left = ps.clip(i - 1, 0, n - 1), ps.clip(j - 1, 0, m - 1)
    down, right = ps.clip(i + 1, 0, n - 1), ps.clip(j + 1, 0, m - 1)
    new, old = f[t, up, right] + f[t, i, left], f[before, down, j] + f[before, i, right]
    f[t, i, j] = ps.select(inside, new + old + f[before, up, right], x[i, j])
    return f


# statements -------------------------------------------------------------------------------------
def test_a_product() -> None:
    found = ps.facts(product(), sizes={"n": 40, "m": 50, "q": 60})
    assert found.sizes == {"n": 40, "q": 60, "m": 50}
    update = found.statement("C.update(0)")
    assert update.kind == "float reduction"
    assert [(x.name, x.extent, x.is_reduction, x.parallel) for x in update.loops] == [
        ("i", 40, False, True),
        ("j", 50, False, True),
        ("k", 60, True, False),
    ]
    assert update.instances == 40 * 50 * 60
    assert update.operations == {"multiply-add float32": 1}
    strides = {(a.tensor, a.is_write): (a.strides, a.elements) for a in update.accesses}
    assert strides == {
        ("A", False): ((60, 0, 1), 40 * 60),
        ("B", False): ((0, 1, 50), 60 * 50),
        ("C", False): ((50, 1, 0), 40 * 50),
        ("C", True): ((50, 1, 0), 40 * 50),
    }
    assert update.permutable == (("i", "j", "k"),)


@pytest.mark.parametrize(
    ("dtype", "kind"), [(ps.int32, "reduction"), (ps.float64, "float reduction")]
)
def test_the_order_of_a_sum_matters_where_it_rounds(dtype: ps.DType, kind: str) -> None:
    assert ps.facts(product(dtype)).statement("C.update(0)").kind == kind


def test_kinds() -> None:
    index, x = ps.Input("index", ps.int32, (n,), range=(0, m)), ps.Input("x", ps.float32, (m,))
    r = ps.RVar("r", 0, n)
    counts, taken, sums = ps.Func("counts", (m,)), ps.Func("taken", (n,)), ps.Func("sums", (n,))
    counts[j] = 0
    counts[index[r]] += 1
    taken[i] = x[index[i]]
    sums[i] = ps.select(i > 0, sums[i - 1], 0) + index[i]
    kinds = {s.name: s.kind for s in ps.facts([counts, taken, sums]).statements}
    assert kinds == {
        "counts": "pointwise",
        "counts.update(0)": "scatter",
        "taken": "gather",
        "sums": "recurrence",
    }


def test_what_needs_nothing_computed_before_does_not_wait() -> None:
    """A running sum: the elements that are added are converted at any time."""
    x, f, r = ps.Input("x", ps.uint8, (n, m)), ps.Func("f", (n, m)), ps.RVar("r", 0, m)
    f[i, 0] = ps.cast(ps.int32, x[i, 0])
    f[i, j] = f[i, j - 1] + ps.cast(ps.int32, x[i, j])
    g = ps.Func("g", (n,))
    g[i] = ps.sum(f[i, r], r)
    found = ps.facts(g)
    assert dict(found.statement("f.piece(1)").operations) == {"add int32": 1, "convert int32": 1}
    assert found.statement("f.piece(1)").waiting == (("add int32", 1),)
    assert [s.name for s in found.statements if s.waiting] == ["f.piece(1)"]


def test_functions_count_as_what_they_are_made_of() -> None:
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = ps.exp(x[i]) + ps.exp(x[i]) * x[i]
    found = ps.facts(f).statement("f").operations
    once = ps.Func("once", (n,))
    once[i] = ps.exp(x[i])
    alone = ps.facts(once).statement("once").operations
    assert alone["multiply-add float32"] > 3
    assert found["multiply-add float32"] == alone["multiply-add float32"] + 1


def test_a_triangle_has_half_of_its_square() -> None:
    k = ps.RVar("k", 0, i + 1)
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = 0
    f[i] += x[k]
    update = ps.facts(f, sizes={"n": 1000}).statement("f.update(0)")
    assert [x.extent for x in update.loops] == [1000, 1000]
    assert abs(update.instances - 1000 * 1001 // 2) < 1001


def test_there_is_no_fact_of_another_statement() -> None:
    with pytest.raises(KeyError, match="g"):
        ps.facts(product()).statement("g")


def test_strides_are_those_in_the_middle_where_an_index_is_clamped() -> None:
    x, index = ps.Input("x", ps.float32, (n, m)), ps.Input("index", ps.int32, (m,), range=(0, m))
    f = ps.Func("f", (n, m))
    f[i, j] = x[ps.clip(i - 1, 0, n - 1), m - 1 - j] + x[i, j // 2] + x[i, index[j]]
    accesses = ps.facts(f, sizes={"n": 50, "m": 60}).statement("f").accesses
    reads = sorted((a.strides for a in accesses if a.tensor == "x"), key=str)
    assert reads == [(60, -1), (60, 0.5), (60, None)]


@pytest.mark.parametrize(
    ("index", "stride"),
    [
        (i // 3, 1 / 3),
        (3 * i // 2, 1.5),
        (i // 2 - 1 + 2 * (i % 2), 0.5),  # the farther one of two neighbours
        (i + 1 - 2 * (i % 2), 1.0),  # pairs change places
        (i % 4, None),
        (i * i, None),
    ],
)
def test_strides_are_fractions_where_indices_are_near_a_line(
    index: ps.Expr, stride: float | None
) -> None:
    x, f = ps.Input("x", ps.float32, (m,)), ps.Func("f", (n,))
    f[i] = x[ps.clip(index, 0, m - 1)]
    (read,) = (
        a
        for a in ps.facts(f, sizes={"n": 1000, "m": 2000000}).statement("f").accesses
        if not a.is_write
    )
    (found,) = read.strides
    assert found == (stride if stride is None else pytest.approx(stride, rel=5e-3))
    assert read.is_irregular


@pytest.mark.parametrize("extent", [8, 10, 12, 16, 20, 24, 1000])
def test_a_clamped_index_is_regular_however_short_its_loop(extent: int) -> None:
    x, f = ps.Input("x", ps.float32, (n,)), ps.Func("f", (n,))
    f[i] = x[ps.clip(i - 1, 0, n - 1)]
    accesses = ps.facts(f, sizes={"n": extent}).statement("f").accesses
    assert [a.strides for a in accesses] == [(1,), (1,)]


@pytest.mark.parametrize("extent", [0, 1, 2])
@pytest.mark.parametrize("index", [i % 64, i // 2, ps.clip(i - 64, 0, m - 1), 64 - 64 * (i % 2)])
def test_loops_that_hardly_run_have_facts(index: ps.Expr, extent: int) -> None:
    x, f = ps.Input("x", ps.float32, (m,)), ps.Func("f", (n,))
    f[i] = x[ps.clip(index, 0, m - 1)]
    for sizes in ({"n": extent, "m": 64}, {"n": extent, "m": 1}):
        assert len(ps.facts(f, sizes=sizes).statement("f").accesses) == 2


@pytest.mark.parametrize("extent", [8, 9, 960, 1000, 1001, 1024])
@pytest.mark.parametrize("by", [2, 5, 32])
def test_elements_are_no_fewer_than_are_touched(extent: int, by: int) -> None:
    x, f = ps.Input("x", ps.float32, (m,)), ps.Func("f", (n,))
    f[i] = x[ps.clip(i // by, 0, m - 1)]
    accesses = ps.facts(f, sizes={"n": extent, "m": 5000}).statement("f").accesses
    (read,) = (a for a in accesses if not a.is_write)
    assert read.elements >= (extent - 1) // by + 1


def test_a_tuple_is_written_whole_and_read_by_its_values() -> None:
    x = ps.Input("x", ps.float32, (n,))
    pair, f = ps.Func("pair", (n,), (ps.float32, ps.int64)), ps.Func("f", (n,))
    pair[i] = (x[i], i)
    f[i] = pair[n - 1 - i][0]
    found = ps.facts([pair, f])
    assert [a.bytes for a in found.statement("pair").accesses] == [4, 12]
    assert [a.bytes for a in found.statement("f").accesses] == [4, 4]


def test_a_program_and_an_array_that_is_updated() -> None:
    a, t = ps.InOut("a", ps.float32, (n,)), ps.RVar("t", 1, n)
    a[t] = a[t - 1] + a[t]
    found = ps.facts(ps.Program(a), sizes={"n": 9})
    assert found == ps.facts(a, sizes={"n": 9})
    (update,) = found.statements
    assert (update.kind, update.loops[0].parallel) == ("recurrence", False)


# windows ----------------------------------------------------------------------------------------
def window(
    found: Facts, producer: str, loop: str
) -> tuple[tuple[int, ...], tuple[float, ...], str]:
    (window,) = [w for w in found.windows if w.producer == producer]
    (x,) = [x for x in window.loops if x.loop == loop]
    return x.widths, x.steps, x.relation


def test_rows_of_a_stencil_slide() -> None:
    found = ps.facts(ps.Schedule.default(blur()), sizes={"n": 100, "m": 80})
    assert window(found, "rows", "i") == ((3, 80), (1.0, 0.0), "slides")
    assert window(found, "rows", "j") == ((3, 1), (0.0, 1.0), "disjoint")


def test_windows_of_a_pyramid_and_of_all() -> None:
    x = ps.Input("x", ps.float32, (2 * n, m))
    half, up, f = ps.Func("half", (n, m)), ps.Func("up", (2 * n, m)), ps.Func("f", (2 * n, m))
    r = ps.RVar("r", 0, 2 * n)
    half[i, j] = x[2 * i, j] + x[2 * i + 1, j]
    half[i, 0] += x[i, 0] * 0
    up[i, j] = half[i // 2, j] * 2
    up[i, 0] += x[i, 0] * 0
    f[i, j] = up[i, ps.clip(j, 0, m - 1)] + ps.sum(up[r, 0], r)
    found = ps.facts(f, sizes={"n": 64, "m": 80})
    steps = [w for w in found.windows if w.producer == "half" and w.consumer == "up"]
    assert [(x.steps, x.widths) for x in steps[0].loops] == [
        ((0.5, 0.0), (1, 80)),
        ((0.0, 1.0), (1, 1)),
    ]
    (of_all,) = [w for w in found.windows if w.producer == "up" and w.consumer != "f"]
    assert of_all.widths == (128, 1)


def test_what_an_iteration_needs_regardless_is_whole() -> None:
    x = ps.Input("x", ps.float32, (m,))
    table, f = ps.Func("table", (m,)), ps.Func("f", (n, m))
    table[j] = x[j]
    table[0] += 1
    f[i, j] = table[j]
    found = ps.facts(f, sizes={"n": 8, "m": 16})
    assert window(found, "table", "i") == ((16,), (0.0,), "whole")


# distances --------------------------------------------------------------------------------------
def test_distances_apart_by_the_loop_that_carries_them() -> None:
    found = ps.facts(smoothed())
    own = [d.spans for d in found.distances if d.source == d.sink]
    assert own == [
        ((1, 1), (-1, 1), (-1, 0)),
        ((0, 0), (1, 1), (-1, -1)),
        ((0, 0), (0, 0), (1, 1)),
    ]
    assert not any(x.parallel for x in found.statement("f").loops)


def test_the_factors_of_skews_make_loops_permutable() -> None:
    """They are of the loops as written: so the innermost loop is skewed first."""
    f = smoothed()
    step = ps.facts(f).statement("f")
    assert step.permutable == (("t",), ("i",), ("j",))
    assert step.skewable == {"i": {"t": 1}, "j": {"t": 2, "i": 1}}
    s = ps.Schedule.default(f)
    at = s["f"]
    for inner, factors in reversed(step.skewable.items()):
        for outer, factor in factors.items():
            at.skew(outer, inner, factor)
    assert len(at.permutable) == 1


def is_refuted(s: ps.Schedule, stage: str, loop: str) -> bool:
    """Whether two instances show that a loop may not run in parallel."""
    if s.legal(Parallel(stage, loop=loop)):
        return False
    try:
        StageHandle(s.copy(), stage).parallel(loop)
    except ps.ScheduleError as error:
        return error.status != "unproved"
    return False


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_loops_that_are_called_parallel_may_be(case: Case) -> None:
    s = schedule(case)
    if len(s.model.statements) > TOO_LARGE:
        pytest.skip("many stages")
    parallel = [
        (statement.name, loop.name)
        for statement in facts_of(s.rewritten, {}).statements
        for loop in statement.loops
        if loop.parallel
    ]
    assert [x for x in parallel if is_refuted(s, *x)] == []


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_extents_are_those_of_the_loops(case: Case) -> None:
    """The interval of each loop, found by isl, is within what the loops' bounds allow; it is
    longer only where the loop moves along with those around, and is as long in the middle."""
    s = schedule(case)
    sizes = {name: 3 + k for k, name in enumerate(s.model.params)}
    try:
        found = facts_of(s.rewritten, sizes)
    except ps.ScheduleError:
        found = facts_of(s.rewritten, {})  # these sizes do not go together
    bounds = s.extents(**{k: v for k, v in found.sizes.items() if k in s.parameters})
    for statement in found.statements:
        own = bounds.get(statement.name, {})
        for loop in statement.loops:
            most = own.get(loop.name, loop.extent)
            assert loop.middle <= min(loop.extent, most)
            assert loop.extent <= most or loop.middle < loop.extent


@pytest.mark.parametrize("case", CASES[::8], ids=lambda c: c.name)
@pytest.mark.parametrize("size", [0, 1, 100])
def test_the_amount_is_known_without_dependences(case: Case, size: int) -> None:
    """Operators and accesses of all instances."""
    rewritten = schedule(case).rewritten
    sizes = {"n": size}
    found = facts_of(rewritten, None, sizes)
    assert amount_of(rewritten, sizes) == sum(
        s.instances * (sum(s.operations.values()) + len(s.accesses)) for s in found.statements
    )


# sizes ------------------------------------------------------------------------------------------
def test_sizes_that_nobody_gives() -> None:
    assert ps.facts(product(), sizes={"m": 7}).sizes == {"n": USUAL, "q": USUAL, "m": 7}


def test_sizes_are_those_that_the_program_accepts() -> None:
    x, f = ps.Input("x", ps.float32, (m,)), ps.Func("f", (n,))
    f[i] = x[i]
    ps.require(m == 3 * n, "three for each", f)
    assert ps.facts(f).sizes == {"n": 341, "m": 1023}
    assert ps.facts(f, sizes={"m": 12}).sizes == {"n": 4, "m": 12}


def test_sizes_that_do_not_go_together() -> None:
    x, f = ps.Input("x", ps.float32, (m,)), ps.Func("f", (n,))
    f[i] = x[i]
    ps.require(m == 3 * n, "three for each", f)
    with pytest.raises(ps.ScheduleError, match="accepts no call with n=4, m=13"):
        ps.facts(f, sizes={"n": 4, "m": 13})


def test_a_name_that_is_no_size() -> None:
    with pytest.raises(ps.LanguageTypeError, match=r"^k is no size of this program") as e:
        ps.facts(product(), sizes={"k": 3})
    assert "they are n, q, m" in str(e.value)


@pytest.mark.parametrize("number", [-1, 2.0, True, "8", 2**40])
def test_a_number_that_is_no_size(number: object) -> None:
    with pytest.raises(ps.ScheduleError, match="a size is"):
        ps.facts(product(), sizes={"n": number})


def test_facts_are_the_same_each_time() -> None:
    first, second = ps.facts(blur()), ps.facts(blur())
    assert repr(first) == repr(second)


def test_loops_that_run_over_no_dimension_are_called_neither_parallel_nor_permutable() -> None:
    """The order that is found for it runs along i + j: no loop of it is one of its dimensions."""
    x, f = ps.Input("x", ps.float32, (n, n)), ps.Func("f", (n, n))
    ahead = f[ps.clip(i - 1, 0, n - 1), ps.clip(j + 2, 0, n - 1)]
    back = f[ps.clip(i + 1, 0, n - 1), ps.clip(j - 1, 0, n - 1)]
    f[i, j] = ps.select((i > 0) & (j < n - 2) & (i < n - 1) & (j > 0), ahead + back, x[i, j])
    s = ps.Schedule.default(f)
    (statement,) = facts_of(s.rewritten, {}).statements
    loops = [loop.name for loop in statement.loops]
    assert loops == ["i", "j"] != [loop.name for loop in s["f"].loops]
    assert not any(loop.parallel for loop in statement.loops)
    assert statement.permutable == (("i",), ("j",))
    assert statement.skewable == {}


def test_a_set_with_gaps_may_have_no_first_value_of_a_dimension_either() -> None:
    rows, columns, period = ps.sizes("rows columns period")
    a, b = ps.vars("a b")
    zero, f = ps.Func("zero"), ps.Func("f")
    zero[a, b] = 0
    f[a, b] = 0
    r, s = ps.RVar("r", rows // 2, rows), ps.RVar("s", 0, columns)
    f[0, b] &= zero[r, (s - r) % period]
    found = ps.Schedule.auto(f)
    assert found.to_json() == ps.Schedule.auto(f).to_json()
