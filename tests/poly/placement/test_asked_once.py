"""What is asked once for many: reads of one statement, and copies for loops of any kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import pytest

import polysched as ps
from polysched.poly.directives import invariants
from polysched.poly.placement import accumulators
from polysched.poly.placement.overwritten import Overwritten, overwritten_in
from polysched.poly.sets.isl import Set
from polysched.poly.tree import extents

n, m = ps.sizes("n m")
i, j, k = ps.vars("i j k")


def blurred_rows() -> ps.Schedule:
    """Rows of a sum of three, of which the nine around each element are read: along a fold."""
    x = ps.Input("x", ps.float32, (n, m))
    rows, out = ps.Func("rows"), ps.Func("out", (n, m))
    rows[i, j] = x[ps.clip(i, 0, n - 1), ps.clip(j, 0, m - 1)] * 2.0
    out[i, j] = sum((rows[i + a, j + b] for a in (-1, 0, 1) for b in (-1, 0, 1)), 0.0)
    s = ps.Schedule(out)
    s["rows"].compute_at("out", "i").store_root()
    return s


def test_reads_of_a_statement_are_taken_together() -> None:
    s = blurred_rows()
    rows = next(f for f in s.funcs if f.name == "rows")

    def found(joined: bool) -> list[Overwritten]:
        return overwritten_in(s.model.context, rows, s.tree, joined=joined)

    assert (len(found(joined=False)), len(found(joined=True))) == (9, 1)
    for axis in (0, 1):
        each, together = (
            reduce(Set.union, (x.distances(axis) for x in found(joined)))
            for joined in (False, True)
        )
        assert each.is_equal(together)
    assert {f.name: w.planes for f, w in s.windows.items()} == {"rows": 3}


def test_copies_are_looked_for_once_for_loops_of_any_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(copies: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: asked.append(given) or copies(*given)

    monkeypatch.setattr(invariants, "copies", counted(invariants.copies))
    x, f = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n,))
    r = ps.RVar("k", 0, m)
    f[i] = 0.0
    f[i] += x[i, r]
    u = ps.Schedule(f)["f"].update(0)
    io, ii = u.split("i", 8)
    u.reorder(io, "k", ii).accumulate_at(io)
    u.vectorize(ii).parallel(io)
    assert len(asked) == 1
    u.split("k", 4)
    assert len(asked) == 2


def accumulated(monkeypatch: pytest.MonkeyPatch) -> tuple[ps.Schedule, list[Any]]:
    """Blocks of sums, begun and accumulated apart; and what is looked for of their copies."""
    found, asked = accumulators._found_copied, []

    def noted(*given: Any) -> Any:
        asked.append(given)
        return found(*given)

    monkeypatch.setattr(accumulators, "_found_copied", noted)
    x, f = ps.Input("x", ps.float32, (n, m)), ps.Func("f", (n,))
    r = ps.RVar("k", 0, m)
    f[i] = 0.0
    f[i] += x[i, r]
    s = ps.Schedule(f)
    u = s["f"].update(0)
    io, ii = u.split("i", 16)
    u.reorder(io, "k", ii)
    s["f"].compute_at(u, io)
    u.accumulate_at(io)
    assert len(asked) == 1
    return s, asked


@pytest.mark.parametrize(("stage", "loop"), [("f.update(0)", "k"), ("f", "i")])
def test_copies_are_not_looked_for_again_for_loops_that_they_do_not_have(
    monkeypatch: pytest.MonkeyPatch, stage: str, loop: str
) -> None:
    s, asked = accumulated(monkeypatch)
    s[stage].split(loop, 4, names=("outer", "inner"))
    assert len(asked) == 1


def test_copies_are_looked_for_again_for_their_own_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    s, asked = accumulated(monkeypatch)
    s["f"].update(0).split("ii", 4)
    assert len(asked) == 2


def test_extents_are_not_asked_again_for_loops_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    found, asked = extents.constant_extent, []

    def noted(*given: Any) -> int | None:
        asked.append(given)
        return found(*given)

    monkeypatch.setattr(extents, "constant_extent", noted)
    f = ps.Func("f", (n, 8, m))
    f[i, j, k] = 1.0
    stage = ps.Schedule(f)["f"]
    stage.unroll("j")
    before = len(asked)
    stage.split("k", 4)
    assert len(asked) == before == 1
    stage.split("i", 4)
    assert len(asked) == 2
