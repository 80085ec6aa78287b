"""Nests that differ in names of Funcs only are bounded once, and others are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import polysched as ps
from polysched.lang.program.scalars import symbols_of
from polysched.poly.nests.loop_nest import LoopNest
from polysched.poly.nests.nests import NestTree, loop_nests, nest_trees

n, m = ps.sizes("n m")
i, j, other = ps.vars("i j other")
x, y = ps.Input("x", ps.float32, (n, m)), ps.Input("y", ps.float32, (n, m))


def layers(count: int) -> ps.Schedule:
    """Sums of rows, of which each element is divided by one, in tiles."""
    last: ps.Func | ps.Input = x
    k = ps.RVar("k", 0, m)
    found = []
    for number in range(count):
        total, out = ps.Func(f"total{number}", (n,)), ps.Func(f"out{number}", (n, m))
        total[i] = 0.0
        total[i] += last[i, k]
        out[i, j] = last[i, j] / total[i]
        found.append(out)
        last = out
    s = ps.Schedule(last)
    for out in found:
        s[out].compute_root()
        s[out].split("j", 8)
    return s


def bounded(
    s: ps.Schedule, monkeypatch: pytest.MonkeyPatch
) -> tuple[tuple[LoopNest, ...], list[NestTree]]:
    """The loops of a schedule with their bounds, and for which of them these were looked for."""
    found, asked = NestTree.bounded, []

    def noted(nest: NestTree, *given: Any) -> LoopNest:
        asked.append(nest)
        return found(nest, *given)

    with monkeypatch.context() as patched:
        patched.setattr(NestTree, "bounded", noted)
        return loop_nests(s.tree, symbols_of(s.program), s.model.context), asked


def one_by_one(s: ps.Schedule) -> tuple[LoopNest, ...]:
    """The same, each nest for itself."""
    context = s.model.context
    found = nest_trees(s.tree, context)
    return tuple(x.bounded(symbols_of(s.program), context) for x in found)


def test_bounds_of_twice_the_layers_are_looked_for_as_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = [bounded(layers(count), monkeypatch)[1] for count in (2, 4)]
    assert len(asked[0]) == len(asked[1]) == 3


def test_each_nest_has_its_own_loops_and_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    s = layers(3)
    found, asked = bounded(s, monkeypatch)
    assert len(asked) < len(found) == 9
    assert found == one_by_one(s)


def two(column: ps.Var = j, columns: ps.Size = m) -> ps.Schedule:
    """Two outputs; the dimension of the second one may be called otherwise or have another size."""
    f, g = ps.Func("f", (n, m)), ps.Func("g", (n, columns))
    f[i, j] = x[i, j] * 2.0
    g[i, column] = y[i, 0] + 1.0
    return ps.Schedule([f, g])


def test_one_of_two_that_are_alike_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(bounded(two(), monkeypatch)[1]) == 1


DIFFERENT: dict[str, Callable[[ps.Schedule], object]] = {
    "a loop of another name": lambda s: s["g"].rename("i", "row"),
    "a loop of another kind": lambda s: s["g"].parallel("i"),
    "loops in another order": lambda s: s["g"].reorder("j", "i"),
    "tiles of another size": lambda s: (s["f"].split("j", 4), s["g"].split("j", 8)),
    "full tiles": lambda s: (s["f"].split("j", 4), s["g"].split("j", 4, tail="guard")),
    "some instances": lambda s: s["g"].partition(i < 3),
}


@pytest.mark.parametrize("given", DIFFERENT.values(), ids=DIFFERENT)
def test_what_differs_is_bounded_for_itself(
    given: Callable[[ps.Schedule], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    s = two()
    given(s)
    found, asked = bounded(s, monkeypatch)
    assert len(asked) == len(found) > 1
    assert found == one_by_one(s)


@pytest.mark.parametrize(("column", "columns"), [(other, m), (j, n)], ids=["name", "size"])
def test_other_dimensions_are_bounded_for_themselves(
    column: ps.Var, columns: ps.Size, monkeypatch: pytest.MonkeyPatch
) -> None:
    s = two(column, columns)
    found, asked = bounded(s, monkeypatch)
    assert len(asked) == 2
    assert found == one_by_one(s)


def test_other_quotients_are_bounded_for_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    f, g = ps.Func("f", (n, m)), ps.Func("g", (n, m))
    f[i, j] = x[i, j // 2]
    g[i, j] = y[i, j // 4]
    s = ps.Schedule([f, g])
    found, asked = bounded(s, monkeypatch)
    assert len(asked) == 2
    assert found == one_by_one(s)


def test_storage_inside_of_loops_is_bounded_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    outs = []
    for name in ("a", "b"):
        inside, out = ps.Func(f"{name}_inside"), ps.Func(name, (n, m))
        inside[i, j] = x[i, j] * 2.0
        out[i, j] = inside[i, j] + inside[i, 0]
        outs.append(out)
    s = ps.Schedule(outs)
    for name in ("a", "b"):
        s[f"{name}_inside"].compute_at(name, "i")
    found, asked = bounded(s, monkeypatch)
    assert len(asked) == len(found) == 2
    assert found == one_by_one(s)
