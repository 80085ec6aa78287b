"""Sums over the same points are computed in one sweep over what they read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gallery.case import normal
from gallery.execute import assert_same

import polysched as ps
from polysched.targets.facts import machine
from polysched.tune import auto as tune
from polysched.tune.facts.facts import facts_of
from polysched.tune.model.model import Model
from polysched.tune.plans.plan import Plan
from polysched.tune.realise.realise import Refused, realise
from polysched.tune.search.decided import Partial, Refusals
from polysched.tune.search.refine import Refinement
from polysched.tune.search.search import Search

from .programs import i, j, m, n, product

V3, V4 = "x86-64-v3", "x86-64-v4"


def moments() -> ps.Func:
    x, k = ps.Input("x", ps.float64, (n,)), ps.RVar("k", 0, n)
    mean, f = ps.Func("mean", ()), ps.Func("f", (3,))
    mean[()] = ps.sum(x[k], k) / ps.cast(ps.float64, n)
    d = x[k] - mean[()]
    f[i] = ps.mux(i, [ps.sum(d * d, k), ps.sum(d * d * d, k), ps.sum(d * d * d * d, k)])
    return f


def forces() -> ps.Func:
    x, k, c = ps.Input("x", ps.float64, (n, 2)), ps.RVar("k", 0, n), ps.Var("c")
    d = [x[k, a] - x[i, a] for a in range(2)]
    r = d[0] * d[0] + d[1] * d[1] + 1e-3
    f = ps.Func("f", (n, 2))
    f[i, c] = ps.mux(c, [ps.sum(d[a] / (r * ps.sqrt(r)), k) for a in range(2)])
    return f


def weighted() -> ps.Func:
    """A mean of weights around each element: both sums are computed in its row."""
    x, f = ps.Input("x", ps.float32, (n + 2, m)), ps.Func("f", (n, m))
    k = ps.RVar("k", 0, 3)
    w = ps.exp(x[i + k, j] - x[i + 1, j])
    f[i, j] = ps.sum(w * x[i + k, j], k) / ps.sum(w, k)
    return f


def named_apart() -> tuple[ps.Func, ...]:
    """The same points by other names."""
    x, p, q = ps.Input("x", ps.float32, (n, m)), *ps.vars("p q")
    k, r = ps.RVar("k", 0, n), ps.RVar("r", 0, n)
    a, b = ps.Func("a", (m,)), ps.Func("b", (m,))
    a[p] = 0.0
    a[p] += x[k, p]
    b[q] = 1.0
    b[q] += ps.exp(x[r, q]) * x[r, q]
    return a, b


def by_squares() -> tuple[ps.Func, ...]:
    """A mean and a variance: the first sum is divided and scaled before the second one."""
    x, k, r = ps.Input("x", ps.float64, (n,)), ps.RVar("k", 0, n), ps.RVar("r", 0, n)
    mean, twice, var = ps.Func("mean", ()), ps.Func("twice", (n,)), ps.Func("var", ())
    mean[()] = ps.sum(x[k], k) / n
    twice[i] = 2 * mean[()] * x[i]
    var[()] = ps.sum(x[r] * x[r], r) / n - mean[()] * mean[()]
    return mean, twice, var


def by_rows() -> tuple[ps.Func, ...]:
    x, k, r = ps.Input("x", ps.float32, (n, m)), ps.RVar("k", 0, m), ps.RVar("r", 0, m)
    mean, var = ps.Func("mean", (n,)), ps.Func("var", (n,))
    mean[i] = ps.sum(x[i, k], k) / m
    var[i] = ps.sum(x[i, r] * x[i, r], r) / m - mean[i] * mean[i]
    return mean, var


def correlated() -> ps.Func:
    """Sums of two arrays, and sums of products of what is left without their means."""
    x, k, r = ps.Input("x", ps.float64, (n, 2)), ps.RVar("k", 0, n), ps.RVar("r", 0, n)
    means = [ps.Func(f"mean{a}", ()) for a in range(2)]
    centred = [ps.Func(f"centred{a}", (n,)) for a in range(2)]
    for a in range(2):
        means[a][()] = ps.sum(x[k, a], k) / n
        centred[a][i] = x[i, a] - means[a][()]
    found = [ps.Func(f"sum{a}{b}", ()) for a, b in ((0, 1), (0, 0), (1, 1))]
    for f, (a, b) in zip(found, ((0, 1), (0, 0), (1, 1)), strict=True):
        f[()] = ps.sum(centred[a][r] * centred[b][r], r)
    f = ps.Func("f", ())
    f[()] = found[0][()] / ps.sqrt(found[1][()] * found[2][()])
    return f


def searched(outputs: Any, refuses: frozenset[str] = frozenset(), **sizes: int) -> Search:
    s = ps.Schedule(outputs, target=V3)
    names = {s.program.names[x] for x in s.program.outputs}
    refusals = Refusals(alone=refuses)
    return Search(facts_of(s.rewritten, sizes), Model(machine(V3), 1), names, refusals)


def together(p: Partial) -> list[str]:
    return [name for name, d in p.funcs.items() if d.plan.host is not None]


# facts ------------------------------------------------------------------------------------------
def test_what_the_last_sum_computes_others_need_not() -> None:
    (sweep,) = ps.facts(moments()).sweeps
    assert sweep.statements == ("f.sum0.update(0)", "f.sum1.update(0)", "f.sum2.update(0)")
    own = [{name: count for name, _, count in x} for x in sweep.varying]
    assert own[:2] == [{"multiply-add float64": 1}] * 2
    assert own[2]["add float64"] == 1


def test_names_of_loops_do_not_matter() -> None:
    (sweep,) = ps.facts(named_apart()).sweeps
    assert sweep.statements == ("a.update(0)", "b.update(0)")


def sums(second: Callable[[Any, ps.Func], Any]) -> tuple[ps.Func, ps.Func]:
    x, k = ps.Input("x", ps.float32, (n, m)), ps.RVar("k", 0, n)
    a, b = ps.Func("a", (m,)), ps.Func("b", (m,))
    a[j] = 0.0
    a[j] += x[k, j]
    b[j] = 0.0
    b[j] += second(x, a)
    return a, b


SINGLE: dict[str, Callable[[Any, ps.Func], Any]] = {
    "needs the other one": lambda x, a: x[ps.RVar("k", 0, n), j] * a[j],
    "goes less far": lambda x, a: x[ps.RVar("k", 0, n - 1), j],
    "begins later": lambda x, a: x[ps.RVar("k", 1, n), j],
}


@pytest.mark.parametrize("second", SINGLE.values(), ids=list(SINGLE))
def test_what_is_apart(second: Callable[[Any, ps.Func], Any]) -> None:
    assert not ps.facts(sums(second)).sweeps


def test_what_needs_a_sum_between_can_be_put_off() -> None:
    (sweep,) = ps.facts(by_squares()).sweeps
    assert sweep.statements == ("mean.sum0.update(0)", "var.sum0.update(0)")
    assert sweep.put_off == (("mean", "twice"), ())


def test_sums_of_several_arrays_are_taken_in_one_sweep() -> None:
    first, centred, second = ps.facts(correlated()).sweeps
    assert centred.statements == ("centred0", "centred1")
    assert [len(x.statements) for x in (first, second)] == [2, 3]
    assert first.put_off[0] == ("mean0", "centred0")


def test_sums_that_need_means_are_not_computed_with_them() -> None:
    """What needs a sum by something that can be put off, needs it."""
    x, k, r = ps.Input("x", ps.float64, (n,)), ps.RVar("k", 0, n), ps.RVar("r", 0, n)
    mean, var = ps.Func("mean", ()), ps.Func("var", ())
    mean[()] = ps.sum(x[k], k) / n
    var[()] = ps.sum((x[r] - mean[()]) * (x[r] - mean[()]), r) / n
    assert not ps.facts((mean, var)).sweeps


def test_what_is_no_sum_of_its_own_is_not_put_off() -> None:
    """A running sum of the results, in the loop of which others may be."""
    x, k, r = ps.Input("x", ps.float64, (n, m)), ps.RVar("k", 0, m), ps.RVar("r", 0, m)
    total, running, squares = (ps.Func(name, (n,)) for name in ("total", "running", "squares"))
    total[i] = ps.sum(x[i, k], k)
    running[i] = ps.select(i > 0, running[ps.maximum(i - 1, 0)], 0.0) + total[i]
    squares[i] = ps.sum(x[i, r] * x[i, r], r)
    assert not ps.facts((total, running, squares)).sweeps


def test_updates_of_one_func_come_one_after_the_other() -> None:
    x, f = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (m,))
    f[j] = 0.0
    f[j] += x[ps.RVar("k", 0, n), j]
    f[j] += ps.exp(x[ps.RVar("r", 0, n), j])
    assert not ps.facts(f).sweeps


# plans ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("build", "sizes", "hosted", "shape"),
    [
        (moments, {"n": 100_000}, {"f.sum0", "f.sum1"}, lambda rows: (rows,)),
        (forces, {"n": 1000}, {"f.sum0"}, lambda rows: (rows, 2)),
        (weighted, {"n": 500, "m": 500}, {"f.sum0"}, lambda rows: (rows + 2, 21)),
        (named_apart, {"n": 2000, "m": 500}, {"a"}, lambda rows: (rows, 21)),
        (by_squares, {"n": 100_000}, {"mean.sum0"}, lambda rows: (rows,)),
        (by_rows, {"n": 2000, "m": 1000}, {"mean.sum0"}, lambda rows: (rows, 21)),
        (
            correlated,
            {"n": 100_000},
            {"mean0.sum0", "sum01.sum0", "sum00.sum0"},
            lambda rows: (rows, 2),
        ),
    ],
)
def test_sums_share_loops_and_keep_their_bits(
    build: Callable[[], Any],
    sizes: dict[str, int],
    hosted: set[str],
    shape: Callable[[int], tuple[int, ...]],
) -> None:
    s = ps.Schedule.auto(build(), sizes=sizes, threads=2, target=V3)
    found = {d.stage for d in s.directives if d.name == "compute_with"}
    assert {f"{x}.update(0)" for x in hosted} == {x for x in found if ".update(" in x}
    again = ps.Schedule.from_json(build(), s.to_json())
    kernel = again.for_target(ps.Schedule(build()).target).compile()
    dtype = np.float32 if build in (weighted, named_apart, by_rows) else np.float64
    for rows in (1, 9, 37):
        x = normal(np.random.default_rng(rows), *shape(rows)).astype(dtype)
        found, wanted = kernel(x), ps.interpret(build(), x)
        assert_same(*(y if isinstance(y, tuple) else (y,) for y in (found, wanted)))


def test_together_they_take_longer_than_one_and_less_than_each() -> None:
    search = searched(forces(), n=1000)
    whole, single = search.best(), searched(forces(), frozenset({"f.sum0"}), n=1000).best()
    assert together(whole) == ["f.sum0"]
    assert not together(single)
    host = whole.funcs["f.sum1"]
    assert search.own_seconds(whole, host) < whole.seconds < 0.8 * single.seconds


@pytest.mark.parametrize(
    ("build", "sizes"), [(forces, {"n": 1000}), (by_rows, {"n": 2000, "m": 1000})]
)
def test_such_a_plan_is_plain_data(build: Callable[[], Any], sizes: dict[str, int]) -> None:
    search = searched(build(), **sizes)
    best = search.best()
    plan = Plan.from_json(Plan(funcs=tuple(d.plan for d in best.funcs.values())).to_json())
    found = search.decided(plan.funcs)
    assert found is not None
    assert found.funcs == best.funcs
    assert found.seconds == pytest.approx(best.seconds)


def test_a_call_that_does_not_wait_has_them_apart() -> None:
    search = searched(forces(), n=1000)
    best = search.best()
    assert not together(Refinement(search).in_time(best, 0.0))


def test_what_is_refused_is_computed_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[list[str]] = []

    def stubborn(s: ps.Schedule, funcs: Any, statements: Any, *more: Any) -> None:
        hosted = [d for d in funcs if d.plan.host is not None]
        tried.append([d.plan.func for d in hosted])
        if hosted:
            raise Refused(hosted[0], ps.ScheduleError("not together", status="violation"))
        realise(s, funcs, statements)

    monkeypatch.setattr(tune, "realise", stubborn)
    s = ps.Schedule.auto(forces(), sizes={"n": 1000}, threads=1, target=V3)
    assert tried == [["f.sum0"], []]
    assert s.directives


def test_a_product_is_alone() -> None:
    assert not ps.facts(product()).sweeps


def test_what_is_put_off_is_said() -> None:
    s = ps.Schedule.auto(by_squares(), sizes={"n": 100_000}, threads=1, target=V3)
    assert "mean and twice put off until behind them" in s.source()
    moved = [d.stage for d in s.directives if d.name == "compute_root"]
    assert moved == ["twice", "mean"]


def test_what_is_put_off_stays_at_the_root() -> None:
    search = searched(by_rows(), n=2000, m=1000)
    best = search.best()
    assert best.funcs["mean.sum0"].plan.put_off == ("mean",)
    assert best.funcs["mean"].plan.at is None


def test_what_sums_have_left_of_means_is_stored_nowhere() -> None:
    """Each element of it is needed once by each sum: a subtraction is less than a store."""
    s = ps.Schedule.auto(correlated(), sizes={"n": 100_000}, threads=1, target=V3)
    assert {s.program.names[f] for f in s.funcs}.isdisjoint({"centred0", "centred1"})


def test_plans_that_leave_sums_their_common_loops_are_followed() -> None:
    """By itself, a sum is quicker in loops of what reads it: there it has no room for others."""
    s = ps.Schedule(by_rows(), target=V4)
    facts, model = facts_of(s.rewritten, {"n": 2000, "m": 1000}), Model(machine(V4), 1)
    assert together(Search(facts, model, {"mean", "var"}).best()) == ["mean.sum0"]
