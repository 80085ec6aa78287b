"""What must hold of a schedule follows from its state, whatever a directive says that it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pytest
from counting import operations

import polysched as ps
from polysched.lang.nodes import index as ix
from polysched.lang.nodes.nodes import integer
from polysched.lang.nodes.tensor import Tensor
from polysched.poly.proof import dependences, proof
from polysched.poly.proof.obligations import Coverage, Delivery, Disjoint, Once, Order, Proofs
from polysched.poly.sets.memo import Same
from polysched.poly.state import rewritten
from polysched.poly.state.editing import Editing
from polysched.poly.state.fields import loop_name
from polysched.poly.state.record import Directive
from polysched.poly.tree.edits import At, Coordinates, put, recoordinate, stages
from polysched.poly.tree.stage import Run
from polysched.poly.tree.times import Common, common, runs_before, scheduled_stages

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def sums_of_neighbours() -> ps.Func:
    f = ps.Func("f", (n, m))
    f[i, j] = i + j
    r, q = ps.rdom("r q", (1, n), (0, m - 1))
    f[r, q] = f[r - 1, q + 1] + 1
    return f


def rows() -> ps.Schedule:
    """`g` reads two rows of `f`."""
    f, g = ps.Func("f"), ps.Func("g", (n, m))
    f[i, j] = i * j
    g[i, j] = f[i, j] + f[i + 1, j]
    s = ps.Schedule(g)
    s["f"].compute_root()
    return s


# a directive that says nothing of what it does --------------------
@dataclass(frozen=True)
class Backwards(Directive):
    """The iterations of a loop from the last to the first. Nothing makes it known by a name."""

    loop: str = loop_name()

    def edit(self, e: Editing) -> tuple[str, ...]:
        at: At = e.at(self.loop)

        def change(c: Coordinates) -> Coordinates:
            turned = ix.mul(c[at.depth], integer(-1))
            return (*c[: at.depth], turned, *c[at.depth + 1 :])

        e.tree = put(e.tree, at.place, recoordinate(at.loop, change))
        return ()


def test_an_edit_need_not_say_what_it_disturbs() -> None:
    f, x = ps.Func("f", (n,)), ps.Input("x", ps.int64, (n,))
    f[i] = ps.select(i > 0, f[i - 1] + x[i], x[i])
    s = ps.Schedule(f)
    with pytest.raises(ps.ScheduleError, match="writes f") as refused:
        s._builder.apply(Backwards("f", "i"))
    assert refused.value.status == "violation"
    assert np.array_equal(s.compile()(np.arange(5)), np.cumsum(np.arange(5)))


def test_what_keeps_all_dependences_is_accepted() -> None:
    f = ps.Func("f", (n,))
    f[i] = i * i
    s = ps.Schedule(f)
    s._builder.apply(Backwards("f", "i"))
    assert np.array_equal(s.compile()(n=5), np.arange(5) ** 2)


# equal obligations hold alike --------------------
def orders(s: ps.Schedule) -> Iterator[Order]:
    """The obligations of the dependences of a schedule."""
    every = list(scheduled_stages(s.tree))
    for d in s.dependences():
        for a in (p for p in every if p.stage.statement.base is d.source):
            for b in (p for p in every if p.stage.statement.base is d.sink):
                yield Order(Same(d.map), d.kind, a.run, b.run, common(a, b, d.tensor), False)


def first_order() -> Order:
    s = ps.Schedule(sums_of_neighbours())
    return next(o for o in orders(s) if o.source == o.sink)


OTHERS: dict[str, Any] = {
    "relation": Same(object()), "kind": "output", "is_free": True,
    "kinds": ("parallel", "serial"), "position": 1, "stored": (1,), "fresh": 1,
    "is_one_copy": False,
}  # fmt: skip


@pytest.mark.parametrize("name", [f.name for f in fields(Order)])
def test_orders_differ_by_all_that_their_judge_is_given(name: str) -> None:
    order = first_order()
    assert order == replace(order)
    other = OTHERS.get(name)
    if name in ("source", "sink"):
        other = next(o for o in orders(rows())).source
    if name == "common":
        other = replace(order.common, position=1)
    assert replace(order, **{name: other}) != order
    assert hash(replace(order)) == hash(order)


@pytest.mark.parametrize("name", [f.name for f in fields(Common)])
def test_ways_to_stand_differ_by_all_of_it(name: str) -> None:
    met = first_order().common
    assert met == replace(met)
    assert replace(met, **{name: OTHERS[name]}) != met


@pytest.mark.parametrize("name", [f.name for f in fields(Delivery)])
def test_deliveries_differ_by_all_that_their_judge_is_given(name: str) -> None:
    order = first_order()
    delivery = Delivery(order.relation, order.sink, ((order.source, 1),))
    others = {"relation": Same(object()), "sink": next(orders(rows())).sink, "sources": ()}
    assert delivery == replace(delivery)
    assert replace(delivery, **{name: others[name]}) != delivery


@pytest.mark.parametrize("name", [f.name for f in fields(Coverage)])
def test_coverage_differs_by_all_that_its_judge_is_given(name: str) -> None:
    s = ps.Schedule(sums_of_neighbours())
    pure, update = s.model.statements
    covered = Coverage(pure, (Same(None),))
    others = {"statement": update, "parts": (Same(pure.frame.empty),)}
    assert covered == replace(covered)
    assert replace(covered, **{name: others[name]}) != covered


def two_runs() -> tuple[Run, Run]:
    order = next(o for o in orders(rows()))
    return order.source, order.sink


@pytest.mark.parametrize("name", [f.name for f in fields(Disjoint)])
def test_what_is_disjoint_differs_by_all_that_its_judge_is_given(name: str) -> None:
    a, b = two_runs()
    disjoint = Disjoint(a, b, a.statement.write, b.statement.reads[0], 1)
    others = {"source": b, "sink": a, "write": b.statement.write, "loop": 0,
              "other": b.statement.reads[1]}  # fmt: skip
    assert disjoint == replace(disjoint)
    assert replace(disjoint, **{name: others[name]}) != disjoint


@pytest.mark.parametrize("name", [f.name for f in fields(Once)])
def test_what_runs_once_differs_by_all_that_its_judge_is_given(name: str) -> None:
    a, b = two_runs()
    once = Once(a, a, 1)
    others = {"first": b, "second": b, "loop": 0}
    assert once == replace(once)
    assert replace(once, **{name: others[name]}) != once


@pytest.mark.parametrize("name", ["statement", "coordinates", "where", "padding"])
def test_runs_differ_by_all_that_is_run(name: str) -> None:
    s = ps.Schedule(sums_of_neighbours())
    pure, update = stages(s.tree)
    others = {
        "statement": update.statement,
        "coordinates": pure.coordinates[::-1],
        "where": pure.statement.frame.empty,
        "padding": ((ps.vars("i").node, 4),),
    }
    assert Run(pure) == Run(replace(pure, part=".part"))
    assert Run(replace(pure, **{name: others[name]})) != Run(pure)


def test_names_are_no_part_of_an_obligation() -> None:
    s = ps.Schedule(sums_of_neighbours())
    before = list(orders(s))
    s["f"].rename(i, "rows")
    assert list(orders(s)) == before


# proofs --------------------
def test_a_proof_for_few_sizes_is_none_for_more() -> None:
    s = ps.Schedule(sums_of_neighbours())
    few = s.copy()
    few.assume(m <= 1)
    few["f.update(0)"].reorder("q", "r")
    with pytest.raises(ps.ScheduleError, match=r"reorder\('q', 'r'\) is refused"):
        s["f.update(0)"].reorder("q", "r")


def test_a_proof_for_more_sizes_holds_for_few() -> None:
    s = rows()
    few = s.copy()
    s["g"].reorder(j, i)
    few.assume(n <= 9)
    before = operations(lambda: rows()["g"].reorder(j, i))
    assert operations(lambda: few["g"].reorder(j, i)) < before / 2


def test_each_obligation_is_judged_once() -> None:
    """Whichever kind it is: what a directive leaves as it is has been judged before."""
    judged: Counter[object] = Counter()

    class Counting(Proofs):
        def broken(self, obligation: Any, context: Any) -> Any:
            if obligation not in self._held:
                judged[obligation] += 1
            return super().broken(obligation, context)

    f, g, h = (ps.Func(name) for name in "fgh")
    f[i, j] = i * j
    g[i, j] = f[i, j] + f[i + 1, j]
    h[i, j] = g[i, j - 1] + g[i, j + 1]
    out_ = ps.Func("out_", (n, m))
    rows = ps.Func("rows")
    r = ps.RVar("r", 1, m)
    rows[i, j] = i + j
    rows[i, r] += rows[i, r - 1]
    out_[i, j] = h[i, j] * 2 + rows[i, j]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rewritten, "Proofs", Counting)
        s = ps.Schedule(out_)
        s["h"].compute_root()
        s["h"].split("i", 4)
        s["f"].compute_at("g", "i")
        s["g"].compute_at("h", "io")
        s["h"].parallel("io")
        s["f"].vectorize("j", 8)
        s["out_"].split("j", 8, tail="shift")
        s["rows"].compute_at("out_", "i").store_root()
        s["out_"].parallel("i")
    assert {type(x) for x in judged} == {Order, Delivery, Coverage, Disjoint, Once}
    assert set(judged.values()) == {1}


def test_copies_share_proofs() -> None:
    s = ps.Schedule(sums_of_neighbours())
    other = s.copy()
    first = operations(lambda: s["f.update(0)"].split("q", 8))
    again = operations(lambda: other["f.update(0)"].split("q", 8))
    assert again < first / 2
    assert s == other


def test_what_is_taken_back_is_proven_once() -> None:
    g = ps.Func("g", (n, m))
    g[i, j] = i * j
    g[i, j] += i
    s = ps.Schedule(g)
    first = operations(lambda: s["g"].reorder(j, i))
    s["g"].reorder(i, j)
    assert operations(lambda: s["g"].reorder(j, i)) < first / 2


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tensors whose dependences are found, by name, in order."""
    found: list[str] = []

    def dependences_on(tensor: Tensor, *rest: Any) -> Any:
        found.append(tensor.name)
        return dependences.dependences_on(tensor, *rest)

    monkeypatch.setattr(proof, "dependences_on", dependences_on)
    return found


def test_a_program_as_written_asks_for_no_dependence(asked: list[str]) -> None:
    s = ps.Schedule(sums_of_neighbours())
    prover = s.rewritten.prover
    assert not list(prover.violations(prover.written, lambda _: False, s.accepted))
    s.compile()
    assert asked == []
    s["f"].parallel(i)
    assert asked == ["f"]


def test_another_stage_is_not_asked_again(asked: list[str]) -> None:
    """The dependences of what a directive leaves as it is are not even found."""
    f, g, h = (ps.Func(name, (n, m)) for name in "fgh")
    f[i, j] = i * j
    f[i, j] += 1
    g[i, j] = f[i, j] + f[i, 0]
    g[i, j] += 1
    h[i, j] = g[i, j] + g[0, j]
    s = ps.Schedule(h)
    s["h"].reorder(j, i)
    assert asked == ["g"]


def test_what_is_over_before_it_is_read_is_not_asked(asked: list[str]) -> None:
    """Where no loop is around both, and each element is written once, there is nothing to prove."""
    s = rows()
    s["f"].parallel(i)
    s["g"].reorder(j, i)
    assert asked == []
    s["f"].compute_at("g", "j")
    assert asked == ["f"]


def test_what_shares_a_loop_is_not_over_before_the_other() -> None:
    s = rows()
    f, g = scheduled_stages(s._builder.state.tree)
    assert runs_before(f, g)
    assert not runs_before(g, f)
    s["f"].compute_at("g", "i")
    f, g = scheduled_stages(s._builder.state.tree)
    assert not runs_before(f, g)


def test_what_is_written_twice_is_asked(asked: list[str]) -> None:
    f = ps.Func("f", (n,))
    f[i] = 0
    r = ps.RVar("r", 0, n)
    f[r // 2] = r
    s = ps.Schedule(f)
    with pytest.raises(ps.ScheduleError, match="refused"):
        s["f.update(0)"].parallel("r")
    assert asked == ["f"]


def test_what_was_settled_for_few_sizes_is_asked_for_more() -> None:
    s = ps.Schedule(sums_of_neighbours())
    few = s.copy()
    few.assume(m <= 1)
    few["f.update(0)"].reorder("q", "r")
    prover = s.rewritten.prover
    assert not list(prover.violations(few.tree, lambda _: False, few.accepted))
    assert list(prover.violations(few.tree, lambda _: False, s.accepted))
