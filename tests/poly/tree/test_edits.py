"""Small edits of a tree share what they leave alone."""

from __future__ import annotations

from dataclasses import replace

import polysched as ps
from polysched.poly.tree.edits import (
    map_children,
    map_stages,
    new_roots,
    stages,
    with_storage,
    without_storage,
)
from polysched.poly.tree.looptree import Alloc, Loop, Seq, Tree, leaves
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


def chain(count: int) -> ps.Func:
    """Stages that are all stored: each reads two elements of the one before."""
    found: ps.Func | ps.Input = ps.Input("x", ps.int64, (n,))
    for k in range(count):
        f = ps.Func(f"f{k}", (n,))
        f[i] = found[i] + found[n - 1 - i]
        found = f
    assert isinstance(found, ps.Func)
    return found


def depth(s: ps.Schedule) -> int:
    return max(len(path) for path, _ in leaves(s.tree))


def test_storage_of_one_place_is_one_node() -> None:
    f, g, h = ps.Func("f"), ps.Func("g"), ps.Func("h")
    nests = tuple(tree().nests)
    (made,) = with_storage((f,), with_storage((g, h), nests))
    assert made == Alloc((f, g, h), nests)
    (other,) = with_storage((f,), with_storage((g,), nests), by_directive=True)
    assert other == Alloc((f,), (Alloc((g,), nests),), by_directive=True)
    (twice,) = with_storage((g,), with_storage((g, h), nests))
    assert twice == Alloc((g,), (Alloc((g, h), nests),))
    assert with_storage((), nests) is nests


def test_storage_of_some_funcs_is_dropped() -> None:
    f, g = ps.Func("f"), ps.Func("g")
    nests = tuple(tree().nests)
    node = Alloc((f, g), nests, by_directive=True, reason="as it is")
    assert without_storage(node, nests, (f,)) == (replace(node, funcs=(g,)),)
    assert without_storage(node, nests, (f, g)) == nests
    (same,) = without_storage(node, nests, ())
    assert same is node


def test_a_tree_is_no_deeper_for_more_stages() -> None:
    few, many = (ps.Schedule.default(chain(count)) for count in (4, 12))
    assert depth(few) == depth(many)
    for s, count in ((few, 4), (many, 12)):
        for k in range(count - 1):
            s[f"f{k}"].store_root()
    assert depth(few) == depth(many)


def test_what_is_computed_first_is_moved_among_nests_alone() -> None:
    s = ps.Schedule.default(chain(6))
    before = list(s.tree.nests)
    s["f3"].compute_root()
    after = list(s.tree.nests)
    assert [stage.name for x in after for stage in stages(x)] == [f"f{k}" for k in range(6)]
    assert [a is b for a, b in zip(before, after, strict=True)] == [k != 3 for k in range(6)]


def test_what_nothing_reads_comes_last() -> None:
    x = ps.Input("x", ps.int64, (n,))
    f, g = ps.Func("f", (n,)), ps.Func("g", (n,))
    f[i] = x[i] + 1
    g[i] = x[i] + 2
    s = ps.Schedule.default([f, g])
    s["f"].compute_root()
    assert [stage.name for stage in stages(s.tree)] == ["g", "f"]


def test_hundreds_of_stages_are_stored_and_moved() -> None:
    s = ps.Schedule.default(chain(400))
    s["f200"].compute_root()
    s["f200"].compute_at(s["f201"], "i")
    assert depth(s) == 6  # storage, a loop, storage, what is computed there, its loop, a stage


def test_stages_are_found_by_name_as_among_all_of_them() -> None:
    """In storage, in loops and at the root, and what is computed at a loop."""
    s = ps.Schedule(chain(4))
    for func in s.funcs[:-1]:
        s[func].compute_root()
    s[s.funcs[0]].compute_at(s[s.funcs[1]], "i")
    found, whole = s.tree.by_name, s.tree
    for path, stage in reversed(leaves(whole)):
        assert found[stage.name] == (path, stage)
    assert list(found) == list(dict.fromkeys(stage.name for _, stage in leaves(whole)))
    assert len(found) == len(list(found))
    assert found.get("nowhere") is None


def test_what_is_new_at_the_root_is_known_by_what_was_there() -> None:
    whole = tree()
    first = leaves(whole)[0][1]
    assert new_roots(whole, whole) == []
    assert [nest for _, nest in new_roots(whole, Seq(()))] == whole.nests
    made = map_stages(whole, lambda s: replace(s, part="'") if s is first else s)
    assert [path for path, _ in new_roots(made, whole)] == [made.roots[0][0]]
    assert [nest for _, nest in new_roots(whole, made)] == [whole.nests[0]]


def test_a_stage_is_looked_for_in_its_own_nest() -> None:
    """Not among all stages, of which there are hundreds."""
    whole = Seq(ps.Schedule(chain(4)).tree.body)
    assert whole.by_name["f3"][1].name == "f3"
    assert "leaves" not in vars(whole)
