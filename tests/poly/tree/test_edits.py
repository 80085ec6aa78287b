"""Small edits of a tree share what they leave alone."""

from __future__ import annotations

from dataclasses import replace

import polysched as ps
from polysched.poly.tree.edits import map_children, map_stages, stages
from polysched.poly.tree.looptree import Loop, Seq, Tree
from polysched.poly.tree.stage import Stage

n = ps.sizes("n")
i = ps.vars("i")


def tree() -> Seq:
    x, f, g = ps.Input("x", ps.int64, (n,)), ps.Func("f"), ps.Func("g", (n,))
    f[i] = x[i] + 1
    g[i] = f[i] * f[n - 1 - i]
    return ps.Schedule.default(g).tree


def test_children_that_stay_leave_their_node_as_it_is() -> None:
    whole = tree()
    assert map_children(whole, lambda child: child) is whole
    (stage, *_) = stages(whole)
    assert map_children(stage, lambda child: Seq(())) is stage


def test_a_child_that_changes_changes_its_node_only() -> None:
    whole = tree()
    first, *others = whole.body

    def change(child: Tree) -> Tree:
        return Loop("other", (child,)) if child is first else child

    made = map_children(whole, change)
    assert isinstance(made, Seq)
    assert made.body[0] == Loop("other", (first,))
    assert all(a is b for a, b in zip(made.body[1:], others, strict=True))


def test_every_stage_is_changed() -> None:
    whole = tree()

    def change(stage: Stage) -> Stage:
        return replace(stage, part=stage.part + "'")

    made = map_stages(whole, change)
    assert [s.part for s in stages(made)] == [s.part + "'" for s in stages(whole)]
    assert map_stages(whole, lambda s: s) is whole
