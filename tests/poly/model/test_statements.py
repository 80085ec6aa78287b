"""What statements read and write of which tensors."""

from __future__ import annotations

import pytest

import polysched as ps
from polysched.poly.model import model
from polysched.poly.model.statements import Statement
from polysched.poly.sets.isl import Set

n = ps.sizes("n")
i = ps.vars("i")


def statements() -> tuple[ps.Input, ps.Func, ps.Func, dict[str, Statement]]:
    x, f, g = ps.Input("x", ps.int64, (n,)), ps.Func("f", (n,)), ps.Func("g", (n,))
    r = ps.RVar("r", 0, n)
    f[i] = x[i] * x[n - 1 - i]
    g[i] = 0
    g[i] += f[r] + x[i]
    return x, f, g, {s.name: s for s in ps.Schedule.default(g).model.statements}


def test_what_a_statement_touches_and_reads_from() -> None:
    x, f, g, found = statements()
    pure, zero, update = found["f"], found["g"], found["g.update(0)"]
    assert [s.touches(f) for s in (pure, zero, update)] == [True, False, True]
    assert [s.reads_from(f) for s in (pure, zero, update)] == [False, False, True]
    assert [s.touches(g) for s in (pure, zero, update)] == [False, True, True]
    assert [s.reads_from(g) for s in (pure, zero, update)] == [False, False, True]
    assert [s.reads_from(x, g) for s in (pure, zero, update)] == [True, False, True]
    assert not update.touches()
    assert not update.reads_from()


def test_tensors_are_told_once_each() -> None:
    x, f, g, found = statements()
    assert found["f"].tensors == (x, f)
    assert found["g"].tensors == (g,)
    assert set(found["g.update(0)"].tensors) == {x, f, g}
    assert len(found["g.update(0)"].tensors) == 3


def test_accesses_of_tensors_stay_in_their_order() -> None:
    x, f, g, found = statements()
    pure, update = found["f"], found["g.update(0)"]
    assert pure.accesses_of(x, f) == pure.accesses
    assert [a.text for a in pure.reads_of(x)] == ["x[i]", "x[n - 1 - i]"]
    assert (pure.reads_of(f), pure.writes_of(x)) == ([], [])
    assert pure.writes_of(f) == [pure.write]
    assert update.accesses_of(g) == [*update.reads_of(g), *update.writes_of(g)]
    assert [a.is_write for a in update.accesses_of(g)] == [False, True]


def test_a_region_that_two_models_have_is_asked_for_bounds_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a Func that stays as it is when another one is inlined."""
    asked: list[str] = []
    ask = model.is_bounded

    def noted(region: Set, axis: int) -> bool:
        asked.append(region.get_tuple_name() or "")
        return ask(region, axis)

    monkeypatch.setattr(model, "is_bounded", noted)
    x, f, g, h = ps.Input("x", ps.int64, (n,)), ps.Func("f"), ps.Func("g"), ps.Func("h", (n,))
    f[i] = x[i] // 3
    g[i] = f[ps.clip(i - 1, 0, n - 1)] // f[i]
    h[i] = g[ps.clip(i + 1, 0, n - 1)] // g[i]
    s = ps.Schedule(h)
    before = len(asked)
    assert before
    s[f].compute_inline()
    assert len(asked) == before
