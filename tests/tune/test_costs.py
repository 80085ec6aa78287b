"""What nests cost, found once for statements that are alike; programs that are rewritten, and Funcs
that are placed, once for several directives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from gallery.execute import outputs
from gallery.registry import find as program

import polysched as ps
from polysched.lang.nodes.printer import expr_text
from polysched.poly.placement import placement
from polysched.poly.state import rewritten
from polysched.poly.tree.looptree import text
from polysched.targets.facts import machine
from polysched.tune.facts.facts import facts_of
from polysched.tune.model.model import Model
from polysched.tune.plans.planned import Nest
from polysched.tune.search.costs import CostsAt, Known
from polysched.tune.search.search import Search

from .programs import i, j, m, n

V3 = "x86-64-v3"


def searched(f: Any, threads: int = 2) -> Search:
    s = ps.Schedule(f, target=V3)
    names = {s.program.names[x] for x in s.program.outputs}
    return Search(facts_of(s.rewritten, {}), Model(machine(V3), threads), names)


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> Callable[[], int]:
    """Counts calls of a function."""
    made, original = [], getattr(owner, name)

    def noted(*args: Any, **options: Any) -> Any:
        made.append(name)
        return original(*args, **options)

    monkeypatch.setattr(owner, name, noted)
    return lambda: len(made)


# costs ------------------------------------------------------------------------------------------
def transposed(count: int, shifted: bool = False) -> list[ps.Func]:
    """So many Funcs that are alike but for names; or the last one reads other elements."""
    found = []
    for k in range(count):
        x, f = ps.Input(f"x{k}", ps.float32, (m, n + 1)), ps.Func(f"f{k}", (n, m))
        f[i, j] = 2 * x[j, i + 1] if shifted and k == count - 1 else 2 * x[j, i] + 1
        found.append(f)
    return found


def costs_of(monkeypatch: pytest.MonkeyPatch, funcs: list[ps.Func]) -> int:
    with monkeypatch.context() as patch:
        calls = counted(patch, Model, "cost")
        searched(funcs).ranked()
        return calls()


def test_what_is_alike_is_costed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    one = costs_of(monkeypatch, transposed(1))
    assert costs_of(monkeypatch, transposed(4)) == one


def test_what_does_something_else_is_costed_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    one = costs_of(monkeypatch, transposed(1))
    assert costs_of(monkeypatch, transposed(4, shifted=True)) > one


@pytest.mark.parametrize("name", ["lstm", "harris", "softmax"])
def test_costs_in_common_are_those_of_each_alone(name: str) -> None:
    search = searched(outputs(program(name)))
    search.ranked()
    compared = 0
    own = {s.name for s in search.facts.statements}  # others are several in common loops
    for at in [x for x in search.costs._at.values() if x.statement.name in own]:
        alone = CostsAt(at.model, at.statement, at.spot, at.stored, at.accesses, at.folds, Known())
        for nest in search.candidates.of(at.statement, at.spot)[:4]:
            assert at.of(nest) == alone.of(nest)
            compared += 1
    assert compared


def in_order(
    at: CostsAt, nests: Sequence[Nest], most: int, kind: Callable[[Nest], object]
) -> list[Nest]:
    """The best nests of each kind, of all of which it is found what they cost."""
    best: dict[object, Nest] = {}
    for nest in sorted(nests, key=at.seconds):
        best.setdefault(kind(nest), nest)
    return list(best.values())[:most]


KINDS: dict[int, Callable[[Nest], object]] = {
    1: lambda nest: None,
    2: lambda nest: nest.plan.knob("chunk"),
    3: lambda nest: tuple([nest.plan.knob(x) for x in ("chunk", "rows", "columns")]),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["matmul", "harris", "lstm", "softmax"])
def test_the_cheapest_are_those_of_all(name: str, threads: int) -> None:
    search = searched(outputs(program(name)), threads)
    own = {s.name for s in search.facts.statements}
    search.ranked()
    compared = 0
    for at in [x for x in search.costs._at.values() if x.statement.name in own]:
        nests = search.candidates.of(at.statement, at.spot)
        for most, kind in KINDS.items():
            at.known = Known()
            found = at.cheapest(nests, most, kind)
            at.known = Known()
            assert found == in_order(at, nests, most, kind)
            compared += len(found)
    assert compared


def test_what_computing_alone_makes_too_dear_is_not_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        begun, looked_at = counted(patch, Model, "compute"), counted(patch, Model, "cost")
        searched(outputs(program("matmul"))).ranked()
        assert 0 < looked_at() < 0.5 * begun()


# several directives at a time -------------------------------------------------------------------
@pytest.mark.parametrize("name", ["harris", "unsharp_mask", "interpolate", "softmax"])
def test_directives_one_by_one_make_the_same_tree(name: str) -> None:
    found = ps.Schedule.auto(outputs(program(name)), threads=2, target=V3)
    again = ps.Schedule.from_json(outputs(program(name)), found.to_json())
    a, b = found._builder.state, again._builder.state
    assert text(a.tree) == text(b.tree)
    assert [s.name for _, s in a.tree.leaves] == [s.name for _, s in b.tree.leaves]
    for (_, one), (_, other) in zip(a.tree.leaves, b.tree.leaves, strict=True):
        assert str(one.instances) == str(other.instances)
        assert list(map(expr_text, one.coordinates)) == list(map(expr_text, other.coordinates))


def test_a_program_is_rewritten_once_for_all_that_is_inlined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = counted(monkeypatch, rewritten, "rewritten_program")
    s = ps.Schedule.auto(outputs(program("harris")), threads=2, target=V3)
    said = [d.name for d in s.directives]
    assert said.count("compute_inline") > 1
    as_written = 1
    assert calls() <= as_written + 1 + (said.count("compute_root") > 0)


def test_a_window_is_site_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch, placement._Placer, "_statements")
    sizes = {"h": 1024, "w": 1024}
    s = ps.Schedule.auto(outputs(program("harris")), sizes=sizes, threads=2, target=V3)
    said = [d.name for d in s.directives]
    assert said.count("store_at") > 0
    assert calls() == said.count("compute_at")


def shades() -> tuple[ps.Func, ps.Func, ps.Func]:
    x = ps.Input("x", ps.float32, (n,))
    dark, light, f = ps.Func("dark"), ps.Func("light"), ps.Func("f", (n - 2,))
    dark[i], light[i] = x[i] * 2, x[i] + 1
    f[i] = dark[i] + dark[i + 1] + light[i] + light[i + 2]
    return dark, light, f


def test_what_cannot_be_inlined_is_refused_and_nothing_has_changed() -> None:
    dark, light, f = shades()
    s = ps.Schedule(f)
    before = text(s._builder.state.tree)

    def inline() -> None:
        with s.batch(), s._builder.choosing([dark, light, f]):
            for func in (dark, light, f):
                s[func].compute_inline()

    with pytest.raises(ps.ScheduleError, match="f cannot be inlined"):
        inline()
    assert s.directives == ()
    assert text(s._builder.state.tree) == before
    s["dark"].compute_inline()
    assert [x.name for x in s.funcs] == ["light", "f"]


def test_a_loop_that_is_not_there_is_refused_before_anything_is_stored() -> None:
    dark, _, f = shades()
    s = ps.Schedule(f)

    def place(loop: str) -> None:
        with s.batch():
            with s._builder.putting_off():
                s[dark].compute_at(f, loop)
            s[dark].store_root()

    with pytest.raises(ps.ScheduleError, match="has no loop k"):
        place("k")
    assert s.directives == ()
    place("i")
    assert [d.name for d in s.directives] == ["compute_at", "store_root"]
