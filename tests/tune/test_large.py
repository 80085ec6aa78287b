"""What is looked at for a schedule of a large program: twice the program, about twice as much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from counting import calls

import polysched as ps
from polysched.lang.program import groups
from polysched.lang.program.program import Program
from polysched.poly.model.statements import Statement
from polysched.poly.proof import dependences
from polysched.poly.report.finding import pieces_of
from polysched.poly.tree.times import scheduled_stages
from polysched.poly.tree.written import as_written
from polysched.targets.facts import machine
from polysched.tune.facts.distances import by_nest, distances, nest_of, shared_loops, within
from polysched.tune.facts.facts import facts_of
from polysched.tune.model.cost import seconds_of
from polysched.tune.model.model import Model
from polysched.tune.plans.effort import QUICK
from polysched.tune.search.decided import Decided, Partial
from polysched.tune.search.search import Search

n, m = ps.sizes("n m")
i, j = ps.vars("i j")
SIZES = {"n": 64, "m": 256}


def layers(count: int) -> ps.Func:
    """Normalisation layers: each reads the one before."""
    x: ps.Func | ps.Input = ps.Input("x", ps.float32, (n, m))
    k = ps.RVar("k", 0, m)
    for number in range(count):
        mean, variance = ps.Func(f"mean{number}", (n,)), ps.Func(f"variance{number}", (n,))
        mean[i] = ps.sum(x[i, k], k) / 256.0
        variance[i] = ps.sum((x[i, k] - mean[i]) * (x[i, k] - mean[i]), k) / 256.0
        y = ps.Func(f"y{number}", (n, m))
        y[i, j] = ps.maximum((x[i, j] - mean[i]) / ps.sqrt(variance[i] + 1.0), 0.0)
        x = y
    assert isinstance(x, ps.Func)
    return x


def facts(count: int) -> int:
    """How many calls their facts take."""
    rewritten = ps.Schedule.default(layers(count)).rewritten
    with calls() as found:
        facts_of(rewritten, None, SIZES)
    return found.count


def plans(count: int) -> int:
    """How many calls it takes to find a plan for them."""
    facts = facts_of(ps.Schedule.default(layers(count)).rewritten, None, SIZES)
    output = {f"y{count - 1}"}
    with calls() as found:
        Search(facts, Model(machine("x86-64-v3"), 2), output, effort=QUICK).ranked()
    return found.count


def test_facts_of_twice_the_program_take_twice_as_long() -> None:
    facts(1)  # what is loaded once
    few, many = facts(8), facts(16)
    assert few < many < 2.2 * few


class Looked(list[Statement]):
    """Statements, and how often all of them were gone through."""

    times = 0

    def __iter__(self) -> Iterator[Statement]:
        self.times += 1
        return super().__iter__()


def test_statements_are_gone_through_once_for_the_loops_as_written() -> None:
    model = ps.Schedule.default(layers(3)).rewritten.model
    before, statements = as_written(model), Looked(model.statements)
    model.statements = statements
    assert as_written(model).nests == before.nests
    assert statements.times == 1


def test_statements_are_not_gone_through_for_the_pieces_of_a_single_definition() -> None:
    s = ps.Schedule.default(layers(3))
    statements = s.rewritten.model.statements = Looked(s.rewritten.model.statements)
    assert pieces_of(s.analysis, s.program.outputs[0]) == ()
    assert statements.times == 0


def test_each_func_is_asked_once_for_what_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ps.Func] = []
    found = groups.producers
    monkeypatch.setattr(groups, "producers", lambda f: asked.append(f) or found(f))
    program = Program(layers(3))
    assert [f for group in groups.demand_order(program) for f in group]
    assert sorted(map(id, asked)) == sorted(map(id, program.funcs))


def test_distances_of_other_nests_are_not_looked_at() -> None:
    rewritten = ps.Schedule.default(layers(3)).rewritten
    found = distances(rewritten.prover)
    nests = {p.stage.statement.name: p for p in scheduled_stages(rewritten.written)}
    beside = by_nest(nests, found)
    assert sum(len(own) for own, _ in beside.values()) == len(nests)
    assert sum(len(own) for _, own in beside.values()) == len(found) > 0
    for placed in nests.values():
        others, own = beside[nest_of(placed)]
        assert within(placed, nests, own) == within(placed, nests, found)
        assert shared_loops(placed, others) == shared_loops(placed, nests.values())


def test_what_decisions_cost_is_added_up_from_the_first_that_they_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    facts = facts_of(ps.Schedule.default(layers(4)).rewritten, None, SIZES)
    search = Search(facts, Model(machine("x86-64-v3"), 2), {"y3"}, effort=QUICK)
    found = Search.decide
    whole: list[Partial] = []

    def noted(self: Search, p: Partial, made: Decided) -> Partial:
        whole.append(found(self, p, made))
        return whole[-1]

    monkeypatch.setattr(Search, "decide", noted)
    search.ranked()
    assert len(whole) > len(search.statements)
    for p in whole:
        assert p.seconds == p.sums[-1] == seconds_of(p.costs)
    assert any(c.within is not None for p in whole for c in p.costs.values())


def test_plans_of_twice_the_program_take_twice_as_long() -> None:
    plans(1)  # what is loaded once
    few, many = plans(6), plans(12)
    assert few < many < 2.2 * few


def test_what_a_plan_takes_to_be_compiled_is_added_up() -> None:
    facts = facts_of(ps.Schedule.default(layers(2)).rewritten, None, SIZES)
    model, effort = Model(machine("x86-64-v3"), 2), replace(QUICK, waits=False)
    search = Search(facts, model, {"y1"}, effort=effort)
    best = search.best()
    own = [search.own_build_seconds(d) for d in best.funcs.values()]
    assert search.build_seconds(best) == pytest.approx(sum(own))
    assert sum(own) > 0
    p = Partial(best.funcs, best.costs, best.build_seconds)
    for d in best.funcs.values():
        p = search.decide(p, search.func_as_written(d.plan.func))
    assert search.build_seconds(p) == 0  # a decision takes the place of another one


def test_last_writes_of_layers_that_are_alike_are_found_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = dependences._found_flow
    counts: list[int] = []
    for count in (3, 6):
        asked: list[object] = []

        def counted(*args: Any, asked: list[object] = asked) -> Any:
            asked.append(args)
            return found(*args)

        monkeypatch.setattr(dependences, "_found_flow", counted)
        s = ps.Schedule.default(layers(count))
        for tensor in s.model.touching:
            s.rewritten.prover.dependences_on(tensor)
        counts.append(len(asked))
    assert counts[0] == counts[1] > 0
