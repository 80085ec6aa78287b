"""`check` passes what is right, and finds what is wrong: each kind of breach, made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gallery.case import Case
from gallery.execute import schedule
from gallery.registry import CASES, some

import polysched as ps
from polysched.checking import subject
from polysched.checking.examine import check, examine
from polysched.checking.report import CheckError
from polysched.codegen.ir import ir
from polysched.codegen.ir.rewrite import map_expressions, map_module, map_stores
from polysched.interp import instances
from polysched.lang.nodes import index as ix
from polysched.lang.nodes.nodes import Const, integer
from polysched.poly.report.analysis import Analysis

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def blurred() -> ps.Func:
    """Two stages that share nothing but a Func in between."""
    a = ps.Input("a", ps.int32, (n,))
    b = ps.Func("b", (n,))
    b[i] = a[i] * 2
    c = ps.Func("c", (n,))
    c[i] = b[i] + b[ps.clip(i - 1, 0, n - 1)]
    return c


def product() -> ps.Func:
    a = ps.Input("a", ps.float32, (n, m))
    k = ps.RVar("k", 0, m)
    c = ps.Func("c", (n, n))
    c[i, j] = 0.0
    c[i, j] += a[i, k] * a[j, k]
    return c


def numbers(*shape: int, dtype: Any = np.int32) -> Any:
    return (np.random.default_rng(0).standard_normal(shape) * 5).astype(dtype)


def kinds(schedule: ps.Schedule, **arguments: Any) -> set[str]:
    """Of the breaches that are found."""
    report = examine(schedule, **arguments)
    return set(report.counts) - {"instances", "reads", "beyond"}


# what is right -----------------------------------------------------------------------------------
@pytest.mark.parametrize("case", some(36), ids=lambda case: case.name)
def test_the_gallery_passes(case: Case) -> None:
    arguments = case.arguments(3, np.random.default_rng(3))
    report = check(schedule(case), **arguments)
    assert report.counts["instances"] or not any(np.size(a) for a in arguments.values())


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("size", [0, 1, 3])
def test_all_of_the_gallery_passes(case: Case, size: int) -> None:
    check(schedule(case), **case.arguments(size, np.random.default_rng(size)))


def test_every_instance_is_seen() -> None:
    func = blurred()
    schedule = ps.Schedule(func)
    report = check(schedule, a=numbers(5))
    points = {(x.definition.serial, tuple(x.point.values()))
              for x in instances(schedule.program, {"n": 5})}  # fmt: skip
    assert set(report.ran) == points
    assert report.counts["reads"] == 5 + 9


def test_directives_pass() -> None:
    schedule = ps.Schedule(product())
    u = schedule["c"].update(0)
    u.tile(i, j, 2, 4)
    u.reorder("k", "ii").vectorize("ji").unroll("ii").parallel("io")
    report = check(schedule, a=numbers(5, 3, dtype=np.float32))
    assert report.counts["instances"] == 25 * 4


def test_an_accumulation_may_come_in_any_order_where_that_is_said() -> None:
    schedule = ps.Schedule(product())
    u = schedule["c"].update(0)
    u.reassociate().transform([ps.RVar("k", 0, m)], lambda k: -k)
    check(schedule, a=numbers(3, 4, dtype=np.float32))


# what is wrong -----------------------------------------------------------------------------------
def test_a_sum_in_another_order_is_found() -> None:
    schedule = ps.Schedule(product())
    with schedule.trust("to see it fail"):
        schedule["c"].update(0).transform(["k"], lambda k: -k)
    assert {"flow", "live-out"} <= kinds(schedule, a=numbers(3, 4, dtype=np.float32))


def test_a_race_is_found() -> None:
    schedule = ps.Schedule(product())
    with schedule.trust("to see it fail"):
        schedule["c"].update(0).parallel("k")
    assert kinds(schedule, a=numbers(3, 4, dtype=np.float32)) == {"race"}


def test_lanes_that_need_each_other_are_found() -> None:
    a = ps.Input("a", ps.int32, (n,))
    r = ps.RVar("r", 1, n)
    f = ps.Func("f", (n,))
    f[i] = a[i]
    f[r] = f[r - 1] * 2
    schedule = ps.Schedule(f)
    with schedule.trust("to see it fail"):
        schedule["f"].update(0).vectorize(r, 4)
    assert "flow" in kinds(schedule, a=numbers(6))


def test_lanes_that_write_one_place_are_found() -> None:
    a = ps.Input("a", ps.int32, (n,))
    r = ps.RVar("r", 0, n)
    f = ps.Func("f", (n,))
    f[i] = 0
    f[r // 2] = a[r]
    schedule = ps.Schedule(f)
    with schedule.trust("to see it fail"):
        schedule["f"].update(0).vectorize(r, 4)
    assert "lane" in kinds(schedule, a=numbers(6))


def test_a_plane_too_few_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    t = ps.vars("t")
    u = ps.Func("u", (m + 1, n))
    u[t, i] = ps.select(t > 1, u[t - 1, i] + u[t - 2, i], i)
    res = ps.Func("res", (n,))
    res[i] = u[m, i]
    schedule = ps.Schedule(res)
    window = next(iter(schedule.windows.values()))
    check(schedule, n=2, m=5)
    fewer = {f: replace(w, planes=w.planes - 1) for f, w in schedule.windows.items()}
    monkeypatch.setattr(Analysis, "windows", fewer)
    assert window.planes > 1
    assert "flow" in kinds(ps.Schedule(res), n=2, m=5)


def test_breaches_of_the_loops_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that is one iteration too short, too long, or begins one too early."""
    schedule = ps.Schedule(blurred())
    whole = subject.module_of(schedule)
    for lo, hi, found in ((0, -1, "coverage"), (0, 1, "bounds"), (-1, 0, "bounds")):
        broken = map_module(whole, lambda s, lo=lo, hi=hi: _moved(s, lo, hi))
        monkeypatch.setattr(subject, "module_of", lambda schedule, broken=broken: broken)
        assert found in kinds(schedule, a=numbers(5))


def _moved(stmt: ir.Stmt, lo: int, hi: int) -> ir.Stmt:
    if not isinstance(stmt, ir.For):
        return stmt
    return replace(stmt, lo=ix.add(stmt.lo, integer(lo)), hi=ix.add(stmt.hi, integer(hi)))


def test_a_load_that_is_left_out_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = ps.Schedule(blurred())
    never = ix.compare("lt", ix.ZERO, ix.ZERO)

    def cut(store: ir.Store) -> ir.Store:
        value = store.value.with_args(tuple(map(guarded, store.value.args)))
        return replace(store, value=value)

    def guarded(node: Any) -> Any:
        return ir.Load(node.buffer, node.index, never, node.type) if _is_load(node) else node

    broken = map_stores(subject.module_of(schedule), cut)
    monkeypatch.setattr(subject, "module_of", lambda schedule: broken)
    assert "guard" in kinds(schedule, a=numbers(5))


def _is_load(node: Any) -> bool:
    return isinstance(node, ir.Load)


def test_an_instance_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = ps.Schedule(blurred())

    def twice(stmt: ir.Stmt) -> ir.Stmt:
        return ir.Seq((stmt, stmt)) if isinstance(stmt, ir.Stores) else stmt

    broken = map_module(subject.module_of(schedule), twice)
    monkeypatch.setattr(subject, "module_of", lambda schedule: broken)
    with pytest.raises(CheckError, match="twice"):
        check(schedule, a=numbers(5))


def indexed() -> ps.Func:
    """A Func is read where data say, and is the same everywhere."""
    a = ps.Input("a", ps.int32, (n,))
    b, c = ps.Func("b", (n,)), ps.Func("c", (n,))
    b[i] = a[1]
    c[i] = b[ps.clip(a[i], 0, n - 1)] + a[ps.clip(a[i], 0, n - 1)] - a[n - 1 - i]
    return c


def test_an_index_that_nobody_needs_is_not_read() -> None:
    """a[i] says which b is read; what stands in its place needs none."""
    whole = indexed()
    only = ps.Func("only", (n,))
    a, b = ps.Input("a", ps.int32, (n,)), ps.Func("b", (n,))
    b[i] = a[1]
    only[i] = b[ps.clip(a[i], 0, n - 1)]
    for made in (whole, only):
        assert not examine(ps.Schedule(made), a=np.arange(5, dtype=np.int32)).breaches


def test_an_index_that_nobody_needs_beside_a_copy() -> None:
    a, p = ps.Input("a", ps.int32, (n,)), ps.Input("p", ps.int32, (n,))
    g, f = ps.Func("g", (n,)), ps.Func("f", (n,))
    g[i] = 7
    f[i] = g[ps.clip(p[i], 0, n - 1)] + a[i]
    s = ps.Schedule(f)
    s["g"].compute_inline()
    s["f"].stage("a", at=i)
    assert not examine(s, a=numbers(4), p=numbers(4)).breaches


def test_a_component_that_nobody_reads_needs_nothing() -> None:
    """g is inlined into who reads its first component: what the second one is made of at -1 is
    computed nowhere."""
    a = ps.Input("a", ps.int32, (m,))
    b, g, f = ps.Func("b"), ps.Func("g"), ps.Func("f", ())
    b[i] = 2 * i
    g[i] = (a[i], b[i - 1])
    f[()] = b[0] + g[0][0]
    s = ps.Schedule(f)
    s["b"].compute_root()
    assert not examine(s, a=numbers(3)).breaches


def test_a_component_that_nobody_reads_beside_an_index_that_data_say() -> None:
    """f reads row 0 of b, wherever p says: row 1 is needed by the second component of g alone."""
    p = ps.Input("p", ps.int32, (m,), range=(0, m))
    b, g, f = ps.Func("b"), ps.Func("g"), ps.Func("f", (m,))
    b[i, j] = 2 * i + j
    g[i] = (b[0, p[i]], b[1, 0])
    f[i] = g[i][0]
    s = ps.Schedule(f)
    s["b"].compute_root()
    assert not examine(s, p=np.int32([2, 0, 1])).breaches


def test_an_index_of_data_that_do_not_change_is_known() -> None:
    """Only its row says that f reads h[3], and g, which is put in its place, has no use for that.
    Where h is read instead, data say, but never at 3."""
    p = ps.Input("p", ps.int32, (n,), range=(0, 2))
    h, g, f = ps.Func("h"), ps.Func("g", (4, 4)), ps.Func("f", (n,))
    h[i] = i % 4
    g[i, j] = h[2 * j] + 1
    f[i] = g[ps.clip(h[3], 0, 3), p[i]]
    s = ps.Schedule(f)
    s["h"].compute_root()
    s["g"].compute_inline()
    assert not examine(s, p=np.int32([0, 1, 0])).breaches


def test_an_element_that_only_another_iteration_needs() -> None:
    """b is fresh in each iteration of t, and more of it is computed than is read: an element that
    nobody needs in one iteration may be needed in another."""
    a = ps.InOut("a", ps.int64, (n,))
    with ps.sequential("t", 0, 3) as t:
        b = ps.Func("b")
        b[i] = i * i + t
        b[i] += 1
        with ps.sequential("u", 0, t + 1) as u:
            a[i] = a[i] + b[ps.clip(ps.cast(ps.uint8, u) * 3, 0, 3)]
    report = examine(ps.Schedule(a), a=np.arange(4))
    assert report.counts["beyond"] > 0
    assert not report.breaches


def test_a_guard_reads_nothing_at_an_index_that_it_leaves_out() -> None:
    """R[n - 1] is needed for `value`, which says whether `value` is needed: its guard does without
    it, and so without the A that it is an index of. A[m, 0] is outside."""
    R = ps.Input("R", ps.int32, (n,), range=(0, n))
    A = ps.Input("A", ps.uint16, (n, n))
    wide = ps.select(m < n, A[m, R[n - 1]], ps.cast(ps.int64, 5))
    value = ps.cast(ps.uint16, wide)
    f = ps.Func("f", (n,))
    f[i] = ps.select(ps.select(n - 1 - i >= 0, R[n - 1 - i], value) != 0, 0, value)
    arrays = {"A": np.ones((2, 2), np.uint16), "R": np.int32([0, 1])}
    assert not examine(ps.Schedule(f), **arrays, m=9).breaches


def test_a_read_that_is_left_out_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some reads are gone; others must not be."""

    def left_out(node: Any) -> Any:
        is_load = isinstance(node, ir.Load) and node.buffer.name == "p"
        return Const(0, ps.int32) if is_load else node

    meant = subject.build
    monkeypatch.setattr(subject, "build", lambda s: map_expressions(meant(s), left_out))
    a, p, f = ps.Input("a", ps.int32, (n,)), ps.Input("p", ps.int32, (n,)), ps.Func("f", (n,))
    f[i] = a[i] + p[i]
    assert "flow" in kinds(ps.Schedule(f), a=numbers(5), p=numbers(5))


def test_what_takes_itself_away_is_read() -> None:
    """The condition holds wherever this runs: x - x is left, not 0."""
    f = ps.Func("f", (n,), ps.int64)
    r = ps.RVar("r", 1, n, where=lambda r: r % 2 == 0)
    f[i] = 3
    f[r] -= ps.select(r % 2 == 0, f[r], 3)
    assert not examine(ps.Schedule(f), n=5).breaches


def test_partial_results_of_two_updates() -> None:
    """The second goes on from what the partial ones of the first have made."""
    a, f = ps.Input("a", ps.int64, (n, m)), ps.Func("f", (n, m), ps.int64)
    r, q = ps.RVar("r", 0, m), ps.RVar("q", 0, m)
    f[i, j] = 0
    f[i, 0] += a[i, r]
    f[i, q] = ps.maximum(f[i, q], 0)
    s = ps.Schedule(f)
    s["f.update(0)"].split("r", 4)
    s["f.update(1)"].rfactor("q")
    s["f.update(0)"].rfactor("ri")
    assert not examine(s, a=numbers(3, 5, dtype=np.int64)).breaches


def test_an_extern_stage_is_refused() -> None:
    a = ps.Input("a", ps.float32, (n,))
    f = ps.extern("f", np.sort, [a], (n,), ps.float32)
    with pytest.raises(ps.LanguageError, match="extern"):
        check(ps.Schedule(f), a=numbers(5, dtype=np.float32))


def test_a_placed_func_is_needed_in_part_whatever_its_shape() -> None:
    a = ps.Input("a", ps.int32, (n,))
    products = ps.Func("products", (n, n))
    products[i, j] = a[i] * a[j]
    r = ps.RVar("r", 0, i + 1)
    f = ps.Func("f", (n,))
    f[i] = 0
    f[i] += products[i, r] - products[i, i - r]
    schedule = ps.Schedule(f)
    schedule["products"].compute_at(schedule[f].update(0), "i")
    assert "for j in [0, i + 1):" in str(schedule)
    check(schedule, a=numbers(5))


@pytest.mark.parametrize("loop", ["i", "j"])
def test_reads_keep_their_conditions_where_storage_is_local(loop: str) -> None:
    """What is in bounds of the whole Func is not, of the part that an iteration keeps."""
    a = ps.Input("a", ps.int32, (n + 4,))
    f = ps.Func("f")
    f[i] = a[i + 2] * 2
    g = ps.Func("g", (n, 2))
    g[i, j] = ps.select(i % 2 == 0, f[i // 2 - 1] + f[i // 2], f[i // 2])
    schedule = ps.Schedule(g)
    schedule["f"].compute_at(g, loop)
    for size in (1, 2, 3, 6):
        check(schedule, a=numbers(size + 4))


@pytest.mark.parametrize("size", [4, 5, 7])
def test_lanes_that_do_not_run_need_no_condition(size: int) -> None:
    x = ps.Input("x", ps.int32, (n,))
    r = ps.RVar("r", 0, n, where=lambda r: x[r] > 1)
    f = ps.Func("f", (n,))
    f[i] = 1
    f[r] += x[r]
    s = ps.Schedule(f)
    s["f"].update(0).vectorize("r", 4)
    check(s, x=np.arange(size, dtype=np.int32))


def test_atomic_additions_meet_nothing_else() -> None:
    """Sums may meet each other; who reads what they have come to so far may not."""
    n, i = ps.size("n"), ps.vars("i")
    a, b = ps.Input("a", ps.int64, (n,)), ps.InOut("b", ps.int64, (1,))
    y = ps.InOut("y", ps.int64, (n,))
    with ps.sequential("t", 0, n) as t:
        b[0] += a[t]
        y[t] = b[0]
    s = ps.Schedule((b, y))
    s["b"].atomic()
    with s.trust("to see that it is found"):
        s["b"].parallel("t")
    given = {"a": np.ones(4, int), "b": np.zeros(1, int), "y": np.zeros(4, int)}
    assert "race" in {x.kind for x in examine(s, **given).breaches}
    total, k = ps.Func("total", (1,), ps.int64), ps.RVar("k", 0, n)
    total[i] = 0
    total[i] += a[k]
    s = ps.Schedule(total)
    s["total"].update(0).atomic().parallel("k")
    assert not examine(s, a=np.ones(4, int)).breaches


def test_what_a_call_is_checked_for_is_checked_first() -> None:
    """Loops rely on it: the element is read here whether it is needed or not."""
    x, f, g = ps.Input("x", ps.int8, (n,)), ps.Func("f", (2 * n,)), ps.Func("g", ())
    f[j] = 0
    g[()] = ps.select(n > m, 64, f[x[f[0]]])
    s = ps.Schedule(g)
    with pytest.raises(ps.CallValueError, match=r"x\[0\] is -5, which is used as an index of f"):
        examine(s, np.full(2, -5, np.int8), m=0)
    assert not examine(s, np.ones(2, np.int8), m=0).breaches
