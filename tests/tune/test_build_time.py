"""What a first call waits for: plans that do not take long to be proven and compiled."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gallery.case import Case
from gallery.execute import schedule
from gallery.registry import CASES

import polysched as ps
from polysched.targets.facts import machine
from polysched.tune.build_time import LEAST, LONGER, allowed, build_seconds
from polysched.tune.decided import Partial
from polysched.tune.effort import QUICK
from polysched.tune.facts.facts import Facts, facts_of
from polysched.tune.model import Model
from polysched.tune.places import ROOT
from polysched.tune.search import Search

i, j = ps.vars("i j")
n, m = ps.sizes("n m")


def searched(s: ps.Schedule, waits: bool = True, /, **sizes: int) -> Search:
    facts = facts_of(s.rewritten, None, sizes)
    names = {s.program.names[x] for x in s.program.outputs}
    return Search(facts, Model(machine(s.target), 2), names, effort=replace(QUICK, waits=waits))


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
    search = searched(ps.Schedule.default(chain(16)), n=20_000)
    (best, *others) = search.ranked()
    assert 0 < search.build_seconds(best) <= most(search)
    assert all(search.build_seconds(p) <= most(search) for p in others)
    assert 0 < len(changed(best)) < 16


def test_a_schedule_that_is_asked_for_may_take_as_long_as_it_does() -> None:
    search = searched(ps.Schedule.default(chain(16)), False, n=20_000)
    assert search.build_seconds(search.ranked()[0]) > most(search)
    assert len(changed(search.ranked()[0])) == 16


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
    search = searched(ps.Schedule.default((product, chain(16))), n=20_000, m=256)
    best = search.ranked()[0]
    assert len(changed(best)) < 17
    assert "product" in changed(best)


@pytest.mark.parametrize("case", CASES[::5], ids=lambda c: c.name)
def test_of_each_program(case: Case) -> None:
    s = schedule(case)
    sizes = {x: value for x, value in case.large_sizes().items() if x in s.program.sizes}
    search = searched(s, **sizes)
    assert search.build_seconds(search.ranked()[0]) <= most(search)


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
