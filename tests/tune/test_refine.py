"""Plans that are made better by other loops of one Func at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gallery.case import Case
from gallery.execute import schedule
from gallery.registry import CASES

import polysched as ps
from polysched.targets.facts import machine
from polysched.tune.facts.facts import facts_of, main_of
from polysched.tune.model.model import Model
from polysched.tune.plans.beside import beside
from polysched.tune.plans.effort import THOROUGH
from polysched.tune.plans.places import ROOT
from polysched.tune.search import refine
from polysched.tune.search.decided import NONE_KNOWN, Partial, Refusals
from polysched.tune.search.refine import GAIN, Refinement
from polysched.tune.search.search import Search

i, j = ps.vars("i j")
n, m = ps.sizes("n m")


def searched(s: ps.Schedule, /, refusals: Refusals = NONE_KNOWN, **sizes: int) -> Search:
    facts = facts_of(s.rewritten, sizes)
    names = {s.program.names[x] for x in s.program.outputs}
    return Search(facts, Model(machine("x86-64-v3"), 2), names, refusals)


def product(rows: int, columns: int) -> Search:
    a, b = ps.Input("a", ps.float32, (n, n)), ps.Input("b", ps.float32, (n, m))
    c, r = ps.Func("c", (n, m)), ps.RVar("r", 0, n)
    c[i, j] = 0
    c[i, j] += a[i, r] * b[r, j]
    return searched(ps.Schedule(c), n=rows, m=columns)


def hosts(p: Partial) -> set[str]:
    return {d.plan.at[0].partition(".update")[0] for d in p.funcs.values() if d.plan.at is not None}


def test_a_bad_beginning_is_left() -> None:
    search = product(512, 512)
    begin, best = search.as_written(), search.best()
    found = Refinement(search).descended(begin)
    assert found.seconds <= 1.2 * best.seconds < begin.seconds / 4


@pytest.mark.parametrize("case", CASES[::6], ids=lambda c: c.name)
def test_it_is_never_worse_and_stays_at_its_place(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refine, "GAIN", 0.999)  # also what it gains little by is taken
    s = schedule(case)
    sizes = {x: value for x, value in case.large_sizes().items() if x in s.program.sizes}
    search = searched(s, **sizes)
    p = search._beam()[0]
    found = Refinement(search).descended(p)
    assert found.seconds <= p.seconds
    assert found == Refinement(search).descended(p)
    for func, d in found.funcs.items():
        assert d.spot == p.funcs[func].spot
        if func in hosts(p):
            assert d == p.funcs[func]


def test_little_gain_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    search = product(512, 512)
    p = search._beam()[0]
    monkeypatch.setattr(refine, "GAIN", 1.0)
    most = Refinement(search).descended(p)
    monkeypatch.setattr(refine, "GAIN", GAIN)
    assert most.seconds > GAIN * p.seconds  # so it is no example of a large one
    assert Refinement(search).descended(p) == p


def test_what_is_refused_is_not_found_again() -> None:
    search = product(512, 512)
    begin = search.as_written()
    first = Refinement(search).descended(begin).funcs["c"].plan
    search.refusals = Refusals(plans=frozenset({first}))
    assert Refinement(search).descended(begin).funcs["c"].plan != first


def test_numbers_a_step_away() -> None:
    search = product(512, 512)
    main = main_of(search.statements["c"])
    templates, target = search.candidates.templates(main, ROOT), search.candidates.target
    nests = search.candidates.of(main, ROOT)
    tile = next(x.plan for x in nests if x.packed and x.plan.number("rows") == 4)
    found = [x.plan for x in beside(main, templates, tile, target, THOROUGH)]
    assert found
    for plan in found:
        changed = [(a, b) for a, b in zip(tile.knobs, plan.knobs, strict=True) if a != b]
        ((name, before), (_, after)) = changed[0]
        assert len(changed) == 1
        assert name in ("rows", "columns", "panels")
        assert abs(before - after) == 1


def test_no_step_leaves_the_registers() -> None:
    search = product(512, 512)
    main = main_of(search.statements["c"])
    templates, target = search.candidates.templates(main, ROOT), search.candidates.target
    for nest in search.candidates.of(main, ROOT):
        for near in beside(main, templates, nest.plan, target, THOROUGH):
            rows, columns = near.plan.number("rows"), near.plan.number("columns")
            assert rows <= target.rows_beside(columns) or near.plan.number("jam") < 0


def test_no_step_is_more_code_than_is_wanted() -> None:
    search = product(512, 512)
    main = main_of(search.statements["c"])
    templates, target = search.candidates.templates(main, ROOT), search.candidates.target
    little = replace(THOROUGH, code=10)
    size = sum(main.operations.values()) + len(main.accesses)
    for nest in search.candidates.of(main, ROOT):
        for near in beside(main, templates, nest.plan, target, little):
            assert near.plan.number("rows") * near.plan.number("columns") * size <= 10


def test_what_is_nearly_the_same_for_long_hides_no_operand() -> None:
    """Blocks of a reduction share a scale, and panels of the other operand are copied."""
    a, b = ps.Input("a", ps.float32, (n, n)), ps.Input("b", ps.float32, (n, m))
    scale, c, r = ps.Input("scale", ps.float32, (n, m)), ps.Func("c", (n, m)), ps.RVar("r", 0, n)
    c[i, j] = 0
    c[i, j] += a[i, r] * (b[r, j] * scale[r // 32, j])
    search = searched(ps.Schedule(c), n=1024, m=1024)
    panel = search.candidates.templates(main_of(search.statements["c"]), ROOT).panel(1, 0)
    assert panel is not None
    assert panel.tensor == "b"
