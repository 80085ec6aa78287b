"""What a first call waits for: plans that do not take long to be proven and compiled."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gallery.case import Case
from gallery.execute import schedule
from gallery.registry import CASES

import polysched as ps
from polysched.targets.facts import machine
from polysched.tune.facts.facts import Facts, facts_of
from polysched.tune.model.build_time import LEAST, LONGER, allowed, build_seconds
from polysched.tune.model.model import Model
from polysched.tune.plans.effort import QUICK
from polysched.tune.plans.places import ROOT
from polysched.tune.realise.realise import realise
from polysched.tune.search.decided import Partial
from polysched.tune.search.refine import Refinement
from polysched.tune.search.search import Search

i, j = ps.vars("i j")
n, m = ps.sizes("n m")


def searched(s: ps.Schedule, waits: bool = True, /, **sizes: int) -> Search:
    facts = facts_of(s.rewritten, None, sizes)
    names = {s.program.names[x] for x in s.program.outputs}
    return Search(facts, Model(machine("x86-64-v3"), 2), names, effort=replace(QUICK, waits=waits))


def chain(stages: int) -> ps.Func:
    """Stages that each take as long as the others, none of which can be computed elsewhere."""
    f: ps.Func | ps.Input = ps.Input("x", ps.float32, (n,))
    for number in range(stages):
        g = ps.Func(f"f{number}", (n,))
        g[i] = ps.sqrt(f[i]) + f[n - 1 - i]
        f = g
    assert isinstance(f, ps.Func)
    return f


def changed(p: Partial) -> list[str]:
    return sorted(func for func, d in p.funcs.items() if not d.plan.is_as_written)


def most(search: Search) -> float:
    return allowed(search.facts, search.as_written().seconds)


def test_no_plan_takes_longer_than_a_first_call_may() -> None:
    search = searched(ps.Schedule.default(chain(32)), n=20_000)
    (best, *others) = search.ranked()
    assert 0 < search.build_seconds(best) <= most(search)
    assert all(search.build_seconds(p) <= most(search) for p in others)
    assert 0 < len(changed(best)) < 32


def test_a_schedule_that_is_asked_for_may_take_as_long_as_it_does() -> None:
    search = searched(ps.Schedule.default(chain(32)), False, n=20_000)
    assert search.build_seconds(search.ranked()[0]) > most(search)
    assert len(changed(search.ranked()[0])) == 32


def test_long_calls_may_be_waited_for() -> None:
    """Where a call takes seconds as it is written, nobody minds one more."""
    search = searched(ps.Schedule.default(chain(16)), n=200_000_000)
    assert len(changed(search.ranked()[0])) == 16


def test_what_is_worth_least_is_given_up() -> None:
    """Of many stages that take little and one that takes long, it is not that one."""
    a = ps.Input("a", ps.float32, (m, m))
    product, r = ps.Func("product", (m, m)), ps.RVar("r", 0, m)
    product[i, j] = 0
    product[i, j] += a[i, r] * a[r, j]
    search = searched(ps.Schedule.default((product, chain(32))), n=20_000, m=256)
    best = search.ranked()[0]
    assert len(changed(best)) < 33
    assert "product" in changed(best)


@pytest.mark.parametrize("case", CASES[::5], ids=lambda c: c.name)
def test_of_each_program(case: Case) -> None:
    s = schedule(case)
    sizes = {x: value for x, value in case.large_sizes().items() if x in s.program.sizes}
    search = searched(s, **sizes)
    best = search.ranked()[0]
    assert search.build_seconds(best) <= most(search)
    assert search.decided([d.plan for d in best.funcs.values()]) is not None


@pytest.mark.parametrize("columns", [30, 300, 3000])
def test_what_is_simpler_is_still_a_plan(columns: int) -> None:
    """A Func stays in a loop where another one is computed that it reads."""
    x, outputs = ps.Input("x", ps.float32, (n, m)), []
    for number in range(3):
        p, r = ps.Func(f"p{number}"), ps.Func(f"r{number}")
        k = ps.RVar("k", 0, m)
        p[i, j] = x[i, j] + x[i, m - 1 - j] + number
        r[i] = 0.0
        r[i] += ps.sqrt(p[i, k]) * ps.exp(p[i, k])
        last = ps.Func(f"o{number}", (n, m))
        last[i, j] = r[i] * p[i, j] + p[i, m - 1 - j]
        outputs.append(last)
    search = searched(ps.Schedule.default(tuple(outputs)), n=2000, m=columns)
    best = search.ranked()[0]
    assert search.decided([d.plan for d in best.funcs.values()]) is not None
    made = ps.Schedule.default(tuple(outputs))
    realise(made, list(best.funcs.values()), search.statements)
    assert made.directives


def test_plans_are_in_order() -> None:
    for columns in (60, 300):
        a = ps.Input("a", ps.float32, (n, m))
        f, g = ps.Func("f", (n, m)), ps.Func("g", (n, m))
        f[i, j] = ps.exp(a[i, j]) + a[i, m - 1 - j]
        g[i, j] = f[i, j] * f[i, m - 1 - j]
        search = searched(ps.Schedule.default(g), n=2000, m=columns)
        weighed = [search._weighed(p) for p in search.ranked()]
        assert weighed == sorted(weighed)
        assert len({tuple(d.plan for d in p.funcs.values()) for p in search.ranked()}) == len(
            weighed
        )


@pytest.mark.slow
def test_twice_as_many_funcs_are_about_twice_as_much_to_look_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    decide = Search.decide
    monkeypatch.setattr(Search, "decide", lambda *args: asked.append(1) or decide(*args))
    found = []
    for stages in (12, 24):
        search = searched(ps.Schedule.default(chain(stages)), n=20_000)
        begin = search._beam()[0]
        asked.clear()
        Refinement(search).in_time(begin, 0.05)
        found.append(len(asked))
    assert found[1] < 3 * found[0]


def test_more_code_takes_longer() -> None:
    search = searched(ps.Schedule.default(chain(1)), False, n=20_000)
    (s,) = search.facts.statements
    found = [build_seconds(s, nest) for nest in search.candidates.of(s, ROOT)]
    assert found[0] == min(found)
    assert len(set(found)) > 2


def test_what_is_allowed() -> None:
    facts: Facts = searched(ps.Schedule.default(chain(1)), n=1000).facts
    assert allowed(facts, 0.0) == pytest.approx(LEAST, rel=0.2)
    assert allowed(facts, 10.0) == pytest.approx((LONGER - 1) * 10, rel=0.1)
