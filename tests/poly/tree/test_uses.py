"""What a tree does to some tensors is a value: equal where the same runs in the same places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

import polysched as ps
from polysched.lang.tensors.tensors import Func
from polysched.poly.placement import folding
from polysched.poly.tree.looptree import Accumulator, Alloc, Loop, Produce, Seq
from polysched.poly.tree.stage import Stage
from polysched.poly.tree.uses import Uses

n, m = ps.sizes("n m")
i, j = ps.vars("i j")


def rows() -> ps.Schedule:
    """g reads two rows of f; h has nothing to do with either."""
    f, g, h, o = ps.Func("f"), ps.Func("g", (n, m)), ps.Func("h", (n,)), ps.Func("o", (n, m))
    f[i, j] = i * j
    g[i, j] = f[i, j] + f[i + 1, j]
    h[i] = i
    o[i, j] = g[i, j] + h[i]
    s = ps.Schedule(o)
    for name in "fgh":
        s[name].compute_root()
    return s


def uses(s: ps.Schedule, name: str = "f") -> Uses:
    return Uses(s.tree, [f for f in s.program.funcs if f.name == name])


def at_i(s: ps.Schedule) -> None:
    s["f"].compute_at(s["g"], "i")


def stored_outside(s: ps.Schedule) -> None:
    with s.batch():
        s["f"].store_root()
        s["f"].compute_at(s["g"], "i")


ELSEWHERE: list[Callable[[ps.Schedule], Any]] = [
    lambda s: s["h"].split("i", 4),
    lambda s: s["h"].parallel("i"),
    lambda s: s["f"].rename("i", "row"),
    lambda s: s["o"].vectorize("j", 8),
    lambda s: s["h"].compute_at(s["o"], "i"),
]
HERE: list[Callable[[ps.Schedule], Any]] = [
    lambda s: s["f"].split("i", 4),
    lambda s: s["f"].parallel("i"),
    lambda s: s["g"].reorder("j", "i"),
    lambda s: s["g"].parallel("i"),
    lambda s: s["f"].shift("i", 1),
    lambda s: s["f"].peel("i", first=1),
    lambda s: s["g"].compute_with(s["f"], "i", shift=1),
    at_i,
    stored_outside,
]


@pytest.mark.parametrize("k", range(len(ELSEWHERE)))
def test_what_happens_elsewhere_does_not_count(k: int) -> None:
    s = rows()
    before = uses(s)
    ELSEWHERE[k](s)
    assert uses(s) == before
    assert hash(uses(s)) == hash(before)


@pytest.mark.parametrize(("a", "b"), list(combinations(range(len(HERE)), 2)))
def test_uses_that_differ_in_one_thing(a: int, b: int) -> None:
    """Each directive changes them, and no two of them alike."""
    s = rows()
    t, before = s.copy(), uses(s)
    HERE[a](s)
    HERE[b](t)
    assert before not in (uses(s), uses(t))
    assert uses(s) != uses(t)


def sums() -> ps.Schedule:
    a, b = ps.Input("a", ps.int64, (n, m)), ps.Input("b", ps.int64, (m, n))
    c, k = ps.Func("c", (n, n)), ps.RVar("k", 0, m)
    c[i, j] = 0
    c[i, j] += a[i, k] * b[k, j]
    return ps.Schedule(c)


def test_which_tensors_are_used() -> None:
    s = sums()
    a, b = s.program.inputs
    assert Uses(s.tree, (a,)) != Uses(s.tree, (b,))


def changed(tree: Seq, of: type, **fields: Any) -> Seq:
    """The tree with fields of all nodes of a class changed."""

    def visit(node: Any) -> Any:
        if isinstance(node, Stage):
            return node
        made = replace(node, body=tuple(map(visit, node.body)))
        return replace(made, **fields) if isinstance(node, of) else made

    made: Seq = visit(tree)
    return made


@pytest.mark.parametrize("name", ["kind", "full_tile"])
def test_loops_in_which_they_are(name: str) -> None:
    s = rows()
    differs = changed(s.tree, Loop, **{name: {"kind": "vector", "full_tile": 8}[name]})
    assert Uses(differs, s.funcs) != Uses(s.tree, s.funcs)


@pytest.mark.parametrize("name", ["funcs", "around", "times", "fresh_depth"])
def test_how_they_are_produced(name: str) -> None:
    s = rows()
    at_i(s)
    (node,) = (x for _, x in s.tree.nodes if isinstance(x, Produce))
    other = {
        "funcs": s.funcs[1:2],
        "around": (i.node, j.node),
        "times": (i.node,),
        "fresh_depth": 7,
    }
    assert getattr(node, name) != other[name]
    differs = changed(s.tree, Produce, **{name: other[name]})
    assert Uses(differs, s.funcs) != Uses(s.tree, s.funcs)


def test_what_is_stored_there() -> None:
    s = rows()
    at_i(s)
    differs = changed(s.tree, Alloc, funcs=(s.funcs[2],))
    assert Uses(differs, s.funcs) != Uses(s.tree, s.funcs)


@pytest.mark.parametrize("name", ["func", "serial"])
def test_what_is_accumulated_privately(name: str) -> None:
    s, other = sums(), rows()
    s["c.update(0)"].accumulate_at("j")
    differs = changed(s.tree, Accumulator, **{name: {"func": other.funcs[0], "serial": -1}[name]})
    assert Uses(differs, s.funcs) != Uses(s.tree, s.funcs)


def test_a_fold_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Directives that have nothing to do with what is folded ask nothing about it."""
    asked: list[Func] = []
    real = folding.clobbers

    def counted(*args: Any) -> Any:
        asked.append(args[1])
        return real(*args)

    monkeypatch.setattr(folding, "clobbers", counted)
    s = rows()
    stored_outside(s)
    s["f"].fold_storage(0, 2)
    assert len(asked) == 1
    s["h"].split("i", 4)
    s["o"].vectorize("j", 8)
    t = s.copy()
    t["h"].parallel("io")
    assert len(asked) == 1
    t["g"].parallel("j")
    assert len(asked) > 1
